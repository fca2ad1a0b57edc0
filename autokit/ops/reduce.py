"""Operations that make many elements into one: sums, means and products, counts, all and any.

What to reduce over is ``dim``: a dimension, several, or all of them where it is
left out.  Here is also what every such operation needs: the places that ``dim``
names, and a gradient brought back to the shape of the operand.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import contiguous
from autokit.ops.blocks import BLOCK, MANY, SHORTEST, loop_over_rows
from autokit.ops.convert import cast
from autokit.ops.dims import place_of, places_of
from autokit.ops.errors import kind_of, way_to_a_tensor
from autokit.ops.expansion import expand_to
from autokit.ops.gpu.arrays import is_on_cpu, known, reduced
from autokit.ops.names import Names
from autokit.ops.native import is_large, shared
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor
from autokit.thread_state import thread

Dim = int | Sequence[int] | None


def require_operand(name: str, input: Any) -> None:
    """Raise unless ``input``, the first argument of ``name``, is a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}; "
            f"{way_to_a_tensor(input)}"
        )


def checked(name: str, input: Any, dim: Any, keepdim: Any = False) -> Any:
    """``dim`` for ``input``, known to be one dimension or several different ones, which there are.

    Raises
    ------
    TypeError
        If it is no integer and no sequence of them.
    IndexError, RuntimeError
        If there is no such dimension, or one is named twice.
    """
    require_operand(name, input)
    require_flag(name, "keepdim", keepdim)
    if dim is None:
        return None
    if isinstance(dim, tuple | list):
        places = places_of(dim, input.array.ndim, name)
        return places if input.array.ndim else places[:0]
    return place_of(dim, input.array.ndim, name)


def require_flag(name: str, argument: str, value: Any) -> None:
    """Raise unless ``value`` is True or False: ``x.sum(0, 1)`` means ``x.sum((0, 1))``."""
    if value is not True and value is not False and not isinstance(value, np.bool_):
        raise TypeError(
            f"{name}(): argument '{argument}' must be bool, not {type(value).__name__}; several dimensions "
            "go into a tuple"
        )


def axes(dim: Dim) -> int | tuple[int, ...] | None:
    """NumPy's ``axis`` for PyTorch's ``dim``, where an empty list stands for all."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def places_reduced(dim: Dim, ndim: int) -> Sequence[int]:
    """The places of the dimensions that ``dim`` names, counted from the front."""
    places = axes(dim)
    if places is None or not ndim:
        return range(ndim)
    return [place % ndim for place in ((places,) if isinstance(places, int) else places)]


def restored(reduced: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    """A reduced value with the reduced dimensions back, of size 1."""
    if keepdim:
        return reduced
    gone = places_reduced(dim, len(shape))
    return reduced.reshape(tuple([1 if place in gone else size for place, size in enumerate(shape)]))


def spread(g: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool) -> Any:
    """The gradient of a sum: each element that was summed gets the whole gradient of the sum."""
    return expand_to(restored(g, shape, dim, keepdim), shape)


def count(shape: tuple[int, ...], dim: Dim) -> int:
    """How many elements go into each result."""
    return math.prod([shape[place] for place in places_reduced(dim, len(shape))])


def converted(input: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    """``input`` in ``dtype``, where one is given.

    Raises
    ------
    RuntimeError
        If that is a dtype of integers, and a gradient is wanted.
    """
    if dtype is None or input.dtype == dtype:
        return input
    wanted = dtypes.as_dtype(dtype).numpy
    if input._requires_grad and wanted.kind in "bui" and thread.state.grad_enabled:
        raise RuntimeError(
            f"Autograd not support dtype: {wanted.name}: there are no gradients of integers; detach() first"
        )
    return cast(input, dtype=wanted)


def _by_dim(name: str) -> Any:
    """PyTorch names a reduction over given dimensions apart from one over all."""
    return lambda node: (
        node.settings.get("made_by") or (f"{name}Backward{0 if node.settings['dim'] is None else 1}")
    )


# ---------------------------------------------------------------- sums


_LONG = 4096
"""Up to which length a row is added in one run; the partial sums of a longer one would lose to rounding."""

RUN = 1024
"""Neighbours that are added in one run, where there are more."""


def added(a: Any, axis: int | tuple[int, ...] | None, keepdims: bool) -> Any:
    """``a.sum(axis)`` for floats: large rows by ``einsum``, which adds three times as fast."""
    if a.size < _LONG or a.dtype.itemsize < 4 or not is_on_cpu(a) or not a.flags.c_contiguous:
        return a.sum(axis=axis, keepdims=keepdims)
    if a.size >= MANY and is_large(a):
        total = _added_in_a_loop(a, axis)
        if total is not None:
            return (
                np.expand_dims(total, tuple(range(a.ndim)) if axis is None else axis) if keepdims else total
            )
    if isinstance(axis, tuple) and len(axis) > 1:
        return _added_one_by_one(a, axis, keepdims)
    if axis is None or a.ndim == 1:
        flat, width = a.reshape(-1), RUN
        whole = flat.size // width * width
        rows = np.einsum("ij->i", flat[:whole].reshape(-1, width))
        result = np.asarray(rows.sum() + flat[whole:].sum())
        return result.reshape((1,) * a.ndim) if keepdims else result
    if axis in (-1, a.ndim - 1) and a.shape[-1] <= _LONG:
        result = np.einsum("...i->...", a)
        return result[..., None] if keepdims else result
    return a.sum(axis=axis, keepdims=keepdims)


def _added_one_by_one(a: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sums over several dimensions: first over the last ones, which lie together in memory."""
    places = sorted([place % a.ndim for place in axis])
    kept, length = a.ndim, 1
    while places and places[-1] == kept - 1 and length * a.shape[kept - 1] <= _LONG:
        length *= a.shape[places.pop()]
        kept -= 1
    if length < SHORTEST:
        return a.sum(axis=axis, keepdims=keepdims)
    total = added(a.reshape(*a.shape[:kept], length), -1, False)
    if places:
        total = total.sum(axis=tuple(places))
    return np.expand_dims(total, axis) if keepdims else total


