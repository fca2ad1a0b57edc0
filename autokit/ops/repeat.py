"""Elements are repeated, reversed, shifted or rotated: ``repeat``, ``flip``, ``roll``, ``rot90``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, dims_of, one_dim, sizes_of
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.index import index_select
from autokit.ops.names import Names
from autokit.ops.shape import expand, flatten, unsqueeze

# ---------------------------------------------------------------- repeating


def _sum_of_copies(g: Any, shape: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """Each dimension as (number of the copy, place in it); then the copies add up."""
    old = (1,) * (len(sizes) - len(shape)) + tuple(shape)
    pairs = tuple([size for pair in zip(sizes, old) for size in pair])
    return g.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2))).reshape(shape) if pairs else g


@operation("repeat", "{a}, repeated", a=derivative("1 for each copy", _sum_of_copies), name="repeat")
def plain_repeat(a, /, sizes):
    """See :func:`repeat`."""
    return np.tile(a, sizes)


def repeat(input: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Copies of the whole tensor: how many along each dimension, further ones put in front.

    Raises
    ------
    RuntimeError
        If there are fewer numbers than dimensions; :func:`tile` allows that.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts = sizes_of(sizes if repeats is None else (repeats,), "repeat")
    if len(counts) < input.array.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"{list(counts)} for {describe(input)}"
        )
    return tile(input, counts)


def tile(input: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
    """As :func:`repeat`, where missing numbers in front count as 1."""
    counts = sizes_of(sizes if dims is None else (dims,), "tile")
    if min(counts, default=0) < 0:
        raise RuntimeError(f"a tensor cannot be repeated a negative number of times: {list(counts)}")
    return plain_repeat(input, sizes=(1,) * (input.array.ndim - len(counts)) + counts)


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element repeated next to itself, along ``dim`` or in the flattened tensor.

    Parameters
    ----------
    input : Tensor
        Where it is all that is given, it holds the numbers, and the places are the result.
    repeats : int or Tensor
        How often: one number for all, or one for each place.
    dim : int, optional
    output_size : int, optional
        The size that will come out; PyTorch uses it on a GPU, and it changes nothing here.

    Raises
    ------
    RuntimeError
        If a number is negative, or there are not as many as places.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([1, 2]).repeat_interleave(torch.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """
    if repeats is None:
        return new_tensor(_repeated_places(input))
    if dim is None:
        input, dim = input.reshape(-1), 0
    place = one_dim(dim, input.array.ndim)
    size = input.array.shape[place]
    if not isinstance(repeats, Tensor) or repeats.array.size == 1:
        count = int(repeats)
        if count < 0:
            raise RuntimeError(f"Repeats must be non-negative, and not {count}")
        sizes = [-1] * (input.array.ndim + 1)
        sizes[place + 1] = count
        return flatten(expand(unsqueeze(input, place + 1), sizes), place, place + 1)
    if repeats.array.shape != (size,):
        raise RuntimeError(
            f"repeats must have the same size as input along dim: {describe(repeats)} for {size} places"
        )
    return index_select(input, place, new_tensor(_repeated_places(repeats)))


def _repeated_places(repeats: Tensor) -> Any:
    """Each place as often as ``repeats`` says there."""
    counts = repeats.array
    if counts.dtype.kind not in "iu":
        raise NotImplementedError(f"repeats are whole numbers, and not {describe(repeats)}: use .long()")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    # the places lie where the running sum goes beyond them
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    return np.searchsorted(ends, module_of(counts).arange(total), side="right")


# ---------------------------------------------------------------- turning


@operation("flip", "{a}, reversed", a=derivative("reversed", lambda g, dims: np.flip(g, dims)), name="flip")
def plain_flip(a, /, dims):
    """See :func:`flip`."""
    return np.flip(a, dims).copy()


def flip(input: Tensor, *places: Any, dims: Any = None) -> Tensor:
    """The order reversed along each of ``dims``: a copy, as no view steps backwards."""
    places = sizes_of(places if dims is None else (dims,), "flip")
    return plain_flip(input, dims=dims_of(places, input.array.ndim))


def fliplr(input: Tensor) -> Tensor:
    """The order reversed along dimension 1: left and right exchanged."""
    if input.array.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d. Got {describe(input)}")
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """The order reversed along dimension 0: up and down exchanged."""
    if input.array.ndim < 1:
        raise RuntimeError(f"Input must be >= 1-d. Got {describe(input)}")
    return flip(input, 0)


@operation(
    "roll",
    "{a}, rolled",
    a=derivative("rolled back", lambda g, shifts, dims: np.roll(g, tuple([-n for n in shifts]), dims)),
    name="roll",
)
def plain_roll(a, /, shifts, dims):
    """See :func:`roll`."""
    return np.roll(a, shifts, dims)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The elements shifted by ``shifts`` places; those that leave at the end enter at the start.

    Without ``dims`` they move in the flattened tensor.
    """
    shifts = sizes_of((shifts,), "roll")
    if dims is None and len(shifts) == 1:
        return plain_roll(input.reshape(-1), shifts=shifts, dims=(0,)).reshape(input.array.shape)
    places = (
        () if dims is None else tuple([one_dim(dim, input.array.ndim) for dim in sizes_of((dims,), "roll")])
    )
    if len(shifts) != len(places):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(places)}")
    return plain_roll(input, shifts=shifts, dims=places)


@operation(
    "rot90",
    "{a}, turned",
    a=derivative("turned back", lambda g, k, dims: np.rot90(g, -k, dims)),
    name="rot90",
)
def plain_rot90(a, /, k, dims):
    """See :func:`rot90`."""
    return np.rot90(a, k, dims).copy()


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """The elements turned by ``k`` right angles, from the first of ``dims`` towards the second."""
    places = dims_of(tuple(dims), input.array.ndim)
    if len(places) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(places)}")
    return plain_rot90(input, k=k, dims=places)


NAMES = Names(
    both="flip fliplr flipud repeat_interleave roll rot90 tile",
    methods="repeat",
    numpy={
        np.flip: lambda a, axis=None: flip(a, tuple(range(a.ndim)) if axis is None else axis),
        np.roll: roll,
        np.rot90: lambda a, k=1, axes=(0, 1): rot90(a, k, axes),
        np.tile: tile,
    },
)
