"""Adaptive pooling: the means or the largest elements of a given number of regions."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from autokit.devices import contiguous, with_channels_as
from autokit.dtypes import FLOATS
from autokit.ops.axis_maps import adaptive_regions, averaging, resample
from autokit.ops.errors import describe, dimension_error, require_floats
from autokit.ops.gpu.arrays import like, sent
from autokit.ops.guards import guard, guards
from autokit.ops.index import read_at
from autokit.ops.names import Names
from autokit.ops.pool import check_dimensions, taken, with_places
from autokit.ops.pooling import Pooling, place_of_largest, places_of_maxima, row_lengths
from autokit.ops.reduce import mean
from autokit.tensor import Tensor


def _adaptive_sizes(name: str, input: Tensor, output_size: Any, ndim: int) -> tuple[int, ...]:
    """The sizes of the result, where None stands for the input's own."""
    wanted = tuple(output_size) if isinstance(output_size, list | tuple) else (output_size,) * ndim
    told = isinstance(output_size, list | tuple) and ndim > 1
    if told and len(wanted) >= input.array.ndim or len(wanted) != ndim:
        raise (ValueError if told and len(wanted) >= input.array.ndim else RuntimeError)(
            f"{name}: output_size must be {ndim}, or Input dimension should be at least {len(wanted) + 1}: "
            f"output_size is {output_size}, and the input {describe(input)}"
        )
    of_means = "avg" in name and set(wanted) == {1}
    if input.array.ndim not in (ndim + 1, ndim + 2) and not (of_means and ndim > 1):
        check_dimensions(name, input, ndim)
    if input.array.ndim < ndim:
        raise dimension_error(-ndim, input.array.ndim, describe(input))
    sizes = tuple(own if size is None else size for size, own in zip(wanted, input.array.shape[-ndim:]))
    if min(sizes) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {sizes}"
        )
    if not of_means:
        check_dimensions(name, input, ndim, -ndim if "avg" in name and ndim < 3 else 1)
        if all(sizes) or "max" in name:
            require_floats(name, input.array)
    return sizes


