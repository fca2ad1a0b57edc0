"""Operations with a derivative of one's own: :class:`Function`.

``apply`` runs ``forward`` without recording, and puts one node into the graph
for all of it.  When a gradient arrives there, that node's rule calls
``backward``.  Both are plain calls of the learner's functions, so a debugger
stops in them as anywhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any
from weakref import ref

from autokit.autograd.modes import no_grad, thread
from autokit.autograd.node import FREED, Node
from autokit.devices import module_for
from autokit.ops.custom import Parts, custom_operation, join
from autokit.ops.inplace import noted_change, overwrite
from autokit.ops.operation import Operation
from autokit.tensor import Tensor, new_tensor


class _Saved:
    """A tensor that a context keeps, and how to tell that it was changed since.

    Of an output it keeps the elements alone: holding the tensor would hold its
    node, which holds this.
    """

    __slots__ = ("slot", "tensor", "version")

    def __init__(self, tensor: Tensor, slot: int | None) -> None:
        self.version = tensor._version
        self.slot = slot
        self.tensor = tensor.detach() if slot is not None else tensor

    def unpack(self, ctx: FunctionCtx) -> Tensor:
        tensor = self.tensor
        if tensor._version != self.version:
            maker = (
                f"output {self.slot} of {type(ctx).__name__}"
                if self.slot is not None
                else (f"output 0 of {tensor.grad_fn.name()}" if tensor.grad_fn is not None else "")
            )
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace "
                f"operation: [torch.{tensor.dtype.name} {list(tensor.shape)}]"
                + (f", which is {maker}," if maker else "")
                + f" is at version {tensor._version}; expected version {self.version} instead. "
                f"{type(ctx).__name__} saved it with save_for_backward: use an operation that makes a new "
                "tensor."
            )
        if self.slot is None:
            return tensor
        output = tensor.detach()
        node = ctx._nodes.get(self.slot, _nothing)()
        if node is not None:
            output.grad_fn, output._requires_grad = node, True
        return output


def _nothing() -> None:
    """What a dead reference gives."""


class FunctionCtx:
    """What ``forward`` leaves for ``backward``: the ``ctx`` of a :class:`Function`.

    Besides what its methods keep, any attribute may be set on it.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply`` whether its gradient will be used.
    """

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _node: Callable[[], Node | None] = staticmethod(_nothing)
    _nodes: dict[int, Callable[[], Node | None]] = {}  # noqa: RUF012 - replaced, never changed
    _places: tuple[bool, ...] = ()
    _shapes: tuple[tuple[int, ...], ...] = ()
    _outputs: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``backward``, which finds them in :attr:`saved_tensors`; once, in ``forward``."""
        for place, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    f"{type(tensor).__name__}; what is no tensor can be an attribute, as in ctx.n = n"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Accepted for PyTorch's sake: autokit calls no ``jvp``."""

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What :meth:`save_for_backward` kept.

        Raises
        ------
        RuntimeError
            If one was changed in place since, or they were freed by a backward pass.
        """
        node = self._node()
        if node is None:
            return ()
        if node.freed:
            raise RuntimeError(f"{FREED} The tensors were saved by {node.name()}.")
        return tuple(one and one.unpack(self) for one in (node.saved or {}).get("ctx", ()))

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which arguments ``forward`` changes in place; it must return them."""
        self._dirty = _tensors("mark_dirty can only accept variables, but argument", tensors)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results have no gradient, such as indices."""
        self._constant = _tensors("mark_non_differentiable only accepts variable arguments, but got", tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros, in place of None, for results that no gradient came back to."""
        self.materialize_grads = value

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _tensors(complaint: str, values: tuple[Any, ...]) -> tuple[Tensor, ...]:
    for place, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{complaint} {place} of type {type(value).__name__}")
    return values


