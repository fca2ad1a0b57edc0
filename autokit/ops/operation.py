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

import inspect
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from autokit import dtypes
from autokit.autograd.node import Node, offer_saved
from autokit.memory import INFERENCE
from autokit.ops.autocast import autocasted
from autokit.ops.errors import not_a_tensor
from autokit.ops.half import derivative_in_float32, in_float32
from autokit.ops.large import SHARED
from autokit.ops.names import OPERANDS, SPELLINGS, unknown_keyword, write_out
from autokit.ops.operands import as_operands, with_number
from autokit.ops.recording import OUTPUT, record, record_all, refuse_inference, settle, share_storage
from autokit.ops.unusual import as_floats, computing
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread

get_array = attrgetter("array")
_WORDS = dict(zip("ab", OPERANDS))
SHAPE = "shape"

OPERATIONS: dict[str, Operation] = {}
"""Every rule by its name."""


class Derivative(NamedTuple):
    """By one operand: the local derivative in symbols, and the rule that applies it.

    A rule for all operands may tell it of each, by the operands' names.
    ``on_arrays`` computes the same on arrays alone, faster: in one call of
    NumPy, or with fewer arrays on the way.
    """

    local: str | Mapping[str, str]
    vjp: Callable[..., Any]
    on_arrays: Callable[..., Any] | None = None


derivative = Derivative


class Rule(NamedTuple):
    """A derivative as the engine uses it.

    ``slot`` is the operand's place, or -1 where one rule serves all operands;
    ``vjp`` works on arrays; ``fetch`` says what it takes after ``g``: places
    of operands, and names; ``only`` is that place, or :data:`OUTPUT`, where one value is all.
    """

    slot: int
    vjp: Callable[..., Any]
    fetch: tuple[int | str, ...]
    only: int | str | None


class Way:
    """How gradients go back through an operation, for one pattern of operands that learn.

    ``rules`` are the derivatives that apply, each as the plain tuple that the
    engine unpacks, with None for an empty ``fetch``; and ``plain_rules`` the
    same for tensors, whose own derivatives can be taken, and which are all
    fetched in the general way; ``large_rules`` compute as ``rules``, on several
    threads where it pays; ``joint`` says that
    there is one for all operands; ``learns`` says for each operand whether a gradient
    is wanted; ``saves`` names the operands, and ``out``, that the rules need;
    ``spare`` are the places of the other operands; ``fitting`` says that what ``rules`` make of arrays has
    the operand's shape and dtype.
    """

    __slots__ = ("fitting", "joint", "large_rules", "learns", "plain_rules", "rules", "saves", "spare")

    def __init__(
        self,
        rules: tuple[Rule, ...],
        plain_rules: tuple[Rule, ...],
        learns: tuple[bool, ...],
        saves: tuple[str, ...],
        spare: frozenset[int],
        fitting: bool,
    ) -> None:
        self.rules: tuple[Any, ...] = tuple([(*rule[:2], rule[2] or None, rule[3]) for rule in rules])
        self.large_rules: tuple[Any, ...] = tuple(
            [(slot, SHARED.get(vjp, vjp), *rest) for slot, vjp, *rest in self.rules]
        )
        self.plain_rules: tuple[Any, ...] = tuple(
            [(*rule[:2], rule[2] or None, None) for rule in plain_rules]
        )
        self.joint = bool(rules) and rules[0][0] < 0
        self.learns = learns
        self.saves = saves
        self.spare = spare
        self.fitting = fitting


