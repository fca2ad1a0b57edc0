"""Resizing signals, images and volumes: each new element is a weighted sum of a few old neighbours.

A resize along several dimensions is one along each in turn, so all that is
needed is which neighbours count along one dimension, and how much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.dtypes import DIFFERENTIABLE, FLOATS
from autokit.ops.adaptive_pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from autokit.ops.axis_maps import AxisMap, picking, resample, weighing
from autokit.ops.complex_numbers import require_real
from autokit.ops.errors import describe, kind_of
from autokit.ops.names import Names
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_DIMENSIONS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_NODES = {
    "nearest": "UpsampleNearest{}DBackward0",
    "nearest-exact": "UpsampleNearestExact{}DBackward0",
    "linear": "UpsampleLinear{}DBackward0",
    "bilinear": "UpsampleBilinear{}DBackward0",
    "trilinear": "UpsampleTrilinear{}DBackward0",
    "bicubic": "UpsampleBicubic{}DBackward0",
}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
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
        "nearest" and "nearest-exact" repeat or drop elements; "linear",
        "bilinear" and "trilinear" weigh neighbours by their distance;
        "bicubic" lays a smooth curve through four; "area" averages.
    align_corners : bool, optional
        Let the centres of the outermost elements stay where they are, rather
        than their outer edges.
    recompute_scale_factor : bool, optional
        Find the scale anew from the rounded sizes.
    antialias : bool
        For "bilinear" and "bicubic": weigh all that a new element covers when it gets smaller.

    Raises
    ------
    ValueError, NotImplementedError
        If the settings do not fit each other or the shape.

    Examples
    --------
    >>> import autokit as torch
    >>> row = torch.tensor([[[0.0, 4.0]]])
    >>> torch.nn.functional.interpolate(row, scale_factor=2)
    tensor([[[0., 0., 4., 4.]]])
    >>> torch.nn.functional.interpolate(row, size=4, mode="linear")
    tensor([[[0., 1., 3., 4.]]])
    """
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    shape = input.array.shape
    count = len(shape) - 2
    sizes, scales = _sizes(shape[2:], size, scale_factor, recompute_scale_factor)
    if antialias and (mode not in ("bilinear", "bicubic") or count != 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode not in (*_NODES, "area") or not 1 <= count <= 3:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{len(shape)}D) for the modes: {_MODES} (got {mode})"
        )
    if _DIMENSIONS.get(mode, count) != count:
        raise NotImplementedError(
            f"Got {len(shape)}D input, but {mode} mode needs {_DIMENSIONS[mode] + 2}D input"
        )
    if not isinstance(align_corners, bool | None):
        raise TypeError(f"interpolate(): argument 'align_corners' must be bool, not {align_corners!r}")
    if mode != "area" and not all(shape[1:]) and all(shape[2:]):
        raise RuntimeError(
            f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes {list(shape)}"
        )
    if mode != "area" and min(*sizes, *shape[2:], 1) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(shape[2:])} output {sizes}"
        )
    kinds = DIFFERENTIABLE if mode == "area" else FLOATS
    if input.array.dtype.kind not in kinds and not (input.array.dtype == np.uint8 and "nearest" in mode):
        require_real("interpolate", input)
        raise NotImplementedError(
            f"\"interpolate\" not implemented for '{kind_of(input.array)}': {describe(input)}; convert it "
            "with .float()"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[count - 1](input, sizes)
    maps = tuple(
        [
            _along(place - count, old, new, scale, mode, bool(align_corners), antialias)
            for place, (old, new, scale) in enumerate(zip(shape[2:], sizes, scales))
        ]
    )
    node = _NODES[mode].format(count)
    return resample(input, maps=maps, node=node.replace("2DB", "2DAaB") if antialias else node)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of :func:`interpolate`."""
    warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def _sizes(
    old: tuple[int, ...], size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """The new sizes, and for each dimension the scale where it is not just their quotient."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given, name, letter = (
        (size, "output size", "o") if scale_factor is None else (scale_factor, "scale_factor", "s")
    )
    if scale_factor is None and isinstance(given, Tensor) and given.array.size == 1:
        given = given.item()
    each = list(given) if isinstance(given, list | tuple) else [given] * len(old)
    if len(each) != len(old):
        raise ValueError(
            f"Input and {name.removesuffix(' size')} must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {list(old)} and {name} of "
            f"{'shape ' if letter == 's' else ''}{given}. Please provide input tensor in (N, C, d1, d2, "
            f"...,dK) format and {name} in ({letter}1, {letter}2, ...,{letter}K) format."
        )
    if scale_factor is None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        each = [one.item() if isinstance(one, Tensor) and one.array.size == 1 else one for one in each]
        for number in each:
            if not isinstance(number, int | np.integer) or isinstance(number, bool):
                raise TypeError(
                    f"interpolate(): argument 'size' must be int or a tuple of ints, not {number!r}"
                )
        return [int(number) for number in each], [None] * len(old)
    for factor in each:
        if isinstance(factor, Tensor) or not hasattr(factor, "__float__"):
            raise TypeError(
                "interpolate(): argument 'scale_factor' must be float or a tuple of floats, not "
                f"{type(factor).__name__}"
            )
    sizes = [math.floor(have * factor) for have, factor in zip(old, each)]
    return sizes, [None] * len(old) if recompute else [float(factor) for factor in each]


