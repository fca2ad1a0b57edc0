"""A convolution's gradients place by place of the kernel: for infinities and NaN, which zeros do not cancel.

The fast ways multiply by zeros that stand for nothing, as between one row of
outputs and the next (:mod:`autokit.ops.correlate`).  That is harmless as long
as all numbers are finite; but 0 · ∞ is NaN.  Here each place of the kernel
meets what it sees and nothing else.  The padding belongs to that, as in
PyTorch for float64: there an infinite gradient does meet a zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from autokit.ops.correlate import Windows


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_input_gradient`."""
    groups, output = windows.groups, g.shape[2:]
    padded, inside = _padded(np.zeros_like(g, shape=shape, order="C"), windows)
    sent = g.reshape((len(g), groups, g.shape[1] // groups, math.prod(output)))
    matrices = weight.reshape((groups, -1, *weight.shape[1:]))
    for place, seen in _places(weight.shape[2:], output, windows):
        matrix = matrices[(..., *place)].swapaxes(1, 2)
        padded[(..., *seen)] += np.matmul(matrix, sent).reshape((len(g), shape[1], *output))
    result = padded[(..., *inside)]
    return result if bias is None else result + bias.reshape((-1,) + (1,) * len(output))


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_weight_gradient`."""
    groups, count = windows.groups, math.prod(g.shape[2:])
    padded, _ = _padded(x, windows)
    sent = g.reshape((len(g), groups, g.shape[1] // groups, count))
    result = np.empty_like(g, shape=shape, order="C")
    for place, seen in _places(shape[2:], g.shape[2:], windows):
        got = padded[(..., *seen)].reshape((len(x), groups, x.shape[1] // groups, count))
        result[(..., *place)] = np.matmul(sent, got.swapaxes(-1, -2)).sum(0).reshape(shape[:2])
    return result


def _padded(x: Any, windows: Windows) -> tuple[Any, tuple[slice, ...]]:
    """``x`` with zeros around it, and where in that it lies."""
    inside = tuple([slice(pad, pad + size) for pad, size in zip(windows.padding, x.shape[2:])])
    return np.pad(x, [(0, 0), (0, 0), *[(pad, pad) for pad in windows.padding]]), inside


def _places(
    kernel: tuple[int, ...], output: tuple[int, ...], windows: Windows
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each place of the kernel, and what of the padded input it sees: one element for each output."""
    for place in product(*map(range, kernel)):
        starts = [at * step for at, step in zip(place, windows.dilation)]
        seen = [
            slice(start, start + (count - 1) * skip + 1, skip)
            for start, count, skip in zip(starts, output, windows.stride)
        ]
        yield place, tuple(seen)