class Operation:
    """A rule with its names and words; calling it computes, and records where a gradient is wanted."""

    def __init__(
        self,
        forward: Callable[..., Any],
        symbol: str,
        formula: str,
        derivatives: dict[str, Derivative],
        *,
        floating: bool = False,
        view: bool = False,
        mixed: bool = False,
        reduces: bool = False,
        own_precision: bool = False,
        elementwise: bool = False,
        linear: bool | None = None,
        fitting: bool = False,
        name: str | None = None,
        backward: str | Callable[[Node], str] | None = None,
        on_arrays: Callable[..., Any] | None = None,
        layout: Callable[[Any], Any] | None = None,
    ) -> None:
        self.plain = forward
        self.forward = on_arrays or forward
        moves = view or own_precision
        self.name = name or forward.__name__
        self.on_halves = self.forward if moves else in_float32(self.forward, mixed, self.name)
        self.symbol = symbol
        self.formula = formula
        self.function: Callable[..., Tensor]
        self.floating = floating
        self.view = view
        self.mixed = mixed
        self.operands, self.defaults, self.variadic = _parameters(forward)
        self.derivatives = derivatives
        self.ways: dict[tuple[bool, ...], Way] = {}
        self._ways_of_halves: dict[tuple[bool, ...], Way] = {}
        self.reduces = reduces or self.variadic or bool(self.defaults)
        self.elementwise = elementwise or not (self.reduces or view or mixed)
        self.linear = view if linear is None else linear
        self.jvp: Callable[..., Any] | None = None  # of a custom operation that takes tangents forward itself
        self.fitting = fitting
        self.layout = layout
        self.plain_rules = tuple(self._rule(name, each) for name, each in derivatives.items())
        self.rules = tuple(
            rule._replace(vjp=each.on_arrays or each.vjp)
            for rule, each in zip(self.plain_rules, derivatives.values())
        )
        default_name = "".join(part.capitalize() for part in self.name.split("_")) + "Backward0"
        self._backward = backward or default_name

    def _rule(self, name: str, one: Derivative) -> Rule:
        operands, settings, _ = _parameters(one.vjp)
        needs = (*operands, *settings)[1:]
        known = {*self.operands, *self.defaults, OUTPUT, SHAPE}
        if not known.issuperset(needs) or (name != "joint" and name not in self.operands):
            raise TypeError(f"the rule of {self.name} by {name} asks for {needs}; there are {sorted(known)}")
        places = {operand: place for place, operand in enumerate(self.operands)} if not self.variadic else {}
        fetch = tuple(places.get(need, need) for need in needs)
        only: int | str | None = None
        if len(fetch) == 1 and isinstance(fetch[0], int):
            only = fetch[0]
        elif fetch == (OUTPUT,):
            only = OUTPUT
        return Rule(places.get(name, -1), one.vjp, fetch, only)

    @property
    def words(self) -> dict[str, str]:
        """What to call each operand where nobody has named it: PyTorch's keywords for ``a`` and ``b``."""
        return {name: _WORDS.get(name, name) for name in self.operands}

    def local(self, operand: str) -> str:
        """The local derivative by ``operand``, in symbols; empty where there is none."""
        one = self.derivatives.get("joint") or self.derivatives.get(operand)
        if one is None:
            return ""
        return one.local if isinstance(one.local, str) else one.local[operand]

    def backward_name(self, node: Node) -> str:
        """PyTorch's name of the backward node that ``node`` is."""
        return self._backward if isinstance(self._backward, str) else self._backward(node)

    def way(self, learns: tuple[bool, ...]) -> Way:
        """How gradients go back where these operands learn."""
        known = self.ways.get(learns)
        if known is None:
            known = self.ways[learns] = self._new_way(learns, self.rules)
        return known

    def way_of_halves(self, way: Way) -> Way:
        """``way`` where the result is of half precision: its derivatives compute in float32."""
        if way.__class__ is not Way:
            return way  # of samples, and of half precision already
        known = self._ways_of_halves.get(way.learns)
        if known is None:
            wide = tuple(rule._replace(vjp=derivative_in_float32(rule.vjp, self.name)) for rule in self.rules)
            known = self._ways_of_halves[way.learns] = self._new_way(way.learns, wide)
        return known

    def _new_way(self, learns: tuple[bool, ...], rules: tuple[Rule, ...]) -> Way:
        def applying(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
            return tuple([rule for rule in rules if rule.slot < 0 or learns[rule.slot]])

        needed = {need for rule in applying(rules) for need in rule.fetch}
        names = enumerate((*self.operands, OUTPUT))
        saves = tuple(name for place, name in names if name in needed or place in needed)
        all_operands = self.operands * len(learns) if self.variadic else self.operands
        spare = frozenset(place for place, name in enumerate(all_operands) if name not in saves)
        fitting = self.fitting and rules is self.rules
        return Way(applying(rules), applying(self.plain_rules), learns, saves, spare, fitting)

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any], bool]:
    """The names of the operands, the settings with their defaults, and whether there may be many operands.

    Operands stand before a slash or are ``*operands``; all others are settings.
    """
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__signature__"):
        parameters = inspect.signature(function).parameters.values()
        operands = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL))
        settings = {p.name: p.default for p in parameters if p.name not in operands}
        return operands, settings, any(p.kind is p.VAR_POSITIONAL for p in parameters)
    # The same without the signature object, which takes most of the time of `import autokit`.
    positional, names = code.co_argcount, code.co_varnames
    variadic = bool(code.co_flags & inspect.CO_VARARGS)
    named = names[code.co_posonlyargcount : positional + code.co_kwonlyargcount]
    settings = dict.fromkeys(named, inspect.Parameter.empty)
    with_default = function.__defaults__ or ()
    settings.update(zip(names[positional - len(with_default) : positional], with_default))
    settings.update(function.__kwdefaults__ or {})
    operands = names[: code.co_posonlyargcount]
    last = positional + code.co_kwonlyargcount
    return (*operands, names[last]) if variadic else operands, settings, variadic


