"""Poolings that are put together from others, and max pooling undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.ops.conv import Size
from autokit.ops.direct import direct
from autokit.ops.elementwise import relu, sign
from autokit.ops.pool import avg_pool1d, avg_pool2d, avg_pool3d
from autokit.ops.pooling import counted_through, put_places
from autokit.ops.unusual import asks_for_care, with_care
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL


def _norm_pool(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None, ceil_mode: bool, ndim: int
) -> Tensor:
    average: Any = (avg_pool1d, avg_pool2d, avg_pool3d)[ndim - 1]
    sizes = tuple(kernel_size) if isinstance(kernel_size, Sequence) else (kernel_size,) * ndim
    means = average(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return (sign(means) * relu(abs(means)) * float(np.prod(sizes))) ** (1.0 / norm_type)


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


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ xᵖ)^(1/p)`` over each window of volumes, for p = ``norm_type``."""
    if UNUSUAL and asks_for_care(input):
        return with_care("lp_pool3d", lp_pool3d, (), locals())
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
    kernel, skips, around = (
        tuple(each) if isinstance(each, Sequence) else (each,) * ndim
        for each in (kernel_size, kernel_size if stride is None else stride, padding)
    )
    places = indices.array
    if places.dtype != np.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.dtype.name.capitalize()}"
        )
    if places.shape != input.array.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.array.shape)}) "
            f"but got indices tensor with shape: {list(places.shape)}"
        )
    own = input.array.shape[-ndim:]
    usual = [(s - 1) * skip + width - 2 * pad for s, skip, width, pad in zip(own, skips, kernel, around)]
    sizes = tuple(usual if output_size is None else output_size)[-ndim:]
    for place, (size, each, skip) in enumerate(zip(sizes, usual, skips)):
        if output_size is not None and not each - skip < size < each + skip:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {place} must be between {each - skip} and '
                f"{each + skip})"
            )
    wrong = places[(places < 0) | (places >= np.prod(sizes))]
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


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the elements of ``input`` where ``max_pool1d(return_indices=True)`` found them."""
    if UNUSUAL and asks_for_care(input):
        return with_care("max_unpool1d", max_unpool1d, (), locals())
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


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
    if UNUSUAL and asks_for_care(input):
        return with_care("max_unpool2d", max_unpool2d, (), locals())
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, with the elements of ``input`` where ``max_pool3d(return_indices=True)`` found them."""
    if UNUSUAL and asks_for_care(input):
        return with_care("max_unpool3d", max_unpool3d, (), locals())
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)
