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
  as much as stays in the processor's cache.

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
    whole : bool
        The input is its own and only phase: nothing is padded or skipped.
    """

    output: tuple[int, ...]
    grid: tuple[int, ...]
    length: int
    taps: list[tuple[int, int]]
    parts: list[tuple[int, tuple[slice, ...], tuple[slice, ...]]]
    phases: int
    whole: bool


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
    whole = len(phases) == 1 and grid == sizes and not any(padding)
    return Layout(output, grid, length, taps, parts, len(phases), whole)


def _tiles(count: int, length: int, height: int) -> Iterator[tuple[slice, list[slice]]]:
    """Images, and pieces of their runs: a few images whole, or one image in pieces."""
    together = max(1, TILE // max(height * length, 1))
    piece = length if height * length <= TILE else max(64, TILE // height)
    pieces = [slice(start, min(start + piece, length)) for start in range(0, length, piece)]
    for first in range(0, count, together):
        yield slice(first, min(first + together, count)), pieces


def _batch(count: int, plan: Layout, height: int) -> int:
    """How many images the largest tile holds."""
    return min(count, max(1, TILE // max(height * plan.length, 1)))


def _take_apart(x: Any, plan: Layout, into: Any) -> Any:
    """Images as phases of flat runs, (n, channels, phases, grid); ``into`` is zero where the padding is."""
    count, channels = x.shape[:2]
    if plan.whole:
        return np.ascontiguousarray(x).reshape((count, channels, 1, -1))
    shaped = into[:count]
    for phase, inside, taken in plan.parts:
        shaped[(slice(None), slice(None), phase, *inside)] = x[(slice(None), slice(None), *taken)]
    return shaped.reshape((count, channels, plan.phases, -1))


def _gather(apart: Any, plan: Layout, piece: slice, groups: int, into: Any) -> Any:
    """The piece of the matrix of windows, (n, groups, channels · kernel places, columns)."""
    count, channels = apart.shape[:2]
    columns = piece.stop - piece.start
    if len(plan.taps) == 1:
        ((phase, start),) = plan.taps
        windows = apart[:, :, phase, start + piece.start : start + piece.stop]
    else:
        windows = into[: count * channels * len(plan.taps) * columns]
        windows = windows.reshape((count, channels, len(plan.taps), columns))
        for place, (phase, start) in enumerate(plan.taps):
            windows[:, :, place] = apart[:, :, phase, start + piece.start : start + piece.stop]
    return windows.reshape((count, groups, -1, columns))


def _spread(g: Any, plan: Layout, into: Any) -> Any:
    """Gradients of outputs as runs, (n, channels, length); ``into`` is zero between the rows."""
    count, channels = g.shape[:2]
    if plan.output[1:] == plan.grid[1:]:
        return np.ascontiguousarray(g).reshape((count, channels, -1))
    into[(slice(count), slice(None), *(slice(size) for size in plan.output))] = g
    return into[:count].reshape((count, channels, -1))[:, :, : plan.length]


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """The convolution of ``x`` (N, channels, ...) with ``weight`` (outputs, channels / groups, ...)."""
    groups = windows.groups
    plan = layout(x.shape[2:], weight.shape[2:], windows)
    count, outputs = x.shape[0], weight.shape[0]
    height = x.shape[1] * len(plan.taps)
    result = np.empty_like(x, shape=(count, outputs, *plan.output))
    matrix = weight.reshape((groups, outputs // groups, -1))
    batch = _batch(count, plan, height)
    padded = None if plan.whole else np.zeros_like(x, shape=(batch, x.shape[1], plan.phases, *plan.grid))
    room = np.empty_like(x, shape=(max(TILE, 64 * height),))
    run = math.prod((plan.output[0], *plan.grid[1:]))
    rows = np.empty_like(x, shape=(batch, outputs, run))
    in_rows = (slice(None), slice(None), *(slice(size) for size in plan.output))
    added = 0 if bias is None else bias.reshape((-1,) + (1,) * len(plan.output))
    for images, pieces in _tiles(count, plan.length, height):
        apart = _take_apart(x[images], plan, padded)
        own = rows[: len(apart)]
        for piece in pieces:
            seen = _gather(apart, plan, piece, groups, room)
            target = own.reshape((len(apart), groups, -1, run))[..., piece]
            if groups == 1:  # one matrix for each image: NumPy needs no dimension for the groups
                np.matmul(matrix[0], seen[:, 0], out=target[:, 0])
            else:
                np.matmul(matrix, seen, out=target)
        shaped = own.reshape((len(apart), outputs, plan.output[0], *plan.grid[1:]))
        np.add(shaped[in_rows], added, out=result[images])
    return result


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by an input of ``shape``: what each window got, added up where windows overlap."""
    groups = windows.groups
    plan = layout(shape[2:], weight.shape[2:], windows)
    count, outputs = g.shape[:2]
    channels, places = shape[1], len(plan.taps)
    height = channels * places
    result = np.zeros_like(g, shape=shape)
    # One row for each place and channel, so that all channels of a place lie together.
    matrix = weight.reshape((groups, outputs // groups, channels // groups, places))
    matrix = np.ascontiguousarray(matrix.transpose((0, 3, 2, 1))).reshape((groups, -1, outputs // groups))
    batch = _batch(count, plan, height)
    spaced = np.zeros_like(g, shape=(batch, outputs, plan.output[0], *plan.grid[1:]))
    summed = np.empty_like(g, shape=(batch, channels, plan.phases, math.prod(plan.grid)))
    room = np.empty_like(g, shape=(max(TILE, 64 * height),))
    for images, pieces in _tiles(count, plan.length, height):
        runs = _spread(g[images], plan, spaced)
        n = len(runs)
        own = summed[:n]
        own[...] = 0
        by_group = own.reshape((n, groups, channels // groups, plan.phases, -1))
        for piece in pieces:
            columns = piece.stop - piece.start
            sent = room[: n * height * columns].reshape((n, groups, -1, columns))
            np.matmul(matrix, runs.reshape((n, groups, -1, plan.length))[..., piece], out=sent)
            sent = sent.reshape((n, groups, places, -1, columns))
            for place, (phase, start) in enumerate(plan.taps):
                by_group[:, :, :, phase, start + piece.start : start + piece.stop] += sent[:, :, place]
        shaped = own.reshape((n, channels, plan.phases, *plan.grid))
        for phase, inside, taken in plan.parts:
            where = (images, slice(None), *taken)
            result[where] = shaped[(slice(None), slice(None), phase, *inside)]
    if bias is not None:
        result += bias.reshape((-1,) + (1,) * len(plan.output))
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by a weight of ``shape``: outputs' gradients times what the windows saw."""
    groups = windows.groups
    plan = layout(x.shape[2:], shape[2:], windows)
    count, outputs = g.shape[:2]
    height = x.shape[1] * len(plan.taps)
    batch = _batch(count, plan, height)
    padded = None if plan.whole else np.zeros_like(x, shape=(batch, x.shape[1], plan.phases, *plan.grid))
    spaced = np.zeros_like(g, shape=(batch, outputs, plan.output[0], *plan.grid[1:]))
    room = np.empty_like(x, shape=(max(TILE, 64 * height),))
    total = np.zeros_like(g, shape=(groups, outputs // groups, height // groups))
    for images, pieces in _tiles(count, plan.length, height):
        apart = _take_apart(x[images], plan, padded)
        runs = _spread(g[images], plan, spaced)
        runs = runs.reshape((len(runs), groups, outputs // groups, -1))
        for piece in pieces:
            seen = _gather(apart, plan, piece, groups, room)
            total += np.matmul(runs[..., piece], seen.swapaxes(-1, -2)).sum(axis=0)
    result = np.empty_like(g, shape=shape)
    result.reshape(total.shape)[...] = total
    return result