def _adaptive_average(input: Tensor, output_size: Any, ndim: int) -> Tensor:
    name = f"adaptive_avg_pool{ndim}d"
    sizes = _adaptive_sizes(name, input, output_size, ndim)
    if set(sizes) == {1}:
        return mean(input, tuple(range(-ndim, 0)), True)
    own = input.array.shape[-ndim:]
    maps = tuple([averaging(axis - ndim, own[axis], sizes[axis]) for axis in range(ndim)])
    made = resample(input, maps=maps, node=f"AdaptiveAvgPool{ndim}DBackward0")
    guard(made, [input])
    return made


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the signal; as :func:`adaptive_avg_pool2d`."""
    (size,) = _adaptive_sizes("adaptive_avg_pool1d", input, output_size, 1)
    return _adaptive_average(input.unsqueeze(-2), (1, size), 2).squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the image, whatever its size.

    The region at i, of n along a dimension of size s, goes from ⌊i·s/n⌋ up to
    ⌈(i+1)·s/n⌉; where n does not divide s, neighbours overlap.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(6.0).reshape(1, 2, 3), (1, 2))
    tensor([[[2., 3.]]])
    """
    return _adaptive_average(input, output_size, 2)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the volume; as :func:`adaptive_avg_pool2d`."""
    return _adaptive_average(input, output_size, 3)


def _adaptive_max(input: Tensor, output_size: Any, return_indices: bool, ndim: int) -> Any:
    name = f"adaptive_max_pool{ndim}d"
    sizes = _adaptive_sizes(name, input, output_size, ndim)
    array, own = input.array, input.array.shape[-ndim:]
    places = _places(array, own, sizes)
    places = with_channels_as(array, places) if ndim == 2 else contiguous(places)
    overlap = any(size % max(count, 1) for size, count in zip(own, sizes))
    values = taken(input, places, overlap, f"AdaptiveMaxPool{ndim}DBackward0", ndim)
    return with_places(values, places, return_indices)


def _places(array: Any, own: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """Where in its image each region's largest element is, counted row by row."""
    lead, ndim = array.shape[: -len(own)], len(own)
    if not array.size or not math.prod(sizes):
        return like(np.zeros_like, array, shape=(*lead, *sizes), dtype=np.int64)
    in_numpy = array.__class__ is np.ndarray
    width = tuple(size // count for size, count in zip(own, sizes))
    are_windows = array.dtype.kind in FLOATS and not any(size % count for size, count in zip(own, sizes))
    if are_windows and (not in_numpy or math.prod(width) <= _FEW):
        return places_of_maxima(array, Pooling(own, width, width, (0,) * ndim, (1,) * ndim, sizes))
    if in_numpy and math.prod(lead) * math.prod(width) > _MANY:
        return _places_by_region(array, sizes)
    return _places_by_table(array, own, sizes)


def _places_by_table(array: Any, own: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """As :func:`_places`, the elements of all regions side by side."""
    table, rows = sent(array, _tables, own, sizes)
    seen = array.reshape((*array.shape[: -len(own)], -1)).take(table, axis=-1)
    return read_at(table.reshape(-1), (place_of_largest(seen) + rows,))


_FEW = 16
"""Elements of a region up to which NumPy looks at one place of all regions after the other."""

_MANY = 4096
"""Elements of a region, in all images, from which NumPy finds the largest sooner one region at a time."""


def _regions(own: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Along each dimension the first places of the regions, and those behind them."""
    return [adaptive_regions(size, count) for size, count in zip(own, sizes)]


@lru_cache(maxsize=64)
def _tables(own: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The places of each region's elements, in a row, and where in the table these rows begin."""
    ndim = len(sizes)
    table = np.zeros((1,) * (2 * ndim), np.int64)  # the regions' dimensions, then those inside of a region
    for axis, ((first, end), row) in enumerate(zip(_regions(own, sizes), row_lengths(own))):
        width = int((end - first).max())
        index = np.minimum(first[:, None] + np.arange(width), end[:, None] - 1)  # the last one may return
        shape = [1] * (2 * ndim)
        shape[axis], shape[ndim + axis] = index.shape
        table = table + (index * row).reshape(shape)
    table = table.reshape(*sizes, -1)
    return table, np.arange(math.prod(sizes)).reshape(sizes) * table.shape[-1]


def _places_by_region(array: Any, sizes: tuple[int, ...]) -> Any:
    """As :func:`_places`, one region of all images after the other."""
    ndim = len(sizes)
    own = array.shape[-ndim:]
    regions = [list(zip(*each)) for each in _regions(own, sizes)]
    places: Any = np.empty((*array.shape[:-ndim], *sizes), np.int64)
    no_nan = not np.isnan(array).any()
    for at in product(*map(range, sizes)):
        spans = [regions[axis][place] for axis, place in enumerate(at)]
        window = array[(..., *(slice(int(first), int(end)) for first, end in spans))]
        window = window.reshape((*array.shape[:-ndim], math.prod(window.shape[-ndim:])))
        chosen = window.argmax(axis=-1) if no_nan else place_of_largest(window)
        place = 0
        for (first, end), row in zip(reversed(spans), reversed(row_lengths(own))):
            place = place + (first + chosen % (end - first)) * row
            chosen = chosen // (end - first)
        places[(..., *at)] = place
    return places


@guards("input", results=(1,))
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the signal."""
    sizes = _adaptive_sizes("adaptive_max_pool1d", input, output_size, 1)
    values, places = _adaptive_max(input.unsqueeze(-2), (1, *sizes), True, 2)
    return (values.squeeze(-2), places.squeeze(-2)) if return_indices else values.squeeze(-2)


@guards("input", results=(1,))
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the regions that :func:`adaptive_avg_pool2d` averages."""
    return _adaptive_max(input, output_size, return_indices, 2)


@guards("input", results=(1,))
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the volume."""
    return _adaptive_max(input, output_size, return_indices, 3)


_MEANS = "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d"

NAMES = Names(
    functions="adaptive_avg_pool1d",
    functional=f"{_MEANS} adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
)
