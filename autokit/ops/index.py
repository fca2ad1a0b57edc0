"""Reading and writing parts of a tensor: ``x[index]`` and ``x[index] = value``.

An index is applied in two steps.  First its numbers, slices and new dimensions select a part, which is a
*view*: it shares the tensor's memory.  Then its tensors and lists pick elements from that part, in any order
and any number of times, which gives a copy.  The derivative adds the gradient into zeros at the places that
were read; for a place that was read twice, both gradients add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as whole_number
from typing import Any

import numpy as np

from autokit.base.devices import beside, module_of, on_a_gpu
from autokit.base.errors import describe, one_dim, require_tensor
from autokit.engine.detours import DETOURS
from autokit.engine.inplace import write
from autokit.engine.operation import derivative, on, operation
from autokit.engine.record import share_storage
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu import lacking
from autokit.gpu.lacking import like, require_inside
from autokit.ops.names import Names

Index = tuple[Any, ...]
ALL = slice(None)

# ---------------------------------------------------------------- the rules


@operation(
    "[ ]",
    "{a}[…]",
    a=derivative("1 at the places read", lambda g, shape, index: on(spread, g, shape=shape, index=index)),
    view=True,
    name="select",
)
def select_part(a, /, index):
    """The part of ``a`` that numbers, slices and new dimensions select."""
    return a[index]


@operation(
    "[ ]",
    "{a}[…]",
    a=derivative("1 at the places read", lambda g, shape, index: on(spread, g, shape=shape, index=index)),
    name="index",
)
def pick(a, /, index):
    """The elements of ``a`` that arrays of places or masks name."""
    if len(index) == 1 and index[0].dtype.kind == "i":
        return np.take(a, index[0], axis=0) if not on_a_gpu(a) else a[index]  # for the row x[index]
    return a[index]


@operation(
    "[ ]",
    "{a} put into zeros",
    a=derivative("1 at the places written", lambda g, index: g[index]),
    name="index_backward",
)
def spread(a, /, shape, index):
    """Zeros of ``shape``, with the elements of ``a`` added at ``index``; places named twice add up."""
    result = like(np.zeros_like, a, shape=shape)
    if any(hasattr(entry, "dtype") for entry in index):
        add_at(result, index, a)
    else:
        result[index] = a
    return result


def add_at(array: Any, index: Index, values: Any) -> None:
    """Add ``values`` into ``array``, which lies in order, at ``index``; places named twice get both."""
    rows = all(hasattr(entry, "dtype") and entry.dtype.kind == "i" for entry in index)
    if rows and array.size and not on_a_gpu(array):
        _add_rows(array, index, values)
    else:
        lacking.add_at(array, index, values)


_LARGE = 1 << 17
"""From this number of elements on, SciPy adds them: importing it takes a while."""


def _add_rows(array: np.ndarray, index: Index, values: Any) -> None:
    """:func:`add_at` where arrays name whole rows, fast for the benchmarks of ``x[index]``.

    Many rows are added as a product with a matrix of SciPy's, in which column ``n`` has a 1 in the row to
    which row ``n`` is added; few by the places of their elements in memory, as ``np.add.at`` is fast in one
    dimension only.
    """
    rows: Any = 0
    for entry, size in zip(index, array.shape):
        places = np.where(entry < 0, entry + size, entry) if entry.size and entry.min() < 0 else entry
        rows = rows * size + places if len(index) > 1 else places
    shape = array.shape[len(index) :]
    width = math.prod(shape)
    values = np.broadcast_to(values, (*rows.shape, *shape))
    rows = rows.reshape(-1)
    values = values.reshape(-1, width)
    memory = array.reshape(-1, width)
    if width > 1 and values.size > _LARGE and array.dtype.itemsize > 2:
        from scipy.sparse import csc_array

        ends = np.arange(rows.size + 1)
        ones = np.ones(rows.size, array.dtype)
        memory += csc_array((ones, rows, ends), shape=(len(memory), rows.size)) @ values
    else:
        places = np.add.outer(rows * width, np.arange(width)) if width > 1 else rows
        np.add.at(memory.reshape(-1), places.reshape(-1), values.reshape(-1))


# ---------------------------------------------------------------- an index in two steps


def in_two_steps(tensor: Tensor, index: Any, copies: bool = False) -> tuple[Index, Index]:
    """The two steps of ``index``: the index of a view of ``tensor``, and that of elements in it; or ().

    An Ellipsis stands for the dimensions that are not named, a mask for as many as it has, and a single
    truth value for a new dimension of size 1, which it keeps or leaves empty.  Where a gradient will need
    the index, it ``copies`` tensors, so that changing them in place later leaves the gradient as it is.

    Raises
    ------
    IndexError
        If there are too many indices, a number or mask does not fit, or an entry is of another kind.
    """
    shape = tensor.array.shape
    if isinstance(index, list) and any(
        isinstance(one, Sequence | slice | None) or one is ... for one in index
    ):
        index = tuple(index)  # a list of lists stands for a tuple, as in old programs
    entries = [_entry(tensor, entry, copies) for entry in (index if isinstance(index, tuple) else (index,))]
    named = sum([_dims_named(entry) for entry in entries])
    if named > len(shape):
        hint = "" if shape else ": a 0-dim tensor is a number, which .item() gives"
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)}{hint}. Got {describe(tensor)}"
        )
    view: list[Any] = []
    picks: list[Any] = []
    dim = 0
    for entry in entries:
        count = _dims_named(entry)
        if entry is Ellipsis:
            count, named = len(shape) - named, len(shape)  # a second one stands for nothing
            view += [ALL] * count
            picks += [ALL] * count
        elif hasattr(entry, "dtype"):
            _check(entry, dim, tensor)
            view += [ALL] * count or [None]
            picks.append(entry if entry.ndim or entry.dtype.kind != "b" else entry.reshape(1))
        else:
            view.append(entry)
            picks += [ALL] * (entry.__class__ is not int)
        dim += count
    while picks and picks[-1] is ALL:
        picks.pop()
    plain = bool(picks) and all(entry is ALL for entry in view)
    return () if plain else (*view, ...), tuple(picks)


def _entry(tensor: Tensor, entry: Any, copies: bool) -> Any:
    """One entry of an index as an int, a slice, None, Ellipsis, or an array of whole numbers or bools."""
    if entry is None or entry is Ellipsis or entry.__class__ is int:
        return entry
    if isinstance(entry, slice):
        return _slice(entry)
    if isinstance(entry, bool | np.bool_):
        return beside(np.asarray(entry), tensor.array)
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, Tensor):
        array = entry.array.copy() if copies else entry.array
        array = beside(array, tensor.array) if isinstance(array, np.ndarray) else array
    elif on_a_gpu(entry) or hasattr(entry, "module"):
        array = entry
    elif isinstance(entry, list | tuple | range | np.ndarray):
        array = beside(np.array(entry), tensor.array)
        array = array if array.size else array.astype(np.int64)
    else:
        raise (TypeError if isinstance(entry, str) else IndexError)(
            "only integers, slices (`:`), ellipsis (`...`), None, and tensors or lists of integers or bools "
            f"are valid indices (got {type(entry).__name__})"
        )
    if array.dtype == np.uint8 and isinstance(entry, Tensor):
        return array.astype(bool)  # bytes are an older form of a mask
    if array.dtype.kind not in "bui":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, and this one is "
            f"{array.dtype.name}: convert it with .long(), or compare, as in x > 0"
        )
    return int(array) if not array.ndim and array.dtype.kind != "b" else array


def _slice(entry: slice) -> slice:
    parts: Any = (entry.start, entry.stop, entry.step)
    if parts == (None, None, None):
        return ALL
    try:
        parts = tuple([None if part is None else whole_number(part) for part in parts])
    except TypeError:
        raise TypeError(
            f"slice indices must be integers or None: this one is {entry}; n // 2 is one, n / 2 is not"
        ) from None
    if parts[2] is not None and parts[2] <= 0:
        raise ValueError("step must be greater than zero: a view cannot step backwards; use .flip(0)")
    return slice(*parts)


def _dims_named(entry: Any) -> int:
    """How many dimensions of the tensor an entry indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if hasattr(entry, "dtype") and entry.dtype.kind == "b" else 1


