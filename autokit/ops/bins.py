"""Counting in bins, as ``bincount`` and ``histogramdd``, and finding the bin, as ``bucketize``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import beside
from autokit.ops.complex_numbers import is_complex
from autokit.ops.dims import whole
from autokit.ops.errors import kind_of
from autokit.ops.gpu.arrays import any_of, ask, like
from autokit.ops.half import widened
from autokit.ops.names import Names
from autokit.ops.reduce import require_flag, require_operand
from autokit.ops.return_types import return_type
from autokit.ops.series import linspace
from autokit.tensor import Tensor, new_tensor


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 on occurs, or the sum of the weights where it does.

    Parameters
    ----------
    input : Tensor of integers
        A vector, none of them negative.
    weights : Tensor, optional
        As long; the sums are of float32 for float32, else of float64.
    minlength : int
        The least length of the result.
    """
    require_operand("bincount", input)
    a = input.array
    if a.dtype.kind not in "ui":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{kind_of(a)}'; it counts integers")
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0; got {minlength}")
    if a.ndim != 1 or any_of(a < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return new_tensor(np.bincount(a, minlength=minlength))
    require_operand("bincount", weights)
    if not a.size:
        return new_tensor(np.zeros(minlength, np.int64))
    w = (weights.to(dtypes.BY_NAME["float64"]) if is_complex(weights) else weights).array
    if w.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind: Any = np.float32 if w.dtype == np.float32 else np.float64
    return new_tensor(np.bincount(a, w, minlength).astype(kind))


# ---------------------------------------------------------------- histograms


def _ends(a: Any) -> tuple[Any, Any]:
    """The smallest and the largest element, as numbers."""
    return a.dtype.type(ask(a.min())), a.dtype.type(ask(a.max()))


def _range(name: str, a: Any, low: Any, high: Any) -> tuple[float, float]:
    """The ends of the bins: those of the elements where none are given, and never the same."""
    if low == high and a.size:
        low, high = _ends(a)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    return (low - 1, high + 1) if low == high else (low, high)


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of ``bins`` bins of one width from ``min`` to ``max``.

    With ``min`` and ``max`` equal, the bins go from the smallest to the largest
    element.  Elements outside, and NaN, count nowhere.
    """
    require_operand("histc", input)
    a = input.array
    if min > max:
        raise RuntimeError(f"torch.histc: max must be larger than min: they are {max} and {min}")
    if a.dtype.kind not in dtypes.FLOATS:
        raise NotImplementedError(
            f"\"histogram_cpu\" not implemented for '{kind_of(a)}'; convert it with .float()"
        )
    bins = _positive(whole(bins, "bins", "histc"))
    kind, a = a.dtype, widened(a)
    low, high = (a.dtype.type(end) for end in _range("torch.histc", a, min, max))
    flat = a.reshape(-1)
    inside = flat[(flat >= low) & (flat <= high)]
    if high - low:
        places = ((inside - low) * a.dtype.type(bins) / (high - low)).astype(np.int64)
    else:  # elements so large that one more is the same number
        places = np.full_like(inside, bins // 2, np.int64)
    return new_tensor(np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(kind))


def _positive(bins: int, dim: int = 0) -> int:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")
    return bins


_histogram = return_type("histogram", "hist", "bin_edges")
_histogramdd = return_type("histogramdd", "hist", "bin_edges")


def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many elements, or how much weight, falls into each bin; and the edges of the bins.

    Parameters
    ----------
    input : Tensor of floating point numbers
    bins : int or Tensor
        How many bins of one width, or the edges of all, ascending.
    range : pair of float, optional
        Where the bins begin and end; at the smallest and the largest element without it.
    weight : Tensor, optional
        What each element counts, of the shape of ``input``.
    density : bool
        Divide so that the area under the histogram is 1.
    """
    require_operand("histogram", input)
    require_flag("histogram", "density", density)
    shape = input.array.shape
    if weight is not None and weight.array.shape != shape:
        shape = (input.array.size,)  # of which the error tells
    counts, edges = _counted(input.array.reshape((*shape, 1)), [bins], range, weight, density)
    return _histogram(counts, edges[0])


def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many points, or how much weight, falls into each box of a grid; and the edges of the boxes.

    Parameters
    ----------
    input : Tensor of floating point numbers
        (..., D): each row is a point of a space of D dimensions.
    bins : int, sequence of int or sequence of Tensor
        How many bins of one width there are along each dimension, or their edges, ascending.
    range : sequence of float, optional
        Where the bins begin and end, 2 numbers for each dimension; at the outermost points without it.
    weight : Tensor, optional
        What each point counts, (...).
    density : bool
        Divide so that the volume under the histogram is 1.

    Returns
    -------
    hist : Tensor
        (bins of the first dimension, ..., bins of the last).
    bin_edges : tuple of Tensor

    Raises
    ------
    RuntimeError
        If ``bins`` are not as many as D, or ``range`` or ``weight`` do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.histogramdd(torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]]), bins=[2, 2]).hist
    tensor([[1., 0.],
            [0., 2.]])
    """
    require_operand("histogramdd", input)
    require_flag("histogramdd", "density", density)
    a = input.array
    if a.ndim < 2:
        raise RuntimeError(
            "torch.histogramdd: input tensor should have at least 2 dimensions, the last of them that of the "
            f"points; this one has {a.ndim}"
        )
    size = a.shape[-1]
    bins = list(bins) if isinstance(bins, tuple | list) else [bins] * size
    bins = [whole(each, "bins", "histogramdd") if _is_whole(each) else each for each in bins]
    of_edges = any(not isinstance(each, int) for each in bins)
    for place, each in enumerate(bins):
        if of_edges and not isinstance(each, Tensor):
            kind = type(each).__name__
            raise TypeError(f"expected Tensor as element {place} in argument 1, but got {kind}")
    if of_edges and len(bins) != size:
        raise RuntimeError(
            f"torch.histogramdd: expected {size} sequences of bin edges for a {size}-dimensional histogram "
            f"but got {len(bins)}"
        )
    counts, edges = _counted(a, bins, range, weight, density)
    return _histogramdd(counts, tuple(bins) if of_edges else edges)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (
        isinstance(value, Tensor) and not value.array.ndim and value.array.dtype.kind in "iu"
    )


def _counted(
    points: Any, bins: Any, range: Any, weight: Tensor | None, density: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """What falls into each box, and the edges; see :func:`histogramdd`."""
    of_edges, size = any(isinstance(each, Tensor) for each in bins), points.shape[-1]
    for dim, each in enumerate(bins if of_edges else ()):
        _check_edges(points, each.array, dim)
    if range is not None and not of_edges:
        _check_range(range, size)
    if of_edges and weight is not None:
        _check_weight(points, weight.array)
    if points.dtype.kind not in dtypes.FLOATS:
        raise NotImplementedError(
            f"\"histogramdd\" not implemented for '{kind_of(points)}'; convert it with .float()"
        )
    if len(bins) != size:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input: they are "
            f"{len(bins)} and {size}"
        )
    if weight is not None:
        _check_weight(points, weight.array)
    columns = points.reshape((-1, size)).T if points.size else points.reshape((size, 0))
    edges = [
        _edges(column, each, None if range is None else range[2 * dim : 2 * dim + 2], dim)
        for dim, (column, each) in enumerate(zip(columns, bins))
    ]
    shape = tuple([len(each) - 1 for each in edges])
    inside: Any = np.ones_like(columns[0], bool) if edges else ()
    for column, each in zip(columns, edges):
        inside &= (column >= each[0]) & (column <= each[-1])
    boxes: Any = 0
    for column, each, count in zip(columns, edges, shape):
        found = np.searchsorted(widened(each), widened(column[inside]), side="right") - 1
        boxes = boxes * count + np.minimum(found, count - 1)
    masses = None if weight is None else weight.array.reshape(-1)[inside]
    total = math.prod(shape)
    counts = (
        (np.bincount(boxes, masses, total)[:total] if edges else like(np.zeros_like, points, shape=1))
        .astype(points.dtype)
        .reshape(shape)
    )
    if density:
        counts = counts / counts.sum()
        for dim, each in enumerate(edges):
            counts = counts / np.diff(each).reshape((-1,) + (1,) * (len(edges) - 1 - dim))
    return new_tensor(counts), tuple(map(new_tensor, edges))


def _check_range(range: Any, size: int) -> None:
    if len(range) != 2 * size:
        raise RuntimeError(
            f"torch.histogramdd: for a {size}-dimensional histogram range should have {2 * size} elements, "
            f"but got {len(range)}"
        )
    for dim, (low, high) in enumerate(zip(range[::2], range[1::2])):
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                f"dimension {dim}"
            )


def _check_weight(points: Any, weight: Any) -> None:
    if weight.dtype != points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({kind_of(points)}), and weight({kind_of(weight)})"
        )
    if (weight.shape or (1,)) != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            f"tensor excluding its innermost dimension, but got input with shape {list(points.shape)} and "
            f"weight with shape {list(weight.shape)}"
        )


def _check_edges(a: Any, edges: Any, dim: int) -> None:
    if edges.ndim != 1:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have one dimension, but got "
            f"{edges.ndim} dimensions in the bins tensor for dimension {dim}"
        )
    if edges.dtype != a.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got "
            f"input with dtype {kind_of(a).lower()} and bins for "
            f"dimension {dim} with dtype {kind_of(edges).lower()}"
        )
    _positive(edges.size - 1, dim)
    if any_of(~(edges[1:] >= edges[:-1])):
        raise RuntimeError(f"torch.histogramdd: the edges of dimension {dim} must ascend; sort() them first")


def _edges(a: Any, bins: Any, range: Any, dim: int) -> Any:
    """The edges of the bins of the coordinates ``a``, the points' own along ``dim``."""
    if isinstance(bins, Tensor):
        return bins.array.copy()
    bins = _positive(whole(bins, "bins", "histogram"), dim)
    low, high = range or (_ends(a) if a.size else (0.0, 1.0))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    made = linspace(float(low), float(high), bins + 1, dtype=dtypes.BY_NUMPY[a.dtype])
    return beside(a, made.array)


