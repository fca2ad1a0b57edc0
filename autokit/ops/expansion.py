"""Repeating a tensor without a copy: :func:`expand`, and broadcasting to a common shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.dims import sizes_of
from autokit.ops.errors import broadcast_message, require_all_tensors, require_tensor
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.recording import unchanged
from autokit.ops.strides import strided
from autokit.tensor import Size, Tensor


def expand_to(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` repeated along its dimensions of size 1 to ``shape``; for use in rules."""
    if isinstance(g, Tensor):
        return plain_expand(g, size=shape)
    if isinstance(g, np.ndarray | np.generic) and math.prod(shape) <= _QUICKLY_FILLED:
        filled = np.empty(shape, g.dtype)
        filled[...] = g
        return filled
    return np.broadcast_to(g, shape)


_QUICKLY_FILLED = 4096
"""Up to this size filling an array is faster than setting up a view that repeats."""


@operation("expand", "{a} repeated", a=derivative("1", unchanged), view=True, name="expand")
def plain_expand(a, /, size):
    """See :func:`expand`."""
    new = len(size) - a.ndim
    shape: list[int] = []
    strides: list[int] = []
    for place in reversed(range(len(size))):
        own = a.shape[place - new] if place >= new else 1
        step = shape[0] * strides[0] if shape else a.itemsize
        wanted = size[place]
        if place >= new:
            step = a.strides[place - new]
            wanted = own if wanted == -1 else wanted
        if wanted != own:
            if own != 1 or wanted < 0:
                raise _cannot_expand(a.shape, size, place)
            step = 0
        shape.insert(0, wanted)
        strides.insert(0, step)
    return strided(a, tuple(shape), tuple(strides))


def _cannot_expand(own: tuple[int, ...], size: tuple[int, ...], place: int) -> RuntimeError:
    if place < len(size) - len(own):
        return RuntimeError(
            f"The expanded size of the tensor ({size[place]}) isn't allowed in a leading, non-existing "
            f"dimension {place}"
        )
    return RuntimeError(
        f"The expanded size of the tensor ({size[place]}) must match the existing size "
        f"({own[place - len(size) + len(own)]}) at non-singleton dimension {place}.  Target sizes: "
        f"{list(size)}.  Tensor sizes: {list(own)}"
    )


def expand(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """A view in which dimensions of size 1 are repeated; -1 leaves a size as it is.

    Raises
    ------
    RuntimeError
        If another size would change.
    """
    wanted = sizes_of(sizes if size is None else (size,), "expand")
    if len(wanted) < input.array.ndim:
        raise RuntimeError(
            f"expand({input.dtype.name}{list(input.array.shape)}, size={list(wanted)}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor "
            f"({input.array.ndim})"
        )
    return plain_expand(input, size=wanted)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` expanded to the shape of ``other``."""
    require_tensor("expand_as", other)
    return expand(input, other.array.shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input`` expanded to ``size``."""
    return expand(input, sizes_of((size,), "broadcast_to"))


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to.

    Raises
    ------
    RuntimeError
        If they do not, or one is no shape.
    ValueError
        If a size is negative.
    """
    found: list[int] = []
    for number, shape in enumerate(shapes):
        if not isinstance(shape, int | tuple | list):
            kind = TypeError if shape is None else RuntimeError
            raise kind(
                f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape!r}"
            )
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        found = [1] * (len(shape) - len(found)) + found
        for back in range(1, len(shape) + 1):
            size = shape[-back]
            if size < 0:
                raise ValueError(
                    f"Attempting to broadcast a dimension with negative length! There is {size} in {shape}"
                )
            if size in (1, found[-back]):
                continue
            if found[-back] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size} at {-back}! Mismatching argument "
                    f"at index {number} had {shape}; but expected shape should be broadcastable to {found}"
                )
            found[-back] = size
    return Size(found)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, expanded to the shape that they broadcast to."""
    require_all_tensors(tensors, "broadcast_tensors(a, b, c)")
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        try:
            shape = tuple(broadcast_shapes(shape, tensor.array.shape))
        except RuntimeError:
            raise RuntimeError(broadcast_message(shape, tensor.array.shape)) from None
    return tuple([each if each.array.shape == shape else plain_expand(each, size=shape) for each in tensors])


NAMES = Names(
    both="broadcast_to expand_as",
    functions="broadcast_shapes broadcast_tensors",
    methods="expand",
    numpy={np.broadcast_to: broadcast_to},
)
