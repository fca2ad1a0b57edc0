"""Changing a tensor where it stands: ``x += 1``, ``x[0] = 1``, ``x.zero_()``.

An in-place operation is the operation itself, whose result then overwrites
the tensor.  The tensor takes over the result's place in the graph, and its
storage notes the change, so that a derivative that saved the old elements
refuses to use the new ones.  Where the tensor is a view, the change becomes
part of its base's history too, and of every other view's; see ``views``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from sys import _getframe as get_frame
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.autograd.modes import no_grad
from autokit.autograd.node import Hooks
from autokit.current_gpu import OnGPU
from autokit.devices import beside, copied
from autokit.dtypes import COMPLEX, HALVES
from autokit.memory import INFERENCE, Storage
from autokit.meta_array import META
from autokit.ops import complex_numbers, overlaps
from autokit.ops.bounds import at_first_places, index_error, leaves_nothing
from autokit.ops.convert import cast, converted
from autokit.ops.errors import broadcast_message, broadcast_shape, describe, kind_of, way_to_a_tensor
from autokit.ops.gpu.arrays import is_writable, like
from autokit.ops.index import (
    getitem,
    guarded_by_index,
    is_array,
    is_basic,
    plain_getitem,
    plain_index,
    put,
    shape_at,
    write,
)
from autokit.ops.names import Names, clearer
from autokit.ops.operands import common_dtype, fitting, on_one_device
from autokit.ops.overlaps import refuse_overlap, share_memory
from autokit.ops.own_copies import keep_elements
from autokit.ops.recording import OUR_FILES, storage_of
from autokit.ops.unusual import other_gpu_of, refuse_beside_meta
from autokit.ops.views import rebase, refuse_view
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread


def in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form of an operation: ``add`` as ``add_``."""
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code is not None else ()
    takes_dtype = "dtype" in names
    name = function.__name__
    fills = name in overlaps.FILL

    def apply(input: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        gpu = other_gpu_of((input,)) if UNUSUAL else None
        if COMPLEX:
            complex_numbers.refuse_function(apply.__name__, (input,))
        if gpu is not None:
            with OnGPU(gpu):
                return apply(input, *arguments, **settings)
        try:
            others = (*arguments, *settings.values()) if settings else arguments
            recorded = input._requires_grad
            for other in others:
                if isinstance(other, Tensor):
                    if other._requires_grad:
                        recorded = True
                    if share_memory(input.array, other.array):
                        refuse_overlap(name, input, (other,))
            recorded = recorded and thread.state.grad_enabled
            refuse_change(input, recorded, fills)
            if META in UNUSUAL:
                refuse_beside_meta(name, (input, *others))
            if fills and overlaps.repeats(input.array):
                overlaps.warn_of_expanded(name, _accumulates(name, arguments, settings))
            if takes_dtype:
                settings = _with_own_dtype(function, input, arguments, settings)
            if recorded:
                with noted_change(input) as noted:
                    before, arguments, settings = _as_they_were(input, arguments, settings, noted.before)

                    def fill(tensor: Tensor) -> Tensor:
                        return function(tensor, *arguments, **settings)

                    overwrite(input, fill(before), fill if fills else None)
                    _change_what_was(before, input)
            else:
                before = input
                if UNUSUAL and thread.state.forward:
                    from autokit.func.tangents import before_change

                    before = before_change(input)
                overwrite(input, function(before, *arguments, **settings))
                mark_changed(input)
        except Exception as error:
            if not isinstance(input, Tensor):
                raise TypeError(
                    f"{apply.__name__}(): argument 'input' (position 1) must be Tensor, not "
                    f"{type(input).__name__}; {way_to_a_tensor(input)}"
                ) from None
            if isinstance(error, NotImplementedError) and name not in _REFUSE_FIRST:
                _require_kind(input, common_dtype([input, *_operands(function, others)]))
            raise clearer(error, function, (input, *arguments), settings, apply.__name__) from error.__cause__
        return input

    apply.__name__ = apply.__qualname__ = f"{function.__name__}_"
    apply.out_of_place = function  # type: ignore[attr-defined]
    apply.__doc__ = f"In-place form of :func:`{function.__name__}`: the result overwrites the tensor."
    return apply


_REFUSE_FIRST = {"lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal"}
_REFUSE_FIRST |= {"clamp_min", "clamp_max"}
"""What tells of operands that it cannot take before it tells of a result that would lose its kind."""


def _operands(function: Callable[..., Tensor], others: tuple[Any, ...]) -> list[Any]:
    """What of ``others`` meets the elements of the tensor one by one, and so has a part in the dtype."""
    rule = getattr(function, "operation", None)
    kinds = (Tensor, bool, int, float, complex)
    return [other for other in others if isinstance(other, kinds)] if rule and len(rule.operands) > 1 else []


def _accumulates(name: str, arguments: tuple[Any, ...], settings: dict[str, Any]) -> bool:
    """Whether ``index_put_`` is asked to add instead of to overwrite."""
    return name == "index_put" and (settings.get("accumulate") is True or arguments[2:3] == (True,))


def _with_own_dtype(
    function: Callable[..., Tensor], tensor: Tensor, arguments: tuple[Any, ...], settings: dict[str, Any]
) -> dict[str, Any]:
    """The settings with the tensor's own dtype, for a function whose result else might be of another."""
    dtype = settings.pop("dtype", None)
    if dtype is not None and dtype != tensor.dtype:
        function(tensor, *arguments, **settings)  # of two mistakes the other is told
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {tensor.dtype.name} and output tensor dtype {dtype.name} "
            f"should match: leave out dtype, or the underscore: {function.__name__}() makes a new one"
        )
    return {**settings, "dtype": tensor.dtype}