def _check(entry: Any, dim: int, tensor: Tensor) -> None:
    """Raise unless a mask has the shape of the part it masks; and for places that a GPU would wrap around."""
    shape = tensor.array.shape
    if entry.dtype.kind != "b":
        if not isinstance(entry, np.ndarray):  # NumPy checks its own when it reads them
            require_inside(
                entry,
                -shape[dim],
                shape[dim],
                lambda wrong: IndexError(
                    f"index {wrong} is out of bounds for dimension {dim} with size {shape[dim]}"
                ),
            )
    elif entry.shape != shape[dim : dim + entry.ndim]:
        raise IndexError(
            f"The shape of the mask {list(entry.shape)} at index {dim} does not match the shape of the "
            f"indexed tensor {list(shape)} at index {dim}"
        )


def _index_error(error: IndexError) -> IndexError:
    """NumPy's error in PyTorch's words: NumPy calls dimensions axes."""
    return IndexError(str(error).replace(" axis ", " dimension "))


# ---------------------------------------------------------------- reading and writing


def getitem(input: Tensor, index: Any) -> Tensor:
    """The part of ``input`` at ``index``: a view for integers and slices, else a copy.

    Raises
    ------
    IndexError
        If there is no such place, or there are too many indices.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.arange(6).reshape(2, 3)
    >>> x[:, 1], x[[0, 0, 1], [2, 2, 0]], x[x > 3]
    (tensor([1, 4]), tensor([2, 2, 3]), tensor([4, 5]))
    """
    try:
        if index.__class__ is int and not (input._requires_grad or DETOURS) and input.array.ndim:
            # a row of data, with nothing to record, for the row of the DataLoader
            row = new_tensor(input.array[index, ...])
            settings = {"index": (index, ...)}
            return share_storage(select_part.operation, input, row, settings)
        view, picks = in_two_steps(input, index, copies=input._requires_grad)
        part = select_part(input, index=view) if view else input
        return pick(part, index=picks) if picks else part
    except IndexError as error:
        raise _index_error(error) from None


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write ``value``, a number or a tensor that broadcasts, at ``index``.

    Raises
    ------
    IndexError
        If there is no such place.
    RuntimeError
        If the value does not fit there.
    """
    try:
        view, picks = in_two_steps(self, index, copies=True)
        if not picks and isinstance(value, Tensor) and _is_part(value, self, view):
            return  # `x[0] += y` has changed that part already
        value = _value(self, value, picks)
        if view and picks:
            write(select_part(self, index=view), picks, value)
        else:
            write(self, view or picks, value)
    except IndexError as error:
        raise _index_error(error) from None


def _is_part(value: Tensor, tensor: Tensor, view: Index) -> bool:
    """Whether ``value`` is itself the view of ``tensor`` at ``view``."""
    facts, own = value.__dict__, tensor.__dict__
    steps = (*own.get("_steps", ()), (select_part.operation, {"index": view}))
    return facts.get("_base") is own.get("_base", tensor) and facts.get("_steps") == steps


def _value(tensor: Tensor, value: Any, picks: Index) -> Any:
    """The value to write into ``tensor``: a scalar of its dtype, or a tensor on its device."""
    if not isinstance(value, Tensor):
        return as_element(value, tensor)
    mask = len(picks) == 1 and picks[0].dtype.kind == "b" and value.array.size == 1
    if picks and value.array.dtype != tensor.array.dtype and not mask:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{tensor.dtype.name} for the destination and {value.dtype.name} for the source: convert "
            f"{describe(value)} with .to({tensor.dtype})"
        )
    while value.array.ndim and value.array.shape[0] == 1:  # which broadcasting puts in front again
        value = value.reshape(value.array.shape[1:])
    return value.to(tensor.device) if on_a_gpu(value.array) != on_a_gpu(tensor.array) else value


def as_element(value: Any, tensor: Tensor) -> Any:
    """The number ``value`` as a scalar of the dtype of ``tensor``."""
    if not isinstance(value, int | float | np.number | np.bool_):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a tensor of {tensor.dtype.name}: give a number, or "
            "make a tensor of it with torch.tensor(...)"
        )
    kind = tensor.array.dtype
    if kind.kind in "iuf":
        limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
        infinite = kind.kind == "f" and not math.isfinite(value)
        if not (infinite or limits.min <= value <= limits.max):
            raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow: {value}")
    return kind.type(value)


# ---------------------------------------------------------------- named forms of an index


def along(dim: int, entry: Any) -> Index:
    """The index that ``entry`` is along ``dim``: all of the dimensions before it."""
    return (*(ALL,) * dim, entry)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``input`` along ``dim`` that a vector of places names, in its order.

    Raises
    ------
    IndexError
        If a place is not there; it may not be negative.
    """
    dim = checked_vector("index_select", input, dim, index)
    return getitem(input, along(dim, index.reshape(-1)))


