"""Padding: elements put around a tensor, or, where the number is negative, taken off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.devices import channels_last_or_contiguous
from autokit.ops.axis_maps import AxisMap, picking, resample
from autokit.ops.dims import sizes_of
from autokit.ops.errors import describe, refuse_bools_in
from autokit.ops.guards import guard
from autokit.ops.names import Names
from autokit.ops.operands import fitting
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor


@operation(
    "pad",
    "{a}, padded",
    layout=channels_last_or_contiguous,
    a=derivative(
        "1 inside",
        lambda g, widths: on(constant_pad_nd, g, widths=tuple([(-b, -e) for b, e in widths]), value=0),
    ),
)
def constant_pad_nd(a, /, widths, value=0):
    """``value`` around ``a``: for each dimension how often before and after; negative numbers cut off."""
    shape = [size + before + after for size, (before, after) in zip(a.shape, widths)]
    result = np.full_like(a, value, shape=tuple(shape))
    inside, taken = [], []
    for size, (before, after) in zip(a.shape, widths):
        inside.append(slice(max(before, 0), max(before, 0) + size + min(before, 0) + min(after, 0)))
        taken.append(slice(max(-before, 0), size - max(-after, 0)))
    if a.size:
        result[tuple(inside)] = a[tuple(taken)]
    return result


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """``input`` with elements put around it, last dimension first.

    Parameters
    ----------
    input : Tensor
    pad : sequence of int
        How many before and after: (left, right) of the last dimension, or
        (left, right, top, bottom), and so on; negative numbers cut off.
    mode : str
        What is put there: "constant" is ``value``; "replicate" repeats the
        edge; "reflect" mirrors at it; "circular" begins again at the other end.
    value : float, optional
        For "constant", 0 without it.

    Raises
    ------
    RuntimeError, NotImplementedError
        If there is more to pad than ``input`` or the mode allows.

    Examples
    --------
    >>> import autokit as torch
    >>> row = torch.tensor([[1, 2, 3]])
    >>> torch.nn.functional.pad(row, (1, 1)).tolist()
    [[0, 1, 2, 3, 0]]
    >>> torch.nn.functional.pad(row, (2, 0), mode="reflect").tolist()
    [[3, 2, 1, 2, 3]]
    """
    if not isinstance(mode, str):
        raise TypeError(f"pad(): argument 'mode' (position 3) must be str, not {type(mode).__name__}")
    if mode != "constant" and mode not in _NODES:
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: there are constant, reflect, replicate and circular"
        )
    widths = _widths(input, pad)
    if mode == "constant":
        everywhere = ((0, 0),) * (input.array.ndim - len(widths)) + widths[::-1]
        for size, (before, after) in zip(input.array.shape, everywhere):
            if size + min(before, 0) + min(after, 0) < 0 or size + before + after < 0:
                raise RuntimeError(
                    f"narrow(): length must be non-negative. {list(pad)} takes more off than "
                    f"{describe(input)} has"
                )
        some = value is not None and any(before > 0 or after > 0 for before, after in everywhere)
        fill = fitting(value, input.array.dtype) if some else 0
        return constant_pad_nd(input, widths=everywhere, value=fill)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    count, ndim = len(widths), input.array.ndim
    if ndim not in (count + 1, count + 2) or not 1 <= count <= 3:
        raise NotImplementedError(
            f"Padding size {2 * count} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode != "circular":
        refuse_bools_in(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{count}d", input.array)
    if mode != "circular" and not all(input.array.shape[ndim - count - 1 :]):
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(input.array.shape)}"
        )
    maps = tuple([_edges(input, ndim - 1 - place, *both, mode) for place, both in enumerate(widths)])
    made = resample(input, maps=maps, node=_NODES[mode].format(count))
    if mode != "circular":
        guard(made, [input])
    return made


_NODES = {
    "reflect": "ReflectionPad{}DBackward0",
    "replicate": "ReplicationPad{}DBackward0",
    "circular": "PadCircularBackward0",
}
"""PyTorch's names of the backward nodes, where it has one: it copies circular padding piece by piece."""


def _widths(input: Any, pad: Any) -> tuple[tuple[int, int], ...]:
    """(before, after) of each padded dimension, the last first."""
    if not isinstance(pad, tuple | list):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    pad = sizes_of((pad,), "pad", "pad")
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2: {list(pad)} is no list of pairs")
    if len(pad) > 2 * input.array.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.array.ndim}"
        )
    return tuple([(pad[place], pad[place + 1]) for place in range(0, len(pad), 2)])


def _edges(input: Tensor, axis: int, before: int, after: int, mode: str) -> AxisMap:
    """The map that pads one dimension."""
    shape = input.array.shape
    size = shape[axis]
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
            f"padding ({before}, {after}) at dimension {axis} of input {list(shape)}: a reflection has no "
            "more than the elements beyond the edge"
        )
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError(
            f"Padding value causes wrapping around more than once: ({before}, {after}) at dimension {axis} "
            f"of input {list(shape)}"
        )
    if size + before + after < 1 or not size:
        raise RuntimeError(
            f"Padding ({before}, {after}) at dimension {axis} of input {list(shape)} leaves nothing: output "
            f"size {size + before + after} is too small"
        )
    if mode == "circular":  # what is cut off goes first, and does not come round again
        first, kept = max(-before, 0), size + min(before, 0) + min(after, 0)
        around = np.arange(-max(before, 0), kept + max(after, 0))
        return picking(axis, size, first + around % max(kept, 1))
    places = np.arange(-before, size + after)
    if mode == "reflect":
        places = np.abs(places)
        places = np.where(places >= size, 2 * (size - 1) - places, places)
    else:
        places = np.clip(places, 0, size - 1)
    return picking(axis, size, places)


NAMES = Names(functional="pad")
