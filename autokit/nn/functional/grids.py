"""Reading an image at the points of a grid, as spatial transformers do: ``affine_grid``, ``grid_sample``.

References
----------
M. Jaderberg, K. Simonyan, A. Zisserman and K. Kavukcuoglu, "Spatial
transformer networks", NeurIPS 2015; R. G. Keys, "Cubic convolution
interpolation for digital image processing", IEEE TASSP 29(6), 1981.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from autokit.dtypes import BY_NUMPY
from autokit.ops.choices import where
from autokit.ops.errors import describe, dimension_error, require_floats
from autokit.ops.filled import ones_like
from autokit.ops.names import public
from autokit.ops.series import linspace
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
            "Please specify align_corners=True if the old behavior is desired. See the documentation of "
            "grid_sample for details.",
        )
    return bool(align_corners)


@public
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where each pixel of an image of ``size`` lies after the affine map ``theta``, for ``grid_sample``.

    Parameters
    ----------
    theta : Tensor
        A matrix for each image: of shape (N, 2, 3), or (N, 3, 4) for volumes.
    size : sequence of int
        (N, C, H, W), or (N, C, D, H, W).
    align_corners : bool
        Whether −1 and 1 are the centers of the outermost pixels, or their outer edges.

    Returns
    -------
    Tensor
        Of shape (N, H, W, 2), or (N, D, H, W, 3): x, y and z, each from −1 to 1 inside the image.

    Raises
    ------
    ValueError, NotImplementedError
        If the shapes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> theta = torch.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-0.5000,  0.0000],
              [ 1.5000,  0.0000]]]])
    """
    if theta.array.dtype.kind not in "fV":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {tuple(size)}"
        )
    ndim = len(size) - 2
    if theta.array.shape[1:] != (ndim, ndim + 1):
        raise ValueError(
            f"Expected a batch of {ndim}D affine matrices of shape Nx{ndim}x{ndim + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    aligned = _aligned(align_corners)
    kind = theta.array.dtype
    axes = [_centers(length, aligned, kind) for length in size[2:]]
    points = np.stack([*reversed(np.meshgrid(*axes, indexing="ij")), np.ones(tuple(size[2:]), kind)], axis=-1)
    flat = new_tensor(points.reshape(-1, ndim + 1)).to(theta.device)
    return (flat @ theta.transpose(1, 2)).reshape((size[0], *size[2:], ndim))


def _centers(length: int, aligned: bool, kind: np.dtype) -> np.ndarray:
    """Where the centers of a row of pixels lie, from −1 to 1.

    Rounded after each step as in PyTorch: where an image is read at its own pixels, the last digit says from
    which side, and so what the gradient is.
    """
    if length == 1:
        return np.zeros(1, kind)
    centers = linspace(-1, 1, length, dtype=BY_NUMPY[kind]).array
    return centers if aligned else (centers * (length - 1) / length).astype(kind)


@public
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """``input`` read at the points of ``grid``, between its pixels.

    Parameters
    ----------
    input : Tensor
        Images (N, C, H, W), or volumes (N, C, D, H, W).
    grid : Tensor
        Points (N, H', W', 2), or (N, D', H', W', 3): x, y and z, each from −1 to 1 inside the image.
    mode : {"bilinear", "nearest", "bicubic"}
        A mean of the pixels around the point, the nearest one, or a cubic curve through 4 × 4.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside: 0, the pixel at the border, or the image mirrored.
    align_corners : bool
        Whether −1 and 1 are the centers of the outermost pixels, or their outer edges.

    Returns
    -------
    Tensor
        Of shape (N, C, H', W'), or (N, C, D', H', W').

    Raises
    ------
    ValueError
        If there is no such mode.
    RuntimeError
        If the shapes or dtypes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> grid = torch.tensor([[[[0.0, 0.0], [1.0, 1.0]]]])
    >>> torch.nn.functional.grid_sample(image, grid, align_corners=True)
    tensor([[[[2.5000, 4.0000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    aligned = _aligned(align_corners)
    _check(input, grid, mode)
    sizes = input.array.shape[2:]
    places = [_unnormalized(grid[..., -1 - dim], sizes[dim], aligned) for dim in range(len(sizes))]
    if mode != "bicubic":
        places = [_inside(each, size, padding_mode, aligned) for each, size in zip(places, sizes)]
    images = input.flatten(2)
    total: Any = None
    for weights, corner in _neighbours(places, mode):
        if mode == "bicubic":
            corner = [_inside(each, size, padding_mode, aligned) for each, size in zip(corner, sizes)]
        read = _read(images, corner, sizes)
        for weight in weights:
            read = read * weight.unsqueeze(1)
        total = read if total is None else total + read
    if mode == "nearest" and grid._requires_grad:  # nothing changes as a point moves: its gradient is 0
        total = where(ones_like(total).bool(), total, grid[..., 0].unsqueeze(1))
    return total


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    ndim = input.array.ndim - 2
    if not input.array.ndim or not grid.array.ndim:
        raise dimension_error(0, 0, describe(grid if input.array.ndim else input))
    told = f"input {describe(input)} and grid {describe(grid)}"
    if grid.array.ndim and grid.array.shape[-1] != ndim:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {ndim} in last dimension, but got {told}"
        )
    if ndim not in (2, 3) or grid.array.ndim != ndim + 2:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got {told}"
        )
    if input.array.dtype != grid.array.dtype:
        raise RuntimeError(f"grid_sampler(): expected input and grid to have same dtype, but got {told}")
    if input.array.shape[0] != grid.array.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {told}")
    if not all(input.array.shape[2:]):
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {told}"
        )
    if mode == "bicubic" and ndim != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    require_floats(f"grid_sampler_{ndim}d_cpu_kernel_impl", input.array)


def _unnormalized(place: Tensor, size: int, aligned: bool) -> Tensor:
    """From −1 and 1 to numbers of pixels; rounded as in PyTorch, of volumes otherwise than of images.

    PyTorch multiplies and subtracts in one instruction, so that a float32 is rounded once for both.
    """
    if place.array.ndim == 3:
        if aligned:
            return (place + 1) * ((size - 1) / 2)
        return ((place + 1).double() * (size / 2) - 0.5).to(place.dtype)
    return (place + 1) / 2 * (size - 1) if aligned else ((place + 1) * size - 1) / 2


def _inside(place: Tensor, size: int, padding_mode: str, aligned: bool) -> Tensor:
    """``place``, brought into the image where the padding asks for that; at the border without a gradient."""
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        place = _reflected(place, *((0, size - 1) if aligned else (-0.5, size - 0.5)))
    values: Any = place.detach()
    return where((values > 0) & (values < size - 1), place, values.nan_to_num(0.0).clamp(0, size - 1))


def _reflected(place: Tensor, low: float, high: float) -> Tensor:
    """``place`` as seen in mirrors at ``low`` and ``high``."""
    span = high - low
    if not span:
        return place * 0
    distance = (place - low).abs()
    times = (distance.detach() / span).floor()
    rest = distance - times * span
    return where(times % 2 == 0, rest, span - rest) + low


def _neighbours(places: list[Tensor], mode: str) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """The pixels that count at each point, and with which weights along each dimension."""
    if mode == "nearest":
        yield [], [place.detach().round() for place in places]
        return
    lower = [place.detach().floor() for place in places]
    beyond = [place - low for place, low in zip(places, lower)]
    if mode == "bilinear":
        each: Any = [((1 - t, low), (t, low + 1)) for t, low in zip(beyond, lower)]
    else:
        each = [list(zip(_cubic(t), (low - 1, low, low + 1, low + 2))) for t, low in zip(beyond, lower)]
    for chosen in product(*each):
        yield [weight for weight, _ in chosen], [place for _, place in chosen]


def _cubic(t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The weights of four neighbours of a point that lies ``t`` behind the second."""
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _read(images: Tensor, corner: list[Tensor], sizes: tuple[int, ...]) -> Tensor:
    """The pixels at whole places, of images whose pixels are in a row; 0 outside."""
    index: Any = 0
    known: Any = True
    for place, size in zip(corner, sizes):
        values: Any = place.detach()
        known = (values >= 0) & (values <= size - 1) & known
        index = index * size + values.nan_to_num(0.0).clamp(0, size - 1).long()
    batch, channels = images.array.shape[:2]
    points = math.prod(index.shape[1:])
    flat = index.reshape(batch, 1, points).expand(batch, channels, points)
    read = images.gather(2, flat).reshape((batch, channels, *index.shape[1:]))
    return where(known.unsqueeze(1), read, read.new_zeros(()))