def _along(
    axis: int, old: int, new: int, factor: float | None, mode: str, aligned: bool, antialias: bool
) -> AxisMap:
    """The map of one dimension from ``old`` elements to ``new``."""
    places = np.arange(new)
    if "nearest" in mode:
        # In single precision, as PyTorch computes it: which neighbour is nearest depends on the last bit.
        scale32 = np.float32(old) / np.float32(new) if factor is None else np.float32(1 / factor)
        shifted = places.astype(np.float32) + np.float32(0.5 if mode == "nearest-exact" else 0)
        return picking(axis, old, np.minimum(np.floor(shifted * scale32).astype(np.int64), old - 1))
    scale = old / new if factor is None else 1 / factor
    if aligned:
        scale = (old - 1) / (new - 1) if new > 1 else 0.0
    if antialias:
        return _antialiased(axis, old, places, scale, mode)
    source = places * scale if aligned else (places + 0.5) * scale - 0.5
    if mode == "bicubic":
        first = np.floor(source)
        part = (source - first)[:, np.newaxis]
        columns = np.clip(first[:, np.newaxis].astype(np.int64) + np.arange(-1, 3), 0, old - 1)
        return weighing(axis, old, columns, _cubic(np.abs(part - np.arange(-1, 3)), -0.75))
    source = np.maximum(source, 0)
    first = np.minimum(source.astype(np.int64), old - 1)
    part = np.clip(source - first, 0, 1)
    columns = np.stack([first, np.minimum(first + 1, old - 1)], axis=1)
    return weighing(axis, old, columns, np.stack([1 - part, part], axis=1))


def _cubic(distance: np.ndarray, sharpness: float) -> np.ndarray:
    """The weight of a neighbour at a ``distance``: the cubic convolution kernel.

    References
    ----------
    R. Keys, "Cubic convolution interpolation for digital image processing",
    IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1981.
    """
    a, x = sharpness, distance
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _antialiased(axis: int, old: int, places: np.ndarray, scale: float, mode: str) -> AxisMap:
    """Weights that reach as far as a new element covers."""
    stretch = max(scale, 1.0)
    reach = (1 if mode == "bilinear" else 2) * stretch
    centres = scale * (places + 0.5)
    low = np.maximum((centres - reach + 0.5).astype(np.int64), 0)
    high = np.minimum((centres + reach + 0.5).astype(np.int64), old)
    columns = low[:, np.newaxis] + np.arange(max(int((high - low).max()), 1))
    distance = np.abs((columns - centres[:, np.newaxis] + 0.5) / stretch)
    weights = np.maximum(1 - distance, 0) if mode == "bilinear" else _cubic(distance, -0.5)
    weights = np.where(columns < high[:, np.newaxis], weights, 0.0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weighing(axis, old, np.minimum(columns, old - 1), weights, columns < high[:, np.newaxis])


NAMES = Names(functional="interpolate upsample")