class Function:
    """An operation with a derivative of one's own.

    Subclasses define two static methods, and are run by :meth:`apply`:

    * ``forward(ctx, *args)`` computes the result; or ``forward(*args)``
      together with ``setup_context(ctx, inputs, output)``, which then does
      what has to be done for the way back.
    * ``backward(ctx, *grad_outputs)`` gets the gradient of each result, and
      returns one gradient for each argument of ``forward``: None for what is
      no tensor or needs none.

    ``backward`` is recorded under ``create_graph=True``; it can be
    differentiated itself if it is written in operations on tensors.
    ``jvp`` and ``vmap`` may be defined, and are not called.

    Raises
    ------
    RuntimeError
        While gradients flow: if ``backward`` returns another number of
        gradients than there were arguments, or one of another shape.

    Examples
    --------
    >>> import autokit as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad_output
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y.backward()
    >>> y, x.grad
    (tensor(8., grad_fn=<CubeBackward>), tensor(12.))
    """

    _context: type[FunctionCtx] = FunctionCtx
    _operations: dict[tuple[int, ...], Operation]

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls._context = type(f"{cls.__name__}Backward", (FunctionCtx,), {})
        cls._operations = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: {type(self).__name__}.apply(...). Instantiating an "
            "autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method, and call "
            f"{type(self).__name__}.apply(...). "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; to be defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Prepare ``ctx``, where ``forward`` takes none; may be defined by the subclass."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """From the gradient of each result, make that of each argument; to be defined by the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward``, and put it into the graph where a tensor among ``args`` requires grad."""
        ctx = cls._context()
        apart = cls.setup_context is not Function.setup_context
        if apart or kwargs:
            args = _positional(cls.forward, args if apart else (ctx, *args), kwargs, apart)[not apart :]
        ctx.needs_input_grad = tuple([isinstance(a, Tensor) and a._requires_grad for a in args])
        operands = tuple([a for a in args if isinstance(a, Tensor)])
        # Taken now, since forward may change an argument in place.
        sources = tuple([t.grad_fn or t for t in operands])
        with no_grad():
            if apart:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        outputs = list(result) if isinstance(result, tuple) else [result]
        _check_dirty(ctx, operands, outputs)
        learns = thread.state.grad_enabled and any(ctx.needs_input_grad)
        if learns:
            ctx._places = tuple([isinstance(a, Tensor) for a in args])
            ctx._shapes = tuple([tensor.array.shape for tensor in operands])
            _record(cls, ctx, operands, sources, outputs)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def _positional(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool
) -> tuple[Any, ...]:
    """All arguments of a call by position, and ``defaults`` too."""
    try:
        bound = signature(forward).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"forward() {error}") from None
    if defaults:
        bound.apply_defaults()
    elif bound.kwargs:
        raise TypeError(f"forward() got an unexpected keyword argument {next(iter(bound.kwargs))!r}")
    return bound.args


def _check_dirty(ctx: FunctionCtx, operands: tuple[Tensor, ...], outputs: list[Any]) -> None:
    """Refuse a wrong ``mark_dirty``, and let arguments that are returned be tensors of their own."""
    given, dirty = _ids(operands), _ids(ctx._dirty)
    if not dirty <= _ids(outputs):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs "
            "that are modified inplace must all be outputs of the Function."
        )
    if not dirty <= given:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
            "mutated should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=3,
        )
    for slot, output in enumerate(outputs):
        if id(output) in given and id(output) not in dirty:
            outputs[slot] = output.detach()


def _record(
    cls: type[Function],
    ctx: FunctionCtx,
    operands: tuple[Tensor, ...],
    sources: tuple[Any, ...],
    outputs: list[Any],
) -> None:
    """Give each of ``outputs`` that has a gradient its place in the graph, and ``ctx`` what it keeps."""
    constant, dirty = _ids(ctx._constant), _ids(ctx._dirty) & _ids(operands)
    joining = {
        slot: output
        for slot, output in enumerate(outputs)
        if isinstance(output, Tensor) and output.array.dtype.kind in "fc" and id(output) not in constant
    }
    for output in joining.values():
        if id(output) in dirty and output._requires_grad and output.grad_fn is None:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation. To update a "
                "parameter, do it inside `with torch.no_grad():`"
            )
    if not joining:
        return
    slots = {id(output): slot for slot, output in joining.items()}
    ctx._outputs = tuple(
        [
            (one.array.shape, one.array.dtype, one.device) if isinstance(one, Tensor) else None
            for one in outputs
        ]
    )
    learns = tuple([needed for needed, is_tensor in zip(ctx.needs_input_grad, ctx._places) if is_tensor])
    # What forward changed is no picture of what came in, and would hold its own node.
    shown = tuple(
        [
            None if not learning and (id(one) in dirty or one.array.size > thread.state.keep) else source
            for one, source, learning in zip(operands, sources, learns)
        ]
    )
    node, nodes = join(_operation_of(cls, ctx._places), joining, shown, learns, {"ctx": ctx})
    ctx._node = ref(node)
    ctx._nodes = {slot: ref(each) for slot, each in nodes.items()}
    for slot, each in nodes.items():
        output = made = joining[slot]
        if id(output) in dirty:
            made = new_tensor(output.array)
        made.grad_fn, made._requires_grad, each.storage = each, True, made._storage
        if made is not output:
            with noted_change(output):
                overwrite(output, made)
    saved = [tensor if tensor is None else _Saved(tensor, slots.get(id(tensor))) for tensor in ctx._to_save]
    if saved:
        node.saved = {"ctx": tuple(saved)}
    ctx._to_save = ctx._dirty = ctx._constant = ()


def _ids(values: Iterable[Any]) -> set[int]:
    return {id(value) for value in values if isinstance(value, Tensor)}


def _operation_of(cls: type[Function], places: tuple[bool, ...]) -> Operation:
    """``cls`` as the engine and the pictures know operations, for calls with tensors at ``places``."""
    known = cls._operations.get(places)
    if known is None:
        names = [name for name, is_tensor in zip(_names(cls, len(places)), places) if is_tensor]
        known = cls._operations[places] = custom_operation(
            cls.__name__,
            names,
            "ctx",
            lambda g, ctx: _run_backward(cls, ctx, g),
            f"{cls.__name__}Backward",
            f"{cls.__name__}.backward",
        )
    return known


def _names(cls: type[Function], count: int) -> list[str]:
    """A name for each of ``count`` arguments of ``forward``, as its definition calls them."""
    try:
        parameters = list(signature(cls.forward).parameters.values())
    except (TypeError, ValueError):  # a function that is not written in Python
        parameters = []
    if cls.setup_context is Function.setup_context:
        parameters = parameters[1:]
    single = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "input")
    names = [*single, *(f"{rest}{place}" for place in range(count))][:count]
    return [f"{name}_" if name in ("ctx", "out", "shape") else name for name in names]


def _run_backward(cls: type[Function], ctx: FunctionCtx, gradient: Any) -> list[Any]:
    """The gradients that ``backward`` makes for the tensors among the arguments, as the engine takes them."""
    recorded = thread.state.grad_enabled
    slots = gradient.slots if isinstance(gradient, Parts) else {next(iter(ctx._nodes)): gradient}
    arriving = []
    for slot, like in enumerate(ctx._outputs):
        one = slots.get(slot)
        if one is None and like is not None and ctx.materialize_grads:
            shape, dtype, device = like
            one = module_for(device).zeros(shape, dtype)
        arriving.append(one if one is None or isinstance(one, Tensor) else new_tensor(one))
    made = (cls.vjp if cls.backward is Function.backward else cls.backward)(ctx, *arriving)
    made = _one_for_each(ctx, made if isinstance(made, tuple) else (made,))
    return made if recorded else [one if one is None else one.array[...] for one in made]
    # array[...] is a view, which tells the engine that the memory may be somebody else's.


def _one_for_each(ctx: FunctionCtx, made: tuple[Any, ...]) -> list[Any]:
    """What ``backward`` returned for the arguments that are tensors, checked."""
    name, places = type(ctx).__name__, ctx._places
    if len(made) > len(places) and all(one is None for one in made[len(places) :]):
        made = made[: len(places)]
    if len(made) != len(places):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(places)}, got "
            f"{len(made)}): backward returns one for each argument of forward, None for what is no tensor"
        )
    gradients: list[Any] = []
    for place, (one, is_tensor) in enumerate(zip(made, places)):
        if not is_tensor:
            if one is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {place + 1}, but "
                    "the corresponding forward input was not a Variable"
                )
            continue
        if one is not None and not isinstance(one, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(one).__name__}): {name} returns it as gradient {place}"
            )
        shape = ctx._shapes[len(gradients)]
        if one is not None and ctx.needs_input_grad[place] and not _expands(shape, one.array.shape):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {place} - got "
                f"{list(one.array.shape)} but expected shape compatible with {list(shape)}"
            )
        gradients.append(one)
    return gradients


def _expands(shape: tuple[int, ...], larger: tuple[int, ...]) -> bool:
    """Whether a tensor of ``shape`` can be expanded to the shape ``larger``."""
    tail = larger[len(larger) - len(shape) :]
    return len(shape) <= len(larger) and all(own in (1, size) for own, size in zip(shape, tail))


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a ``backward`` that computes outside of the graph: differentiating it again raises.

    Examples
    --------
    >>> import autokit as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad_output):
    ...         return grad_output * 2
    """

    @wraps(backward)
    def once(ctx: FunctionCtx, *gradients: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *gradients)
        learns = any(isinstance(one, Tensor) and one._requires_grad for one in gradients)
        if not (thread.state.grad_enabled and learns):
            return outputs
        made = outputs if isinstance(outputs, tuple) else (outputs,)
        made = tuple(
            [_Twice.apply(one.detach().requires_grad_()) if isinstance(one, Tensor) else one for one in made]
        )
        return made if isinstance(outputs, tuple) else made[0]

    return once


class _Twice(Function):
    """A gradient that has no gradient."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
