"""Convolution on arrays, quickly: windows gathered piece by piece into matrix products.

A convolution is one matrix product of the weight with a matrix of windows, in
which a column holds all that one output sees (*im2col*).  Made whole, that
matrix is as many times larger than the input as the kernel has places, and
moving it through memory takes longer than the product.  Here two things make
it cheap.

* *One long run for each place of the kernel.*  Lay the padded input out flat,
  row after row.  What a place of the kernel sees, from the first output to the
  last, is then one run of it, shifted against that of another place.  A run
  also holds what lies between the end of one row of outputs and the start of
  the next; those few columns are computed and thrown away.  With a stride of
  s, take the input apart into s phases first, elements 0, s, 2s, …, then
  1, 1 + s, …: within a phase the windows move by one.
* *Tiles.*  The matrix is made for a few images, or a part of one, at a time:
  as much as stays in the processor's cache.  A run goes through all images of
  its tile, so that one product serves them all: where a product is computed by
  several threads, each waits for the others at its end.

References
----------
K. Chellapilla, S. Puri and P. Simard, "High performance convolutional neural
networks for document processing", IWFHR 2006.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import contiguous

TILE = 1 << 19
"""Elements of the matrix of windows that are made at a time."""


class Layout(NamedTuple):
    """Where the elements of the windows lie; see :func:`layout`.

    Attributes
    ----------
    output : tuple of int
        The sizes of the output.
    grid : tuple of int
        The sizes of one phase of the padded input.
    length : int
        Of a run: from the first output to the last, counted in the grid.
    taps : list of (phase, start)
        For each place of the kernel, where its run begins.
    parts : list of (phase, grid slices, input slices)
        Which elements of the input make which part of a phase.
    phases : int
    """

    output: tuple[int, ...]
    grid: tuple[int, ...]
    length: int
    taps: list[tuple[int, int]]
    parts: list[tuple[int, tuple[slice, ...], tuple[slice, ...]]]
    phases: int


class Windows(NamedTuple):
    """How the windows of a convolution move, one number for each spatial dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


