"""Elements are gathered along a dimension at given places, and gradients are put back there.

An *index tensor* gives, for each element of the result, the index along one dimension; the indices along the
others are those of the element itself. The derivative adds by the same indices into zeros. So ``gather``
works, and so does every operation that first finds places, which have no derivative, and then gathers the
elements there: sorting, or a maximum or a median along a dimension. These have two results, values and
indices, in a named tuple (:func:`return_type`), and one derivative, :func:`put_back`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, one_dim, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu.lacking import add_at
from autokit.ops.index import require_places
from autokit.ops.names import Names
from autokit.ops.shape import broadcast_shapes, expand

# ---------------------------------------------------------------- values and their places


def return_type(name: str, *fields: str) -> Any:
    """A named tuple for the results of the function ``name``, which prints as PyTorch's does.

    Examples
    --------
    >>> return_type("max", "values", "indices")(1, 2)
    torch.return_types.max(
    values=1,
    indices=2)
    """

    def show(self: Any) -> str:
        inside = ",\n".join([f"{field}={value!r}" for field, value in zip(fields, self)])
        return f"torch.return_types.{name}(\n{inside})"

    text = f"What ``{name}`` returns: {', '.join(fields)}."
    members = {"__slots__": (), "__doc__": text, "__module__": __name__, "__repr__": show}
    kind = type(name, (namedtuple(name, fields),), members)
    globals()[name] = kind  # pickle looks for the class here
    return kind


def along(name: str, rule: Any, input: Tensor, dim: int, **settings: Any) -> Any:
    """The values and indices that ``rule`` finds along ``dim``; without dimensions, as for one element."""
    require_tensor(name, input)
    place = one_dim(dim, input.array.ndim)
    if input.array.ndim:
        return rule(input, dim=place, **settings)
    return tuple([found.reshape(()) for found in rule(input.reshape(1), dim=0, **settings)])


def read(a: Any, index: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The elements of ``a`` at the places ``index``, which has size 1 along ``dim``, and the places."""
    values = np.take_along_axis(a, index, dim)
    return (values, index) if keepdim else (np.squeeze(values, dim), np.squeeze(index, dim))


def put_back(g: Any, out: Any, shape: Any, dim: int) -> Any:
    """The gradient of elements that were taken along ``dim``: zeros, with ``g`` at the places of ``out``."""
    values, index = g[0], out[1]
    if len(index.shape) < len(shape):
        values = np.expand_dims(values, dim)
        index = np.expand_dims(index, dim)
    return on(add_at_places, values, index, dim=dim, size=shape[dim])


@operation(
    "put",
    "{a} at the places {index}",
    a=derivative("1 at the places", lambda g, index, dim: np.take_along_axis(g, index, dim)),
    mixed=True,
)
def add_at_places(a, index, /, dim, size):
    """Zeros, ``size`` along ``dim``, to which the elements of ``a`` are added at the places ``index``."""
    whole = [
        index if place == dim else module_of(a).arange(length).reshape((-1,) + (1,) * (a.ndim - place - 1))
        for place, length in enumerate(a.shape)
    ]
    result = np.zeros_like(a, shape=(*a.shape[:dim], size, *a.shape[dim + 1 :]))
    add_at(result, tuple(whole), a)
    return result


# ---------------------------------------------------------------- gather


@operation(
    "gather",
    "{a} at given places",
    a=derivative(
        "1 at the places read",
        lambda g, index, shape, dim: on(add_at_places, g, index, dim=dim, size=shape[dim]),
    ),
    mixed=True,
    name="gather",
)
def plain_gather(a, index, /, dim):
    """See :func:`gather`."""
    return np.take_along_axis(a, index, dim)


def corner(shape: tuple[int, ...], wanted: tuple[int, ...], dim: int = -1) -> tuple[slice, ...]:
    """The index of the first ``wanted`` places of each dimension, and all of ``dim``; () if that is all."""
    sizes = [have if place == dim else want for place, (have, want) in enumerate(zip(shape, wanted))]
    return () if tuple(sizes) == shape else tuple([slice(size) for size in sizes])


def checked_index(name: str, input: Tensor, dim: int, index: Any) -> int:
    """``dim`` from the front, and an error unless ``index`` has a place of ``input`` in each element.

    Raises
    ------
    RuntimeError
        If the shapes do not fit.
    IndexError
        If a place is not there.
    """
    require_tensor(name, index, "index", 2)
    shape = input.array.shape
    wanted = index.array.shape
    dim = one_dim(dim, input.array.ndim)
    fits = [want <= have or place == dim for place, (have, want) in enumerate(zip(shape, wanted))]
    if len(shape) != len(wanted) or not all(fits):
        raise RuntimeError(
            f"{name}(): the index has as many dimensions as the tensor, and is nowhere longer but along "
            f"dimension {dim}: {describe(index)} for {describe(input)}"
        )
    require_places(name, index, dim, shape[dim] if shape else 1)
    return dim


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The elements at the places ``index`` along ``dim``: ``input[i, index[i, j]]`` for ``dim=1``.

    Parameters
    ----------
    input : Tensor
    dim : int
    index : Tensor of int64
        As many dimensions as ``input``, and nowhere longer than it but along ``dim``.

    Raises
    ------
    RuntimeError, IndexError
        If the shapes do not fit, or a place is not there.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    dim = checked_index("gather", input, dim, index)
    if not input.array.ndim:
        return input.clone()
    part = corner(input.array.shape, index.array.shape, dim)
    return plain_gather(input[part] if part else input, index, dim=dim)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As :func:`gather`, where the shapes broadcast; without ``dim``, from the flattened tensor.

    Along ``dim`` a negative place is counted from the end, as in NumPy.
    """
    require_tensor("take_along_dim", indices, "indices", 1)
    if dim is None:
        return take_along_dim(input.reshape(-1), indices.reshape(-1), 0)
    dim = one_dim(dim, input.array.ndim)
    size, count = input.array.shape[dim], indices.array.shape[dim]
    require_places("take_along_dim", indices, dim, size, -size)
    places = new_tensor(np.where(indices.array < 0, indices.array + size, indices.array))
    ours, theirs = ([*each.array.shape] for each in (input, indices))
    ours[dim] = theirs[dim] = 1
    common = [*broadcast_shapes(ours, theirs)]
    return plain_gather(
        expand(input, [*common[:dim], size, *common[dim + 1 :]]),
        expand(places, [*common[:dim], count, *common[dim + 1 :]]),
        dim=dim,
    )


NAMES = Names(
    both="gather take_along_dim",
    numpy={np.take_along_axis: lambda arr, indices, axis: take_along_dim(arr, indices, axis)},
)
