"""How a rule becomes a function: :func:`operation` and :func:`derivative`.

A rule is a plain function of arrays, with its derivatives and the words that
teach it around it::

    @operation(
        "×", "{a} · {b}",
        a=derivative("{b}", lambda g, b: g * b),
        b=derivative("{a}", lambda g, a: g * a),
    )
    def mul(a, b, /):
        return a * b

* What stands before the slash are tensors, the *operands*; what stands after
  it are *settings*, such as ``dim``.
* A derivative is a vector–Jacobian product: from ``g``, the gradient that
  arrives at the result, it makes the gradient of one operand.  Its further
  arguments ask for what it needs, by name: operands, settings, ``out`` (the
  result) or ``shape`` (of that operand).  Operands and results that are asked
  for are what the operation *saves* for the way back; the others are let go.
* ``joint=`` in place of single derivatives makes the gradients of all
  operands at once.

The rule speaks NumPy, so the same lines run on arrays of NumPy and CuPy, and
on tensors: that is how a derivative is differentiated again.  It never thinks
of dtypes or broadcasting: operands arrive with one dtype, and the engine sums
a gradient that is larger than its operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit import dtypes
from autokit.memory import INFERENCE
from autokit.ops.blocks import MANY
from autokit.ops.direct import direct
from autokit.ops.errors import not_a_tensor
from autokit.ops.large import SHARED
from autokit.ops.names import OPERANDS, SPELLINGS, unknown_keyword, write_out
from autokit.ops.operands import answers_itself, as_operands, with_number
from autokit.ops.recording import OUTPUT, record, refuse_inference, settle, share_storage
from autokit.ops.rules import Derivative, Operation
from autokit.ops.saved_names import offer_saved
from autokit.ops.unusual import as_floats, autocasted, carried, computing
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread

OPERATIONS: dict[str, Operation] = {}
"""Every rule by its name."""

derivative = Derivative

_OPTIONS = frozenset(Operation.__init__.__kwdefaults__ or ())
"""What may be said of an operation, beside its derivatives."""


def operation(symbol: str, formula: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of tensors from a rule; see the head of this file.

    Parameters
    ----------
    symbol, formula : str
        For the picture: ``"×"``, and ``"{a} · {b}"`` with the operands in braces.
    floating : bool
        Integers become the default floating point dtype first.
    view : bool
        The result may share the operand's memory.
    mixed : bool
        The operands keep their own dtypes.
    reduces : bool
        The result may be smaller than an operand; taken for granted where there are settings.
    own_precision : bool
        The rule sees operands of half precision as they are, in place of computing in float32.
    elementwise : bool
        Each element of the result depends on the operands' elements at its own place alone; taken for
        granted where there are no settings and nothing ``reduces``.
    linear : bool
        The result is linear in each operand, as long as the others stay; taken for granted for a view.
    fitting : bool or "alike"
        What the derivatives make of arrays has the operand's own shape and dtype whatever comes in, so that
        the engine need not look; ``"alike"`` where that is so as long as the operand has the result's shape.
    name : str, optional
        The operation's name, where the function is called otherwise.
    backward : str or function of the node, optional
        PyTorch's name of the backward node, where it is not the rule's own name.
    on_arrays : callable, optional
        What computes the same on arrays alone, faster.
    layout : callable, optional
        What makes an array lie as the result does in PyTorch, where that does not follow the operands'
        layout in memory: :func:`~autokit.devices.contiguous` makes it row by row, so that ``view`` can read
        it in another shape.
    **options
        Under each operand's name its :func:`derivative`, or one for all as ``joint``.
    """
    own = {key: options.pop(key) for key in _OPTIONS if key in options}

    def build(forward: Callable[..., Any]) -> Any:
        made = Operation(forward, symbol, formula, options, **own)
        OPERATIONS[made.name] = made
        for each in (*made.operands, *made.defaults):
            offer_saved(each)
        simple = not (made.defaults or made.variadic or made.view or made.mixed)
        if made.variadic or len(made.operands) > 2 or (len(made.operands) == 2 and not simple):
            maker = _general
        else:
            maker = _binary if len(made.operands) == 2 else _unary if simple else _unary_with_settings
        function = maker(made)
        function.__name__ = function.__qualname__ = made.name
        function.__doc__ = forward.__doc__
        function.__module__ = forward.__module__
        function.operation = made  # type: ignore[attr-defined]
        made.function = function
        return function

    return build