def in_place_unrecorded(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form of what PyTorch does not record: gradients go back as if there were no change."""
    change = in_place(function)

    @wraps(change)
    def apply(input: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        forward, thread.state.forward = thread.state.forward, ()  # and so do tangents
        try:
            with no_grad():
                return change(input, *arguments, **settings)
        finally:
            thread.state.forward = forward

    return apply


def _is_recorded(tensor: Tensor, others: tuple[Any, ...]) -> bool:
    return thread.state.grad_enabled and (
        tensor._requires_grad or any(isinstance(other, Tensor) and other._requires_grad for other in others)
    )


def refuse_change(tensor: Tensor, recorded: bool = False, fills: bool = False, part: bool = False) -> None:
    """Raise where a change in place would lose a gradient, or change one number for several elements.

    Of a change that is ``recorded`` because of another operand more is asked; one that ``fills`` may change
    one number for several elements.
    """
    array = tensor.array
    if not is_writable(array) or (not fills and 0 in array.strides and overlaps.repeats(array)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location, or it may not be written to. Please clone() the tensor before performing the "
            f"operation. It is {describe(tensor)}."
        )
    refuse_unrecorded(tensor, recorded, part)


def refuse_unrecorded(tensor: Tensor, recorded: bool = False, part: bool = False) -> None:
    """Raise where a change of a tensor in place, or of a ``part`` of it, would lose a gradient."""
    storage = tensor._storage
    if storage is not None:
        if storage is INFERENCE and not thread.state.inference:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a "
                f"clone to get a normal tensor before doing inplace update: {describe(tensor)}.clone()"
            )
        if storage.keepers:
            keep_elements(storage)
    if not thread.state.grad_enabled:
        return
    base = tensor.__dict__.get("_base")
    if base is not None:
        refuse_view(tensor, base, recorded)
    if tensor._requires_grad and tensor._node is None:
        raise RuntimeError(
            f"a {'view of a ' * part}leaf Variable that requires grad is being used in an in-place "
            f"operation: {describe(tensor)}. To update a parameter, do it inside `with torch.no_grad():`"
        )


def as_it_was(tensor: Tensor) -> Tensor:
    """The tensor before a change, with its place in the graph, which keeps the old elements from now on."""
    before = new_tensor(copied(tensor.array))
    node = before._node = tensor._node
    before._requires_grad = tensor._requires_grad
    if node is not None and node.output is tensor.array:
        node.output, node.storage = before.array, storage_of(tensor).at_rest()
    if tensor.name:
        before.name = tensor.name
    if UNUSUAL and thread.state.forward:
        from autokit.func.tangents import keep

        keep(tensor, before)
    return before


def _as_they_were(
    tensor: Tensor, arguments: tuple[Any, ...], settings: dict[str, Any], modified: int
) -> tuple[Tensor, tuple[Any, ...], dict[str, Any]]:
    """The tensor before a change, and the operands, before it too where they share its elements.

    The change is noted already; the one before it came when ``modified`` says.
    """
    before, storage = as_it_was(tensor), storage_of(tensor)
    resting: Storage | None = None

    def was(other: Any) -> Any:
        nonlocal resting
        if not isinstance(other, Tensor) or other._storage is not storage:
            return other
        copy = before if other is tensor else as_it_was(other)
        if resting is None:
            resting = storage.at_rest()
            resting.modified = modified
        copy._storage = before._storage = resting
        if copy._node is not None and copy._node.output is copy.array:
            copy._node.storage = resting
        return copy

    return before, tuple(map(was, arguments)), {name: was(other) for name, other in settings.items()}


def _change_what_was(before: Tensor, tensor: Tensor) -> None:
    """Let a derivative that needs an operand's old elements, now overwritten, raise as in PyTorch."""
    if before._storage is not None:
        before._storage.change(*storage_of(tensor).changes[-1][1:])  # type: ignore[index]


class noted_change:
    """A recorded change, noted before it is made, so that its nodes are newer; an error takes that back."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.storage = tensor, storage_of(tensor)

    def __enter__(self) -> noted_change:
        self.before = self.storage.modified
        listens = self.storage.__class__ is not Storage
        self.places = [(view, view._node) for view in self.storage.living_views()] if listens else ()
        mark_changed(self.tensor)
        return self

    def __exit__(self, kind: Any, *error: object) -> None:
        if kind is None:
            return
        self.storage.modified = self.before
        self.storage.version -= 1
        self.storage.changes.pop()  # type: ignore[union-attr]
        for view, place in self.places:
            view._node = place
        for each in (self.tensor, self.tensor._base, *self.storage.living_views()):
            node = None if each is None else each._node
            if node is not None and node.output is not None and node.storage is not self.storage:
                node.output, node.storage = each.array, self.storage  # type: ignore[union-attr]


def overwrite(tensor: Tensor, result: Tensor, fill: Callable[[Tensor], Tensor] | None = None) -> None:
    """Let ``tensor`` hold the elements of ``result``, and its place in the graph.

    Where one place is several elements, what ``fill`` makes of other tensors tells which of them it wrote.

    Raises
    ------
    RuntimeError
        If the shape would change, or the elements would lose their kind.
    """
    array, made = tensor.array, result.array
    if made.shape != array.shape:
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape "
            f"{list(made.shape)}: an in-place operation keeps the shape of {describe(tensor)}"
        )
    _require_kind(tensor, made.dtype)
    if UNUSUAL and thread.state.forward:
        from autokit.func.tangents import follow

        follow(tensor, result)
    if result._node is None and tensor._requires_grad and thread.state.grad_enabled:
        result = put(
            as_it_was(tensor), result, index=(Ellipsis,), made_by="CopyBackwards"
        )  # the old elements get no gradient
    base = tensor.__dict__.get("_base") if result._node is not None else None
    before = _base_as_it_was(base) if base is not None else None
    last = None
    if base is not None and overlaps.overlaps_itself(array):
        last = _written_by(fill, array) if fill is not None else overlaps.differ(array, made)
    overlaps.change(array, made)
    if result._node is not None:
        rebase(tensor, result, before, last)


def _written_by(fill: Callable[[Tensor], Tensor], array: Any) -> Any:
    """Which elements of ``array`` are written by ``fill``: those that it makes alike in zeros and ones."""
    with no_grad():
        zeros, ones = (
            fill(new_tensor(like(np.full_like, array, n, shape=array.shape))).array for n in (0, 1)
        )
    return (zeros == ones) | (zeros != zeros)


def _require_kind(tensor: Tensor, made: np.dtype) -> None:
    """Raise where elements of the dtype ``made`` would lose their kind in ``tensor``."""
    if dtypes.category(made) > dtypes.category(tensor.array.dtype):
        raise RuntimeError(
            f"result type {_capital(made)} can't be cast to the desired output type "
            f"{_capital(tensor.array.dtype)}: an in-place operation keeps the dtype of {describe(tensor)}"
        )


def _base_as_it_was(base: Tensor) -> Tensor:
    """The base before a change: a copy for the picture where it is small, else only its place there."""
    if base.array.size <= thread.state.keep:
        return as_it_was(base)
    before = new_tensor(base.array)
    before._node, before._requires_grad = base._node, base._requires_grad
    return before


def _capital(dtype: np.dtype) -> str:
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long", "int32": "Int"}
    return names.get(dtype.name, dtype.name.capitalize())


def mark_changed(tensor: Tensor) -> None:
    """Note that the elements of ``tensor`` were changed, after a change made directly to its array."""
    frame = get_frame(1)
    while OUR_FILES[frame.f_code.co_filename]:
        frame = frame.f_back  # type: ignore[assignment]
    storage_of(tensor).change(frame.f_code, frame.f_lasti)


def setitem(self: Tensor, index: Any, value: Any, fills: bool = False, made_by: str = "") -> None:
    """Write ``value`` at ``index``; a place named twice is written once.  ``fills`` as in refuse_change."""
    gpu = other_gpu_of((self,)) if UNUSUAL else None
    if gpu is not None:
        with OnGPU(gpu):
            return setitem(self, index, value, fills, made_by)
    entries = plain_index(self, index)
    if not (fills or self.array.flags.c_contiguous) and overlaps.overlaps_itself(self.array):
        if not is_basic(entries):
            if overlaps.repeats(self.array):
                overlaps.warn_of_expanded("index_put", accumulate=False)
            fills = True
        else:
            part = plain_getitem(self, index=entries)
            if part.array.shape != self.array.shape:
                return setitem(part, Ellipsis, value)
    learns = isinstance(value, Tensor) and value._requires_grad
    try:
        refuse_change(
            self, learns, fills, any(entry is not Ellipsis for entry in entries) and is_basic(entries)
        )
    except RuntimeError:
        getitem(self.detach(), index)  # of two mistakes the index is told
        raise
    if not isinstance(value, Tensor):
        value, made_by = _as_element(value, self), made_by or "FillBackward3"
    else:
        if value.array.dtype != self.array.dtype and not is_basic(entries):
            _require_dtype_of_places(self, entries, value)
        if value.array.ndim and value.array.size == 1:
            value = value.reshape(())  # one element fits everywhere, whatever its dimensions
        if share_memory(self.array, value.array):
            _refuse_sharing(self, entries, value)
    if isinstance(value, Tensor) and not (self.array.__class__ is value.array.__class__ is np.ndarray):
        if is_basic(entries) or not value.array.ndim:
            value = value.to(self.device)
        on_one_device(put.operation, (self, value))
    try:
        if _is_recorded(self, (value,)):
            with noted_change(self):

                def fill(tensor: Tensor) -> Tensor:
                    made = put(tensor, value, index=entries, made_by=made_by or "CopyBackwards")
                    return made if made._node is None or is_basic(entries) else guarded_by_index(made, index)

                overwrite(self, fill(as_it_was(self)), fill if fills else None)
            return
        write(self.array, entries, value.array if isinstance(value, Tensor) else value)
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _OF_SHAPES.search(str(error)):
            raise
        part = shape_at(self, entries)
        shape = value.array.shape if isinstance(value, Tensor) else ()
        if broadcast_shape(shape, part) != part:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing "
                f"result of shape {list(part)}. {broadcast_message(shape, part)}"
            ) from error
        if not isinstance(error, IndexError):
            raise
        if not leaves_nothing(self.array.shape, entries):
            raise index_error(self, entries, error) from None
        return setitem(self, at_first_places(entries), value, fills, made_by)
    if UNUSUAL and thread.state.forward:
        from autokit.func.tangents import follow_item

        follow_item(self, entries, value)
    mark_changed(self)


_OF_SHAPES = re.compile("could not (be )?broadcast|The size of tensor")
"""How an error says that a value does not fit its place."""


_BOOL = np.dtype(bool)


def _require_dtype_of_places(tensor: Tensor, entries: tuple[Any, ...], value: Tensor) -> None:
    """Raise where ``value``, of another dtype, is more than one number for the places of one mask."""
    arrays = [entry for entry in entries if is_array(entry)]
    if entries[0].__class__ is bool and len(entries) == 1:
        return  # PyTorch copies it into a view of the whole
    if value.array.size == 1 and len(arrays) == 1 and getattr(arrays[0], "dtype", _BOOL).kind == "b":
        return
    shape_at(tensor, entries)  # of two mistakes a mask's is told
    raise RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{kind_of(tensor)} for the destination and {kind_of(value)} for the source: convert "
        f"{describe(value)} with .to({tensor.dtype})"
    )


def _refuse_sharing(tensor: Tensor, entries: tuple[Any, ...], value: Tensor) -> None:
    """Raise where ``value`` shares memory with its place, and is not just repeated there."""
    if not is_basic(entries):
        if value.array.ndim or any(entry.dtype.kind != "b" for entry in entries if hasattr(entry, "dtype")):
            refuse_overlap("index_put", tensor, (value,))  # else only the number is read, once
    elif value.array.ndim:
        part = new_tensor(plain_getitem.operation.forward(tensor.array, entries))
        if part.array.size == value.array.size:  # leading dimensions of size 1 are of no importance
            refuse_overlap("copy", part, (new_tensor(value.array.reshape(part.array.shape)),))


def _as_element(value: Any, tensor: Tensor) -> Any:
    """The number ``value`` as an element of ``tensor``; what is no number is refused, as PyTorch does."""
    if not isinstance(value, int | float | complex | np.integer):
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(
            f"can't assign a {name} to a {tensor.type()}; give a number, or make a tensor of it with "
            "torch.tensor(...)"
        )
    if isinstance(value, np.integer):
        value = int(value)
    if tensor.array.dtype in HALVES and not isinstance(value, complex):
        return value  # what is too large for them becomes inf
    return fitting(value, tensor.array.dtype)


def set_data(tensor: Tensor, array: Any) -> None:
    """Let ``tensor`` hold another array: what ``tensor.data = value`` does.

    The graph is left as it is, but a derivative that needs the old elements
    refuses to use the new ones.
    """
    if array is tensor.array:
        return
    if tensor._requires_grad and array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype, not "
            f"{dtypes.BY_NUMPY[array.dtype].name}"
        )
    if thread.state.forward and array.shape != tensor.array.shape:
        from autokit.func.tangents import forget

        forget(tensor)
    known = tensor._storage
    tensor.array, tensor._storage = array, None if known is None else known.at_rest()
    Hooks.turned_leaves |= not array.flags.c_contiguous
    if tensor._node is not None:
        # The node keeps the old elements, and a new one stands for the tensor with the new.
        before = new_tensor(array)
        before._node, before._requires_grad = tensor._node, True
        tensor._node = plain_getitem(before, index=(Ellipsis,))._node
        tensor._node.output = array  # type: ignore[union-attr]
    else:
        mark_changed(tensor)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set each element to ``value``, a number or a tensor without dimensions."""
    return _filled(self, value, f"FillBackward{2 + isinstance(value, Tensor)}")


def _filled(self: Tensor, value: Any, made_by: str) -> Tensor:
    if isinstance(value, Tensor) and value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions: copy_() takes over many elements"
        )
    if not isinstance(value, Tensor | int | float | complex | np.generic):
        raise TypeError(f"fill_(): argument 'value' must be a number or a Tensor, not {type(value).__name__}")
    is_number = not isinstance(value, Tensor)
    value = fitting(value, self.array.dtype) if is_number else value
    setitem(self, Ellipsis, value, fills=is_number, made_by=made_by)
    return self


