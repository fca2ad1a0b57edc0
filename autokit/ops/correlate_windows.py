"""Convolutions of few windows by a large kernel: one matrix product for each window.

Elsewhere each place of the kernel is gone through, and sees all windows at once.  Where a kernel has many
places, as one of 99 × 99 × 99, and the windows are few, it is the other way round here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from autokit.ops.correlate import Windows, output_sizes

FEWEST_PLACES = 4096
"""Of kernels with fewer places each may be gone through."""
MORE_PLACES = 16
"""How many times more of them there must be than windows."""


def suits(kernel: tuple[int, ...], outputs: tuple[int, ...]) -> bool:
    """Whether so many more places than windows make it worth going through the windows."""
    places = math.prod(kernel)
    return places >= FEWEST_PLACES and places >= MORE_PLACES * math.prod(outputs)


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate`."""
    outputs, kernel = len(weight), weight.shape[2:]
    padded, _ = _padded(x, windows)
    matrix = weight.reshape((windows.groups, outputs // windows.groups, -1)).swapaxes(-1, -2)
    result: Any = np.empty((len(x), outputs, *output_sizes(x.shape[2:], kernel, windows)), x.dtype)
    for place, seen in _places(result.shape[2:], kernel, windows):
        made = _by_groups(padded[(..., *seen)], windows.groups) @ matrix
        result[(..., *place)] = made.swapaxes(0, 1).reshape((len(x), outputs))
    if bias is not None:
        result += bias.reshape((-1,) + (1,) * len(kernel))
    return result


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_input_gradient`."""
    padded, inside = _padded(np.zeros(shape, g.dtype), windows)
    matrix = weight.reshape((windows.groups, len(weight) // windows.groups, -1))
    for place, seen in _places(g.shape[2:], weight.shape[2:], windows):
        sent = _by_groups(g[(..., *place)], windows.groups) @ matrix
        padded[(..., *seen)] += sent.swapaxes(0, 1).reshape((*shape[:2], *weight.shape[2:]))
    result = np.ascontiguousarray(padded[(..., *inside)])
    if bias is not None:
        result += bias.reshape((-1,) + (1,) * len(inside))
    return result


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_weight_gradient`."""
    padded, _ = _padded(x, windows)
    total = np.zeros((windows.groups, shape[0] // windows.groups, math.prod(shape[1:])), g.dtype)
    for place, seen in _places(g.shape[2:], shape[2:], windows):
        sent = _by_groups(g[(..., *place)], windows.groups).swapaxes(-1, -2)
        total += sent @ _by_groups(padded[(..., *seen)], windows.groups)
    return total.reshape(shape)


def _padded(x: Any, windows: Windows) -> tuple[Any, tuple[slice, ...]]:
    """The images with zeros around them, and where they lie among those."""
    widths = [(0, 0), (0, 0), *((pad, pad) for pad in windows.padding)]
    inside = tuple([slice(pad, pad + size) for pad, size in zip(windows.padding, x.shape[2:])])
    return np.pad(x, widths), inside


def _places(
    outputs: tuple[int, ...], kernel: tuple[int, ...], windows: Windows
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each output, and which elements of the padded images it sees."""
    for place in product(*map(range, outputs)):
        starts = [at * stride for at, stride in zip(place, windows.stride)]
        yield (
            place,
            tuple(
                slice(start, start + step * (width - 1) + 1, step)
                for start, step, width in zip(starts, windows.dilation, kernel)
            ),
        )


def _by_groups(samples: Any, groups: int) -> Any:
    """Samples of several channels, (n, channels, ...), as (groups, n, elements)."""
    return samples.reshape((len(samples), groups, math.prod(samples.shape[1:]) // groups)).swapaxes(0, 1)
