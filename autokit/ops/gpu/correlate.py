"""Convolution on a GPU: the whole matrix of windows in one copy, and one matrix product.

What makes a convolution cheap on a CPU, small tiles and a step for each place
of the kernel (:mod:`autokit.ops.correlate`), would launch a hundred kernels
here.  A GPU has the memory for the matrix of windows of many images, which is
a view of the padded input by its strides, copied once; then one product does
the rest.

The gradient by the input is a convolution too: of the outputs' gradients, set
apart by the stride and with zeros around, with the weight turned round.  With
a stride of s it multiplies s² times as many zeros, and yet needs no sums at
places where windows overlap.  An infinite weight makes NaN of all these zeros,
more than on a CPU: asking whether there is one would let the GPU wait.

References
----------
K. Chellapilla, S. Puri and P. Simard, "High performance convolutional neural
networks for document processing", IWFHR 2006.
V. Dumoulin and F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autokit.ops.correlate import Windows, output_sizes
from autokit.ops.gpu.products import product
from autokit.ops.strides import strided

LARGEST = 1 << 26
"""Elements of the matrix of windows at a time: a quarter of a gigabyte of float32."""


def correlate(x: Any, weight: Any, bias: Any, windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate`."""
    kernel = weight.shape[2:]
    matrix = weight.reshape((windows.groups, weight.shape[0] // windows.groups, -1))
    output = output_sizes(x.shape[2:], kernel, windows)
    return _product(matrix, _padded(x, windows.padding), kernel, output, windows, bias)


def correlate_input_gradient(g: Any, weight: Any, bias: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_input_gradient`."""
    kernel, sizes, (count, outputs) = weight.shape[2:], shape[2:], g.shape[:2]
    reach = [(width - 1) * step for width, step in zip(kernel, windows.dilation)]
    apart = np.zeros_like(g, shape=(count, outputs, *map(sum, zip(sizes, reach))), order="C")
    taken: list[Any] = [...]
    into: list[Any] = [...]
    for have, size, far, skip, pad in zip(g.shape[2:], sizes, reach, windows.stride, windows.padding):
        # Output q begins its window at q · skip − pad: it lies ``far`` behind that.
        low = max(0, -((far - pad) // skip))
        high = max(low, min(have, (size - 1 + pad) // skip + 1))
        first = low * skip - pad + far
        taken.append(slice(low, high))
        into.append(slice(first, first + (high - low - 1) * skip + 1 if high > low else first, skip))
    apart[tuple(into)] = g[tuple(taken)]
    turned = weight.reshape((windows.groups, outputs // windows.groups, weight.shape[1], -1))[..., ::-1]
    matrix = turned.swapaxes(1, 2).reshape((windows.groups, weight.shape[1], -1))
    return _product(matrix, apart, kernel, sizes, windows._replace(stride=(1,) * len(kernel)), bias)


def correlate_weight_gradient(g: Any, x: Any, shape: tuple[int, ...], windows: Windows) -> Any:
    """As :func:`autokit.ops.correlate.correlate_weight_gradient`."""
    kernel, groups = shape[2:], windows.groups
    padded, total = _padded(x, windows.padding), None
    for images, seen in _windows(padded, kernel, g.shape[2:], windows):
        sent = g[images].swapaxes(0, 1).reshape((groups, shape[0] // groups, -1))
        part = product(sent, seen.swapaxes(-1, -2))
        total = part if total is None else total + part
    return np.zeros_like(g, shape=shape) if total is None else total.reshape(shape)


def _padded(x: Any, padding: tuple[int, ...]) -> Any:
    if not any(padding):
        return x
    sizes = [size + 2 * pad for size, pad in zip(x.shape[2:], padding)]
    padded = np.zeros_like(x, shape=(*x.shape[:2], *sizes), order="C")
    inside: Any = tuple([slice(pad, pad + size) for pad, size in zip(padding, x.shape[2:])])
    padded[(..., *inside)] = x
    return padded


def _windows(
    padded: Any, kernel: tuple[int, ...], output: tuple[int, ...], windows: Windows
) -> Iterator[tuple[slice, Any]]:
    """Some images each time, and their matrix: (groups, channels · kernel places, images · outputs)."""
    count, channels = padded.shape[:2]
    of_image, of_channel, *steps = padded.strides
    strides = (
        of_channel,
        *(step * apart for step, apart in zip(steps, windows.dilation)),
        of_image,
        *(step * skip for step, skip in zip(steps, windows.stride)),
    )
    height = channels * math.prod(kernel)
    together = max(1, LARGEST // max(height * math.prod(output), 1))
    for first in range(0, count, together):
        images = slice(first, min(first + together, count))
        shape = (channels, *kernel, images.stop - first, *output)
        seen = strided(padded[images], shape, strides)
        yield images, seen.reshape((windows.groups, height // windows.groups, -1))


def _product(
    matrix: Any,
    padded: Any,
    kernel: tuple[int, ...],
    output: tuple[int, ...],
    windows: Windows,
    bias: Any,
) -> Any:
    """``matrix`` (groups, rows, channels · kernel places) times the windows, plus a number for each row."""
    rows = matrix.shape[0] * matrix.shape[1]
    result = np.empty_like(padded, shape=(len(padded), rows, *output), order="C")
    for images, seen in _windows(padded, kernel, output, windows):
        made = product(matrix, seen).reshape((rows, -1, *output)).swapaxes(0, 1)
        if bias is None:
            result[images] = made
        else:
            np.add(made, bias.reshape((-1,) + (1,) * len(output)), out=result[images])
    return result
