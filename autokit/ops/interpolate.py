"""Images are resized, and channels are rearranged to pixels.

Resizing along several dimensions resizes along one after the other, so each new element is a weighted sum of
neighbours along one dimension.

References
----------
R. G. Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 29(6), 1981.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.errors import describe, require_floats, require_tensor
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names
from autokit.ops.pad import AxisMap, picking, resample
from autokit.ops.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

_DIMENSIONS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_MODES = ("nearest", "nearest-exact", *_DIMENSIONS, "area")


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """``input`` resized to ``size``, or by ``scale_factor``.

    Parameters
    ----------
    input : Tensor
        Of shape (N, channels, ...), with one to three further dimensions, which are resized.
    size : int or sequence of int, optional
        The new sizes.
    scale_factor : float or sequence of float, optional
        The new sizes, relative to the old; one of the two is given.
    mode : str
        "nearest" and "nearest-exact" repeat or drop elements; "linear", "bilinear" and "trilinear" weigh
        neighbours by their distance; "bicubic" lays a smooth curve through four; "area" averages.
    align_corners : bool, optional
        Let the centres of the outermost elements stay where they are, rather than their outer edges.

    Examples
    --------
    >>> import autokit as torch
    >>> row = torch.tensor([[[0.0, 4.0]]])
    >>> torch.nn.functional.interpolate(row, scale_factor=2)
    tensor([[[0., 0., 4., 4.]]])
    >>> torch.nn.functional.interpolate(row, size=4, mode="linear")
    tensor([[[0., 1., 3., 4.]]])
    """
    require_tensor("interpolate", input)
    count = input.ndim - 2
    if mode not in _MODES or not 1 <= count <= 3 or _DIMENSIONS.get(mode, count) != count:
        raise NotImplementedError(
            f"interpolate(): mode '{mode}' does not fit {describe(input)}: 3D input takes linear, 4D input "
            "bilinear or bicubic, 5D input trilinear, and all take nearest, nearest-exact and area"
        )
    if align_corners is not None and mode not in _DIMENSIONS:
        raise ValueError("align_corners option can only be set with linear, bilinear, bicubic and trilinear")
    old = input.shape[2:]
    sizes, scales = _new_sizes(input, old, size, scale_factor)
    if min(*sizes, *input.shape[1:]) < 1:
        raise RuntimeError(f"Input and output sizes should be greater than 0: {describe(input)} to {sizes}")
    if input.array.dtype != np.uint8 or "nearest" not in mode:
        require_floats("interpolate", input.array)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[count - 1](input, sizes)
    maps = []
    for axis, (have, wanted, scale) in enumerate(zip(old, sizes, scales), -count):
        # Where a size stays, the elements are copied, though a given scale may round to it.
        copies = mode in ("linear", "bilinear", "trilinear") or (mode == "nearest" and count == 2)
        if have != wanted or not copies:
            maps.append(_along(axis, have, wanted, scale, mode, bool(align_corners)))
    return resample(input, maps=tuple(maps)) if maps else input.clone()


def _new_sizes(
    input: Tensor, old: Sequence[int], size: Any, scale_factor: Any
) -> tuple[list[int], list[float | None]]:
    """The new sizes, and for each dimension the scale where it is not just their quotient."""
    if (size is None) == (scale_factor is None):
        raise ValueError("one of size and scale_factor should be defined, and only one of them")
    given = size if scale_factor is None else scale_factor
    numbers = list(given) if isinstance(given, list | tuple) else [given] * len(old)
    if len(numbers) != len(old):
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions: {describe(input)} has "
            f"{len(old)}, and {given} names {len(numbers)}"
        )
    if scale_factor is None:
        return [int(number) for number in numbers], [None] * len(old)
    sizes = [math.floor(have * factor) for have, factor in zip(old, numbers)]
    return sizes, [float(factor) for factor in numbers]


def _along(axis: int, old: int, new: int, factor: float | None, mode: str, aligned: bool) -> AxisMap:
    """The map of one dimension from ``old`` elements to ``new``."""
    places = np.arange(new)
    if "nearest" in mode:
        # In float32: which neighbour is the nearest depends on the last bit.
        scale32 = np.float32(old) / np.float32(new) if factor is None else np.float32(1 / factor)
        shifted = places.astype(np.float32) + np.float32(0.5 if mode == "nearest-exact" else 0)
        return picking(axis, old, np.minimum((shifted * scale32).astype(np.int64), old - 1))
    scale = old / new if factor is None else 1 / factor
    source = (places + 0.5) * scale - 0.5
    if aligned:
        source = places * ((old - 1) / max(new - 1, 1))
    if mode != "bicubic":
        source = np.clip(source, 0, old - 1)
    first = np.floor(source).astype(np.int64)[:, np.newaxis]
    part = source[:, np.newaxis] - first
    near = np.arange(-1, 3) if mode == "bicubic" else np.arange(2)
    distance = np.abs(part - near)
    weights = _cubic(distance) if mode == "bicubic" else 1 - distance
    return AxisMap(axis, old, np.clip(first + near, 0, old - 1), weights)


def _cubic(distance: np.ndarray) -> np.ndarray:
    """The weight of a neighbour at a ``distance``, by Keys' cubic convolution kernel."""
    a, x = -0.75, distance
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


# ---------------------------------------------------------------- channels and pixels


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(…, C·r², H, W) to (…, C, H·r, W·r): each r² channels become squares of r by r pixels.

    References
    ----------
    W. Shi et al., "Real-time single image and video super-resolution using an efficient sub-pixel
    convolutional neural network", CVPR 2016.
    """
    require_tensor("pixel_shuffle", input)
    r = upscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-3] % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, {r}: {describe(input)}"
        )
    *lead, channels, height, width = input.shape
    n = len(lead)
    split = input.reshape((*lead, channels // r**2, r, r, height, width))
    moved = split.permute((*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return moved.reshape((*lead, channels // r**2, height * r, width * r))


NAMES = Names(
    functions="pixel_shuffle",
    functional="interpolate pixel_shuffle",
    other_functional={"upsample": interpolate},
)
