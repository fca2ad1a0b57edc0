"""Order: sorting, the largest few, and the elements at a rank: medians, modes, quantiles.

Each finds places first, which have no derivative, and then reads the elements
there by one rule, whose gradient goes back to the places read.  NaN counts as
larger than any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous, laid_as, module_of
from autokit.dtypes import FLOATS
from autokit.ops.dims import place_of
from autokit.ops.extremes import shared_in_whole
from autokit.ops.gpu.arrays import is_on_cpu, like
from autokit.ops.gpu.ufuncs import accumulate
from autokit.ops.guards import guards
from autokit.ops.half import widened
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.read_along import reading
from autokit.ops.recording import apart
from autokit.ops.reduce import require_operand
from autokit.ops.return_types import return_type
from autokit.ops.ties import first_places, place_at, sorted_places
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- sorting


_MANY = 4096
"""Elements from which a sort by keys pays."""

_SORTED_BY_DIGITS = 32768
"""Integers in one row from which PyTorch sorts them upwards digit by digit, which keeps their order."""


def _order_by_keys(a: Any, dim: int, descending: bool) -> Any:
    """:func:`order_of` for 32 bits: each element's key and place are sorted as one integer of 64.

    The bits of positive floats are in the order of the numbers, those of
    negative ones in the opposite order.  So nothing has to be stable, and
    NumPy sorts integers several times as fast as it finds the order of floats.
    """
    a = np.moveaxis(a, dim, -1)
    if a.dtype == np.float32:
        bits = (a + np.float32(0)).view(np.int32)  # -0.0 equals 0.0
        keys = (bits ^ ((bits >> 31) | np.int32(-(2**31)))).view(np.uint32)
        keys[a != a] = 2**32 - 1
    else:
        keys = (a ^ np.int32(-(2**31))).view(np.uint32)
    if descending:
        np.invert(keys, out=keys)
    packed = keys.astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(a.shape[-1], dtype=np.uint64)
    packed.sort(axis=-1)
    packed &= np.uint64(2**32 - 1)
    return np.moveaxis(packed.view(np.int64), -1, dim)


def top_of(a: Any, dim: int, k: int, largest: bool, in_order: bool = True) -> Any:
    """The places of the first ``k`` elements along ``dim``, in order, or as PyTorch finds them.

    Where these are few, those beyond the ``k``-th are found without sorting
    all; if ties or NaN leave it open which belong to them, all are sorted.
    """
    if not a.ndim:
        return order_of(a, dim)
    size = a.shape[dim]
    in_order |= k * 64 <= size
    if in_order and 0 < k <= size // 8 and a.size >= _MANY and a.dtype.kind in "fi" and is_on_cpu(a):
        rows = np.moveaxis(a, dim, -1)
        rank = size - k if largest else k - 1
        bound = np.partition(rows, rank, axis=-1)[..., rank : rank + 1]
        chosen = rows >= bound if largest else rows <= bound
        if (chosen.sum(axis=-1) == k).all() and (bound == bound).all():
            places = np.flatnonzero(chosen).reshape(*rows.shape[:-1], k) % size
            found = np.take_along_axis(rows, places, -1)
            order = order_of(found, -1, largest)
            found = np.take_along_axis(found, order, -1)
            if (found[..., 1:] != found[..., :-1]).all():
                return np.moveaxis(np.take_along_axis(places, order, -1), -1, dim)
    index = order_of(a, dim, largest)
    if is_on_cpu(a):
        index = first_places(a, index, dim, k, in_order)
    return index[(slice(None),) * dim + (slice(k),)]


def order_of(a: Any, dim: int, descending: bool = False) -> Any:
    """The places of the elements of ``a`` in order along ``dim``; equal elements keep theirs."""
    if not a.ndim:
        return like(np.zeros_like, a, shape=(), dtype=np.int64)
    a = widened(a)
    if a.size >= _MANY and is_on_cpu(a) and a.dtype in (np.float32, np.int32):
        return _order_by_keys(a, dim, descending)
    if descending:  # backwards twice, so that equal elements keep their order here too
        places = np.argsort(np.flip(a, dim), axis=dim, kind="stable")
        return a.shape[dim] - 1 - np.flip(places, dim)
    return np.argsort(a, axis=dim, kind="stable")


def places_in_order(a: Any, dim: int, descending: bool = False, stable: bool | None = False) -> Any:
    """:func:`order_of`, with equal elements as PyTorch's sort on a CPU leaves them, unless ``stable``."""
    order = order_of(a, dim, descending)
    by_digits = a.ndim == 1 and a.size >= _SORTED_BY_DIGITS and not descending and a.dtype.kind in "iu"
    return order if stable or by_digits or not a.ndim or not is_on_cpu(a) else sorted_places(a, order, dim)