def zero_(self: Tensor) -> Tensor:
    """Set each element to 0."""
    return _filled(self, 0, "ZeroBackward0")


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over the elements of ``src``, which may broadcast and have another dtype."""
    if isinstance(src, bool | int | float | complex):
        # Unlike fill_(), this lets a number wrap around that does not fit.
        src = new_tensor(beside(self.array, converted(np.asarray(src), self.array.dtype)))
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    if src.array.shape != self.array.shape:
        _require_room(self, src)
    if share_memory(self.array, src.array):
        refuse_overlap("copy", self, (src,))
    setitem(self, Ellipsis, src if src.array.dtype == self.array.dtype else cast(src, self.array.dtype))
    return self


def _require_room(tensor: Tensor, source: Tensor) -> None:
    """Raise unless the elements of ``source`` broadcast to the shape of ``tensor``."""
    own, given = tensor.array.shape, source.array.shape
    try:
        common = np.broadcast_shapes(own, given)
    except ValueError:
        raise RuntimeError(
            f"{broadcast_message(own, given)}: {describe(source)} is copied into {describe(tensor)}"
        ) from None
    if common != own:
        raise RuntimeError(
            f"output with shape {list(own)} doesn't match the broadcast shape {list(common)}: copy_() keeps "
            f"the shape of {describe(tensor)}, and the source is {describe(source)}"
        )


NAMES = Names(methods="copy_ fill_ zero_")