def output_sizes(sizes: tuple[int, ...], kernel: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
    """How many windows there are along each spatial dimension of the input."""
    return tuple(
        (size + 2 * pad - step * (width - 1) - 1) // stride + 1
        for size, width, stride, pad, step in zip(sizes, kernel, *windows[:3])
    )


@lru_cache(maxsize=256)
def layout(sizes: tuple[int, ...], kernel: tuple[int, ...], windows: Windows) -> Layout:
    """The layout for an input of spatial ``sizes`` and a kernel of those of ``kernel``."""
    stride, padding, dilation, _ = windows
    output = output_sizes(sizes, kernel, windows)
    grid = tuple(
        count + (width - 1) * step // skip
        for count, width, step, skip in zip(output, kernel, dilation, stride)
    )
    rows = [math.prod(grid[axis + 1 :]) for axis in range(len(grid))]
    phases: dict[tuple[int, ...], int] = {}
    taps = []
    for place in product(*map(range, kernel)):
        reached = [at * step for at, step in zip(place, dilation)]
        phase = tuple(at % skip for at, skip in zip(reached, stride))
        start = sum(at // skip * row for at, skip, row in zip(reached, stride, rows))
        taps.append((phases.setdefault(phase, len(phases)), start))
    parts = []
    for phase, number in phases.items():
        inside, taken = [], []
        for first, skip, pad, size, count in zip(phase, stride, padding, sizes, grid):
            # The elements q of the phase are those at q · skip + first − pad of the input.
            low = max(0, -((first - pad) // skip))
            high = max(low, min(count, (size - 1 - first + pad) // skip + 1))
            inside.append(slice(low, high))
            begin = low * skip + first - pad
            taken.append(slice(begin, begin + (high - low - 1) * skip + 1 if high > low else begin, skip))
        parts.append((number, tuple(inside), tuple(taken)))
    length = 1 + sum((count - 1) * row for count, row in zip(output, rows))
    return Layout(output, grid, length, taps, parts, len(phases))


def _tiles(count: int, plan: Layout, height: int) -> Iterator[tuple[slice, list[slice]]]:
    """A few images each time, and pieces of the run through all of them, of which each makes one tile."""
    area = math.prod(plan.grid)
    together = max(1, TILE // max(height * area, 1))
    for first in range(0, count, together):
        images = slice(first, min(first + together, count))
        length = (images.stop - first - 1) * area + plan.length
        piece = length if height * length <= TILE else max(64, TILE // height)
        yield images, [slice(start, min(start + piece, length)) for start in range(0, length, piece)]


def _room(like: Any, count: int, plan: Layout, height: int, *channels: int) -> list[Any]:
    """Memory for the largest tile, and, for each of ``channels``, for so many runs through its images.

    In C's order whatever the order of ``like``, so that its other shapes are views, not copies.
    """
    area = math.prod(plan.grid)
    together = min(count, max(1, TILE // max(height * area, 1)))
    tile = np.empty_like(like, shape=(max(min(TILE, together * area * height), 64 * height),))
    return [tile, *(np.zeros_like(like, shape=(each, together, area), order="C") for each in channels)]


def _take_apart(x: Any, plan: Layout, into: Any) -> Any:
    """Images as runs through all of them, (channels, phases, n · grid); ``into`` is zero in the padding."""
    count, channels = x.shape[:2]
    shaped = into.reshape((channels, plan.phases, -1, *plan.grid))
    own = x.swapaxes(0, 1)
    for phase, inside, taken in plan.parts:
        shaped[(slice(None), phase, slice(count), *inside)] = own[(slice(None), slice(None), *taken)]
    return into.reshape((channels, plan.phases, -1))


def _gather(apart: Any, plan: Layout, piece: slice, groups: int, into: Any) -> Any:
    """The piece of the matrix of windows, (groups, channels · kernel places, columns)."""
    channels, columns = apart.shape[0], piece.stop - piece.start
    if len(plan.taps) == 1:
        ((phase, start),) = plan.taps
        return apart[:, phase, start + piece.start : start + piece.stop].reshape((groups, -1, columns))
    windows = into[: channels * len(plan.taps) * columns].reshape((channels, len(plan.taps), columns))
    for place, (phase, start) in enumerate(plan.taps):
        windows[:, place] = apart[:, phase, start + piece.start : start + piece.stop]
    return windows.reshape((groups, -1, columns))


def _spread(g: Any, plan: Layout, into: Any) -> Any:
    """Gradients of outputs as runs, (channels, n · grid); ``into`` has zeros where there is no output."""
    shaped = into.reshape((g.shape[1], -1, *plan.grid))
    shaped[(slice(None), slice(g.shape[0]), *_outputs(plan))] = g.swapaxes(0, 1)
    return into.reshape((g.shape[1], -1))


def _outputs(plan: Layout) -> tuple[slice, ...]:
    """Where in the grid an output begins its window."""
    return tuple([slice(size) for size in plan.output])


def _by_channel(bias: Any, plan: Layout) -> Any:
    return bias.reshape((-1,) + (1,) * len(plan.output))


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """The convolution of ``x`` (N, channels, ...) with ``weight`` (outputs, channels / groups, ...)."""
    groups = windows.groups
    plan = layout(x.shape[2:], weight.shape[2:], windows)
    (count, channels), outputs = x.shape[:2], weight.shape[0]
    result = np.empty_like(x, shape=(count, outputs, *plan.output), order="C")
    matrix = weight.reshape((groups, outputs // groups, -1))
    height = channels * len(plan.taps)
    tile, padded, rows = _room(x, count, plan, height, channels * plan.phases, outputs)
    added = 0 if bias is None else _by_channel(bias, plan)
    by_group = rows.reshape((groups, outputs // groups, -1))
    shaped = rows.reshape((outputs, -1, *plan.grid)).swapaxes(0, 1)
    for images, pieces in _tiles(count, plan, height):
        apart = _take_apart(x[images], plan, padded)
        for piece in pieces:
            np.matmul(matrix, _gather(apart, plan, piece, groups, tile), out=by_group[..., piece])
        own = slice(images.stop - images.start)
        np.add(shaped[(own, slice(None), *_outputs(plan))], added, out=result[images])
    return result


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by an input of ``shape``: what each window got, added up where windows overlap."""
    groups = windows.groups
    plan = layout(shape[2:], weight.shape[2:], windows)
    (count, outputs), channels, places = g.shape[:2], shape[1], len(plan.taps)
    result = np.zeros_like(g, shape=shape, order="C")
    # One row for each place and channel, so that all channels of a place lie together.
    matrix = weight.reshape((groups, outputs // groups, channels // groups, places))
    matrix = contiguous(matrix.transpose((0, 3, 2, 1))).reshape((groups, -1, outputs // groups))
    height = channels * places
    tile, spaced, summed = _room(g, count, plan, height, outputs, channels * plan.phases)
    by_phase = summed.reshape((groups, channels // groups, plan.phases, -1))
    shaped = summed.reshape((channels, plan.phases, -1, *plan.grid)).swapaxes(0, 2)
    for images, pieces in _tiles(count, plan, height):
        runs = _spread(g[images], plan, spaced).reshape((groups, outputs // groups, -1))
        summed[...] = 0
        for piece in pieces:
            columns = piece.stop - piece.start
            sent = tile[: height * columns].reshape((groups, -1, columns))
            # A product of a column and a row is faster as what it is: every element times every other.
            product_of = np.multiply if matrix.shape[-1] == 1 else np.matmul
            product_of(matrix, runs[..., piece], out=sent)
            sent = sent.reshape((groups, places, -1, columns))
            for place, (phase, start) in enumerate(plan.taps):
                by_phase[:, :, phase, start + piece.start : start + piece.stop] += sent[:, place]
        own = slice(images.stop - images.start)
        for phase, inside, taken in plan.parts:
            parts = shaped[(own, phase, slice(None), *inside)]
            result[(images, slice(None), *taken)] = parts
    if bias is not None:
        result += _by_channel(bias, plan)
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by a weight of ``shape``: outputs' gradients times what the windows saw."""
    groups = windows.groups
    plan = layout(x.shape[2:], shape[2:], windows)
    (count, channels), outputs = x.shape[:2], shape[0]
    height = channels * len(plan.taps)
    tile, padded, spaced = _room(x, count, plan, height, channels * plan.phases, outputs)
    total = np.zeros_like(g, shape=(groups, outputs // groups, height // groups), order="C")
    for images, pieces in _tiles(count, plan, height):
        apart = _take_apart(x[images], plan, padded)
        runs = _spread(g[images], plan, spaced).reshape((groups, outputs // groups, -1))
        for piece in pieces:
            seen = _gather(apart, plan, piece, groups, tile)
            total += np.matmul(runs[..., piece], seen.swapaxes(-1, -2))
    result = np.empty_like(g, shape=shape, order="C")
    result.reshape(total.shape)[...] = total
    return result
