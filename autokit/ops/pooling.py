"""Pooling: the largest element, or the mean, of each window of a signal, an image or a volume.

:mod:`autokit.ops.pool` checks what a program passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import contiguous, laid_as, module_of, with_channels_as
from autokit.dtypes import FLOATS
from autokit.ops.blocks import BLOCK, BLOCKS_OF_THREADS, pieces
from autokit.ops.gpu.arrays import counting, like, sent
from autokit.ops.gpu.kernels import fused
from autokit.ops.gpu.ufuncs import add_at
from autokit.ops.index import read_at
from autokit.ops.native import is_large, shared
from autokit.ops.operation import derivative, on, operation
from autokit.ops.strides import strided
from autokit.threads import each


class Pooling(NamedTuple):
    """Where the windows lie: one number for each pooled dimension, which are the last ones."""

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output: tuple[int, ...]

    def overlaps(self) -> bool:
        """Whether an element may lie in two windows."""
        return any((k - 1) * d >= s for k, d, s in zip(self.kernel, self.dilation, self.stride))

    def is_two_by_two(self) -> bool:
        """Whether the windows are squares of four elements, side by side."""
        return (
            self.kernel == self.stride == (2, 2)
            and self.padding == (0, 0)
            and self.dilation == (1, 1)
            and all([2 * count <= size for count, size in zip(self.output, self.sizes)])
        )

    def reaching(self) -> Pooling:
        """The same without the part of the kernel that lies behind the input in every window."""
        ends = (-(-(size + pad) // step) for size, pad, step in zip(self.sizes, self.padding, self.dilation))
        return self._replace(kernel=tuple(min(width, max(end, 1)) for width, end in zip(self.kernel, ends)))

    def padded_sizes(self) -> tuple[int, ...]:
        """The sizes with padding, as far as windows reach: a last one may stand out."""
        return tuple(
            max(size + pad, (count - 1) * skip + (width - 1) * step + 1)
            for size, pad, count, skip, width, step in zip(
                self.sizes,
                [2 * pad for pad in self.padding],
                self.output,
                self.stride,
                self.kernel,
                self.dilation,
            )
        )

    def places(self) -> Iterator[tuple[Any, ...]]:
        """For each place of the kernel, what all windows see there of the padded input."""
        for place in product(*map(range, self.kernel)):
            yield (
                ...,
                *(
                    slice(at * step, at * step + (count - 1) * skip + 1, skip)
                    for at, step, count, skip in zip(place, self.dilation, self.output, self.stride)
                ),
            )


def _padded(a: Any, pooling: Pooling, value: float) -> Any:
    sizes = pooling.padded_sizes()
    if sizes == pooling.sizes:
        return a
    result = np.full_like(a, value, shape=(*a.shape[: -len(sizes)], *sizes))
    result[_inside(pooling)] = a
    return result


def _inside(pooling: Pooling) -> tuple[Any, ...]:
    """Where the input lies in the padded one."""
    return (..., *(slice(pad, pad + size) for pad, size in zip(pooling.padding, pooling.sizes)))


# ---------------------------------------------------------------- the largest


def places_of_maxima(a: Any, pooling: Pooling) -> Any:
    """Where in its image each window's first largest element is, counted row by row; NaN is the largest."""
    if a.__class__ is np.ndarray and is_large(a) and pooling.is_two_by_two():
        places = _places_by_loop(a, pooling)
        if places is not None:
            return places
    pooling = pooling.reaching()
    lowest = -np.inf if a.dtype.kind in FLOATS else np.iinfo(a.dtype).min
    padded = _padded(a, pooling, lowest)
    find = _places_in_blocks if padded.__class__ is np.ndarray else _places_in_windows
    return find(padded, pooling)


def _places_in_windows(padded: Any, pooling: Pooling) -> Any:
    """Of all windows, side by side in one copy, the places of their largest elements."""
    ndim = len(pooling.sizes)
    lead, steps = padded.strides[:-ndim], padded.strides[-ndim:]
    of_window = [step * skip for step, skip in zip(steps, pooling.stride)]
    inside = [step * apart for step, apart in zip(steps, pooling.dilation)]
    shape = (*padded.shape[:-ndim], *pooling.output)
    seen = strided(padded, (*shape, *pooling.kernel), (*lead, *of_window, *inside))
    corners, first_inside, offsets = sent(padded, _corners, pooling)
    # A window of nothing but the lowest number finds it in the padding first.
    chosen = np.maximum(place_of_largest(seen.reshape((*shape, math.prod(pooling.kernel)))), first_inside)
    return read_at(offsets, (chosen,)) + corners


def place_of_largest(rows: Any) -> Any:
    """Where in each row the largest number is: the first of equals, but as in PyTorch the last NaN."""
    chosen = rows.argmax(axis=-1)
    if rows.dtype.kind not in FLOATS:
        return chosen
    return np.maximum(chosen, _last_nan(rows, counting(rows, rows.shape[-1]), axis=rows.ndim - 1))


