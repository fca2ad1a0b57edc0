"""Copies of elements, and elements in turned order: ``repeat``, ``tile``, ``flip``, ``roll``, ``rot90``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import beside, channels_last_or_contiguous, module_of
from autokit.ops.dims import place_of, places_of, sizes_of, whole
from autokit.ops.errors import describe
from autokit.ops.expansion import expand
from autokit.ops.gpu.arrays import any_of, ask
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.shape import flatten, reshape, unsqueeze
from autokit.tensor import Tensor, new_tensor

# ---------------------------------------------------------------- repeating


def _repeat_gradient(g: Any, shape: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    own = (1,) * (len(sizes) - len(shape)) + tuple(shape)
    pairs = tuple([size for pair in zip(sizes, own) for size in pair])
    return g.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2))).reshape(shape) if pairs else g


@operation(
    "repeat", "{a}, repeated", a=derivative("1 for each copy", _repeat_gradient), name="repeat", linear=True
)
def plain_repeat(a, /, sizes):
    """See :func:`repeat`."""
    return np.tile(a, sizes)


def repeat(input: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Copies of the whole tensor: how many along each dimension, further ones put in front.

    Raises
    ------
    RuntimeError
        If there are fewer numbers than dimensions; :func:`tile` allows that.
    """
    counts = sizes_of(sizes if repeats is None else (repeats,), "repeat", "repeats")
    if len(counts) < input.array.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    return _repeated(input, counts)


def _repeated(input: Tensor, counts: tuple[int, ...]) -> Tensor:
    shape = (1,) * (len(counts) - input.array.ndim) + input.array.shape
    result = [count * size for count, size in zip(counts, shape)]
    if min(counts, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(result)}: {result}")
    return plain_repeat(input, sizes=counts)


def tile(input: Tensor, *dims: Any) -> Tensor:
    """As :func:`repeat`, where missing numbers in front count as 1."""
    counts = sizes_of(dims, "tile", "dims")
    return _repeated(input, (1,) * (input.array.ndim - len(counts)) + counts)


