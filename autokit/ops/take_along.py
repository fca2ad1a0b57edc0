"""Elements are taken along a dimension at places that an operation found, and gradients are put back there.

Sorting, a maximum or a median along a dimension first finds places, which have no derivative, and then takes
the elements at these places. Such a rule has two results, values and indices, in a named tuple
(:func:`return_type`), and one derivative, :func:`put_back`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import one_dim, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.gpu.lacking import add_at


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
        values, index = np.expand_dims(values, dim), np.expand_dims(index, dim)
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