# ---------------------------------------------------------------- finding the bin


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The places at which values would be put into sorted sequences to keep them sorted.

    Parameters
    ----------
    sorted_sequence : Tensor
        A vector, or vectors along the last dimension.
    input : Tensor or number
        The values: any, for a vector; else values along the last dimension for each.
    right : bool
        Put a value behind its equals (also ``side="right"``) instead of before them.
    out_int32 : bool
        Count in int32 instead of int64.
    sorter : Tensor of int64, optional
        What sorts ``sorted_sequence``, which then need not be sorted.
    """
    name = "torch.searchsorted()"
    require_operand("searchsorted", sorted_sequence)
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"{name}: side can only be 'left' or 'right' but got {side}")
        if side == "left" and right:
            raise RuntimeError(
                f"{name}: side and right can't be set to opposites, got side of left while right was True"
            )
        right = side == "right"
    edges = sorted_sequence.array
    values = beside(edges, _values("searchsorted", input))
    if not edges.ndim:
        raise RuntimeError(f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    if not values.ndim and edges.ndim != 1:
        raise RuntimeError(
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({edges.ndim}) and input value's dim(0) numel(1)"
        )
    if edges.ndim != 1 and edges.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(edges.shape)} and "
            f"input value tensor {list(values.shape)}"
        )
    if edges.dtype.kind == values.dtype.kind == "b" and values.size:
        raise NotImplementedError("\"searchsorted_out_cpu\" not implemented for 'Bool': convert with .int()")
    if sorter is not None:
        edges = np.take_along_axis(edges, _checked_sorter(name, edges, sorter), -1)
    if edges.ndim == 1:
        found = _search(edges, values, right)
    else:
        count = math.prod(edges.shape[:-1])
        rows = zip(edges.reshape(count, edges.shape[-1]), values.reshape(count, values.shape[-1]))
        each = [_search(*row, right) for row in rows]
        found = np.stack(each).reshape(values.shape) if each else np.zeros_like(values)
    return new_tensor(found.astype(np.int32 if out_int32 else np.int64))


def _values(name: str, input: Any) -> Any:
    if isinstance(input, Tensor):
        return input.array
    if not isinstance(input, int | float | np.generic):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: the values must be a Tensor or a "
            f"number, not {type(input).__name__}"
        )
    return np.asarray(input)


def _search(edges: Any, values: Any, right: bool) -> Any:
    found = np.searchsorted(edges, values, side="right" if right else "left")
    # NaN is behind all others, its equals too.
    return np.where(values != values, edges.size, found)


def _checked_sorter(name: str, edges: Any, sorter: Any) -> Any:
    require_operand("searchsorted", sorter)
    order = sorter.array
    if order.shape != edges.shape:
        raise RuntimeError(
            f"{name}: boundary and sorter must have the same size, but got boundary tensor "
            f"{list(edges.shape)}and got sorter tensor {list(order.shape)}"
        )
    if order.dtype != np.int64:
        raise RuntimeError(f"{name}: sorter must be a tensor of long dtype but got dtype {kind_of(order)}")
    if any_of((order < 0) | (order >= edges.shape[-1])):
        raise RuntimeError(f"{name}: sorter index out of range")
    return order


def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The bin of each value between ascending ``boundaries``; with ``right`` a boundary opens its bin.

    The other way round than in :func:`searchsorted` stand the arguments, and
    as there ``right`` puts a value behind its equals.
    """
    if not isinstance(boundaries, Tensor):
        raise TypeError(
            "bucketize() received an invalid combination of arguments: the boundaries must be a Tensor, not "
            f"{type(boundaries).__name__}"
        )
    if boundaries.array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})")
    _values("bucketize", input)
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


NAMES = Names(both="bincount histc histogram", functions="bucketize histogramdd searchsorted")
