"""Poolings that are put together from others, and max pooling undone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autokit.ops.conv import Size
from autokit.ops.direct import direct
from autokit.ops.elementwise import relu, sign
from autokit.ops.errors import describe, require_floats
from autokit.ops.guards import guards
from autokit.ops.pool import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from autokit.ops.pooling import counted_through, put_places
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor


def _norm_pool(
    input: Tensor, norm_type: Any, kernel_size: Size, stride: Size | None, ceil_mode: bool, ndim: int
) -> Tensor:
    sizes = tuple(kernel_size) if isinstance(kernel_size, Sequence) else (kernel_size,) * ndim
    if len(sizes) != ndim:
        raise ValueError(
            f"lp_pool{ndim}d(): kernel_size is one number, or one for each of {ndim} sides: {sizes}"
        )
    if isinstance(norm_type, int | float) and math.isinf(norm_type):
        largest: Any = (max_pool1d, max_pool2d, max_pool3d)[ndim - 1]
        sized = abs(input) if norm_type > 0 else -abs(input)
        found: Tensor = largest(sized, kernel_size, stride, 0, 1, ceil_mode)
        return found if norm_type > 0 else -found
    average: Any = (avg_pool1d, avg_pool2d, avg_pool3d)[ndim - 1]
    means = average(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return (sign(means) * relu(abs(means)) * math.prod(sizes)) ** (1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of signals, for p = ``norm_type``."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of images, for p = ``norm_type``."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 2)


@carefully
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of volumes, for p = ``norm_type``."""
    return _norm_pool(input, norm_type, kernel_size, stride, ceil_mode, 3)


def _unpool(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    output_size: Sequence[int] | None,
    ndim: int,
) -> Tensor:
    name = f"max_unpool{ndim}d"
    kernel = _of_each_side(name, "kernel_size", kernel_size, ndim)
    skips = kernel if stride is None else _of_each_side(name, "stride", stride, ndim)
    around = _of_each_side(name, "padding", padding, ndim)
    sizes = _unpooled_sizes(input, kernel, skips, around, output_size)
    if ndim == 3 and bool in map(type, (*skips, *around)):
        raise TypeError(f"{name}(): arguments 'stride' and 'padding' must be tuple of ints, and hold a bool")
    places = indices.array
    if places.dtype != np.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.dtype.name.capitalize()}"
        )
    if input.array.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Input to {name} should be a {ndim + 1}D or {ndim + 2}D tensor: {describe(input)}"
        )
    if places.shape != input.array.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.array.shape)}) "
            f"but got indices tensor with shape: {list(places.shape)}"
        )
    if not all(input.array.shape[1:]):
        raise RuntimeError(
            f"{name}: Expected input to have non-zero size for non-batch dimensions: {describe(input)}"
        )
    room = math.prod(sizes)
    if room:
        require_floats(name, input.array)
    else:  # nowhere to put anything
        input, places = input[..., :0], places[..., :0]
    wrong = places[(places < 0) | (places >= room)]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong.flat[0]} (output volumes are of size "
            f"{'x'.join(map(str, sizes))})"
        )
    shape = (*input.array.shape[:-ndim], *sizes)
    settings = {
        "shape": shape,
        "places": counted_through(places, shape, ndim),
        "overlap": False,
        "node": f"MaxUnpool{max(ndim, 2)}DBackward0",
    }
    return direct(put_places, (input,), settings)


def _of_each_side(name: str, setting: str, value: Any, ndim: int) -> tuple[int, ...]:
    numbers = tuple(value) if isinstance(value, Iterable) else (value,) * ndim
    if isinstance(value, Tensor) or not all(hasattr(each, "__index__") for each in numbers):
        raise TypeError(f"{name}(): argument '{setting}' must be int or tuple of ints, not {value!r}")
    if len(numbers) != ndim:
        raise (RuntimeError if setting == "kernel_size" and len(numbers) < ndim else IndexError)(
            f"{name}(): argument '{setting}' has one number for each of {ndim} sides, not {value}"
        )
    return numbers


def _unpooled_sizes(
    input: Tensor, kernel: Any, skips: Any, around: Any, output_size: Sequence[int] | None
) -> tuple[int, ...]:
    """The sizes that pool to those of ``input``: those asked for, if they are among them, else the usual."""
    ndim = len(kernel)
    if input.array.ndim < ndim:
        raise IndexError(
            f"tuple index out of range: max_unpool{ndim}d has no {ndim} sizes in {describe(input)}"
        )
    own = input.array.shape[-ndim:]
    sizes = [(s - 1) * skip + width - 2 * pad for s, skip, width, pad in zip(own, skips, kernel, around)]
    if output_size is not None:
        if not isinstance(output_size, Sequence):
            raise TypeError(
                f"max_unpool{ndim}d(): argument 'output_size' must be tuple of ints, not "
                f"{type(output_size).__name__}"
            )
        usual, sizes = sizes, list(output_size[2:] if len(output_size) == ndim + 2 else output_size)
        if len(sizes) != ndim:
            raise ValueError(
                f"output_size should be a sequence containing {ndim} or {ndim + 2} elements, but it has a "
                f"length of '{len(sizes)}'"
            )
        for place, (size, each, skip) in enumerate(zip(sizes, usual, skips)):
            if not each - skip < size < each + skip:
                raise ValueError(
                    f'invalid output_size "{tuple(output_size)}" (dim {place} must be between {each - skip} '
                    f"and {each + skip})"
                )
    for place, size in enumerate(sizes):
        if size < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{place}]={size}"
            )
    if ndim == 3 and min(skips) < 1:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(skips)}")
    return tuple(sizes)


@carefully
@guards("input")
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the elements of ``input`` where ``max_pool1d(return_indices=True)`` found them."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


@carefully
@guards("input")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the elements of ``input`` where ``max_pool2d(return_indices=True)`` found them.

    ``output_size`` says which of several sizes that pool to the same is meant.
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


@carefully
@guards("input")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the elements of ``input`` where ``max_pool3d(return_indices=True)`` found them."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)
