"""Views by their strides: how a tensor lies in memory, and windows of it."""

from __future__ import annotations

from itertools import accumulate, pairwise
from operator import mul
from typing import Any

import numpy as np

from autokit.batches import Batch
from autokit.devices import address_of, beside, module_of
from autokit.formats import channels_last, memory_format
from autokit.meta_array import MetaArray
from autokit.ops.dims import place_of, sizes_of, whole
from autokit.ops.gpu.arrays import like
from autokit.ops.gpu.ufuncs import add_at
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

# ---------------------------------------------------------------- memory


def strided(a: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    """A view of the memory of ``a`` with this shape and these strides, ``offset`` behind its first element.

    Strides and offset count bytes.
    """
    if a.__class__ is Batch:
        full = a.full
        return Batch(strided(full, (full.shape[0], *shape), (full.strides[0], *strides), offset), a.level)
    if a.__class__ is MetaArray:
        return MetaArray(shape, a.dtype)
    if not isinstance(a, np.ndarray):
        module = module_of(a)
        if not offset:
            return module.lib.stride_tricks.as_strided(a, shape, strides)[...]
        return module.ndarray(shape, a.dtype, a.data + offset, strides)[...]  # known for a view by its base
    owner = a.base if isinstance(a.base, np.ndarray) else a
    if not owner.flags.c_contiguous:
        owner = owner.transpose(sorted(range(owner.ndim), key=lambda dim: -abs(owner.strides[dim])))
        if not owner.flags.c_contiguous:  # there are gaps in it, or it lies backwards
            as_strided, step = np.lib.stride_tricks.as_strided, a.itemsize if offset >= 0 else -a.itemsize
            first = as_strided(a, (offset // step + 1,), (step,))[-1:]
            return as_strided(first, shape, strides)
    start = 0 if 0 in shape else address_of(a) - address_of(owner) + offset  # no element, no place
    return np.ndarray(shape, a.dtype, owner, start, strides)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a tensor of ``shape`` whose elements lie in the order of their indices."""
    return tuple(accumulate((max(size, 1) for size in shape[:0:-1]), mul, initial=1))[::-1] if shape else ()


def owner_size(a: Any) -> int:
    """How many elements of its dtype the memory that ``a`` lies in has room for."""
    owner = a if a.base is None or not hasattr(a.base, "nbytes") else a.base
    return owner.nbytes // a.itemsize


def storage_offset(input: Tensor) -> int:
    """How many elements lie in memory before the first one of ``input``."""
    a = input.array
    owner = a.base
    if not isinstance(owner, type(a)):
        return 0
    return (address_of(a) - address_of(owner)) // a.itemsize


def positions(shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> np.ndarray:
    """Where in memory each element lies, counted in elements."""
    places = np.asarray(offset)
    for size, stride in zip(shape, strides):
        places = np.add.outer(places, np.arange(size) * stride)
    return places


@operation(
    "↔",
    "{g} summed where elements share memory",
    g=derivative(
        "1 where it lies",
        lambda g, from_places, to_places, extent: on(
            rearranged, g, from_places=to_places, to_places=from_places, extent=extent
        ),
    ),
    name="as_strided_backward",
)
def rearranged(g, /, from_places, to_places, extent):
    """``g`` added into empty memory at ``from_places``, and read at ``to_places``."""
    memory = like(np.zeros_like, g, shape=extent)
    add_at(memory, beside(g, from_places), g)
    return memory[beside(g, to_places)]


def _as_strided_gradient(g: Any, size: Any, stride: Any, storage_offset: int, origin: Any) -> Any:
    own_shape, own_strides, own_offset, extent = origin
    own_places = positions(own_shape, own_strides, own_offset)
    back = on(
        rearranged,
        g,
        from_places=positions(size, stride, storage_offset),
        to_places=own_places,
        extent=extent,
    )
    # Elements that lie in one place, as of an expanded tensor, share the gradient of that place.
    sharing = np.bincount(own_places.reshape(-1))[own_places] if own_places.size else own_places
    if (sharing <= 1).all():
        return back
    return back / beside(g, sharing.astype(g.dtype if isinstance(g, np.ndarray) else np.float64))


@operation(
    "strided",
    "{a} in other steps",
    a=derivative("1", _as_strided_gradient),
    view=True,
    linear=False,
    name="as_strided",
)
def plain_as_strided(a, /, size, stride, storage_offset, origin):
    """See :func:`as_strided`."""
    strides = tuple([step * a.itemsize for step in stride])
    return strided(a, size, strides, (storage_offset - origin[2]) * a.itemsize)


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory of ``input``: ``size``, and how many elements a step along each dimension jumps.

    Parameters
    ----------
    input : Tensor
    size, stride : sequence of int
    storage_offset : int, optional
        Where in memory the first element lies; that of ``input`` without it.

    Raises
    ------
    RuntimeError
        If that reaches outside of the memory.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.arange(5).as_strided((3, 3), (1, 1))
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    a = input.array
    own_offset, extent = _storage_offset(input), owner_size(a)
    size, stride, offset = checked_steps(size, stride, storage_offset, own_offset, extent, a.itemsize)
    origin = (a.shape, tuple([step // a.itemsize for step in a.strides]), own_offset, extent)
    return plain_as_strided(input, size=size, stride=stride, storage_offset=offset, origin=origin)


_storage_offset = storage_offset


def checked_steps(
    size: Any, stride: Any, offset: int | None, own_offset: int, extent: int, itemsize: int
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The arguments of :func:`as_strided`, if they stay inside of a memory of ``extent`` elements."""
    size, stride = sizes_of((size,), "as_strided"), sizes_of((stride,), "as_strided", "stride")
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    offset = own_offset if offset is None else whole(offset, "storage_offset", "as_strided")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride)) + 1
    if 0 not in size and (last > extent or offset < 0):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {last * itemsize} are out of bounds for storage of "
            f"size {extent * itemsize}"
        )
    return size, stride, offset