def repeat_interleave(
    input: Tensor | None = None,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
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
        The size that will come out, where it is known.

    Raises
    ------
    RuntimeError
        If a number is negative, or there are not as many as places, or another size comes out.
    """
    if input is None or repeats is None:
        given = repeats if input is None else input
        counts = _counts(given)
        if given.array.ndim != 1:
            raise RuntimeError(f"repeat_interleave only accept 1D vector as repeat: it is {describe(given)}")
        places = new_tensor(repeated_places(counts).astype(counts.dtype, copy=False))
        return _sized(places, 0, output_size) if counts.size else places
    if dim is None:
        input, dim = reshape(input, -1), 0
    if isinstance(repeats, Tensor) and repeats.array.ndim > 1:
        raise RuntimeError(f"repeats must be 0-dim or 1-dim tensor, but is {describe(repeats)}")
    place = place_of(dim, input.array.ndim, "repeat_interleave")
    if not input.array.ndim:
        raise IndexError(
            f"Dimension out of range: {describe(input)} has none that {dim} could name; leave out dim"
        )
    if isinstance(repeats, tuple | list):
        repeats = new_tensor(beside(input.array, repeats))
    if isinstance(repeats, Tensor):
        size = input.array.shape[place]
        output_size = output_size if size else None  # of nothing nothing else can come
        counts = np.broadcast_to(_counts(repeats), (size,)) if repeats.array.size == 1 else _counts(repeats)
        if counts.size != size:
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{counts.size} and input.size({place}) = {size}"
            )
        from autokit.ops.places import index_select

        return _sized(index_select(input, place, new_tensor(repeated_places(counts))), place, output_size)
    count = whole(repeats, "repeats", "repeat_interleave")
    if count < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = input.array.shape
    copies = expand(unsqueeze(input, place + 1), (*shape[: place + 1], count, *shape[place + 1 :]))
    return _sized(flatten(copies.clone(), place, place + 1), place, output_size)


def _sized(result: Tensor, place: int, output_size: int | None) -> Tensor:
    """``result``, whose size at ``place`` must be ``output_size`` where one is promised."""
    size = result.array.shape[place]
    if output_size is not None and output_size != size:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}: leave it out"
        )
    return result


def repeated_places(counts: Any) -> Any:
    """Each place as often as ``counts`` says there: the place behind which the running sum goes beyond it."""
    ends = np.cumsum(counts)
    total = ask(ends[-1]) if ends.size else 0
    return np.searchsorted(ends, module_of(counts).arange(total), side="right")


def _counts(repeats: Tensor) -> np.ndarray:
    counts = repeats.array
    if counts.dtype.name not in ("int64", "int32"):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.name.capitalize()}': repeats are "
            "of int64 or int32; use .long()"
        )
    if any_of(counts < 0):
        raise RuntimeError("repeats can not be negative")
    return counts


# ---------------------------------------------------------------- turning


@operation(
    "flip",
    "{a}, reversed",
    a=derivative("reversed", lambda g, dims: on(plain_flip, g, dims=dims)),
    name="flip",
    linear=True,
)
def plain_flip(a, /, dims):
    """See :func:`flip`."""
    return np.flip(a, dims).copy("K") if a.ndim else a.copy()


def flip(input: Tensor, *dims: Any) -> Tensor:
    """The order reversed along each of ``dims``: a copy, as no view steps backwards."""
    places = places_of(sizes_of(dims, "flip", "dims"), input.array.ndim, "flip")
    return plain_flip(input, dims=places)


def _needs(input: Tensor, ndim: int) -> None:
    if input.array.ndim < ndim:
        raise RuntimeError(f"Input must be >= {ndim}-d.")


def fliplr(input: Tensor) -> Tensor:
    """The order reversed along dimension 1: left and right exchanged."""
    _needs(input, 2)
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """The order reversed along dimension 0: up and down exchanged."""
    _needs(input, 1)
    return flip(input, 0)


@operation(
    "roll",
    "{a}, rolled",
    a=derivative(
        "rolled back", lambda g, shifts, dims: np.roll(g, tuple([-shift for shift in shifts]), dims or None)
    ),
    name="roll",
    layout=channels_last_or_contiguous,
    linear=True,
)
def plain_roll(a, /, shifts, dims):
    """See :func:`roll`."""
    return np.roll(a, shifts if dims else shifts[0], dims or None)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """The elements moved along by ``shifts`` places; what goes out at the end comes in at the start.

    Raises
    ------
    RuntimeError
        If there is not one shift for each dimension.
    """
    shifts = sizes_of((shifts,), "roll", "shifts")
    dims = () if dims is None else sizes_of((dims,), "roll", "dims")
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if dims and not input.array.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions: {describe(input)}")
    places = tuple([place_of(dim, input.array.ndim, "roll") for dim in dims])
    return plain_roll(input, shifts=shifts, dims=places)


@operation(
    "rot90",
    "{a}, turned",
    a=derivative("turned back", lambda g, k, dims: np.rot90(g, -k, dims)),
    name="rot90",
    linear=True,
)
def plain_rot90(a, /, k, dims):
    """See :func:`rot90`."""
    return np.rot90(a, k, dims).copy(order="K")


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """The elements turned by ``k`` right angles, from the first of ``dims`` towards the second."""
    dims, ndim = sizes_of((dims,), "rot90", "dims"), input.array.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    places = tuple([place_of(dim, ndim, "rot90") for dim in dims])
    if places[0] == places[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return plain_rot90(input, k=k, dims=places)


NAMES = Names(
    both="flip fliplr flipud repeat_interleave roll rot90 tile",
    methods="repeat",
    numpy={
        np.tile: tile,
        np.flip: lambda a, axis=None: flip(a, tuple(range(a.ndim)) if axis is None else axis),
        np.roll: roll,
        np.rot90: lambda a, k=1, axes=(0, 1): rot90(a, k, axes),
    },
)
