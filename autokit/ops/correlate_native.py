"""Convolution by compiled loops, where Numba is installed: the runs are read where they lie.

As in :mod:`autokit.ops.correlate`, what a place of the kernel sees is a run of
the padded input, shifted against that of another place.  Here no matrix of
windows is made of them; :mod:`autokit.ops.native_convolution` weighs and adds
them where they lie.  So an input is copied once, with its padding, where the
matrix copies it as often as the kernel has places.

A few threads share the images, and where these are few, the channels that are
made too.  Which parts there are does not depend on the number of threads.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from autokit.ops import correlate_rows as by_products
from autokit.ops.correlate import Layout, Windows, layout, take_apart
from autokit.ops.native import compiled
from autokit.ops.strides import strided
from autokit.threads import each

ROWS, PLACES = 4, 3
"""How many rows, and places of the kernel, the loops take at a time."""

PARTS = 10
"""Into so many parts the work is divided, if it can be."""

TOGETHER = 1 << 17
"""Elements that one part may take of memory, unless a single image needs more."""

LINE = 64
"""Bytes of a line of the cache: rows that begin with one are written faster."""


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate`."""
    loop = _sums(x.dtype)
    if loop is None:
        return by_products.correlate(x, weight, bias, windows)
    plan, groups = layout(x.shape[2:], weight.shape[2:], windows), windows.groups
    outputs = len(weight) // groups
    result = np.empty((len(x), len(weight), *plan.output), x.dtype)
    by_group = result.reshape((len(x), groups, outputs, *plan.output))
    matrix, added = _filled_up(weight.reshape((groups, outputs, -1))), _by_row(bias, groups, outputs, x.dtype)
    starts = _starts(x.shape[1:], weight.shape[2:], windows)

    def work(part: tuple[slice, slice]) -> None:
        images, rows = part
        own = by_group[images, :, rows]
        into = _rows((len(own), *matrix[:, rows].shape[:2], plan.length), x.dtype)
        loop(_padded(x[images], plan), matrix[:, rows], starts, added[:, rows], plan.length, into)
        own[...] = _as_images(into[:, :, : own.shape[2]], plan.rows, plan.output)

    each(work, _parts(len(x), _size(x, plan) + added.size * plan.length, added.shape))
    return result


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_input_gradient`."""
    loop = _sums(g.dtype)
    if loop is None:
        return by_products.correlate_input_gradient(g, weight, bias, shape, windows)
    plan, groups = layout(shape[2:], weight.shape[2:], windows), windows.groups
    outputs, channels = len(weight) // groups, shape[1] // groups
    result = np.zeros(shape, g.dtype)
    by_group = result.reshape((len(g), groups, channels, *shape[2:]))
    added = _by_row(bias, groups, channels, g.dtype)
    if bias is not None:  # for elements that no window reaches
        by_group += added[:, :channels].reshape((groups, channels) + (1,) * len(plan.output))
    # An element got what the kernel's last place sent it from an output that lies so much before it.
    before = max([start for phase in plan.phases for _, start in phase.taps])
    length = before + math.prod(plan.grid)
    of_output = np.arange(len(weight))[:, np.newaxis] * length + before
    sums = []
    for phase in plan.phases:
        sizes = tuple([each.stop - each.start for each in phase.inside])
        if not all(sizes):
            continue
        first = sum([each.start * row for each, row in zip(phase.inside, plan.rows)])
        seen = weight.reshape((groups, outputs, channels, *plan.kernel))[(..., *phase.places)]
        matrix = _filled_up(seen.swapaxes(1, 2).reshape((groups, channels, -1)))
        starts = (of_output + [first - start for _, start in phase.taps]).reshape((groups, -1))
        sums.append((phase.taken, sizes, matrix, starts))

    def work(part: tuple[slice, slice]) -> None:
        images, rows = part
        sent = np.zeros((len(g[images]), len(weight), length), g.dtype)
        _as_images(sent[..., before:], plan.rows, plan.output)[...] = g[images]
        for taken, sizes, matrix, starts in sums:
            own = by_group[(images, slice(None), rows, *taken)]
            extent = 1 + sum([(size - 1) * row for size, row in zip(sizes, plan.rows)])
            into = _rows((len(own), *matrix[:, rows].shape[:2], extent), g.dtype)
            loop(sent.reshape((len(own), -1)), matrix[:, rows], starts, added[:, rows], extent, into)
            own[...] = _as_images(into[:, :, : own.shape[2]], plan.rows, sizes)

    each(work, _parts(len(g), (len(weight) + added.size) * length, added.shape))
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_weight_gradient`."""
    loop = _products(x.dtype)
    if loop is None:
        return by_products.correlate_weight_gradient(g, x, shape, windows)
    plan, groups = layout(x.shape[2:], shape[2:], windows), windows.groups
    outputs, area = shape[0] // groups, math.prod(plan.grid)
    height = _up_to(ROWS, outputs)
    parts = _parts(len(x), _size(x, plan) + groups * height * area, (groups, height))
    # Here a run goes through all images of its part.
    together = parts[0][0].stop
    starts = _starts(x.shape[1:], shape[2:], windows, together)
    by_group = g.reshape((len(g), groups, outputs, *plan.output))
    totals = np.zeros((-(-len(x) // together), groups, height, starts.shape[1]), g.dtype)

    def work(part: tuple[slice, slice]) -> None:
        images, rows = part
        own = by_group[images, :, rows]
        runs = _rows((groups, rows.stop - rows.start, together * area), g.dtype)
        runs[...] = 0
        by_image = runs[..., : together * area].reshape((*runs.shape[:2], together, area))
        by_image = by_image[:, : own.shape[2], : len(own)]
        _as_images(by_image, plan.rows, plan.output)[...] = np.moveaxis(own, 0, 2)
        seen = np.zeros(together * _size(x, plan), x.dtype)
        take_apart(x[images], plan, seen)
        length = (len(own) - 1) * area + plan.length
        loop(seen, runs, starts, length, totals[images.start // together][:, rows])

    each(work, parts)
    result = np.empty(shape, g.dtype)
    into = result.reshape((groups, outputs, -1))
    np.sum(totals[:, :, :outputs, : into.shape[2]], 0, out=into)
    return result


# ---------------------------------------------------------------- the loops and their parts


def _sums(dtype: Any) -> Any:
    """The loop of weighed sums, None where it cannot be compiled."""
    two, three, four = (np.empty((0,) * ndim, dtype) for ndim in (2, 3, 4))
    return compiled("native_convolution.shifted_sums", two, three, two.astype(np.int64), two, 0, four)


def _products(dtype: Any) -> Any:
    """The loop of products, None where it cannot be compiled."""
    one, two, three = (np.empty((0,) * ndim, dtype) for ndim in (1, 2, 3))
    return compiled("native_convolution.shifted_products", one, three, two.astype(np.int64), 0, three)


def _parts(count: int, elements: int, rows: tuple[int, int]) -> list[tuple[slice, slice]]:
    """Images, of which each needs memory for so many ``elements``, and rows, of (groups, rows) to be made."""
    groups, height = rows
    images = _slices(count, max(1, min(-(-count // PARTS), TOGETHER // elements)))
    parts = max(1, PARTS // len(images)) if groups == 1 else 1  # all of a group's rows lie together
    return list(product(images, _slices(height, _up_to(ROWS, -(-height // parts)))))


def _slices(count: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


def _up_to(step: int, count: int) -> int:
    """The next multiple of ``step``."""
    return -(-count // step) * step


# ---------------------------------------------------------------- the arrays that they read and write


def _filled_up(matrices: Any) -> Any:
    """(groups, rows, places) with zeros for what lacks to whole fours of rows."""
    groups, rows, places = matrices.shape
    result = np.zeros((groups, _up_to(ROWS, rows), places), matrices.dtype)
    result[:, :rows] = matrices
    return result


def _by_row(bias: Any, groups: int, rows: int, dtype: Any) -> Any:
    """What is added to each row, (groups, rows), filled up to whole fours."""
    result = np.zeros((groups, _up_to(ROWS, rows)), dtype)
    if bias is not None:
        result[:, :rows] = bias.reshape((groups, rows))
    return result


@lru_cache(maxsize=256)
def _starts(sizes: tuple[int, ...], kernel: tuple[int, ...], windows: Windows, together: int = 1) -> Any:
    """Where the run of each channel and place begins, (groups, channels · kernel places), in whole threes."""
    plan = layout(sizes[1:], kernel, windows)
    of_phase = math.prod(plan.grid) * together
    of_place = np.empty(kernel, np.int64)
    for number, phase in enumerate(plan.phases):
        for place, start in phase.taps:
            of_place[place] = number * of_phase + start
    of_channel = np.arange(sizes[0])[:, np.newaxis] * len(plan.phases) * of_phase
    starts = (of_channel + of_place.reshape(-1)).reshape((windows.groups, -1))
    return np.pad(starts, [(0, 0), (0, -starts.shape[1] % PLACES)])


def _size(x: Any, plan: Layout) -> int:
    """How many elements an image has with its padding."""
    return x.shape[1] * len(plan.phases) * math.prod(plan.grid)


def _padded(x: Any, plan: Layout) -> Any:
    """Images with their padding, by phases: (n, channels · phases · grid)."""
    padded: Any = np.zeros((*x.shape[:2], len(plan.phases), *plan.grid), x.dtype)
    for number, phase in enumerate(plan.phases):
        padded[(slice(None), slice(None), number, *phase.inside)] = x[(..., *phase.taken)]
    return padded.reshape((len(x), math.prod(padded.shape[1:])))


def _rows(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory for rows of which each begins with a line of the cache; they are as long as whole lines."""
    line = LINE // dtype.itemsize
    shape = (*shape[:-1], _up_to(line, shape[-1]))
    memory = np.empty(math.prod(shape) + line, dtype)
    first = -memory.ctypes.data % LINE // dtype.itemsize
    return memory[first : first + math.prod(shape)].reshape(shape)


def _as_images(runs: Any, rows: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """What of runs, (..., length), belongs to images of ``sizes``; ``rows`` are their strides.  A view."""
    step = runs.strides[-1]
    return strided(runs, (*runs.shape[:-1], *sizes), (*runs.strides[:-1], *[row * step for row in rows]))