def _unary(operation: Operation) -> Callable[..., Tensor]:
    forward = operation.forward
    floating = operation.floating
    reduces = operation.reduces
    way = operation.way((True,)) if operation.rules else None
    keeps = way is not None and way.saves == (OUTPUT,)  # its result alone, whatever the sizes are

    def apply(input: Any, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return write_out(operation.name, apply(input), out, (input,))
        if input.__class__ is not Tensor and not isinstance(input, Tensor):
            raise not_a_tensor(operation, input, 0)
        array = input.array
        learns = input._requires_grad
        if floating and not learns and array.dtype.kind in "bui":
            array = as_floats(array, dtypes.get_default_dtype().numpy)
        compute = forward
        if UNUSUAL:
            if thread.state.autocast is not None:
                return autocasted(operation.name, apply, (input,), {})
            if thread.state.forward:
                return carried(apply, operation, (input,), {})
            compute = computing(operation, (array,))
        try:
            array = compute(array)
        except Exception as error:
            return recovered(apply, operation, (input,), {}, error)
        if learns and way is not None:
            state = thread.state
            if state.grad_enabled:
                made = record(state, operation, array, way, (input._node or input,), None)
                node = made._node
                if (
                    node.saved is not None and (not keeps or state.small < 0)  # type: ignore[union-attr]
                ) or (reduces and input.array.size > state.small):
                    settle(state, node, (input,), (0,))
                return made
        return new_tensor(array)

    return apply


def _binary(operation: Operation) -> Callable[..., Tensor]:
    forward = operation.forward
    of_large = SHARED.get(forward, forward)
    floating = operation.floating
    reduces = operation.reduces
    differentiable = bool(operation.rules)
    by_both, by_first, by_second = map(operation.way, ((True, True), (True, False), (False, True)))

    def apply(input: Any, other: Any) -> Tensor:
        if input.__class__ is not Tensor or other.__class__ is not Tensor:
            try:
                input, other = with_number(operation, input, other)
            except TypeError:
                if answers_itself(operation.name, other):
                    return NotImplemented
                raise
        a, b = input.array, other.array
        if a.dtype is not b.dtype or (floating and a.dtype.kind != "f"):
            input, other = as_operands(operation, (input, other))
            a, b = input.array, other.array
        source = input._node
        compute = forward
        if (
            source is None or source.saved is not None
        ) and a.size >= MANY:  # nodes of small results save nothing
            compute = of_large
        if UNUSUAL:
            if thread.state.autocast is not None:
                return autocasted(operation.name, apply, (input, other), {})
            if thread.state.forward:
                return carried(apply, operation, (input, other), {})
            compute = computing(operation, (a, b))
        try:
            array = compute(a, b)
        except Exception as error:
            return recovered(apply, operation, (input, other), {}, error)
        if input._requires_grad:
            if other._requires_grad:
                way = by_both
            else:
                way = by_first
                if other._storage is INFERENCE:
                    refuse_inference(way, (input, other))
        elif other._requires_grad:
            way = by_second
            if input._storage is INFERENCE:
                refuse_inference(way, (input, other))
        else:
            return new_tensor(array)
        state = thread.state
        if state.grad_enabled and differentiable:
            made = record(state, operation, array, way, (source or input, other._node or other), None)
            node = made._node
            if node.saved is not None or (  # type: ignore[union-attr]
                reduces and (a.size > state.small or b.size > state.small)
            ):
                settle(state, node, (input, other), (0, 1))
            return made
        return new_tensor(array)

    return apply


def _unary_with_settings(operation: Operation) -> Callable[..., Tensor]:
    forward = operation.forward
    floating = operation.floating
    view = operation.view
    layout = operation.layout
    way = operation.way((True,)) if operation.rules else None

    def apply(*arguments: Any, out: Tensor | None = None, **settings: Any) -> Tensor:
        if out is not None:
            return write_out(operation.name, apply(*arguments, **settings), out, arguments)
        if len(arguments) != 1 or settings.keys() != operation.defaults.keys():
            arguments, settings = _bind(operation, arguments, settings)
        (input,) = arguments
        if not isinstance(input, Tensor):
            raise not_a_tensor(operation, input, 0)
        array = input.array
        if floating and array.dtype.kind in "bui":
            array = as_floats(array, dtypes.get_default_dtype().numpy)
        compute = forward
        if UNUSUAL:
            if thread.state.autocast is not None:
                return autocasted(operation.name, apply, arguments, settings)
            if thread.state.forward:
                return carried(apply, operation, arguments, settings)
            compute = computing(operation, (array,))
        try:
            array = compute(array, **settings)
        except Exception as error:
            return recovered(apply, operation, arguments, settings, error)
        if layout is not None and not array.flags.c_contiguous:
            array = layout(array)
        state = thread.state
        if input._requires_grad and way is not None and state.grad_enabled:
            result = record(state, operation, array, way, (input._node or input,), settings)
            node = result._node
            if node.saved is not None or input.array.size > state.small:  # type: ignore[union-attr]
                settle(state, node, arguments, (0,))
        else:
            result = new_tensor(array)
        return share_storage(input, result) if view else result

    return apply


def _general(operation: Operation) -> Callable[..., Tensor]:
    def apply(*arguments: Any, out: Tensor | None = None, **settings: Any) -> Tensor:
        if out is not None:
            return write_out(operation.name, apply(*arguments, **settings), out, arguments)
        arguments, settings = _bind(operation, arguments, settings)
        if UNUSUAL and thread.state.autocast is not None:
            return autocasted(operation.name, apply, arguments, settings)
        return direct(apply, as_operands(operation, arguments), settings)

    return apply


def _bind(
    operation: Operation, arguments: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands, and every setting by name, of a call."""
    count, defaults = len(operation.operands), operation.defaults
    if operation.variadic:
        positional: tuple[Any, ...] = ()
    else:
        if settings and len(arguments) < count:
            arguments = _operands_by_name(operation, arguments, settings)
        arguments, positional = arguments[:count], arguments[count:]
    if len(arguments) < count or len(positional) > len(defaults):
        raise TypeError(
            f"{operation.name}() takes {count} tensor{'s' * (count != 1)} and the settings "
            f"{', '.join(defaults) or '(none)'}; got {len(arguments) + len(positional)} arguments"
        )
    chosen = defaults.copy()
    if positional:
        chosen.update(zip(defaults, positional))
    chosen.update(settings)
    return arguments, chosen if len(chosen) == len(defaults) else _rename(operation, chosen)


def _rename(operation: Operation, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings under PyTorch's names, where NumPy's were given."""
    for numpy_name, name in SPELLINGS.items():
        if numpy_name in settings and name in operation.defaults:
            settings[name] = settings.pop(numpy_name)
    for name in settings:
        if name not in operation.defaults:
            raise unknown_keyword(operation.name, name, list(operation.defaults))
    return settings


def _operands_by_name(
    operation: Operation, given: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[Any, ...]:
    for keyword in OPERANDS[len(given) : len(operation.operands)]:
        if keyword not in settings:
            break
        given = (*given, settings.pop(keyword))
    return given


def recovered(
    apply: Any, operation: Operation, operands: Any, settings: dict[str, Any], error: Exception
) -> Any:
    """What ``apply`` returns where the rule raised ``error``: in a ``vmap``, one sample after the other."""
    from autokit.ops.samples import recovered

    return recovered(apply, operation, operands, settings, error)


def on(function: Any, *operands: Any, **settings: Any) -> Any:
    """Run one rule inside another: recorded on tensors, bare on arrays."""
    if any(isinstance(operand, Tensor) for operand in operands):
        return function(*operands, **settings)
    rule = function.operation
    return rule.forward(*operands, **{**rule.defaults, **settings})