@fused
def _last_nan(rows, numbers, /, axis):
    return np.max(np.where(rows != rows, numbers, -1), axis=axis)


# ------------------------------------------------------------ the same on a CPU, some images at a time


def _places_in_blocks(padded: Any, pooling: Pooling) -> Any:
    corners, first_inside, offsets = _corners(pooling)
    chosen = _first_largest(padded, pooling)
    if padded.shape[-len(pooling.sizes) :] != pooling.sizes:
        chosen = np.maximum(chosen, first_inside)
    places = offsets.take(chosen)
    places += corners
    return places


def _first_largest(padded: Any, pooling: Pooling) -> Any:
    """Which of its places holds each window's first largest element."""
    sizes = padded.shape[-len(pooling.sizes) :]
    images = padded.reshape((-1, *sizes))
    chosen = np.empty((len(images), *pooling.output), np.min_scalar_type(math.prod(pooling.kernel)))
    in_runs = pooling.is_two_by_two() and padded.dtype.kind in "fiu"  # bfloat16 is of no kind of NumPy's
    first = _first_of_four if in_runs else _first_of_places
    step = max(1, BLOCK // math.prod(sizes))

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, step):
            piece = slice(start, min(start + step, part.stop))
            chosen[piece] = first(images[piece], pooling)

    each(work, pieces(len(images), BLOCKS_OF_THREADS * step))
    return chosen.reshape((*padded.shape[: -len(sizes)], *pooling.output))


def _first_of_places(padded: Any, pooling: Pooling) -> Any:
    """As :func:`_first_largest`: places are counted as long as they hold another number than the largest.

    Arithmetic on small numbers is many times faster here than a masked copy,
    which guesses wrong at every maximum.
    """
    seen = [padded[place].copy() for place in pooling.places()]
    largest = seen[0].copy()
    for value in seen[1:]:
        np.maximum(largest, value, out=largest)
    passing = seen[0] != largest
    chosen = passing.astype(np.min_scalar_type(len(seen)))
    for value in seen[1:]:
        passing &= value != largest
        chosen += passing
    if padded.dtype.kind in FLOATS and (largest != largest).any():
        for number, value in enumerate(seen):  # of several NaNs the last one counts
            chosen = np.where(value != value, chosen.dtype.type(number), chosen)
    return chosen


def _first_of_four(images: Any, pooling: Pooling) -> Any:
    """As :func:`_first_of_places`, in windows of 2×2.

    Every element is compared with the next one, and the larger of both with
    that of the next row: at most places that belongs to no window, but long
    runs are compared many times as fast as every other element of short ones.
    """
    width = pooling.sizes[1]
    line = images.reshape(-1)
    if images.dtype.kind in FLOATS and np.isnan(np.einsum("i->", line)):  # also where infinities cancel
        return _first_of_places(images, pooling)
    right, larger = line[1:] > line[:-1], np.maximum(line[1:], line[:-1])
    places = np.empty(images.shape, np.uint8)
    lower = places.reshape(-1)[: larger.size - width].view(np.bool_)
    np.greater(larger[width:], larger[:-width], out=lower)
    in_upper, in_lower = right[:-width] > lower, right[width:] & lower
    in_upper |= in_lower
    number = lower.view(np.uint8)
    number += number
    number += in_upper.view(np.uint8)  # in half the time of bools
    return places[:, : 2 * pooling.output[0] : 2, : 2 * pooling.output[1] : 2]