_read_sorted = reading("sort", "sorted", "SortBackward0", None)
_read_stable = reading("sort_stable", "sorted", "SortBackward1", None)
_sorted = return_type("sort", "values", "indices")


@guards(results=(1,))
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    """The elements in order along ``dim``, and their places.

    With ``stable=True`` equal elements keep their order.  So they do anyway where there are 16 at most.  Else
    they stand as the C++ library's sort leaves them, which PyTorch calls on a CPU, while the rows with equal
    elements have together no more than 262,144; beyond that, and on a GPU, they keep their order as well.

    Examples
    --------
    >>> import autokit as torch
    >>> values, indices = torch.tensor([3, 1, 2]).sort()
    >>> indices
    tensor([1, 2, 0])
    """
    require_operand("sort", input)
    place = place_of(dim, input.array.ndim, "sort")
    index = laid_as(input.array, places_in_order(input.array, place, descending, stable))
    read = _read_sorted if stable is None else _read_stable
    return _sorted(read(input, place, True, index), new_tensor(apart(index, input._requires_grad)))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The places of the elements in order along ``dim``; equal elements stand as in :func:`sort`."""
    require_operand("argsort", input)
    a = input.array
    return new_tensor(laid_as(a, places_in_order(a, place_of(dim, a.ndim, "argsort"), descending, stable)))


def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dimension."""
    return sort(input, 0).values


_read_top = reading("topk", "largest of", "TopkBackward0")
_top = return_type("topk", "values", "indices")


