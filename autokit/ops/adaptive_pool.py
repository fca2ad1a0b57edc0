"""Adaptive pooling: the means or the largest elements of a given number of regions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from autokit.devices import beside, contiguous, module_of, on_a_gpu, with_channels_as
from autokit.ops.axis_maps import adaptive_regions, averaging, resample
from autokit.ops.errors import describe, dimension_error, require_floats
from autokit.ops.names import Names
from autokit.ops.pool import check_dimensions, taken, with_places
from autokit.ops.pooling import row_lengths
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
    return resample(input, maps=maps, node=f"AdaptiveAvgPool{ndim}DBackward0")


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
    regions = [adaptive_regions(size, count) for size, count in zip(own, sizes)]
    widths = [int((end - first).max(initial=0)) for first, end in regions]
    if on_a_gpu(array) and array.size and math.prod(sizes):
        find: Any = _places_at_once
    else:
        by_region = array.__class__ is not np.ndarray or math.prod(sizes) < 2 * math.prod(widths)
        find = _places_by_region if by_region else _places_by_element
    places = find(array, regions, sizes)
    places = with_channels_as(array, places) if ndim == 2 else contiguous(places)
    overlap = any(size % max(count, 1) for size, count in zip(own, sizes))
    values = taken(input, places, overlap, f"AdaptiveMaxPool{ndim}DBackward0", ndim)
    return with_places(values, places, return_indices)


def _places_at_once(array: Any, regions: Any, sizes: tuple[int, ...]) -> Any:
    """Where in its image each region's largest element is, in a few kernels on a GPU."""
    own, ndim = array.shape[-len(sizes) :], len(sizes)
    table = np.zeros((1,) * (2 * ndim), np.int64)  # the regions' dimensions, then those inside of a region
    for axis, ((first, end), row) in enumerate(zip(regions, row_lengths(own))):
        width = int((end - first).max())
        index = np.minimum(first[:, None] + np.arange(width), end[:, None] - 1)  # the last one may return
        shape = [1] * (2 * ndim)
        shape[axis], shape[ndim + axis] = index.shape
        table = table + (index * row).reshape(shape)
    table = table.reshape(*sizes, -1)
    seen = array.reshape(*array.shape[:-ndim], -1).take(beside(array, table), axis=-1)
    rows = np.arange(math.prod(sizes)).reshape(sizes) * table.shape[-1]
    return beside(array, table.reshape(-1)).take(_place_of_largest(seen) + beside(array, rows))


def _place_of_largest(seen: Any) -> Any:
    """Where in each row the largest number is: the first of equals, but as in PyTorch the last NaN."""
    nan = np.where(np.isnan(seen), module_of(seen).arange(seen.shape[-1]), -1)
    return np.maximum(seen.argmax(axis=-1), nan.max(axis=-1))


def _places_by_element(array: Any, regions: Any, sizes: tuple[int, ...]) -> Any:
    """Where in its image each region's largest element is, by one element of all regions after the other."""
    ndim = len(sizes)
    best: Any = None
    for offsets in product(*[range(int((end - first).max(initial=0))) for first, end in regions]):
        # A region that has no more elements looks at its last one again.
        index = [np.minimum(first + offset, end - 1) for (first, end), offset in zip(regions, offsets)]
        value = array[(..., *np.ix_(*index))]
        place = np.zeros(sizes, np.int64)
        for axis, row in enumerate(row_lengths(array.shape[-ndim:])):
            place += (index[axis] * row).reshape((-1,) + (1,) * (ndim - axis - 1))
        if best is None:
            best, places = value, np.broadcast_to(place, value.shape)
            continue
        larger = (value > best) | (value != value)
        best, places = np.where(larger, value, best), np.where(larger, place, places)
    return np.zeros((*array.shape[:-ndim], *sizes), np.int64) if best is None else places


def _places_by_region(array: Any, spans_of_axes: Any, sizes: tuple[int, ...]) -> Any:
    """As :func:`_places_by_element`, one region of all images after the other."""
    ndim = len(sizes)
    rows = row_lengths(array.shape[-ndim:])
    regions = [list(zip(*each)) for each in spans_of_axes]
    places: Any = np.zeros_like(array, shape=(*array.shape[:-ndim], *sizes), dtype=np.int64)
    no_nan = array.__class__ is np.ndarray and not np.isnan(array).any()
    for at in product(*map(range, sizes)):
        spans = [regions[axis][place] for axis, place in enumerate(at)]
        window = array[(..., *(slice(int(first), int(end)) for first, end in spans))]
        window = window.reshape((*array.shape[:-ndim], math.prod(window.shape[-ndim:])))
        chosen = window.argmax(axis=-1) if no_nan else _place_of_largest(window)
        place = 0
        for (first, end), row in zip(reversed(spans), reversed(rows)):
            place = place + (first + chosen % (end - first)) * row
            chosen = chosen // (end - first)
        places[(..., *at)] = place
    return places


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the signal."""
    sizes = _adaptive_sizes("adaptive_max_pool1d", input, output_size, 1)
    values, places = _adaptive_max(input.unsqueeze(-2), (1, *sizes), True, 2)
    return (values.squeeze(-2), places.squeeze(-2)) if return_indices else values.squeeze(-2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the regions that :func:`adaptive_avg_pool2d` averages."""
    return _adaptive_max(input, output_size, return_indices, 2)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the volume."""
    return _adaptive_max(input, output_size, return_indices, 3)


_MEANS = "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d"

NAMES = Names(
    functions="adaptive_avg_pool1d",
    functional=f"{_MEANS} adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
)
