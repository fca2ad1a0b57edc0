"""``max_pool1d`` to ``avg_pool3d``: what a program passes to a pooling, checked and completed.

The rules are in :mod:`autokit.ops.pooling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.devices import with_channels_as
from autokit.ops.dims import whole_numbers
from autokit.ops.direct import direct
from autokit.ops.errors import describe, dimension_error, refuse_bools_in, require_floats
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.pooling import (
    Pooling,
    counted_through,
    places_of_maxima,
    take_places,
    window_divisors,
    window_means,
)
from autokit.ops.recording import apart
from autokit.tensor import Tensor, new_tensor

Size = int | Sequence[int]

_NONE: tuple[Any, ...] = (None, [], ())
"""A stride that is left out, in PyTorch's ways to write it."""


def _pooling(
    name: str,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    ndim: int,
) -> Pooling:
    check_dimensions(name, input, ndim)
    kernel = _numbers(name, "kernel_size", kernel_size, ndim)
    skips = kernel if stride in _NONE else _numbers(name, "stride", stride, ndim)
    around = _numbers(name, "padding", padding, ndim)
    steps = _numbers(name, "dilation", dilation, ndim)
    if min(kernel) < 1:
        raise RuntimeError(f"kernel size should be greater than zero, but got kernel_size={list(kernel)}")
    if min(skips) < 1:
        raise RuntimeError(f"stride should not be zero: it is {list(skips)}")
    if min(steps) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(steps)}")
    for width, pad, step in zip(kernel, around, steps):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > ((width - 1) * step + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, "
                f"kernel_size={width} and dilation={step}: {name} {describe(input)}"
            )
        if pad > width // 2:
            raise RuntimeError(
                f"pad should be smaller than or equal to half of kernel size, but got pad = {list(around)}, "
                f"kernel size = {list(kernel)}"
            )
    sizes = input.array.shape[-ndim:]
    output = []
    for size, width, skip, pad, step in zip(sizes, kernel, skips, around, steps):
        room = size + 2 * pad - step * (width - 1) - 1
        count = (room + (skip - 1 if ceil_mode else 0)) // skip + 1
        if ceil_mode and (count - 1) * skip >= size + pad:  # the last window would begin behind the end
            count -= 1
        output.append(count)
    if min(output) < 1:
        channels = input.array.shape[-ndim - 1]
        raise RuntimeError(
            f"Given input size: ({_by(channels, *sizes)}). Calculated output size: "
            f"({_by(channels, *[max(count, 0) for count in output])}). Output size is too small"
        )
    return Pooling(sizes, kernel, skips, around, steps, tuple(output))


def _by(*sizes: int) -> str:
    return "x".join(map(str, sizes))


