"""Max pooling of windows that chance lays out, so that a side shrinks by any ratio.

References
----------
B. Graham, "Fractional Max-Pooling", arXiv:1412.6071, 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.direct import direct
from autokit.ops.errors import require_floats
from autokit.ops.guards import guards
from autokit.ops.pool import check_dimensions
from autokit.ops.pooling import counted_through, row_lengths, take_places
from autokit.ops.sampling import rand
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor, new_tensor

_SIDES = {2: ("height", "width"), 3: ("time", "height", "width")}


def _each(value: Any, ndim: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,) * ndim


def _begins(chance: Any, size: int, width: int, count: int) -> Any:
    """Where ``count`` windows of ``width`` begin in a side of ``size``: almost evenly, up to its end."""
    xp = module_of(chance)
    if count < 2:
        return xp.full((*chance.shape, count), size - width)
    apart = chance.dtype.type(size - width) / chance.dtype.type(count - 1)
    numbers = xp.arange(count).astype(chance.dtype)
    begins = ((numbers + chance[..., None]) * apart).astype(np.int64)
    begins -= (chance * apart).astype(np.int64)[..., None]
    begins[..., -1] = size - width
    return begins


def _fractional_max_pool(
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Tensor | None,
    ndim: int,
) -> Any:
    name = f"fractional_max_pool{ndim}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        if ndim == 2 and not isinstance(output_ratio, float | int) and len(output_ratio) > ndim:
            raise ValueError(
                f"{name} requires output_ratio to either be a single Int or tuple of Ints: it is "
                f"{output_ratio}"
            )
        own = [input.size(place) for place in range(-ndim, 0)]
        of_each = isinstance(output_ratio, Tensor) and output_ratio.array.ndim > 0
        ratios = tuple(output_ratio) if of_each else _each(output_ratio, ndim)
        output_size = [int(size * ratio) for size, ratio in zip(own, ratios)]
        if len(ratios) < ndim:
            raise IndexError(f"tuple index out of range: {name} takes one ratio, or {ndim}: {output_ratio}")
    widths, counts = _each(kernel_size, ndim), _each(output_size, ndim)
    if samples is None:
        samples = rand(
            1 if input.dim() == ndim + 1 else input.size(0),
            input.size(-ndim - 1),
            ndim,
            dtype=input.dtype,
            device=input.device,
        )
    for setting, numbers in (("kernel_size", widths), ("output_size", counts)):
        if len(numbers) != ndim:
            raise RuntimeError(
                f"{name}: {setting} must either be a single Int or tuple of {ndim} Ints: it is {numbers}"
            )
    if min(widths) < 1 or min(counts) < 0:
        raise RuntimeError(f"{name}: a window of {widths} at {counts} places is none: give positive sizes")
    check_dimensions(name, input, ndim, 1)
    channels, *sizes = input.array.shape[-ndim - 1 :]
    batch = 1 if input.dim() == ndim + 1 else input.size(0)
    if samples.dim() != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.dim()}")
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.size(1) != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    for side, size, width, count in zip(_SIDES[ndim], sizes, widths, counts):
        if count + width - 1 > size - (ndim == 3):  # PyTorch wants one place to spare in volumes
            raise RuntimeError(
                f"{name}{'_out' * (ndim == 3)}(): pool {side} {width} too large relative to input {side} "
                f"{size}"
            )
    require_floats(f"{name}_out_frame", input.array)
    images = input.array.reshape(batch, channels, math.prod(sizes))
    chances = samples.array
    corners: Any = 0
    rows = row_lengths(tuple(sizes))
    for axis, (size, width, count) in enumerate(zip(sizes, widths, counts)):
        # PyTorch's draws for images are for the width first.
        chance = chances[..., ndim - 1 - axis if ndim == 2 else axis]
        begins = _begins(chance, size, width, count) * rows[axis]
        corners = corners + begins.reshape(
            *begins.shape[:2], *(count if axis == k else 1 for k in range(ndim))
        )
    xp = module_of(images)
    offsets = [sum(at * row for at, row in zip(place, rows)) for place in product(*map(range, widths))]
    places = corners.reshape(batch, channels, math.prod(counts), 1) + xp.asarray(offsets)
    seen = xp.take_along_axis(images[:, :, None], places, -1)
    best = xp.take_along_axis(places, seen.argmax(-1)[..., None], -1)[..., 0]
    shape = (*input.array.shape[:-ndim], *counts)
    best = best.reshape(shape)
    settings = {
        "places": counted_through(best, shape[:-ndim] + tuple(sizes), ndim),
        "overlap": True,
        "node": f"FractionalMaxPool{ndim}DBackward0",
    }
    pooled = direct(take_places, (input,), settings)
    return (pooled, new_tensor(best)) if return_indices else pooled


@carefully
@guards("input", results=(1,))
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows that chance lays out over images of shape (N, C, H, W) or (C, H, W).

    Parameters
    ----------
    input : Tensor
    kernel_size : int or (int, int)
        Height and width of the window.
    output_size : int or (int, int), optional
        How many windows there are; or
    output_ratio : float or (float, float), optional
        how large the result is, between 0 and 1, beside the input.
    return_indices : bool
        Give back also where in the plane each element stood.

    Raises
    ------
    ValueError
        If neither the output's size nor a ratio is given.
    RuntimeError
        If so many windows of this size do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> fractional_max_pool2d(torch.rand(1, 3, 9, 9), 2, output_ratio=0.7).shape
    torch.Size([1, 3, 6, 6])
    """
    return _fractional_max_pool(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 2
    )


@carefully
@guards("input", results=(1,))
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The same over volumes of shape (N, C, D, H, W) or (C, D, H, W); see :func:`fractional_max_pool2d`."""
    return _fractional_max_pool(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 3
    )
