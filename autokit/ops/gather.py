"""Reading by a tensor of indices, ``gather``, and what scattering by one asks of it too.

An *index tensor* says for each element where it is along one dimension.  Every
place is checked before anything is read; ``scatter`` writes by one, ``places``
has the forms with a vector of places, and ``masks`` those with a mask.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import contiguous, module_of
from autokit.ops.blocks import BLOCK
from autokit.ops.bounds import out_of_bounds
from autokit.ops.dims import place_of
from autokit.ops.errors import broadcast_message, describe, kind_of, require_tensor
from autokit.ops.gpu.arrays import like
from autokit.ops.gpu.bounds import refuse_outside
from autokit.ops.guards import guards
from autokit.ops.index import add_at
from autokit.ops.names import Names
from autokit.ops.native import is_large, shared
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import apart
from autokit.tensor import Tensor, new_tensor


def zero(g: Any) -> Any:
    """A single 0 of the kind of ``g``."""
    return g.reshape(-1)[:0].sum()


def require_vector(name: str, index: Tensor) -> None:
    """Raise unless ``index`` holds whole numbers, and no more than one dimension of them."""
    if index.array.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector; it is {describe(index)}")
    if index.array.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {kind_of(index)}: {describe(index)}"
        )


def whole_index(shape: tuple[int, ...], dim: int, index: Any) -> tuple[Any, ...]:
    """The whole index that an index along ``dim`` stands for: each element's own place elsewhere."""
    every = module_of(index).arange
    places = [
        index if place == dim else every(size).reshape((-1,) + (1,) * (len(shape) - place - 1))
        for place, size in enumerate(shape)
    ]
    return tuple(places)


@operation(
    "gather",
    "{a} at given places",
    a=derivative(
        "1 at the places taken",
        lambda g, shape, dim, index: on(scatter_zeros, g, shape=shape, dim=dim, index=index),
    ),
    mixed=True,
    name="gather",
    linear=True,
    layout=contiguous,
)
def plain_gather(a, /, dim, index):
    """See :func:`gather`."""
    if not a.ndim:
        return np.broadcast_to(a, index.shape).copy()
    if a.shape[:dim] + a.shape[dim + 1 :] == index.shape[:dim] + index.shape[dim + 1 :]:
        made = _along_by_a_loop("native_sums.read_at", dim, index, a, index.shape)
        if made is not None:
            return made
        return np.take_along_axis(a, index, axis=dim)
    return a[whole_index(index.shape, dim, index)]


@operation(
    "scatter",
    "{a} put at given places",
    a=derivative("1 at the places put", lambda g, dim, index: on(plain_gather, g, dim=dim, index=index)),
    name="scatter_zeros",
)
def scatter_zeros(a, /, shape, dim, index):
    """Zeros of ``shape`` with the elements of ``a`` added at the places ``index`` along ``dim``."""
    made = _along_by_a_loop("native_sums.add_at", dim, index, a, shape)
    if made is not None:
        return made
    return add_along(like(np.zeros_like, a, shape=shape), dim, index, a)


