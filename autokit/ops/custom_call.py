"""One call of a custom function: its place in the graph, what it saves, and how its gradients are checked.

What a learner writes against is in ``autograd.function``; here is what runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from autokit.devices import computing_on, made_beside, module_for
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.custom import Parts, custom_operation, hold, join, output_of
from autokit.ops.errors import ChangedSince
from autokit.ops.inplace import noted_change, overwrite
from autokit.ops.packing import SavedTensor
from autokit.ops.recording import CUSTOM, INFERENCE_SAVED, share_storage
from autokit.ops.rules import Operation
from autokit.ops.views import of_custom_function
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread

if TYPE_CHECKING:
    from autokit.autograd.function import Function, FunctionCtx
    from autokit.autograd.node import Node


class Saved:
    """A tensor that a context keeps, and how to tell that it was changed since.

    Of an output it keeps the elements alone: holding the tensor would hold its
    node, which holds this.
    """

    __slots__ = ("slot", "tensor", "version")

    def __init__(self, tensor: Tensor, slot: int | None) -> None:
        if tensor.is_inference():
            raise RuntimeError(INFERENCE_SAVED)
        self.version = tensor._version
        self.slot = slot
        packers = thread.state.packers
        kept = tensor.detach() if slot is not None else tensor
        self.tensor = packers[-1].pack(kept) if packers else kept

    def raw(self, ctx: FunctionCtx, node: Node) -> SavedTensor:
        """What lets a program pack it: ``y.grad_fn._raw_saved_tensors``."""

        def value() -> Any:
            return self.unpack(ctx) if isinstance(self.tensor, Tensor) else self.tensor

        return SavedTensor(node, value, lambda packed: setattr(self, "tensor", packed))

    def unpack(self, ctx: Any) -> Tensor:
        packed = not isinstance(self.tensor, Tensor)
        tensor = self.tensor.tensor() if packed else self.tensor
        if not packed and tensor._version != self.version:
            maker = (
                f"output {self.slot} of {type(ctx).__name__}"
                if self.slot is not None
                else (f"output 0 of {tensor._node.name()}" if tensor._node is not None else "")
            )
            raise ChangedSince(
                "one of the variables needed for gradient computation has been modified by an inplace "
                f"operation: [torch.{tensor.dtype.name} {list(tensor.shape)}]"
                + (f", which is {maker}," if maker else "")
                + f" is at version {tensor._version}; expected version {self.version} instead. "
                f"{type(ctx).__name__} saved it with save_for_backward: use an operation that makes a new "
                "tensor."
            )
        if self.slot is None:
            return tensor
        output, whole = tensor.detach(), ctx._node()
        if whole is not None:
            node = ctx._nodes[self.slot]()
            if node is None:  # nobody else holds this output
                node = output_of(whole, self.slot, output.array)
                ctx._nodes[self.slot] = ref(node)
            output._node, output._requires_grad = node, True
        return output


def nothing() -> None:
    """What a dead reference gives."""


def check_dirty(ctx: FunctionCtx, operands: tuple[Tensor, ...], outputs: list[Any], recording: bool) -> None:
    """Refuse a wrong ``mark_dirty``, and let arguments that are returned be views of themselves."""
    given, dirty, constant = _ids(operands), _ids(ctx._dirty), _ids(ctx._constant)
    if not dirty <= _ids(outputs):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs "
            "that are modified inplace must all be outputs of the Function."
        )
    if not dirty <= given:
        warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
            "mutated should be passed to ctx.mark_dirty().",
        )
    for slot, output in enumerate(outputs):
        if id(output) in given and id(output) not in dirty:
            outputs[slot] = same = output.detach()
            if id(output) in constant:
                ctx._constant += (same,)
            elif recording or not output._requires_grad:
                share_storage(output, same)


def positional(
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


def record_call(
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
        if isinstance(output, Tensor)
        and output.array.dtype.kind in DIFFERENTIABLE
        and id(output) not in constant
    }
    for output in joining.values():
        if id(output) in dirty and output._requires_grad and output._node is None:
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
        made._node, made._requires_grad, each.storage = each, True, made._storage
        if "_made" in made.__dict__:
            of_custom_function(made, CUSTOM if len(outputs) == 1 else slot)
        if made is not output:
            with noted_change(output):
                overwrite(output, made)
    saved = [tensor if tensor is None else Saved(tensor, slots.get(id(tensor))) for tensor in ctx._to_save]
    ctx._kept = hold(node, saved, [one.tensor for one in saved if one is not None])
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
            (lambda moving, ctx: _run_jvp(cls, ctx, moving)) if has_jvp(cls) else None,
        )
    return known


def _names(cls: type[Function], count: int) -> list[str]:
    """A name for each of ``count`` arguments of ``forward``, as its definition calls them."""
    try:
        parameters = list(signature(cls.forward).parameters.values())
    except (TypeError, ValueError):  # a function that is not written in Python
        parameters = []
    if cls._takes_context():
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
            with computing_on(device):
                one = module_for(device).zeros(shape, dtype)
        arriving.append(one if one is None or isinstance(one, Tensor) else new_tensor(one))
    made = _rule(cls)(ctx, *arriving)
    made = _one_for_each(ctx, made if isinstance(made, tuple) else (made,))
    return made if recorded else [one if one is None else one.array[...] for one in made]
    # array[...] is a view, which tells the engine that the memory may be somebody else's.


def _rule(cls: type[Function]) -> Callable[..., Any]:
    from autokit.autograd.function import Function

    if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
            "only implement one of them."
        )
    return cls.vjp if cls.backward is Function.backward else cls.backward


def has_jvp(cls: type[Function]) -> bool:
    """Whether the learner defined how the results move."""
    from autokit.autograd.function import Function

    return cls.jvp is not Function.jvp


def _run_jvp(cls: type[Function], ctx: FunctionCtx, moving: dict[int, Tensor]) -> Any:
    """The same, as :class:`~autokit.func.forward.Tape` carries them; of a copy, one for each direction."""
    from copy import copy

    made = jvp_of(cls, copy(ctx), moving, ctx._outputs)
    slots = {slot: made[slot] for slot in ctx._nodes if made[slot] is not None}
    return Parts(slots) if len(ctx._nodes) > 1 else next(iter(slots.values()), None)


def jvp_of(
    cls: type[Function], ctx: FunctionCtx, moving: dict[int, Tensor], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """The tangents that the learner's ``jvp`` makes from those of the tensors among the arguments.

    ``outputs`` has the shape of each result first, or None.
    """
    tangents, place = [], 0
    for is_tensor in ctx._places:
        one = moving.get(place) if is_tensor else None
        if is_tensor and one is None and ctx.materialize_grads:
            like = next(iter(moving.values()))
            one = new_tensor(made_beside(np.zeros_like, like.array, shape=ctx._shapes[place]))
        tangents.append(one)
        place += is_tensor
    made = cls.jvp(ctx, *tangents)
    made = made if isinstance(made, tuple) else (made,)
    if len(made) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(made)}): {cls.__name__}.jvp returns one for each result of "
            "forward, None for what does not move"
        )
    for slot, (one, like) in enumerate(zip(made, outputs)):
        if one is not None and not isinstance(one, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(one).__name__}) for grad output {slot}: "
                f"{cls.__name__}.jvp returns it"
            )
        if one is not None and like is not None and one.array.shape != like[0]:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original "
                f"Tensor, this is not supported. Tensor is of size {list(like[0])} while the given forward "
                f"gradient is of size {list(one.array.shape)}. {cls.__name__}.jvp returns it."
            )
    return made


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