def checked_vector(name: str, input: Tensor, dim: int, index: Any, least: int = 0) -> int:
    """``dim`` from the front, and an error unless ``index`` is a vector of places that are there."""
    require_tensor(name, index, "index", 2)
    if index.array.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector; it is {describe(index)}")
    dim = one_dim(dim, input.array.ndim)
    require_places(name, index, dim, input.array.shape[dim], least)
    return dim


def require_places(name: str, index: Tensor, dim: int, size: int, least: int = 0) -> None:
    """Raise unless ``index`` holds whole numbers, from ``least`` up to ``size``."""
    if index.array.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index: {describe(index)}; use .long()")
    kind = RuntimeError if name.startswith(("gather", "scatter")) else IndexError
    words = f"is out of bounds for dimension {dim} with size {size}"
    require_inside(index.array, least, size, lambda wrong: kind(f"{name}(): index {wrong} {words}"))


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of ``size`` places along a dimension, ``step`` apart, each along a new last dimension: a copy.

    >>> import autokit as torch
    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    dim = one_dim(dimension, input.array.ndim)
    length = input.array.shape[dim]
    if not 0 <= size <= length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    starts = np.arange(0, length - size + 1, step)
    places = np.arange(size)
    return getitem(input, along(dim, np.add.outer(starts, places))).movedim(dim + 1, -1)


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at places counted through the flattened tensor, in the shape of ``index``."""
    require_tensor("take", index, "index", 1)
    require_places("take", index, 0, input.array.size, -input.array.size)
    return getitem(input.reshape(-1), index)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` is true, as a vector; both broadcast."""
    require_tensor("masked_select", mask, "mask", 1)
    if mask.array.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, and not {describe(mask)}")
    shape = np.broadcast_shapes(input.array.shape, mask.array.shape)
    return getitem(input.expand(shape), mask.expand(shape))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: a row for each, or an index for each dimension.

    >>> import autokit as torch
    >>> torch.tensor([[0, 5], [7, 0]]).nonzero()
    tensor([[0, 1],
            [1, 0]])
    """
    places = np.nonzero(input.array if input.array.ndim else input.array.reshape(1))
    if as_tuple:
        return tuple(map(new_tensor, places))
    return new_tensor(module_of(input).stack(places, axis=1)[:, : input.array.ndim])


def argwhere(input: Tensor) -> Tensor:
    """The places of the elements that are not 0, a row for each."""
    return nonzero(input)


OPERATORS = {"__getitem__": getitem, "__setitem__": setitem}

NAMES = Names(
    both="argwhere index_select masked_select nonzero take",
    methods="unfold",
    numpy={
        np.take: lambda a, indices, axis=None: (
            take(a, indices) if axis is None else getitem(a, along(one_dim(axis, a.ndim), indices))
        ),
    },
)
