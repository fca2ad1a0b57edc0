"""Reading and writing parts of a tensor: ``x[index]`` and ``x[index] = value``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as whole
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.batches import Batch, NotBatched, newest, wrap
from autokit.current_gpu import computing_beside
from autokit.devices import beside, contiguous, on_a_gpu
from autokit.dtypes import FLOATS
from autokit.meta_array import MetaArray, run
from autokit.ops.bounds import at_first_places, check_bounds, index_error, leaves_nothing
from autokit.ops.gpu import ufuncs
from autokit.ops.gpu.arrays import any_of, is_on_cpu, like
from autokit.ops.guards import guard
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import apart, share_storage
from autokit.ops.strides import strided
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL

# An index is kept as arrays, numbers, slices, None and Ellipsis: what NumPy understands.


def plain_index(tensor: Tensor, index: Any, reads: bool = False) -> Any:
    """``index`` with tensors and lists turned to arrays, checked against ``tensor``.

    Where it only ``reads``, a GPU's answer is not waited for.
    """
    if index.__class__ is list and _is_of_dimensions(index):
        index = tuple(index)
    entries = index if isinstance(index, tuple) else (index,)
    made = tuple([_entry(tensor, entry) for entry in entries])
    if not is_basic(made) and (not reads or tensor._requires_grad):
        made = tuple([apart(entry, True) if hasattr(entry, "dtype") else entry for entry in made])
    if len(made) > 1 and sum([entry is Ellipsis for entry in made]) > 1:
        first = next(place for place, entry in enumerate(made) if entry is Ellipsis)
        made = tuple([entry for place, entry in enumerate(made) if entry is not Ellipsis or place == first])
    if not isinstance(tensor.array, np.ndarray | Batch | MetaArray):
        check_bounds(tensor.array.shape, made, reads)  # CuPy wraps around in silence
    return made


def _is_of_dimensions(index: list[Any]) -> bool:
    """Whether a list has an entry for each dimension, as a tuple has: one is more than a number."""
    return len(index) < 32 and any(
        entry is None or entry is Ellipsis or isinstance(entry, Tensor | Sequence | np.ndarray | slice)
        for entry in index
    )


def _entry(tensor: Tensor, entry: Any) -> Any:
    if entry.__class__ is int or entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        try:
            parts = [None if part is None else whole(part) for part in (entry.start, entry.stop, entry.step)]
        except TypeError:
            raise TypeError(
                f"slice indices must be integers or None: this one is {entry}; n // 2 is one, n / 2 is not"
            ) from None
        if parts[2] is not None and parts[2] <= 0:
            raise ValueError("step must be greater than zero: PyTorch knows no backward slices; use .flip(0)")
        return slice(*parts)
    if isinstance(entry, Tensor):
        if entry.is_cuda and not tensor.is_cuda:
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu): this one "
                f"is on {entry.device}; bring it back with .cpu()"
            )
        entry = beside(tensor.array, entry.array) if tensor.is_cuda else entry.array
        if entry.dtype.kind == "u":
            warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            )
            entry = entry.astype(bool)
        if entry.__class__ in (Batch, MetaArray) and entry.dtype.kind in "bui":
            return entry
    if isinstance(entry, bool | np.bool_):
        return bool(entry)
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, list | tuple | range | np.ndarray) or on_a_gpu(entry):
        array = np.asarray(entry) if tensor.array.__class__ is MetaArray else beside(tensor.array, entry)
        if not array.ndim and array.dtype.kind in "ui":
            return int(array) if is_on_cpu(array) else array
        if not array.size and array.dtype.kind in FLOATS:
            array = beside(tensor.array, np.zeros(array.shape, np.int64))
        if array.dtype.kind in "bui":
            return array
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, and this one is {array.dtype}"
        )
    raise (TypeError if isinstance(entry, str) else IndexError)(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(entry).__name__}); lists, and tensors of integers or bools, are such variables"
    )


def shape_at(tensor: Tensor, index: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of ``tensor[index]``, whether its places are there or not: PyTorch looks at it first."""
    first = at_first_places(index)
    try:
        return tuple(plain_getitem(tensor.detach(), index=first).array.shape)
    except IndexError as error:
        raise index_error(tensor, first, error) from None


def is_basic(index: tuple[Any, ...]) -> bool:
    """Whether ``index`` reads every element at most once, as a view: integers and slices alone."""
    return not any([is_array(entry) for entry in index])


def is_array(entry: Any) -> bool:
    """Whether an entry of an index makes it no view: an array, or a bool, which is one without dimensions."""
    return hasattr(entry, "dtype") or entry.__class__ is bool