def _numbers(name: str, setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    numbers = whole_numbers(name, setting, value)
    if len(numbers) not in (1, ndim):
        raise RuntimeError(
            f"{name}: {setting} must either be a single int, or a tuple of "
            f"{('one', 'two', 'three')[ndim - 1]} ints: it is {value}"
        )
    return numbers * (ndim // len(numbers))


def check_dimensions(name: str, input: Any, ndim: int, filled: int | None = None) -> None:
    """Raise unless ``input`` has ``ndim`` sides, channels and perhaps samples: none empty from ``filled``."""
    sizes = input.array.shape[-ndim - 1 if filled is None else filled :]
    if input.array.ndim not in (ndim + 1, ndim + 2) or not all(sizes):
        raise RuntimeError(
            f"{name}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got: {list(input.array.shape)}: "
            f"non-empty {ndim + 1}D or {ndim + 2}D (batch mode) tensor expected for input"
        )


def _max_pool(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    ndim: int,
) -> tuple[Tensor, Any]:
    """The maxima, and their places in each image."""
    name = f"max_pool{ndim}d"
    pooling = _pooling(name, input, kernel_size, stride, padding, dilation, ceil_mode, ndim)
    refuse_bools_in(name, input.array)
    # What a window has behind the input even where it begins first is never seen.
    seen = [
        min(width, (pad + size - 1) // step + 1)
        for width, pad, size, step in zip(pooling.kernel, pooling.padding, pooling.sizes, pooling.dilation)
    ]
    pooling = pooling._replace(kernel=tuple(seen))
    places = with_channels_as(input.array, places_of_maxima(input.array, pooling))
    node = f"MaxPool{ndim}DWithIndicesBackward0"
    return taken(input, places, pooling.overlaps(), node, ndim), places


def taken(input: Tensor, places: Any, overlap: bool, node: str, ndim: int) -> Tensor:
    """The elements of ``input`` at ``places``, each counted in its own image; they lie as ``places`` do."""
    through = counted_through(places, input.array.shape, ndim)
    return direct(take_places, (input,), {"places": through, "overlap": overlap, "node": node})


def _lifted(name: str, input: Any) -> Tensor:
    """A signal as an image of one row: PyTorch pools it as such."""
    check_dimensions(name, input, 1)
    return input.unsqueeze(-2)


def _of_a_row(name: str, setting: str, value: Any, other: int) -> tuple[int, ...]:
    return other, *_numbers(name, setting, value, 1)


@guards("input", results=(1,))
def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals; as :func:`max_pool2d`, over (N, channels, length)."""
    name = "max_pool1d"
    row = _lifted(name, input)
    _pooling(name, input, kernel_size, stride, padding, dilation, ceil_mode, 1)
    if not return_indices:  # PyTorch has a quick way of its own for these, which takes no integers
        require_floats("max_pool1d_impl", input.array)
    kernel = _of_a_row(name, "kernel_size", kernel_size, 1)
    skips = kernel if stride in _NONE else _of_a_row(name, "stride", stride, 1)
    around = _of_a_row(name, "padding", padding, 0)
    steps = _of_a_row(name, "dilation", dilation, 1)
    if not return_indices:
        row = row.contiguous()  # its results then lie row by row too
    values, places = _max_pool(row, kernel, skips, around, steps, ceil_mode, 2)
    return with_places(values.squeeze(-2), places.squeeze(-2), return_indices)


def with_places(values: Tensor, places: Any, wanted: bool) -> Any:
    return (values, new_tensor(apart(places, values._requires_grad))) if wanted else values


@guards("input", results=(1,))
def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images.

    All of a window's gradient goes to its largest element, and to the first of equals.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, height, width), or without N.
    kernel_size : int or two
        The size of the window.
    stride : int or two, optional
        How far the window moves; by its own size without it.
    padding : int or two
        How many elements, smaller than any other, are thought around the input.
    dilation : int or two
        The distance between the elements that a window sees.
    ceil_mode : bool
        Let the last windows stand out over the edge, so that no element is left out.
    return_indices : bool
        Return a pair: the maxima, and where in its image each was, counted row by row.

    Raises
    ------
    RuntimeError
        If the shapes and settings do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    pooled = _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 2)
    return with_places(*pooled, return_indices)


@guards("input", results=(1,))
def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes; as :func:`max_pool2d`."""
    pooled = _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, 3)
    return with_places(*pooled, return_indices)


def _average_pool(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    ndim: int,
) -> Tensor:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    name = f"avg_pool{ndim}d"
    pooling = _pooling(name, input, kernel_size, stride, padding, 1, ceil_mode, ndim)
    if input.array.dtype != np.int64:
        require_floats(name, input.array)
    if ndim == 3 and any(size < width for size, width in zip(pooling.sizes, pooling.kernel)):
        raise RuntimeError(
            f"input image {list(pooling.sizes)} smaller than kernel size {list(pooling.kernel)}: {name} lays "
            "no window out over less"
        )
    divisors = window_divisors(pooling, count_include_pad, divisor_override).astype(input.array.dtype)
    if (divisors == divisors.flat[0]).all():
        divisors = divisors.reshape(-1)[0]  # one number divides faster
    return direct(window_means, (input,), {"pooling": pooling, "divisors": divisors})


@guards("input")
def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals; as :func:`avg_pool2d`, over (N, channels, length)."""
    name = "avg_pool1d"
    row = _lifted(name, input)
    _pooling(name, input, kernel_size, stride, padding, 1, ceil_mode, 1)
    kernel = _of_a_row(name, "kernel_size", kernel_size, 1)
    skips = kernel if stride in _NONE else _of_a_row(name, "stride", stride, 1)
    around = _of_a_row(name, "padding", padding, 0)
    return _average_pool(row, kernel, skips, around, ceil_mode, count_include_pad, None, 2).squeeze(-2)


@guards("input")
def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of images.

    Parameters
    ----------
    input, kernel_size, stride, padding, ceil_mode
        As in :func:`max_pool2d`; the padding is zeros.
    count_include_pad : bool
        Count the padding among the elements that are averaged.
    divisor_override : int, optional
        Divide by this instead of by the number of elements.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    if input.dim() < 3:
        raise dimension_error(-3, input.dim(), describe(input))
    return _average_pool(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2
    )


@guards("input")
def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of volumes; as :func:`avg_pool2d`."""
    return _average_pool(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3
    )


_MAX = "max_pool1d max_pool2d max_pool3d"

NAMES = Names(functions=f"{_MAX} avg_pool1d", functional=f"{_MAX} avg_pool1d avg_pool2d avg_pool3d")