# ---------------------------------------------------------------- windows


def _fold_gradient(g: Any, dim: int, size: int, step: int) -> Any:
    return on(plain_unfold, g, dim=dim, size=size, step=step)


@operation("Σ", "{g}, windows added up", g=derivative("1", _fold_gradient), name="unfold_backward")
def folded(g, /, shape, dim, size, step):
    """The windows of :func:`unfold` added up where they lay in a tensor of ``shape``."""
    result = like(np.zeros_like, g, shape=shape)
    count = g.shape[dim]
    for place in range(size if count else 0):
        every = slice(place, place + (count - 1) * step + 1, step)
        result[(*(slice(None),) * dim, every)] += g[..., place]
    return result


@operation(
    "windows",
    "windows of {a}",
    a=derivative(
        "1 in each window",
        lambda g, shape, dim, size, step: (
            on(folded, g, shape=shape, dim=dim, size=size, step=step) if shape else g.sum()
        ),
    ),
    view=True,
    name="unfold",
)
def plain_unfold(a, /, dim, size, step):
    """See :func:`unfold`."""
    if not a.ndim:
        return strided(a, (size,), (a.itemsize,))
    count = (a.shape[dim] - size) // step + 1
    shape = (*a.shape[:dim], count, *a.shape[dim + 1 :], size)
    strides = (*a.strides[:dim], a.strides[dim] * step, *a.strides[dim + 1 :], a.strides[dim])
    return strided(a, shape, strides)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The windows of ``size`` places along a dimension, ``step`` apart, each along a new last dimension.

    >>> import autokit as torch
    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    place = place_of(dimension, input.array.ndim, "unfold")
    longest = input.array.shape[place] if input.array.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > longest:
        raise RuntimeError(f"maximum size for tensor at dimension {place} is {longest} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return plain_unfold(input, dim=place, size=size, step=step)


# ---------------------------------------------------------------- the order of dimensions


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions as they lie in memory, the outermost first.

    Parameters
    ----------
    ambiguity_check : bool or list of memory_format
        Whether to refuse a tensor that may be read in several orders, as one of size 1 along a dimension
        may; or the formats of which it must have just one to pass.

    Raises
    ------
    RuntimeError
        If the order is not unique, and that was asked.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.zeros(2, 3, 5).transpose(0, 1).dim_order()
    (1, 0, 2)
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, bool | list) or not all(isinstance(f, memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, stride = self.array.shape, self.stride()
    several = 1 in shape or any(a == b for a, b in pairwise(stride))
    if ambiguity_check is not False and several and sum(_lies_as(self, f) for f in formats) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory "
            f"formats: its sizes are {list(shape)}, its strides {list(stride)}"
        )
    in_order = len(shape) < 2 or self.array.flags.c_contiguous
    if in_order != _lies_as(self, channels_last):
        return tuple(range(len(shape)) if in_order else channels_last.order(4))
    order = list(reversed(range(len(shape))))
    # By insertion, the innermost first: a step of 0 may lie anywhere, and stays where it is.
    for place in range(len(order)):
        for before in reversed(range(place)):
            comparison = _nearness(shape, stride, order[before], order[place])
            if comparison < 0:
                break
            if comparison > 0:
                order[before], order[place] = order[place], order[before]
                place = before
    if ambiguity_check and any(_nearness(shape, stride, *both) != -1 for both in pairwise(order)):
        raise RuntimeError(f"The tensor does not have unique dim order: its strides are {list(stride)}.")
    return tuple(reversed(order))


def _nearness(shape: Any, stride: Any, a: int, b: int) -> int:
    """-1 where dimension ``a`` lies inside of ``b``, 1 the other way round, 0 where both may be."""
    if not (stride[a] and stride[b]):
        return 0
    if stride[a] == stride[b]:
        return int(shape[a] > shape[b])
    return 1 if stride[a] > stride[b] else -1


def _lies_as(tensor: Tensor, format: memory_format) -> bool:
    try:
        return tensor.is_contiguous(memory_format=format)
    except RuntimeError:
        return False


NAMES = Names(both="as_strided", methods="dim_order storage_offset unfold")
