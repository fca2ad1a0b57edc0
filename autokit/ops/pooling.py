"""Pooling: the largest element, the mean or the p-norm of each window of a signal, an image or a volume.

Along each dimension a table lists the places in each window.  In ordinary pooling all windows have one length
and move by a stride; in adaptive pooling they cover the dimension, and their lengths differ by little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from autokit.base.devices import beside, module_of
from autokit.base.errors import describe, require_floats, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.fold import Size, Windows, numbers_of
from autokit.ops.gather import add_at_places
from autokit.ops.names import Names
from autokit.ops.pad import AxisMap, along, resample
from autokit.ops.reduce import mean

# ---------------------------------------------------------------- the largest


def _to_the_maxima(g: Any, out: Any, shape: Any, tables: Any) -> Any:
    """The gradient of the largest elements, added at their places in zeros."""
    places = out[1].array if isinstance(out[1], Tensor) else out[1]
    lead = shape[: len(shape) - len(tables)]
    firsts = module_of(places).arange(math.prod(lead)).reshape((*lead, *(1,) * len(tables)))
    index = (places + firsts * math.prod(shape[len(lead) :])).reshape(-1)
    index = new_tensor(index) if isinstance(g[0], Tensor) else index
    added = on(add_at_places, g[0].reshape(-1), index, dim=0, size=math.prod(shape))
    return added.reshape(shape)


@operation(
    "max",
    "max {a} in each window",
    a=derivative("1 at the largest value of each window, else 0", _to_the_maxima),
    backward="MaxPoolWithIndicesBackward0",
)
def max_pool(a, /, tables):
    """The largest element of each window, and its place in the image, counted row by row.

    ``tables`` has for each of the last dimensions the places that the windows see, (windows, kernel).
    """
    seen = []
    for place in product(*[range(table.shape[1]) for table in tables]):
        part = a
        for axis, (table, at) in enumerate(zip(tables, place), -len(tables)):
            part = part[along(axis, table[:, at], a)]
        seen.append(part.copy())  # LeNet's row: it is read several times
    largest = seen[0]
    for part in seen[1:]:
        largest = np.maximum(largest, part)  # NaN where one is NaN
    # The first of the largest has as many places before it as hold another number.
    before = np.ones_like(largest, dtype=bool)
    chosen = np.zeros_like(largest, dtype=np.min_scalar_type(len(seen)))
    for part in seen:
        before &= (part != largest) & (part == part)
        chosen += before
    sizes = a.shape[a.ndim - len(tables) :]
    numbers = beside(_numbers(sizes, tables), a)
    firsts = module_of(a).arange(0, numbers.size, len(seen)).reshape([len(table) for table in tables])
    return largest, numbers.reshape(-1)[chosen + firsts]


def _numbers(sizes: Sequence[int], tables: Sequence[np.ndarray]) -> np.ndarray:
    """For each window the places of its elements, counted row by row: (windows, kernel)."""
    ndim = len(sizes)
    numbers = np.zeros((1,) * (2 * ndim), np.int64)
    for axis, table in enumerate(tables):
        shape = [1] * (2 * ndim)
        shape[axis], shape[ndim + axis] = table.shape
        numbers = numbers + table.reshape(shape) * math.prod(sizes[axis + 1 :])
    return numbers.reshape((math.prod(numbers.shape[:ndim]), -1))


def _max_pool(ndim, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    name = f"max_pool{ndim}d"
    windows, counts = _windows_over(name, ndim, input, kernel_size, stride, padding, dilation, ceil_mode)
    tables = []
    for size, count, kernel, step, pad, gap in zip(input.shape[-ndim:], counts, *windows):
        begin = (np.arange(count) * step - pad)[:, np.newaxis]
        places = begin + np.arange(kernel) * gap
        # In place of the padding a window has its first or last place inside once more.
        first = begin + -(np.minimum(begin, 0) // gap) * gap
        last = begin + np.minimum((size - 1 - begin) // gap, kernel - 1) * gap
        if (first > last).any():
            raise RuntimeError(f"{name}: a window sees nothing but padding, {pad} around {describe(input)}")
        tables.append(np.clip(places, first, last))
    values, places = max_pool(input, tables=tuple(tables))
    return (values, places) if return_indices else values


def _windows_over(name, ndim, input, kernel_size, stride, padding, dilation, ceil_mode):
    """The windows that the settings of a pooling say, and how many there are along each dimension."""
    _check_dimensions(name, ndim, input)
    kernel = numbers_of(name, "kernel_size", kernel_size, ndim)
    steps = kernel if stride in (None, (), []) else numbers_of(name, "stride", stride, ndim)
    around = numbers_of(name, "padding", padding, ndim, 0)
    windows = Windows(kernel, steps, around, numbers_of(name, "dilation", dilation, ndim))
    if any([2 * pad > width for pad, width in zip(around, kernel)]):
        raise RuntimeError(
            f"{name}: pad should be at most half of effective kernel size, but got padding {list(around)} "
            f"and kernel_size {list(kernel)}"
        )
    counts = windows.counts(input.shape[-ndim:], ceil_mode)
    if min(counts) < 1:
        raise RuntimeError(
            f"{name}: Output size is too small: a window of {list(kernel)} does not fit into "
            f"{describe(input)}; pool less before, or use a smaller kernel_size"
        )
    return windows, counts


def _check_dimensions(name: str, ndim: int, input: Any) -> None:
    require_tensor(name, input)
    if input.ndim not in (ndim + 1, ndim + 2) or not all(input.shape[-ndim - 1 :]):
        raise RuntimeError(
            f"{name}(): Expected {ndim + 1}D or {ndim + 2}D tensor that is not empty: {describe(input)}"
        )


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals; as :func:`max_pool2d`, over (N, channels, length)."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images.

    All of a window's gradient goes to its largest element, and to the first of equals.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, height, width), or without N.
    kernel_size : int or two
        The size of the window.
    stride : int or two, optional
        How far the window moves; by default, by its size.
    padding : int or two
        How far windows may begin before the input.
    dilation : int or two
        The distance between the elements that a window sees.
    ceil_mode : bool
        Let the last windows stand out over the edge, so that no element is left out.
    return_indices : bool
        Return a pair: the maxima, and where in its image each was, counted row by row.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes; as :func:`max_pool2d`."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


# ---------------------------------------------------------------- means


def _average_pool(ndim, input, kernel_size, stride, padding, ceil_mode, include_pad):
    name = f"avg_pool{ndim}d"
    windows, counts = _windows_over(name, ndim, input, kernel_size, stride, padding, 1, ceil_mode)
    require_floats(name, input.array)
    maps = []
    settings = zip(input.shape[-ndim:], counts, *windows)
    for axis, (size, count, kernel, step, pad, _) in enumerate(settings, -ndim):
        places = (np.arange(count) * step - pad)[:, np.newaxis] + np.arange(kernel)
        inside = (places >= 0) & (places < size)
        divisors = (places < size + pad if include_pad else inside).sum(axis=1, keepdims=True)
        maps.append(AxisMap(axis, size, np.clip(places, 0, size - 1), inside / divisors))
    return resample(input, maps=tuple(maps))


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals; as :func:`avg_pool2d`, over (N, channels, length)."""
    return _average_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of images.

    Parameters
    ----------
    input, kernel_size, stride, padding, ceil_mode
        As in :func:`max_pool2d`; the padding is zeros.
    count_include_pad : bool
        Count the padding among the elements that are averaged.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    return _average_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of volumes; as :func:`avg_pool2d`."""
    return _average_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _norm_pool(
    ndim: int, input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None, ceil_mode: bool
) -> Tensor:
    means: Any = _average_pool(ndim, input**norm_type, kernel_size, stride, 0, ceil_mode, True)
    count = math.prod(numbers_of(f"lp_pool{ndim}d", "kernel_size", kernel_size, ndim))
    return (means.sign() * means.abs().relu() * count) ** (1 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of signals, for p = ``norm_type``."""
    return _norm_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of images, for p = ``norm_type``."""
    return _norm_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


# ---------------------------------------------------------------- adaptive pooling


def _regions(name: str, ndim: int, input: Any, output_size: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Along each dimension the places of the regions, (regions, longest), and the regions' lengths.

    The region at i, of n along a dimension of size s, goes from ⌊i·s/n⌋ up to ⌈(i+1)·s/n⌉; a shorter one than
    others has its last place more than once.
    """
    _check_dimensions(name, ndim, input)
    given = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * ndim
    own = input.shape[-ndim:]
    counts = (
        [size if count is None else count for count, size in zip(given, own)] if len(given) == ndim else given
    )
    regions = []
    for size, count in zip(own, numbers_of(name, "output_size", tuple(counts), ndim)):
        first = np.arange(count) * size // count
        end = -(np.arange(1, count + 1) * -size // count)
        places = first[:, np.newaxis] + np.arange((end - first).max())
        regions.append((np.minimum(places, end[:, np.newaxis] - 1), end - first))
    return regions


def _adaptive_average(ndim: int, input: Any, output_size: Any) -> Tensor:
    regions = _regions(f"adaptive_avg_pool{ndim}d", ndim, input, output_size)
    require_floats("adaptive_avg_pool", input.array)
    if all([len(lengths) == 1 for _, lengths in regions]):
        return mean(input, tuple(range(-ndim, 0)), keepdim=True)
    maps = []
    for axis, (places, lengths) in enumerate(regions, -ndim):
        counted = np.arange(places.shape[1]) < lengths[:, np.newaxis]
        maps.append(AxisMap(axis, input.shape[axis], places, counted / lengths[:, np.newaxis]))
    return resample(input, maps=tuple(maps))


def _adaptive_max(ndim: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    regions = _regions(f"adaptive_max_pool{ndim}d", ndim, input, output_size)
    values, places = max_pool(input, tables=tuple([places for places, _ in regions]))
    return (values, places) if return_indices else values


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the signal; as :func:`adaptive_avg_pool2d`."""
    return _adaptive_average(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the image, whatever its size.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(6.0).reshape(1, 2, 3), (1, 2))
    tensor([[[2., 3.]]])
    """
    return _adaptive_average(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` regions that cover the volume; as :func:`adaptive_avg_pool2d`."""
    return _adaptive_average(3, input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the signal."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the regions that :func:`adaptive_avg_pool2d` averages."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` regions that cover the volume."""
    return _adaptive_max(3, input, output_size, return_indices)


_MAX = "max_pool1d max_pool2d max_pool3d"
_REST = "avg_pool2d avg_pool3d lp_pool1d lp_pool2d adaptive_avg_pool2d adaptive_avg_pool3d"
_ADAPTIVE_MAX = "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d"

NAMES = Names(
    functions=f"{_MAX} avg_pool1d adaptive_avg_pool1d",
    functional=f"{_MAX} avg_pool1d adaptive_avg_pool1d {_REST} {_ADAPTIVE_MAX}",
)
