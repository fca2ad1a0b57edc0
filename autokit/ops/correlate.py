"""Convolution on arrays, quickly: windows gathered piece by piece into matrix products.

A convolution is one matrix product of the weight with a matrix of windows, in
which a column holds all that one output sees (*im2col*).  Made whole, that
matrix is as many times larger than the input as the kernel has places, and
moving it through memory takes longer than the product.  Here two things make
it cheap.

* *One long run for each place of the kernel.*  Lay the padded image out flat,
  row after row.  What a place of the kernel sees, from the first output to the
  last, is then one run of it, shifted against that of another place.  A run
  also holds what lies between the end of one row of outputs and the start of
  the next; those few columns are computed and thrown away.  With a stride of
  s, take the input apart into s phases first, elements 0, s, 2s, …, then
  1, 1 + s, …: within a phase the windows move by one.
* *Tiles.*  The matrix is made for a few images, or a part of one, at a time:
  as much as stays in the processor's cache.  One product serves all images of
  a tile: where a product is computed by several threads, each waits for the
  others at its end.

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
from autokit.ops.strides import strided

TILE = 1 << 19
"""Elements of the matrix of windows that are made at a time."""


class Phase(NamedTuple):
    """Elements of the padded input that are a stride apart, and the places of the kernel that see them.

    Attributes
    ----------
    inside, taken : tuple of slice
        Which part of the phase's grid holds which elements of the input; the rest is padding.
    places : tuple of slice
        Which places of the kernel, along each dimension.
    counts : tuple of int
        How many places these are.
    start : int
        Where the run of the first of them begins, counted in the grid.
    steps : tuple of int
        How much later that of the next one does, along each dimension of the kernel.
    taps : list of (place, start)
        Each of the places, and where its run begins.
    """

    inside: tuple[slice, ...]
    taken: tuple[slice, ...]
    places: tuple[slice, ...]
    counts: tuple[int, ...]
    start: int
    steps: tuple[int, ...]
    taps: list[tuple[tuple[int, ...], int]]


class Layout(NamedTuple):
    """Where the elements of the windows lie; see :func:`layout`.

    Attributes
    ----------
    output, kernel : tuple of int
        The sizes of the output and of the kernel.
    grid : tuple of int
        The sizes of one phase of the padded input.
    rows : tuple of int
        How many elements of the grid it is to the next one along each dimension.
    length : int
        Of a run: from the first output to the last, counted in the grid.
    phases : list of Phase
    """

    output: tuple[int, ...]
    kernel: tuple[int, ...]
    grid: tuple[int, ...]
    rows: tuple[int, ...]
    length: int
    phases: list[Phase]


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
    rows = tuple(math.prod(grid[axis + 1 :]) for axis in range(len(grid)))
    # Along one dimension, places of the kernel see the same phase where they are so many apart.
    apart = [skip // math.gcd(skip, step) for skip, step in zip(stride, dilation)]
    steps = tuple(far * step // skip * row for far, step, skip, row in zip(apart, dilation, stride, rows))
    phases = []
    for first in product(*[range(min(far, width)) for far, width in zip(apart, kernel)]):
        reached = [at * step for at, step in zip(first, dilation)]
        inside, taken = [], []
        for reach, skip, pad, size, count in zip(reached, stride, padding, sizes, grid):
            # The elements q of the phase are those at q · skip + begin of the input.
            begin = reach % skip - pad
            low = max(0, -(begin // skip))
            high = max(low, min(count, (size - 1 - begin) // skip + 1))
            inside.append(slice(low, high))
            begin += low * skip
            taken.append(slice(begin, begin + (high - low - 1) * skip + 1 if high > low else begin, skip))
        places = tuple(slice(at, width, far) for at, width, far in zip(first, kernel, apart))
        counts = tuple(len(range(at, width, far)) for at, width, far in zip(first, kernel, apart))
        start = sum(reach // skip * row for reach, skip, row in zip(reached, stride, rows))
        taps = [
            (
                tuple([begin + far * each for begin, far, each in zip(first, apart, at)]),
                start + sum([step * each for step, each in zip(steps, at)]),
            )
            for at in product(*map(range, counts))
        ]
        phases.append(Phase(tuple(inside), tuple(taken), places, counts, start, steps, taps))
    length = 1 + sum((count - 1) * row for count, row in zip(output, rows))
    return Layout(output, kernel, grid, rows, length, phases)


def _tiles(count: int, length: int, height: int) -> Iterator[slice]:
    """The images, as many each time as make one tile, and a single one where it makes several."""
    together = max(1, TILE // max(height * length, 1))
    for first in range(0, count, together):
        yield slice(first, min(first + together, count))


def _pieces(length: int, height: int) -> list[slice]:
    """A run in pieces, of which each makes one tile."""
    piece = length if height * length <= TILE else max(64, TILE // height)
    return [slice(start, min(start + piece, length)) for start in range(0, length, piece)]


def _room(like: Any, count: int, length: int, height: int, *areas: tuple[int, int]) -> list[Any]:
    """Memory for the largest tile, and zeros for each of ``areas``: channels, and elements of an image.

    In C's order whatever the order of ``like``, so that its other shapes are views, not copies.
    """
    together = min(count, max(1, TILE // max(height * length, 1)))
    tile = np.empty_like(like, shape=(max(min(TILE, together * length * height), 64 * height),))
    zeros = [np.zeros_like(like, shape=(each, together, area), order="C") for each, area in areas]
    return [tile, *zeros]


def take_apart(x: Any, plan: Layout, into: Any) -> Any:
    """Images by phases, (channels, phases, n, grid); ``into`` is zero in the padding."""
    shaped = into.reshape((x.shape[1], len(plan.phases), -1, *plan.grid))
    own = x.swapaxes(0, 1)
    for number, phase in enumerate(plan.phases):
        shaped[(slice(None), number, slice(len(x)), *phase.inside)] = own[(..., *phase.taken)]
    return shaped.reshape((*shaped.shape[:3], -1))[:, :, : len(x)]


def _gather(apart: Any, plan: Layout, piece: slice, groups: int, into: Any) -> Any:
    """The piece of the matrix of windows, (groups, channels · kernel places, n · columns)."""
    channels, _, count, _ = apart.shape
    if math.prod(plan.kernel) == 1:
        return apart[:, 0, :, piece].reshape((groups, channels // groups, -1))
    shape = (channels, *plan.kernel, count, piece.stop - piece.start)
    windows = into[: math.prod(shape)].reshape(shape)
    for number, phase in enumerate(plan.phases):
        windows[(slice(None), *phase.places)] = _seen(apart[:, number], phase, piece)
    return windows.reshape((groups, channels * math.prod(plan.kernel) // groups, -1))


def _seen(runs: Any, phase: Phase, piece: slice) -> Any:
    """What all places of a phase see in a piece of the runs, a view: (channels, *places, n, columns)."""
    of_channel, of_image, step = runs.strides
    shape = (runs.shape[0], *phase.counts, runs.shape[1], piece.stop - piece.start)
    strides = (of_channel, *[each * step for each in phase.steps], of_image, step)
    return strided(runs, shape, strides, (phase.start + piece.start) * step)


def _outputs(runs: Any, plan: Layout) -> Any:
    """The outputs in runs (channels, n, length), as a view: (n, channels, *output)."""
    of_channel, of_image, step = runs.strides
    shape = (runs.shape[1], runs.shape[0], *plan.output)
    return strided(runs, shape, (of_image, of_channel, *[row * step for row in plan.rows]))


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """The convolution of ``x`` (N, channels, ...) with ``weight`` (outputs, channels / groups, ...)."""
    groups = windows.groups
    plan = layout(x.shape[2:], weight.shape[2:], windows)
    (count, channels), outputs = x.shape[:2], weight.shape[0]
    result = np.empty_like(x, shape=(count, outputs, *plan.output), order="C")
    matrix = weight.reshape((groups, outputs // groups, -1))
    height = channels * math.prod(plan.kernel)
    areas = (channels * len(plan.phases), math.prod(plan.grid)), (outputs, plan.length)
    tile, padded, runs = _room(x, count, plan.length, height, *areas)
    shaped = _outputs(runs, plan)
    for images in _tiles(count, plan.length, height):
        own = slice(images.stop - images.start)
        apart = take_apart(x[images], plan, padded)
        for piece in _pieces(plan.length, height):
            rows = runs[:, own, piece].reshape((groups, outputs // groups, -1))
            np.matmul(matrix, _gather(apart, plan, piece, groups, tile), out=rows)
        if bias is not None:
            runs += bias.reshape((-1, 1, 1))
        result[images] = shaped[own]
    return result


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by an input of ``shape``: what each window got, added up where windows overlap."""
    groups = windows.groups
    plan = layout(shape[2:], weight.shape[2:], windows)
    (count, outputs), channels, area = g.shape[:2], shape[1], math.prod(plan.grid)
    result = np.zeros_like(g, shape=shape, order="C")
    # One row for each place and channel, so that all channels of a place lie together.
    matrix = weight.reshape((groups, outputs // groups, channels // groups, -1))
    matrix = contiguous(matrix.transpose((0, 3, 2, 1))).reshape((groups, -1, outputs // groups))
    height = channels * math.prod(plan.kernel)
    # Here a run goes through all images of its tile: sums are faster in one long piece of memory.
    tile, spaced, summed = _room(g, count, area, height, (outputs, area), (channels * len(plan.phases), area))
    shaped, runs = _outputs(spaced, plan), spaced.reshape((groups, outputs // groups, -1))
    by_phase = summed.reshape((groups, channels // groups, len(plan.phases), -1))
    parts = summed.reshape((channels, len(plan.phases), -1, *plan.grid)).swapaxes(0, 2)
    for images in _tiles(count, area, height):
        own = images.stop - images.start
        shaped[:own] = g[images]
        summed[...] = 0
        for piece in _pieces((own - 1) * area + plan.length, height):
            columns = piece.stop - piece.start
            sent = tile[: height * columns].reshape((groups, -1, columns))
            # A product of a column and a row is faster as what it is: every element times every other.
            product_of = np.multiply if matrix.shape[-1] == 1 else np.matmul
            product_of(matrix, runs[..., piece], out=sent)
            sent = sent.reshape((groups, *plan.kernel, channels // groups, columns))
            for number, phase in enumerate(plan.phases):
                for place, start in phase.taps:
                    begin = start + piece.start
                    by_phase[:, :, number, begin : begin + columns] += sent[(slice(None), *place)]
        for number, phase in enumerate(plan.phases):
            result[(images, slice(None), *phase.taken)] = parts[(slice(own), number, ..., *phase.inside)]
    if bias is not None:
        result += bias.reshape((-1,) + (1,) * len(plan.output))
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """The gradient by a weight of ``shape``: outputs' gradients times what the windows saw."""
    groups = windows.groups
    plan = layout(x.shape[2:], shape[2:], windows)
    (count, channels), outputs = x.shape[:2], shape[0]
    height = channels * math.prod(plan.kernel)
    areas = (channels * len(plan.phases), math.prod(plan.grid)), (outputs, plan.length)
    tile, padded, spaced = _room(x, count, plan.length, height, *areas)
    shaped = _outputs(spaced, plan)
    total = np.zeros_like(g, shape=(groups, height // groups, outputs // groups), order="C")
    for images in _tiles(count, plan.length, height):
        own = slice(images.stop - images.start)
        apart = take_apart(x[images], plan, padded)
        shaped[own] = g[images]
        for piece in _pieces(plan.length, height):
            runs = spaced[:, own, piece].reshape((groups, outputs // groups, -1))
            total += np.matmul(_gather(apart, plan, piece, groups, tile), runs.swapaxes(-1, -2))
    result = np.empty_like(g, shape=shape, order="C")
    result.reshape((groups, outputs // groups, -1))[...] = total.swapaxes(-1, -2)
    return result