def _steps(index: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """``index`` in one step, or in two where numbers stand beside arrays: PyTorch reads the numbers first.

    NumPy takes a number there for an array too, and so puts the dimensions in another order.
    """
    if is_basic(index) or not any(entry.__class__ is int for entry in index):
        return (index,)
    numbers: list[Any] = []
    arrays: list[Any] = []
    for entry in index:
        if hasattr(entry, "dtype"):
            numbers += [slice(None)] * (entry.ndim if entry.dtype.kind == "b" else 1)
            arrays.append(entry)
        elif isinstance(entry, bool):
            arrays.append(entry)
        else:
            numbers.append(entry)
            if entry.__class__ is not int:
                arrays.append(entry if entry is Ellipsis else slice(None))
    return tuple(numbers), tuple(arrays)


def read_at(a: Any, index: tuple[Any, ...]) -> Any:
    """``a[index]``, where the index may be another one for each sample of a ``vmap``."""
    if index[0].__class__ is MetaArray:
        return run(np.ndarray.__getitem__, (a, index), {})
    try:
        return a[index]
    except NotBatched:
        level = newest(index)
        if level is None or a.__class__ is Batch:
            raise
        return wrap(a[None], level)[index]


def _read_all(a: Any, steps: Sequence[tuple[Any, ...]]) -> Any:
    for step in steps:
        try:
            a = a[step]
        except NotBatched:
            a = read_at(a, step)
    return a


def _read(a: Any, index: tuple[Any, ...]) -> Any:
    """The part of ``a`` at ``index``, in PyTorch's order of dimensions."""
    if len(index) == 1 and isinstance(a, np.ndarray) and a.ndim and is_row_index(index[0]):
        return np.take(a, index[0], axis=0)  # five times as fast as a[index]
    return _read_all(a, _steps(index))


def is_row_index(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype.kind in "ui"


def write(array: Any, index: tuple[Any, ...], value: Any) -> None:
    """Write ``value`` into ``array`` at ``index``."""
    *first, last = _steps(index)
    _read_all(array, first)[last] = value


def _index_name(node: Node) -> str:
    index = (node.settings or {})["index"]
    if not is_basic(index):
        return "IndexBackward0"
    if all(entry is Ellipsis for entry in index):
        return "AliasBackward0"
    last = next(
        (entry for entry in reversed(index) if entry is not Ellipsis and entry != slice(None)), slice(None)
    )
    if last is None:
        return "UnsqueezeBackward0"
    return "SelectBackward0" if isinstance(last, int) else "SliceBackward0"


@operation(
    "[ ]",
    "{a}[…]",
    a=derivative("1 at the places read", lambda g, shape, index: on(spread_out, g, shape=shape, index=index)),
    view=True,
    name="index",
    backward=_index_name,
)
def plain_getitem(a, /, index):
    """See :func:`getitem`."""
    part = _read(a, index)
    if not is_basic(index):
        return contiguous(part)  # NumPy may leave it in another order, which view() could not read
    if 0 in part.strides and part.__class__ is np.ndarray and any([entry is None for entry in index]):
        return _with_strides_of_unsqueeze(part, a, index)
    # NumPy gives a single element as a scalar of its own; an ellipsis keeps it a view.
    return a[(*index, ...)] if isinstance(part, np.generic) else part


def _with_strides_of_unsqueeze(part: np.ndarray, a: np.ndarray, index: tuple[Any, ...]) -> np.ndarray:
    """``part``, whose new dimensions have NumPy's stride 0, with PyTorch's: a step over what lies inside."""
    strides, place, source = list(part.strides), 0, 0
    for entry in index:
        if entry is None:
            strides[place] = a.strides[source] * a.shape[source] if source < a.ndim else a.itemsize
            place += 1
        elif entry is Ellipsis:
            rest = a.ndim - sum([not (other is None or other is Ellipsis) for other in index])
            place, source = place + rest, source + rest
        else:
            place, source = place + isinstance(entry, slice), source + 1
    if part.flags.c_contiguous:
        return np.ndarray(part.shape, part.dtype, part, 0, strides)
    return strided(part, part.shape, tuple(strides))


@operation(
    "[ ]",
    "{a} put into zeros",
    a=derivative("1 at the places written", _read),
    name="index_backward",
)
def spread_out(a, /, shape, index):
    """Zeros of ``shape``, with the elements of ``a`` added at ``index``; places named twice add up."""
    result = like(np.zeros_like, a, shape=shape)
    if is_basic(index):
        result[index] = a
    else:
        add_at(result, index, a)
    return result


def add_at(array: Any, index: tuple[Any, ...], values: Any) -> None:
    """Add ``values`` into ``array`` at ``index``; places named twice get both."""
    if isinstance(array, np.ndarray) and all([is_row_index(entry) for entry in index]) and array.size:
        _add_rows(array, index, values)
        return
    *first, last = _steps(index)
    part = _read_all(array, first)
    if is_basic(last):
        part[last] += values
    else:
        ufuncs.add_at(part, last, values)


_BLOCK = 1 << 17
"""How many elements are added at once: their places fit into a cache."""


def _add_rows(array: np.ndarray, index: tuple[np.ndarray, ...], values: Any) -> None:
    """:func:`add_at` where arrays name whole rows: by the place of each element in memory.

    ``np.add.at`` has a fast way for one dimension alone, which is six times as
    fast as its general one.
    """
    dims = len(index)
    shape, row_shape = array.shape[:dims], array.shape[dims:]
    places: Any = None
    for entry, size in zip(index, shape):
        if entry.size and entry.min() < 0:
            entry = np.where(entry < 0, entry + size, entry)
        places = entry if places is None else places * size + entry
    values = np.broadcast_to(values, (*places.shape, *row_shape))
    width = math.prod(row_shape)
    memory = array.reshape(-1)
    places = places.reshape(-1).astype(np.int64, copy=False)
    if width == 1:
        np.add.at(memory, places, values.reshape(-1))
    else:
        rows, columns = values.reshape(-1, width), np.arange(width)
        count = max(_BLOCK // width, 1)
        for start in range(0, places.size, count):
            part = np.add.outer(places[start : start + count] * width, columns)
            np.add.at(memory, part.reshape(-1), rows[start : start + count].reshape(-1))
    if not np.may_share_memory(memory, array):
        array[...] = memory.reshape(array.shape)


def getitem(input: Tensor, index: Any) -> Tensor:
    """The part of ``input`` at ``index``: a view for integers and slices, else a copy.

    Raises
    ------
    IndexError
        If there is no such place, or there are too many indices.
    """
    array = input.array
    if index.__class__ is int and not (input._requires_grad or UNUSUAL) and array.__class__ is np.ndarray:
        # A row of data, as datasets and loops read them: nothing to record, nothing to look at.
        try:
            return share_storage(input, new_tensor(array[index, ...]))
        except IndexError:
            pass  # what follows says why
    entries = plain_index(input, index, reads=True)
    try:
        part = plain_getitem(input, index=entries)
    except IndexError as error:
        if leaves_nothing(array.shape, entries) and 0 in shape_at(input, entries):
            return plain_getitem(input, index=at_first_places(entries))
        raise index_error(input, entries, error) from None
    return part if part._node is None or is_basic(entries) else guarded_by_index(part, index)


def guarded_by_index(made: Tensor, index: Any) -> Tensor:
    """``made`` by reading or writing at ``index``, whose tensors PyTorch saves."""
    guard(
        made,
        [
            each
            for each in (index if isinstance(index, tuple | list) else (index,))
            if isinstance(each, Tensor)
        ],
    )
    return made


def _kept(g: Any, index: tuple[Any, ...]) -> Any:
    if isinstance(g, Tensor) and all(entry is Ellipsis for entry in index):
        g = g.detach()  # nothing is kept, and so nothing depends on g
    return on(put, g, zero_like(g), index=index)


def _put_name(node: Node) -> str:
    settings = node.settings or {}
    index = settings["index"]
    return (
        settings.get("made_by", "CopyBackwards")
        if all(entry is Ellipsis for entry in index)
        else "CopySlices"
        if is_basic(index)
        else "IndexPutBackward0"
    )


@operation(
    "[ ]=",
    "{a}, with {value} written at […]",
    a=derivative("1 at the places kept", _kept),
    value=derivative("1 at the places written", _read),
    name="copy_slices",
    backward=_put_name,
)
def put(a, value, /, index, made_by="CopyBackwards"):
    """A copy of ``a`` with ``value`` at ``index``; written all over, its node is PyTorch's ``made_by``."""
    result = writable_copy(a, "K")
    write(result, index, value)
    return result


def writable_copy(a: Any, order: str = "C") -> Any:
    """A copy to write into: without dimensions NumPy may give a scalar, which cannot be written.

    It lies row by row in memory, or with ``order`` "K" as ``a`` does.
    """
    return np.array(a) if isinstance(a, np.generic) else a.copy(order)


def zero_like(g: Any) -> Any:
    """A single 0 of the kind of ``g``."""
    if not isinstance(g, Tensor):
        return like(np.zeros_like, g, shape=())
    with computing_beside(g.array):
        return new_tensor(like(np.zeros_like, g.array, shape=()))


@operation("nonzero", "places of {a}", name="nonzero")
def plain_nonzero(a, /):
    """See :func:`nonzero`."""
    return np.argwhere(a) if a.ndim else np.zeros_like(a, np.int64, shape=(int(any_of(a != 0)), 0))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: a row for each, or an index for each dimension."""
    if as_tuple and not input.array.ndim:
        input = input.reshape(1)
    places = plain_nonzero(input)
    if not as_tuple:
        return places
    return tuple(new_tensor(places.array[:, dim].copy()) for dim in range(max(input.array.ndim, 1)))


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """For places in a flattened tensor of ``shape``, the index in each dimension.

    Raises
    ------
    TypeError
        If places or sizes are no integers.
    ValueError
        If a size is negative.
    """
    if indices.array.dtype.kind not in "ui":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, tuple | list) or not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    places = indices.array.astype(np.int64)
    if places.size and 0 in sizes:
        raise RuntimeError(f"ZeroDivisionError: a tensor of shape {tuple(sizes)} has no elements")
    found = []
    for size in reversed(sizes):
        found.append(new_tensor(places % size))
        places = places // size
    return tuple(found[::-1])


NAMES = Names(both="nonzero", functions="unravel_index")