def _places_by_loop(a: Any, pooling: Pooling) -> Any:
    """The places in windows of 2×2 by a compiled loop, a few images at a time; None where there is none."""
    images = contiguous(a).reshape((-1, *pooling.sizes))
    places = np.empty((len(images), *pooling.output), np.int64)
    step = max(1, BLOCK // math.prod(pooling.sizes))
    if not shared("native_pooling.places_of_maxima", (images, places), (0, 1), step):
        return None
    return places.reshape((*a.shape[:-2], *pooling.output))


def row_lengths(sizes: tuple[int, ...]) -> list[int]:
    """How many elements it is to the next one along each dimension."""
    return [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]


@lru_cache(maxsize=64)
def _corners(pooling: Pooling) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where windows begin; their first place that is not in the padding; how far away each place is."""
    corners = first_inside = np.zeros(pooling.output, np.int64)
    offsets = np.zeros(1, np.int64)
    rows = row_lengths(pooling.sizes)
    for axis, (size, width, skip, pad, step, count) in enumerate(zip(*pooling)):
        begin = (np.arange(count) * skip - pad).reshape((-1,) + (1,) * (len(pooling.output) - axis - 1))
        inside = -(np.minimum(begin, 0) // step)
        if (begin + inside * step >= size).any():
            raise RuntimeError(
                f"a window of {width} elements, {step} apart, sees nothing but padding in a dimension of "
                f"size {size}: its maximum is none of the input's elements"
            )
        corners = corners + begin * rows[axis]
        first_inside = first_inside * width + inside
        offsets = (offsets[:, np.newaxis] + np.arange(width) * step * rows[axis]).reshape(-1)
    return corners, first_inside.astype(np.min_scalar_type(len(offsets))), offsets


def counted_through(places: Any, shape: tuple[int, ...], ndim: int) -> Any:
    """``places``, each in its own image, counted through all images of an input of ``shape``."""
    images = math.prod(shape[:-ndim])
    firsts = module_of(places).arange(images) * math.prod(shape[-ndim:])
    return places + firsts.reshape(shape[:-ndim] + (1,) * ndim)


@operation(
    "max",
    "max {a} in each window",
    a=derivative(
        "1 at the place of the maximum, else 0",
        lambda g, shape, places, overlap, node: on(
            put_places, g, shape=shape, places=places, overlap=overlap, node=node
        ),
    ),
    name="max_pool",
    backward=lambda node: node.settings["node"],  # type: ignore[index]
)
def take_places(a, /, places, overlap, node):
    """The elements of ``a`` at ``places``, counted through all of it; ``overlap`` where these may repeat.

    They lie in memory as the places do.
    """
    line = a.reshape(-1)
    if line.__class__ is places.__class__ is np.ndarray:
        return laid_as(places, np.take(line, places))
    return line[places]


@operation(
    "put",
    "{a} at its places",
    a=derivative(
        "1 at the places put",
        # An unpooling overwrites, so its places may repeat although nothing was added up.
        lambda g, places, node: on(take_places, g, places=places, overlap=True, node=node),
    ),
    name="max_unpool",
    backward=lambda node: node.settings["node"],  # type: ignore[index]
)
def put_places(a, /, shape, places, overlap, node):
    """Zeros of ``shape`` with the elements of ``a`` at ``places``, added up where ``overlap`` says so."""
    result = like(np.zeros_like, a, shape=math.prod(shape))
    if overlap:
        add_at(result, places.reshape(-1), a.reshape(-1))
    else:
        result[places] = a
    result = result.reshape(shape)
    return with_channels_as(a, result) if a.ndim == 4 else result


# ---------------------------------------------------------------- the mean


def window_divisors(pooling: Pooling, count_include_pad: bool, override: int | None) -> np.ndarray:
    """What the sum of each window is divided by: how many elements it has."""
    if override is not None:
        return np.full(pooling.output, override)
    divisors = np.ones(pooling.output, np.int64)
    for axis, (size, width, skip, pad, _, count) in enumerate(zip(*pooling)):
        begin = np.arange(count) * skip - pad
        end = np.minimum(begin + width, size + pad)
        if not count_include_pad:
            begin, end = np.maximum(begin, 0), np.minimum(end, size)
        divisors *= np.maximum(end - begin, 1).reshape((-1,) + (1,) * (len(pooling.output) - axis - 1))
    return divisors


@operation(
    "mean",
    "mean {a} in each window",
    a=derivative(
        "1 / n in each window",
        lambda g, pooling, divisors: on(spread_means, g, pooling=pooling, divisors=divisors),
    ),
    name="avg_pool",
    backward=lambda node: f"AvgPool{len(node.settings['pooling'].sizes)}DBackward0",  # type: ignore[index]
    linear=True,
)
def window_means(a, /, pooling, divisors):
    """The sums over the windows, divided by ``divisors``."""
    pooling = pooling.reaching()
    padded = _padded(a, pooling, 0)
    total: Any = None
    for seen in pooling.places():
        if total is None:
            total = padded[seen].astype(np.float32 if a.dtype == np.float16 else a.dtype)
        else:
            total += padded[seen]
    if a.dtype.kind not in FLOATS:
        total = np.trunc(total / divisors)
    else:
        total /= module_of(a).asarray(divisors)
    total = total.astype(a.dtype, copy=False)
    return with_channels_as(a, total) if len(pooling.sizes) == 2 else contiguous(total)


@operation(
    "spread",
    "{a} shared out over its windows",
    a=derivative(
        "1 / n in each window",
        lambda g, pooling, divisors: on(window_means, g, pooling=pooling, divisors=divisors),
    ),
    name="avg_pool_backward",
)
def spread_means(a, /, pooling, divisors):
    """The transpose of :func:`window_means`: each window's part for each of its elements, added up."""
    pooling = pooling.reaching()
    shares = (a / module_of(a).asarray(divisors)).astype(a.dtype, copy=False)
    result = np.zeros_like(a, shape=(*a.shape[: -len(pooling.sizes)], *pooling.padded_sizes()))
    for seen in pooling.places():
        result[seen] += shares
    return result if result.shape[-len(pooling.sizes) :] == pooling.sizes else result[_inside(pooling)]
