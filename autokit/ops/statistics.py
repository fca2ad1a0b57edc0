"""Statistics of samples: medians, modes and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, one_dim, require, require_floats, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu.lacking import accumulate, like
from autokit.ops.extremes import require_elements, shared_among_ties
from autokit.ops.gather import along, put_back, read, return_type
from autokit.ops.names import Names
from autokit.ops.sort import order_of

# ---------------------------------------------------------------- medians


@operation(
    "median",
    "median {a}",
    a=derivative("1 at the median, shared among ties", lambda g, a, out: shared_among_ties(g, a, out, ())),
    name="median",
)
def median_of_all(a, /):
    """The lower median of all elements; nan where there is one, or none to choose from."""
    if not a.size:
        return like(np.full_like, a, np.nan, shape=())
    line = np.sort(a.reshape(-1))
    return np.where(line[-1] == line[-1], line[(line.size - 1) // 2], line[-1])


@operation("median", "median {a}", a=derivative("1 at the median, else 0", put_back))
def median_along(a, /, dim, keepdim=False):
    """The lower medians along a dimension, and their places."""
    numbers = (a == a).sum(axis=dim, keepdims=True)
    # In ascending order the nans come after all numbers.
    rank = np.where(numbers < a.shape[dim], numbers, (numbers - 1) // 2)
    return read(a, np.take_along_axis(order_of(a, dim), rank, dim), dim, keepdim)


_Median = return_type("median", "values", "indices")


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements; with ``dim`` the medians along it, and their places.

    Of an even number of elements it is the lower of the two in the middle.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([3.0, 1.0, 4.0, 2.0]).median()
    tensor(2.)
    """
    require_tensor("median", input)
    if dim is None:
        return median_of_all(input)
    require_elements("median", input, one_dim(dim, input.array.ndim))
    return _Median(*along("median", median_along, input, dim, keepdim=keepdim))


@operation("mode", "mode {a}", a=derivative("1 at the mode, else 0", put_back), name="mode")
def mode_along(a, /, dim=-1, keepdim=False):
    """See :func:`mode`."""
    order = order_of(a, dim)
    line = np.moveaxis(np.take_along_axis(a, order, dim), dim, -1)
    positions = module_of(a).arange(line.shape[-1])
    starts = np.ones_like(line, dtype=bool)
    starts[..., 1:] = line[..., 1:] != line[..., :-1]
    # How many elements, up to each one, are equal in a row: the longest run ends at the largest count.
    counts = positions - accumulate(np.maximum, np.where(starts, positions, 0), -1)
    rank = np.expand_dims(counts.argmax(axis=-1), dim)
    return read(a, np.take_along_axis(order, rank, dim), dim, keepdim)


_Mode = return_type("mode", "values", "indices")


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along ``dim``, the smallest of several, and the last place where it stands.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([2, 5, 5, 2, 5]).mode().values
    tensor(5)
    """
    require_tensor("mode", input)
    require_elements("mode", input, one_dim(dim, input.array.ndim))
    return _Mode(*along("mode", mode_along, input, dim, keepdim=keepdim))


# ---------------------------------------------------------------- counts in bins


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 on occurs in a vector, or the sum of the weights where it does.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    require_tensor("bincount", input)
    a = input.array
    require(
        a.ndim == 1 and a.dtype.kind in "iu" and (a >= 0).all(),
        lambda: RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, and the input is {describe(input)}"
        ),
    )
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0; got {minlength}")
    if weights is None:
        return new_tensor(np.bincount(a, minlength=minlength))
    if weights.array.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    sums = np.bincount(a, weights.array, minlength)
    return new_tensor(sums.astype(np.float32 if weights.array.dtype == np.float32 else np.float64))


def _range(name: str, a: Any, low: float, high: float) -> tuple[float, float]:
    """The lowest and the highest edge of the bins; by default the smallest and the largest element."""
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min: they are {high} and {low}")
    return low, high


def _check_bins(name: str, input: Any, bins: Any) -> None:
    require_tensor(name, input)
    require_floats(name, input.array)
    if not isinstance(bins, Tensor) and bins <= 0:
        raise RuntimeError(f"{name}(): bins must be > 0, but got {bins}")


_Histogram = return_type("histogram", "hist", "bin_edges")


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
    _check_bins("histogram", input, bins)
    if weight is not None and weight.array.shape != input.array.shape:
        raise RuntimeError(
            f"histogram(): weight must have the shape {list(input.array.shape)} of the input, but it is "
            f"{describe(weight)}"
        )
    ends = None
    if not isinstance(bins, Tensor):
        low, high = _range("histogram", input.array, *(range or (0.0, 0.0)))
        ends = (low, high) if low < high else (low - 0.5, high + 0.5)
    edges = bins.array if isinstance(bins, Tensor) else bins
    weights = None if weight is None else weight.array
    found = np.histogram(input.array, edges, ends, weights=weights, density=density)
    return _Histogram(*[new_tensor(each.astype(input.array.dtype)) for each in found])


NAMES = Names(both="bincount histogram median mode")
