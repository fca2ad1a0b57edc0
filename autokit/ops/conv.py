"""``conv1d`` to ``conv_transpose3d``: what a program passes to a convolution, checked and completed.

The rules are in :mod:`autokit.ops.convolution`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.ops.convolution import (
    convolution,
    convolution_with_bias,
    transposed_convolution,
    transposed_convolution_with_bias,
)
from autokit.ops.correlate import (
    Windows,
    output_sizes,
)
from autokit.ops.dims import whole_numbers
from autokit.ops.direct import direct
from autokit.ops.errors import describe, require_floats, way_to_a_tensor
from autokit.ops.guards import guard
from autokit.ops.names import Names
from autokit.ops.pad import pad
from autokit.ops.warn import warn
from autokit.tensor import Tensor

Size = int | Sequence[int]


def _convolve(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size | str,
    dilation: Size,
    groups: int,
    *,
    ndim: int,
) -> Tensor:
    name = f"conv{ndim}d"
    _tensors(name, input, weight, bias)
    unbatched = _is_unbatched(name, input, ndim)
    steps = _numbers(name, "stride", stride, ndim, 1)
    spread = _numbers(name, "dilation", dilation, ndim, 1)
    _check_weight(name, weight, ndim, groups)
    extra: list[int] = []
    if isinstance(padding, str):
        around, extra = _named_padding(padding, weight, steps, spread)
    else:
        around = _numbers(name, "padding", padding, ndim, 0)
    windows = Windows(steps, around, spread, groups)
    if unbatched:
        input = input.unsqueeze(0)
    shape, kernel = input.array.shape, weight.array.shape
    if shape[1] != kernel[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(kernel)}, expected input{list(shape)} to have "
            f"{kernel[1] * groups} channels, but got {shape[1]} channels instead: the input is "
            f"(batch, channels, {'height, width' if ndim == 2 else 'positions'}), and {describe(weight)} is "
            "(outputs, channels / groups, ...)"
        )
    _check_bias(input, weight, bias, kernel[0], f"weight of size {list(kernel)}")
    if any(extra):
        warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy "
            "of the input be created",
        )
        input = pad(input, [each for more in reversed(extra) for each in (0, more)])
        shape = input.array.shape
    if min(output_sizes(shape[2:], kernel[2:], windows)) < 1 or not all(shape[2:]):
        padded = " x ".join(str(size + 2 * more) for size, more in zip(shape[2:], around))
        reach = " x ".join(str((width - 1) * step + 1) for width, step in zip(kernel[2:], spread))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({padded}). Kernel size: ({reach}). Kernel size "
            "can't be greater than actual input size: pad more, or pool less before"
        )
    if max(spread) > 1 and input.array.dtype != np.int64:
        require_floats("slow_conv_dilated<>", input.array)
    if bias is None:
        result = direct(convolution, (input, weight), {"windows": windows})
    else:
        result = direct(convolution_with_bias, (input, weight, bias), {"windows": windows})
    guard(result, [input, weight])
    return result.squeeze(0) if unbatched else result


def _transpose_convolve(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size,
    output_padding: Size,
    groups: int,
    dilation: Size,
    *,
    ndim: int,
) -> Tensor:
    name = f"conv_transpose{ndim}d"
    _tensors(name, input, weight, bias)
    unbatched = _is_unbatched(name, input, ndim)
    steps = _numbers(name, "stride", stride, ndim, 1)
    around = _numbers(name, "padding", padding, ndim, 0)
    more = _numbers(name, "output_padding", output_padding, ndim, 0)
    spread = _numbers(name, "dilation", dilation, ndim, 1)
    _check_weight(name, weight, ndim, groups)
    if unbatched:
        input = input.unsqueeze(0)
    shape, kernel = input.array.shape, weight.array.shape
    if shape[1] != kernel[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(kernel)}, expected input{list(shape)} to have "
            f"{kernel[0]} channels, but got {shape[1]} channels instead: the weight of a transposed "
            "convolution is (inputs, outputs / groups, ...)"
        )
    outputs = kernel[1] * groups
    _check_bias(input, weight, bias, outputs, f"transposed=1, weight of size {list(kernel)}")
    for extra, skip, step in zip(more, steps, spread):
        if extra >= skip and extra >= step:
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got output_padding: "
                f"{list(more)}, stride: {list(steps)}, dilation: {list(spread)}"
            )
    if any(extra >= skip for extra, skip in zip(more, steps)):  # as many zeros follow the input
        zeros = [extra // skip for extra, skip in zip(more, steps)]
        input = pad(input, [each for zero in reversed(zeros) for each in (0, zero)])
        more, shape = tuple(extra % skip for extra, skip in zip(more, steps)), input.array.shape
    size = tuple(
        (count - 1) * skip - 2 * edge + step * (width - 1) + extra + 1
        for count, width, skip, edge, step, extra in zip(shape[2:], kernel[2:], steps, around, spread, more)
    )
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({' x '.join(map(str, shape[2:]))}). Calculated output size per "
            f"channel: ({' x '.join(map(str, size))}). Output size is too small"
        )
    if input.array.dtype != np.int64:
        require_floats(f"slow_conv_transpose{max(ndim, 2)}d_out_cpu", input.array)
    if any(extra >= skip for extra, skip in zip(more, steps)):
        return _with_much_behind(input, weight, bias, steps, around, more, spread, groups, unbatched)
    settings = {"size": (shape[0], outputs, *size), "windows": Windows(steps, around, spread, groups)}
    if bias is None:
        result = direct(transposed_convolution, (input, weight), settings)
    else:
        result = direct(transposed_convolution_with_bias, (input, weight, bias), settings)
    guard(result, [input, weight])
    return result.squeeze(0) if unbatched else result


def _with_much_behind(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    steps: tuple[int, ...],
    around: tuple[int, ...],
    more: tuple[int, ...],
    spread: tuple[int, ...],
    groups: int,
    unbatched: bool,
) -> Tensor:
    """A transposed convolution longer behind by a step: one without padding, then cut and filled up."""
    ndim = len(steps)
    whole = _transpose_convolve(input, weight, None, steps, 0, 0, groups, spread, ndim=ndim)
    widths = [each for pad, extra in zip(reversed(around), reversed(more)) for each in (-pad, extra - pad)]
    result = pad(whole, widths)
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * ndim)
    return result.squeeze(0) if unbatched else result


def _tensors(name: str, input: Any, weight: Any, bias: Any) -> None:
    for place, (argument, value) in enumerate((("input", input), ("weight", weight), ("bias", bias)), 1):
        if not isinstance(value, Tensor) and not (value is None and argument == "bias"):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {place}) must be Tensor, not "
                f"{type(value).__name__}; {way_to_a_tensor(value)}"
            )


def _is_unbatched(name: str, input: Tensor, ndim: int) -> bool:
    if input.array.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got input of "
            f"size: {list(input.array.shape)}"
        )
    return input.array.ndim == ndim + 1


def _numbers(name: str, setting: str, value: Any, ndim: int, least: int) -> tuple[int, ...]:
    """One whole number for each dimension, from one for all or a sequence."""
    numbers = whole_numbers(name, setting, value)
    if len(numbers) == 1:
        numbers *= ndim
    if len(numbers) != ndim:
        raise RuntimeError(
            f"expected {setting} to be a single integer value or a list of {ndim} values to match the "
            f"convolution dimensions, but got {setting}={list(numbers)}"
        )
    if min(numbers) < least:
        raise RuntimeError(
            f"dilation should be greater than zero, but got {list(numbers)}"
            if setting == "dilation"
            else f"{'negative' if not least else 'non-positive'} {setting} is not supported: {list(numbers)}"
        )
    return numbers


def _check_weight(name: str, weight: Tensor, ndim: int, groups: int) -> None:
    shape = weight.array.shape
    if len(shape) != ndim + 2:
        raise RuntimeError(
            f"{name} expects a weight of {ndim + 2} dimensions, but got weight of size {list(shape)}"
        )
    if groups < 1:
        raise RuntimeError(f"non-positive groups is not supported: {groups}")
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{list(shape)}] instead"
        )
    if not all(shape):
        raise RuntimeError(f"{name} expects a weight that has elements, but got weight of size {list(shape)}")


_KINDS = {"float16": "Half", "float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int"}


def _check_bias(input: Tensor, weight: Tensor, bias: Tensor | None, outputs: int, given: str) -> None:
    own, other = input.array.dtype, weight.array.dtype
    advice = f"convert {describe(input)} with .to(torch.{weight.dtype.name})"
    if own.kind == "b":
        raise NotImplementedError(
            f"\"convolution\" not implemented for 'Bool': convert {describe(input)} with .float()"
        )
    if bias is None:
        if own != other:
            kinds = [_KINDS.get(dtype.name, dtype.name) for dtype in (own, other)]
            raise RuntimeError(f"expected scalar type {kinds[0]} but found {kinds[1]}: {advice}")
        return
    for role, dtype in (("bias", bias.array.dtype), ("weight", other)):
        if own != dtype:
            kinds = [_KINDS.get(each.name, each.name).lower() for each in (own, dtype)]
            raise RuntimeError(
                f"Input type ({kinds[0]}) and {role} type ({kinds[1]}) should be the same: {advice}"
            )
    if bias.array.shape != (outputs,):
        raise RuntimeError(
            f"Given {given}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size "
            f"{list(bias.array.shape)} instead"
        )


def _named_padding(
    padding: str, weight: Tensor, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[tuple[int, ...], list[int]]:
    """The zeros on both sides that ``padding`` names, and those more at the end where they are odd."""
    kernel = weight.array.shape[2:]
    if padding == "valid":
        return (0,) * len(kernel), []
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}': there are 'valid' and 'same'")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [step * (width - 1) for step, width in zip(dilation, kernel)]
    return tuple(total // 2 for total in totals), [total % 2 for total in totals]


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
    return _convolve(input, weight, bias, stride, padding, dilation, groups, ndim=1)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution of images: a window moves over the input, and what it sees is weighed and summed.

    ``out[n, o, y, x] = bias[o] + Σ input[n, c, y·stride + i·dilation − padding, …] · weight[o, c, i, j]``,
    summed over c, i and j.  As everywhere in deep learning the weight is not
    flipped, which in signal processing would be called a cross-correlation.

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
        How many zeros are thought around the input; "same" keeps its size.
    dilation : int or two
        The distance between the elements that a window sees.
    groups : int
        Cuts channels and outputs into so many groups that do not see each other.

    Raises
    ------
    RuntimeError
        If the shapes, dtypes or settings do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> edge = torch.tensor([[[[-1.0, 1.0]]]])
    >>> torch.conv2d(torch.tensor([[[[0.0, 0.0, 3.0, 3.0]]]]), edge)
    tensor([[[[0., 3., 0.]]]])
    """
    return _convolve(input, weight, bias, stride, padding, dilation, groups, ndim=2)


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
    return _convolve(input, weight, bias, stride, padding, dilation, groups, ndim=3)


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
    return _transpose_convolve(input, weight, bias, stride, padding, output_padding, groups, dilation, ndim=1)


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

    It is what a convolution's gradient by its input computes: with a stride it
    makes images larger, where a convolution makes them smaller.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, height, width), or without N.
    weight : Tensor
        Of shape (channels, outputs / groups, kernel height, kernel width).
    bias : Tensor, optional
        Of shape (outputs,).
    stride, dilation, groups
        As in :func:`conv2d`.
    padding : int or two
        How much is cut off around the output.
    output_padding : int or two
        Rows and columns more at the end: several input sizes give one output
        size in a strided convolution, and this says which is meant.

    Raises
    ------
    RuntimeError
        If the shapes, dtypes or settings do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.conv_transpose2d(torch.tensor([[[[1.0, 2.0]]]]), torch.ones(1, 1, 1, 2), stride=2)
    tensor([[[[1., 1., 2., 2.]]]])
    """
    return _transpose_convolve(input, weight, bias, stride, padding, output_padding, groups, dilation, ndim=2)


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
    return _transpose_convolve(input, weight, bias, stride, padding, output_padding, groups, dilation, ndim=3)


_PUBLIC = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"

NAMES = Names(functions=_PUBLIC, functional=_PUBLIC)