def _added_in_a_loop(a: Any, axis: int | tuple[int, ...] | None) -> Any:
    """The sums of a large array in one piece by a compiled loop; None without one for such an ``axis``."""
    if axis is None or a.ndim == 1:
        return total_in_a_loop("native_sums.sums_of_runs", a)
    if axis in (-1, a.ndim - 1) and a.shape[-1] <= _LONG:
        sums = np.empty(a.shape[:-1], a.dtype)
        rows = a.reshape(-1, a.shape[-1])
        return sums if loop_over_rows("native_sums.sums_of_rows", rows, sums.reshape(-1)) else None
    if axis in (0, -a.ndim) and a.size // len(a) >= SHORTEST:
        rows = a.reshape(len(a), -1)
        together = max(BLOCK // rows.shape[1], 1)
        starts = np.arange(0, len(rows), together)
        sums = np.zeros((len(starts), rows.shape[1]), a.dtype)
        if shared("native_sums.sums_of_columns", (starts, sums, rows, together), (0, 1), 1):
            return sums.sum(axis=0).reshape(a.shape[1:])
    return None


def _lies_like(a: Any, first: Any) -> bool:
    """Whether ``a`` is in one piece of memory, and has the shape and the dtype of ``first``."""
    return (
        a.__class__ is np.ndarray
        and a.flags.c_contiguous
        and a.shape == first.shape
        and a.dtype == first.dtype
    )


def total_in_a_loop(native: str, *arrays: Any, others: Sequence[Any] = ()) -> Any:
    """The sum of what the compiled loop ``native`` adds up over all places of ``arrays``; None without one.

    A loop adds up each 1024 neighbours, and NumPy their sums, so that few are lost to rounding.
    """
    first = arrays[0]
    if not is_large(first) or not builtins.all([_lies_like(each, first) for each in arrays]):
        return None
    starts = np.arange(0, first.size, RUN)
    sums, lines = np.empty(len(starts), first.dtype), [array.reshape(-1) for array in arrays]
    if not shared(native, (starts, sums, *lines, *others), (0, 1), BLOCK // RUN):
        return None
    return np.asarray(sums.sum())


def _total(a: Any, dim: Dim, keepdim: bool) -> Any:
    """The sum in the dtype of the result: integers become int64."""
    if a.dtype.kind in "bui":
        return a.sum(axis=reduced(a, axes(dim)), keepdims=keepdim, dtype=np.int64)
    return added(a, reduced(a, axes(dim)), keepdim)


@operation(
    "Σ",
    "Σ {a}",
    name="sum",
    layout=contiguous,
    a=derivative("1", spread),
    backward=_by_dim("Sum"),
    linear=True,
)
def plain_sum(a, /, dim=None, keepdim=False):
    """See :func:`sum`."""
    return _total(a, dim, keepdim)


def sum(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The sum of all elements, or along ``dim``; integers and bools sum to int64.

    Parameters
    ----------
    input : Tensor
    dim : int or sequence of int, optional
        What to sum over (also ``axis``); all without it.
    keepdim : bool
        Keep the summed dimensions, with size 1 (also ``keepdims``).
    dtype : dtype, optional
        Convert first.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """
    if dim is not None or keepdim is not False:
        dim = checked("sum", input, dim, keepdim)
    if dtype is None:
        return plain_sum(input, dim, keepdim)
    return converted(plain_sum(converted(input, dtype), dim, keepdim), dtype)


@operation(
    "Σ",
    "Σ of what is a number in {a}",
    name="nansum",
    layout=contiguous,
    a=derivative(
        "1, and 0 where {a} is nan",
        lambda g, a, shape, dim, keepdim: np.where(np.isnan(a), 0.0, spread(g, shape, dim, keepdim)),
    ),
)
def plain_nansum(a, /, dim=None, keepdim=False):
    """See :func:`nansum`."""
    total = _total(a, dim, keepdim)
    if known(total == total):  # then there is nothing to leave out
        return total
    return _total(np.where(a == a, a, a.dtype.type(0)), dim, keepdim)


def nansum(
    input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The :func:`sum` of the elements that are not nan."""
    dim = checked("nansum", input, dim, keepdim)
    if dtype is not None and dtype.is_complex and input.array.dtype.kind != "c":
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.name}': leave out dtype")
    return converted(plain_nansum(converted(input, dtype), dim, keepdim), dtype)


# ---------------------------------------------------------------- means


@operation(
    "mean",
    "mean {a}",
    name="mean",
    layout=contiguous,
    a=derivative(
        "1 / n",
        lambda g, shape, dim, keepdim: spread(g / builtins.max(count(shape, dim), 1), shape, dim, keepdim),
    ),
    backward=_by_dim("Mean"),
    linear=True,
)
def plain_mean(a, /, dim=None, keepdim=False, made_by=None):
    """See :func:`mean`."""
    if a.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {kind_of(a)}; convert it with .float()"
        )
    total = added(a, axes(dim), keepdim)
    return (total / total.dtype.type(count(a.shape, dim))).astype(a.dtype, copy=False)


def mean(
    input: Tensor,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The mean of all elements, or along ``dim``.

    Raises
    ------
    RuntimeError
        If the elements are no floating point numbers.
    """
    if dim is not None or keepdim is not False:
        dim = checked("mean", input, dim, keepdim)
    return plain_mean(input if dtype is None else converted(input, dtype), dim, keepdim)


def nanmean(
    input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """The :func:`mean` of the elements that are not nan."""
    dim = checked("nanmean", input, dim, keepdim)
    if input.array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{kind_of(input.array)}; convert it with .float()"
        )
    if dtype is not None and not dtype.is_floating_point:
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or "
            f"complex dtype. Got: {dtype.name}"
        )
    input = converted(input, dtype)
    return nansum(input, dim, keepdim) / input.detach().eq(input.detach()).sum(dim, keepdim)


# ---------------------------------------------------------------- counts and truth


@operation("count", "count of what is not 0 in {a}", name="count_nonzero")
def plain_count_nonzero(a, /, dim=None):
    """See :func:`count_nonzero`."""
    if dim is None and a.__class__ is np.ndarray:
        return np.asarray(np.count_nonzero(a != 0))
    return (a != 0).sum(axis=reduced(a, axes(dim)), dtype=np.int64)


def count_nonzero(input: Tensor, dim: Dim = None) -> Tensor:
    """How many elements are not 0, of all or along ``dim``."""
    return plain_count_nonzero(input, checked("count_nonzero", input, dim))


def _answer(true: Any, a: Any) -> Any:
    """True or false; for bytes, which were PyTorch's bools once, as bytes."""
    return true.astype(a.dtype) if a.dtype == np.uint8 else true


def _truth(name: str) -> Any:
    symbol = f"{name} {{a}}"

    @operation(name, symbol, name=name, layout=contiguous)
    def plain(a, /, dim=None, keepdim=False):
        """Whether elements are true, along ``dim``, where an empty list asks about each alone."""
        axis = dim if dim is None or isinstance(dim, int) else tuple(dim)
        return _answer(getattr(a != 0, name)(axis=axis, keepdims=keepdim), a)

    return plain


_all, _any = _truth("all"), _truth("any")


def all(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true, of all or along ``dim``."""
    return _all(input, checked("all", input, dim, keepdim), keepdim)


def any(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether one element is true, of all or along ``dim``."""
    return _any(input, checked("any", input, dim, keepdim), keepdim)


NAMES = Names(
    both="all any count_nonzero mean nanmean nansum sum",
    numpy={np.sum: sum, np.mean: mean},
)