def _along_by_a_loop(native: str, dim: int, index: Any, a: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape`` into which a compiled loop wrote from ``a`` along ``dim``; None without one."""
    if not a.ndim or not is_large(a) or a.__class__ is not np.ndarray or index.dtype != np.int64:
        return None
    sizes = [each[:dim] + each[dim + 1 :] for each in (a.shape, index.shape, shape)]
    if not (sizes[0] == sizes[1] == sizes[2] and a.flags.c_contiguous and index.flags.c_contiguous):
        return None
    into = np.zeros(shape, a.dtype)
    lead, beside = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    cubes = [each.reshape(lead, each.shape[dim], beside) for each in (index, a, into)]
    return into if index.size and shared(native, cubes, (0, 1, 2), max(lead * BLOCK // a.size, 1)) else None


def add_along(result: Any, dim: int, index: Any, values: Any) -> Any:
    """Add ``values`` to ``result``, which is returned, at the places ``index`` along ``dim``."""
    if not result.ndim:
        result += values.sum(dtype=result.dtype) if index.size else result.dtype.type(0)
    elif index.size:
        lead = tuple([slice(0, size) for size in index.shape])
        add_at(result, whole_index(index.shape, dim, index), values[lead])
    return result


def checked_index(
    name: str, input: Tensor, dim: Any, index: Any, what: str, reads: bool = False
) -> tuple[int, np.ndarray]:
    """The dimension from the front, and the index as an array, both checked."""
    require_tensor(name, index, "index", 2)
    places, shape = index.array, input.array.shape
    axis = place_of(dim, len(shape), name)
    if places.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index: {describe(index)}")
    if not places.size:  # of no places the shape does not matter
        return axis, places.reshape((0,) * max(len(shape), 1))
    if (places.ndim or 1) != (len(shape) or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {what} tensor: it has {places.ndim}, "
            f"and the other {len(shape)}"
        )
    within(places, axis, shape[axis] if shape else 1, RuntimeError, reads=reads)
    learns = not reads or input._requires_grad
    return axis, in_one_dimension(apart(places, learns), shape)


def in_one_dimension(value: Any, shape: tuple[int, ...]) -> Any:
    """``value``, a vector of one where it has no dimensions and ``shape`` has one."""
    return value.reshape(1) if len(shape) == 1 and not value.ndim else value


def within(
    places: np.ndarray,
    dim: int,
    size: int,
    kind: type[Exception],
    least: int = 0,
    reads: bool = False,
) -> None:
    """Raise where one of ``places`` is not there; a GPU that only ``reads`` them is not waited for."""
    refuse_outside(places, least, size, lambda wrong: out_of_bounds(wrong, dim, size, kind), waits=not reads)


@guards("input", "index")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements at the places ``index`` along ``dim``: ``input[i, index[i, j]]`` for ``dim=1``.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor of int64
        As many dimensions as ``input``, and nowhere longer than it but along ``dim``.

    Raises
    ------
    RuntimeError
        If a place is not there, or the shapes do not fit.
    """
    axis, places = checked_index("gather", input, dim, index, "input", reads=True)
    for other, (own, size) in enumerate(zip(places.shape, input.array.shape)):
        if own > size and other != axis and places.size:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {list(places.shape)} to be no "
                f"larger than self {list(input.array.shape)} apart from dimension {axis}"
            )
    taken = plain_gather(input, dim=axis, index=places)
    return taken if index.array.shape == places.shape else taken.reshape(index.array.shape)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As :func:`gather`, where the shapes broadcast; without ``dim``, from the flattened tensor.

    Along ``dim`` a negative place is counted from the end, as in NumPy.
    """
    require_tensor("take_along_dim", indices, "indices", 2)
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if indices.array.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {kind_of(indices)}"
        )
    if input.array.ndim != indices.array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.array.ndim} dimensions for input, and {indices.array.ndim} dimensions for indices"
        )
    axis = place_of(dim, input.array.ndim, "take_along_dim")
    if not input.array.ndim:
        raise IndexError(f"torch.take_along_dim(): {describe(input)} has no dimension {dim}; leave out dim")
    places, size = indices.array, input.array.shape[axis]
    within(places, axis, size, RuntimeError, -size, reads=True)
    indices = new_tensor(np.where(places < 0, places + size, places))
    mine, theirs = list(input.array.shape), list(indices.array.shape)
    mine[axis] = theirs[axis] = 1
    try:
        common = list(np.broadcast_shapes(tuple(mine), tuple(theirs)))
    except ValueError:
        raise RuntimeError(broadcast_message(tuple(mine), tuple(theirs))) from None
    whole = [*common[:axis], input.array.shape[axis], *common[axis + 1 :]]
    index = [*common[:axis], indices.array.shape[axis], *common[axis + 1 :]]
    return gather(input.expand(whole), axis, indices.expand(index))


NAMES = Names(
    both="gather take_along_dim",
    numpy={np.take_along_axis: lambda arr, indices, axis: take_along_dim(arr, indices, axis)},
)