@guards(results=(1,))
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest elements along ``dim``, or with ``largest=False`` the smallest, and their places.

    Without ``sorted`` they come in any order.  Which of equal elements is named, and in which order, is what
    the C++ library makes of it, which PyTorch calls on a CPU (GNU's, on Linux), while the rows where this is
    open have together no more than 262,144 elements; beyond that, and on a GPU, they count in order.

    Raises
    ------
    RuntimeError
        If there are fewer than ``k`` elements.
    """
    require_operand("topk", input)
    a = input.array
    place = place_of(dim, a.ndim, "topk")
    if not 0 <= k <= (a.shape[place] if a.ndim else 1):
        raise RuntimeError(
            f"selected index k out of range: k is {k}, and there are "
            f"{a.shape[place] if a.ndim else 1} elements along dim {dim}"
        )
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU; convert it with .int()")
    index = contiguous(top_of(a, place, k, largest, bool(sorted)))
    return _top(_read_top(input, place, True, index), new_tensor(apart(index, input._requires_grad)))


# ---------------------------------------------------------------- elements at a rank


def _some_along(a: Any, place: int, name: str) -> None:
    if a.ndim and not a.shape[place]:
        raise IndexError(
            f"{name}(): Expected reduction dim {place} to have non-zero size; the shape is {a.shape}"
        )


def _at_rank(index: Any, rank: Any, place: int, keepdim: bool) -> Any:
    """From the places in order those at ``rank``, which has size 1 along ``place``."""
    if not index.ndim:
        return index
    found = np.take_along_axis(index, rank, place)
    return found if keepdim else np.squeeze(found, place)


def _same_rank(a: Any, rank: int) -> Any:
    return np.full_like(a, rank, shape=(1,) * a.ndim, dtype=np.int64)


_read_kth = reading("kthvalue", "k-th of", "KthvalueBackward0")
_kth = return_type("kthvalue", "values", "indices")


@guards(results=(1,))
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The ``k``-th smallest element along ``dim``, counted from 1, and its place.

    Which of equal elements is named is what PyTorch's quickselect on a CPU makes of it, while the rows where
    this is open have together no more than 262,144 elements; beyond that, and on a GPU, they count in order.
    """
    require_operand("kthvalue", input)
    a = input.array
    place = place_of(dim, a.ndim, "kthvalue")
    if a.ndim:
        _ranked(a, "kthvalue")
    _some_along(a, place, "kthvalue")
    if not 1 <= k <= (a.shape[place] if a.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}; k is {k}")
    order = order_of(a, place)
    if a.ndim and is_on_cpu(a):
        order = place_at(a, order, place, k - 1)
    index = _at_rank(order, _same_rank(a, k - 1), place, keepdim)
    return _kth(_read_kth(input, place, keepdim, index), new_tensor(apart(index, input._requires_grad)))


def _ranked(a: Any, name: str) -> Any:
    if a.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'; convert it with .int()")
    return a


def _middle(a: Any) -> Any:
    """The lower median of all elements; nan if there is one, or none to choose from."""
    _ranked(a, "median")
    if not a.size:
        return like(np.full_like, a, np.nan if a.dtype.kind in FLOATS else np.iinfo(a.dtype).min, shape=())
    flat = np.sort(a.reshape(-1))
    return np.where(flat[-1] != flat[-1], flat[-1], flat[(flat.size - 1) // 2])


@operation(
    "median",
    "median {a}",
    a=derivative("1 at the median, shared among ties", shared_in_whole),
    name="median",
    reduces=True,
)
def _whole_median(a, /):
    """See :func:`median`."""
    return _middle(a)


@operation(
    "nanmedian",
    "median {a}",
    a=derivative("1 at the median, shared among ties", shared_in_whole),
    name="nanmedian",
    reduces=True,
)
def _whole_nanmedian(a, /):
    """See :func:`nanmedian`."""
    return _middle(a[a == a])


_read_median = reading("median_along", "median", "MedianBackward1")
_read_nanmedian = reading("nanmedian_along", "median", "NanmedianBackward1")
_median = return_type("median", "values", "indices")
_nanmedian = return_type("nanmedian", "values", "indices")


@guards(results=(1,))
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements; with ``dim`` the medians along it, and their places.

    Of an even number of elements it is the lower of the two in the middle.
    """
    require_operand("median", input)
    if dim is None:
        return _whole_median(input)
    a = _ranked(input.array, "median")
    place = place_of(dim, a.ndim, "median")
    _some_along(a, place, "median")
    rank = _same_rank(a, ((a.shape[place] if a.ndim else 1) - 1) // 2)
    if a.ndim and a.dtype.kind in FLOATS:
        unknown = (a != a).sum(axis=place, keepdims=True)
        # The first nan stands behind all numbers.
        rank = np.where(unknown, a.shape[place] - unknown, rank)
    index = _at_rank(order_of(a, place), rank, place, keepdim)
    return _median(_read_median(input, place, keepdim, index), new_tensor(apart(index, input._requires_grad)))


@guards(results=(1,))
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """:func:`median` of the elements that are not nan."""
    require_operand("nanmedian", input)
    if dim is None:
        return _whole_nanmedian(input)
    a = _ranked(input.array, "median")
    place = place_of(dim, a.ndim, "nanmedian")
    _some_along(a, place, "nanmedian")
    rank = _same_rank(a, 0)
    if a.ndim:
        rank = np.maximum((a == a).sum(axis=place, keepdims=True) - 1, 0) // 2
    index = _at_rank(order_of(a, place), rank, place, keepdim)
    return _nanmedian(
        _read_nanmedian(input, place, keepdim, index), new_tensor(apart(index, input._requires_grad))
    )


_read_mode = reading("mode", "mode", "ModeBackward0")
_mode = return_type("mode", "values", "indices")


@guards(results=(1,))
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along ``dim``, the smallest of several, and its last place in :func:`sort`.

    Each NaN is an element of its own; PyTorch, which cannot sort them here, gives an answer that depends on
    their order.
    """
    require_operand("mode", input)
    a = input.array
    place = place_of(dim, a.ndim, "mode")
    _some_along(a, place, "mode")
    order = rank = order_of(a, place)
    if a.ndim:
        if is_on_cpu(a):
            order = sorted_places(a, order, place)
        ordered = np.moveaxis(np.take_along_axis(a, order, place), place, -1)
        positions = module_of(a).arange(ordered.shape[-1])
        starts = np.ones_like(ordered, dtype=bool)
        starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
        lengths = positions - accumulate(np.maximum, np.where(starts, positions, 0), axis=-1)
        rank = np.expand_dims(lengths.argmax(axis=-1), place)
    index = _at_rank(order, rank, place, keepdim)
    return _mode(_read_mode(input, place, keepdim, index), new_tensor(apart(index, input._requires_grad)))


NAMES = Names(both="argsort kthvalue median mode msort nanmedian sort topk")