_OPTIONS = (
    *("floating", "view", "mixed", "reduces", "own_precision", "elementwise", "linear"),
    *("fitting", "name", "backward", "on_arrays", "layout"),
)
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
    fitting : bool
        What the derivatives make of arrays has the operand's own shape and dtype whatever comes in, so that
        the engine need not look.
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

    def apply(input: Any, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return write_out(operation.name, apply(input), out)
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
                if node.saved is not None or (  # type: ignore[union-attr]
                    reduces and input.array.size > state.small
                ):
                    settle(state, node, (input,))
                return made
        return new_tensor(array)

    return apply


def _binary(operation: Operation) -> Callable[..., Tensor]:
    forward = operation.forward
    floating = operation.floating
    reduces = operation.reduces
    differentiable = bool(operation.rules)
    by_both, by_first, by_second = map(operation.way, ((True, True), (True, False), (False, True)))

    def apply(input: Any, other: Any) -> Tensor:
        if input.__class__ is not Tensor or other.__class__ is not Tensor:
            input, other = with_number(operation, input, other)
        a, b = input.array, other.array
        if a.dtype is not b.dtype or (floating and a.dtype.kind != "f"):
            input, other = as_operands(operation, (input, other))
            a, b = input.array, other.array
        compute = forward
        if UNUSUAL:
            if thread.state.autocast is not None:
                return autocasted(operation.name, apply, (input, other), {})
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
            made = record(state, operation, array, way, (input._node or input, other._node or other), None)
            node = made._node
            if node.saved is not None or (  # type: ignore[union-attr]
                reduces and (a.size > state.small or b.size > state.small)
            ):
                settle(state, node, (input, other))
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
            return write_out(operation.name, apply(*arguments, **settings), out)
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
                settle(state, node, arguments)
        else:
            result = new_tensor(array)
        return share_storage(input, result) if view else result

    return apply


def _general(operation: Operation) -> Callable[..., Tensor]:
    forward = operation.forward
    layout = operation.layout
    differentiable = bool(operation.rules)

    def apply(*arguments: Any, out: Tensor | None = None, **settings: Any) -> Tensor:
        if out is not None:
            return write_out(operation.name, apply(*arguments, **settings), out)
        arguments, settings = _bind(operation, arguments, settings)
        if UNUSUAL and thread.state.autocast is not None:
            return autocasted(operation.name, apply, arguments, settings)
        operands = as_operands(operation, arguments)
        try:
            arrays = tuple(map(get_array, operands))
            array = (computing(operation, arrays) if UNUSUAL else forward)(*arrays, **settings)
        except Exception as error:
            return recovered(apply, operation, operands, settings, error)
        if layout is not None and not array.flags.c_contiguous:
            array = layout(array)
        state = thread.state
        if differentiable and state.grad_enabled:
            return record_all(state, operation, array, operands, settings)
        return new_tensor(array)

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
