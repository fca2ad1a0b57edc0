"""Convolutions and transposed convolutions, of one, two and three dimensions.

A window moves over the input. The elements in the window, as a column, times the weight, as a matrix, are one
output.  Three operations are the derivatives of one another.  A convolution y = x ⋆ w is linear in x and w.
Its gradient by x, g ⋆ᵀ w, is the transposed convolution; its gradient by w multiplies the outputs' gradients
with the columns.  Both are linear in their two operands again, so there is a derivative of every order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autokit.base.errors import describe, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.fold import Size, Windows, numbers_of
from autokit.ops.names import Names
from autokit.ops.pad import pad

TOGETHER = 1 << 19
"""The largest number of elements in the columns of one product: these stay in the cache (LeNet's row)."""


def _blocks(count: int, elements: int) -> Iterator[slice]:
    """Slices of ``count`` images whose columns fit into the cache; an image has ``elements`` of them."""
    step = max(1, TOGETHER // max(elements, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _images_first(counts: Sequence[int]) -> bool:
    """How images lie while windows are laid out, for LeNet's row: neighbours in memory are copied at once.

    Where rows of windows are long, each image by itself; where they are short, the images come last, and the
    numbers of one place in all images are neighbours.
    """
    return counts[-1] >= 16


def _laid(images: Any, first: bool) -> Any:
    """(N · channels, *sizes), or with images last (channels, *sizes, N)."""
    return images.reshape((-1, *images.shape[2:])) if first else np.moveaxis(images, 0, -1)


def _unlaid(laid: Any, shape: tuple[int, ...], first: bool) -> Any:
    """The transpose of :func:`_laid`: images of ``shape``."""
    return laid.reshape(shape) if first else np.moveaxis(laid.reshape((*shape[1:], shape[0])), -1, 0)


def _columns(images: Any, windows: Windows, groups: int, first: bool) -> Any:
    """The windows as columns, by groups (channels · kernel, windows · N), or by images and groups."""
    seen = windows.look(_laid(images, first))
    shape = (groups, images.shape[1] // groups * math.prod(windows.kernel), -1)
    return seen.reshape((len(images), *shape) if first else shape)


def _rows(images: Any, groups: int, first: bool) -> Any:
    """Images with a row for each channel, by groups (channels, pixels · N), or by images and groups."""
    shape = (groups, images.shape[1] // groups, -1)
    return _laid(images, first).reshape((len(images), *shape) if first else shape)


def _matrices(weight: Any, groups: int) -> Any:
    """A weight as one matrix for each group, (groups, outputs / groups, channels / groups · kernel)."""
    return weight.reshape((groups, len(weight) // groups, -1))


def _with_bias(out: Any, bias: Any) -> Any:
    if bias is not None:
        out += bias.reshape((-1,) + (1,) * (out.ndim - 2))
    return out


_BY_BIAS = derivative("1, summed over positions", lambda g: g.sum((0, *range(2, len(g.shape)))))


@operation(
    "⋆",
    "{input} ⋆ {weight} + {bias}",
    input=derivative(
        "⋆ᵀ {weight}",
        lambda g, weight, shape, windows, groups: on(
            transposed_convolution, g, weight, None, size=shape[2:], windows=windows, groups=groups
        ),
    ),
    weight=derivative(
        "⋆ {input}",
        lambda g, input, windows, groups: on(convolution_by_weight, g, input, windows=windows, groups=groups),
    ),
    bias=_BY_BIAS,
    words={
        "input": "Each input adds up, over its windows, the upstream gradient times the weight it met",
        "weight": "Each weight adds up, over all windows, the upstream gradient times the input it met",
        "bias": "The gradient of {bias} is the upstream gradient, summed over all positions",
    },
)
def convolution(input, weight, bias=None, /, windows=None, groups=1):
    """Each output is the sum of a window of ``input`` times ``weight``, plus ``bias``; see :func:`conv2d`."""
    counts = windows.counts(input.shape[2:])
    out = np.empty_like(input, shape=(len(input), len(weight), *counts), order="C")
    matrices, first = _matrices(weight, groups), _images_first(counts)
    for block in _blocks(len(input), input.shape[1] * math.prod((*windows.kernel, *counts))):
        rows = matrices @ _columns(input[block], windows, groups, first)
        out[block] = _unlaid(rows, out[block].shape, first)
    return _with_bias(out, bias)


@operation(
    "⋆ᵀ",
    "{input} ⋆ᵀ {weight} + {bias}",
    input=derivative(
        "⋆ {weight}",
        lambda g, weight, windows, groups: on(convolution, g, weight, None, windows=windows, groups=groups),
    ),
    weight=derivative(
        "⋆ {input}",
        lambda g, input, windows, groups: on(convolution_by_weight, input, g, windows=windows, groups=groups),
    ),
    bias=_BY_BIAS,
    backward="ConvolutionBackward0",
)
def transposed_convolution(input, weight, bias=None, /, size=(), windows=None, groups=1):
    """Each element of ``input`` adds ``weight`` times itself to a window of the output, of ``size``."""
    channels, counts = weight.shape[1] * groups, input.shape[2:]
    out = np.empty_like(input, shape=(len(input), channels, *size), order="C")
    matrices = _matrices(weight, groups).swapaxes(1, 2)
    first = _images_first(counts)
    places = (*windows.kernel, *counts)
    for block in _blocks(len(input), channels * math.prod(places)):
        columns = matrices @ _rows(input[block], groups, first)
        added = windows.add_up(columns.reshape((-1, *places) if first else (channels, *places, -1)), size)
        out[block] = _unlaid(added, out[block].shape, first)
    return _with_bias(out, bias)


@operation(
    "⋆",
    "{g} ⋆ {input}",
    g=derivative(
        "⋆ {input}",
        lambda h, input, windows, groups: on(convolution, input, h, None, windows=windows, groups=groups),
    ),
    input=derivative(
        "⋆ᵀ {g}",
        lambda h, g, shape, windows, groups: on(
            transposed_convolution, g, h, None, size=shape[2:], windows=windows, groups=groups
        ),
    ),
    backward="ConvolutionBackwardBackward0",
)
def convolution_by_weight(g, input, /, windows, groups):
    """The gradient of a convolution by its weight: the outputs' gradients times the windows as columns."""
    channels = input.shape[1] // groups
    outputs = g.shape[1] // groups
    first = _images_first(g.shape[2:])
    total = np.zeros_like(g, shape=(groups, channels * math.prod(windows.kernel), outputs), order="C")
    for block in _blocks(len(input), input.shape[1] * math.prod((*windows.kernel, *g.shape[2:]))):
        columns = _columns(input[block], windows, groups, first)
        part = columns @ _rows(g[block], groups, first).swapaxes(-1, -2)
        total += part.sum(0) if first else part
    return total.swapaxes(1, 2).reshape((groups * outputs, channels, *windows.kernel))


def _convolve(ndim, input, weight, bias, stride, padding, dilation, groups):
    name = f"conv{ndim}d"
    _check(name, ndim, input, weight, bias, groups)
    steps = numbers_of(name, "stride", stride, ndim)
    spread = numbers_of(name, "dilation", dilation, ndim)
    if isinstance(padding, str):
        input, padding = _padded_by_name(padding, input, weight, steps, spread)
    around = numbers_of(name, "padding", padding, ndim, 0)
    windows = Windows(tuple(weight.shape[2:]), steps, around, spread)
    if min(windows.counts(input.shape[-ndim:])) < 1:
        raise RuntimeError(
            f"{name}: Kernel size can't be greater than actual input size: {describe(weight)} with padding "
            f"{list(around)} and dilation {list(spread)} does not fit into {describe(input)}; pad more, or "
            "pool less before"
        )
    if input.ndim == ndim + 1:
        return convolution(input.unsqueeze(0), weight, bias, windows=windows, groups=groups).squeeze(0)
    return convolution(input, weight, bias, windows=windows, groups=groups)


def _transpose(ndim, input, weight, bias, stride, padding, output_padding, groups, dilation):
    name = f"conv_transpose{ndim}d"
    _check(name, ndim, input, weight, bias, groups, transposed=True)
    steps = numbers_of(name, "stride", stride, ndim)
    around = numbers_of(name, "padding", padding, ndim, 0)
    more = numbers_of(name, "output_padding", output_padding, ndim, 0)
    spread = numbers_of(name, "dilation", dilation, ndim)
    if any([extra >= step for extra, step in zip(more, steps)]):
        raise RuntimeError(
            f"output padding must be smaller than the stride, but got output_padding {list(more)} and stride "
            f"{list(steps)}"
        )
    windows = Windows(tuple(weight.shape[2:]), steps, around, spread)
    sizes = [
        (count - 1) * step - 2 * edge + gap * (width - 1) + extra + 1
        for count, width, step, edge, gap, extra in zip(input.shape[-ndim:], *windows, more)
    ]
    if min(sizes) < 1:
        raise RuntimeError(
            f"{name}: Output size {sizes} is too small: {describe(input)} has less than the padding "
            f"{list(around)} takes off"
        )
    settings: dict[str, Any] = {"size": tuple(sizes), "windows": windows, "groups": groups}
    if input.ndim == ndim + 1:
        return transposed_convolution(input.unsqueeze(0), weight, bias, **settings).squeeze(0)
    return transposed_convolution(input, weight, bias, **settings)


def _check(name, ndim, input, weight, bias, groups, transposed=False):
    for place, (argument, value) in enumerate((("input", input), ("weight", weight), ("bias", bias))):
        if value is not None or argument != "bias":
            require_tensor(name, value, argument, place)
            if value.dtype != input.dtype:
                raise RuntimeError(
                    f"Input type ({input.dtype.name}) and {argument} type ({value.dtype.name}) should "
                    f"be the same: convert {describe(input)} with .to({value.dtype})"
                )
    if input.ndim not in (ndim + 1, ndim + 2) or weight.ndim != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, and a weight of "
            f"{ndim + 2} dimensions, but got {describe(input)} and {describe(weight)}"
        )
    if groups < 1 or weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by it at dimension 0: {describe(weight)}"
        )
    channels, outputs = weight.shape[1] * groups, weight.shape[0]
    if transposed:
        channels, outputs = outputs, channels
    if input.shape[-ndim - 1] != channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} "
            f"to have {channels} channels, but got {input.shape[-ndim - 1]} channels instead: the input is "
            "(batch, channels, ...)"
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got {describe(bias)}"
        )


def _padded_by_name(
    padding: str, input: Tensor, weight: Tensor, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """The input and the number of zeros on both sides, by ``padding``; an odd zero is added at the end."""
    if padding == "valid":
        return input, (0,) * len(stride)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}': there are 'valid' and 'same'")
    if max(stride) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [step * (width - 1) for step, width in zip(dilation, weight.shape[2:])]
    if any([total % 2 for total in totals]):
        input = pad(input, [extra for total in reversed(totals) for extra in (0, total % 2)])
    return input, tuple([total // 2 for total in totals])


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution of signals; as :func:`conv2d`, over (N, channels, length)."""
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution of images: a window moves over the input, and its elements are weighted and summed.

    ``out[n, o, y, x] = bias[o] + Σ input[n, c, y·stride + i·dilation − padding, …] · weight[o, c, i, j]``,
    summed over c, i and j.  As everywhere in deep learning the weight is not flipped, which in signal
    processing would be called a cross-correlation.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, height, width), or without N.
    weight : Tensor
        Of shape (outputs, channels / groups, kernel height, kernel width).
    bias : Tensor, optional
        Of shape (outputs,).
    stride : int or two
        How far the window moves.
    padding : int or two, or "same" or "valid"
        How many zeros are put around the input; "same" keeps its size.
    dilation : int or two
        The distance between the elements that a window sees.
    groups : int
        Cuts channels and outputs into so many groups that do not see each other.

    Examples
    --------
    >>> import autokit as torch
    >>> edge = torch.tensor([[[[-1.0, 1.0]]]])
    >>> torch.conv2d(torch.tensor([[[[0.0, 0.0, 3.0, 3.0]]]]), edge)
    tensor([[[[0., 3., 0.]]]])
    """
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution of volumes; as :func:`conv2d`, over (N, channels, depth, height, width)."""
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transposed convolution of signals; as :func:`conv_transpose2d`."""
    return _transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Each element of the input adds the weight, times itself, to a window of the output.

    It is what a convolution's gradient by its input computes: with a stride it makes images larger, where a
    convolution makes them smaller.  The weight has the shape (channels, outputs / groups, kernel height,
    kernel width); ``output_padding`` is added to the size at one side.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.conv_transpose2d(torch.tensor([[[[1.0, 2.0]]]]), torch.ones(1, 1, 1, 2), stride=2)
    tensor([[[[1., 1., 2., 2.]]]])
    """
    return _transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transposed convolution of volumes; as :func:`conv_transpose2d`."""
    return _transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


_NAMES = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"

NAMES = Names(functions=_NAMES, functional=_NAMES)
