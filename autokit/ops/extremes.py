"""The largest and the smallest element, and their places: ``max``, ``min``, ``amax``, ``argmax`` and others.

Where several elements are the largest, ``max`` of a whole tensor and ``amax`` share the gradient equally
among them; ``max`` along a dimension, which also returns a place, gives all of it to the element there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.errors import one_dim, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor
from autokit.ops.choose import maximum, minimum
from autokit.ops.gather import along, put_back, read, return_type
from autokit.ops.names import Names
from autokit.ops.reduce import Dim, checked, checked_one, count, restored


def require_elements(name: str, input: Tensor, dim: Any) -> None:
    """Raise an error if there are no elements to choose from."""
    shape = input.array.shape
    if input.array.size or count(shape, dim):
        return
    if dim is None:
        kind = IndexError if name.startswith("arg") else RuntimeError
        raise kind(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            f"dim with the 'dim' argument; the tensor is of shape {list(shape)}"
        )
    raise IndexError(
        f"{name}(): Expected reduction dim {dim} to have non-zero size; the shape is {list(shape)}"
    )


# ---------------------------------------------------------------- extremes that share their gradient


def shared_among_ties(g: Any, a: Any, out: Any, shape: Any, dim: Any = None) -> Any:
    """The gradient of an extreme: equal shares for all elements that equal it."""
    hits = a == restored(out, shape, dim)
    return hits * (restored(g, shape, dim) / hits.sum(axis=dim, keepdims=True))


@operation(
    "max",
    "max {a}",
    a=derivative("1 at the maximum, shared among ties", shared_among_ties),
    name="amax",
    backward="MaxBackward1",
)
def largest(a, /, dim=None, keepdim=False):
    """See :func:`amax`."""
    return a.max(axis=dim, keepdims=keepdim)


@operation(
    "min",
    "min {a}",
    a=derivative("1 at the minimum, shared among ties", shared_among_ties),
    name="amin",
    backward="MinBackward1",
)
def smallest(a, /, dim=None, keepdim=False):
    """See :func:`amin`."""
    return a.min(axis=dim, keepdims=keepdim)


def amax(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The largest element, of all or along ``dim``; ties share the gradient."""
    dim = checked("amax", input, dim)
    require_elements("amax", input, dim)
    return largest(input, dim=dim, keepdim=keepdim)


def amin(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The smallest element, of all or along ``dim``; ties share the gradient."""
    dim = checked("amin", input, dim)
    require_elements("amin", input, dim)
    return smallest(input, dim=dim, keepdim=keepdim)


_Aminmax = return_type("aminmax", "min", "max")


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element together, of all or along ``dim``; ties share the gradient."""
    return _Aminmax(amin(input, dim, keepdim), amax(input, dim, keepdim))


# ---------------------------------------------------------------- places of extremes


@operation("place of max", "place of max {a}", name="argmax")
def place_of_largest(a, /, dim=None, keepdim=False):
    """See :func:`argmax`."""
    return a.argmax(axis=dim, keepdims=keepdim)


@operation("place of min", "place of min {a}", name="argmin")
def place_of_smallest(a, /, dim=None, keepdim=False):
    """See :func:`argmin`."""
    return a.argmin(axis=dim, keepdims=keepdim)


def _place(name: str, rule: Any, input: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    dim = checked_one(name, input, dim)
    if input.array.dtype.kind == "b":
        raise NotImplementedError(f'"{name}" not implemented for bool: convert with .int()')
    require_elements(name, input, dim)
    return rule(input, dim=dim, keepdim=keepdim)


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the largest element: of all, flattened, or along ``dim``; the first of equal ones.

    Examples
    --------
    >>> import autokit as torch
    >>> scores = torch.tensor([[0.1, 0.7, 0.2], [0.9, 0.0, 0.1]])
    >>> scores.argmax(dim=1)
    tensor([1, 0])
    """
    return _place("argmax", place_of_largest, input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the smallest element: of all, flattened, or along ``dim``; the first of equal ones."""
    return _place("argmin", place_of_smallest, input, dim, keepdim)


# ---------------------------------------------------------------- max and min in their three forms


@operation("max", "max {a}", a=derivative("1 at the maximum, else 0", put_back), name="max")
def max_along(a, /, dim, keepdim=False):
    """The largest elements along a dimension, and their places."""
    return read(a, a.argmax(axis=dim, keepdims=True), dim, keepdim)


@operation("min", "min {a}", a=derivative("1 at the minimum, else 0", put_back), name="min")
def min_along(a, /, dim, keepdim=False):
    """The smallest elements along a dimension, and their places."""
    return read(a, a.argmin(axis=dim, keepdims=True), dim, keepdim)


_Max = return_type("max", "values", "indices")
_Min = return_type("min", "values", "indices")


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The largest element of all; with ``dim`` values and indices; of two tensors :func:`maximum`.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([[1.0, 3.0], [4.0, 2.0]])
    >>> x.max()
    tensor(4.)
    >>> values, indices = x.max(dim=1)
    >>> indices
    tensor([1, 0])
    >>> torch.max(x, torch.tensor(2.5))
    tensor([[2.5000, 3.0000],
            [4.0000, 2.5000]])
    """
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return maximum(input, other)
    if dim is None:
        return amax(input)
    require_tensor("max", input)
    require_elements("max", input, one_dim(dim, input.array.ndim))
    return _Max(*along("max", max_along, input, dim, keepdim=keepdim))


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The smallest element of all; with ``dim`` values and indices; of two tensors :func:`minimum`."""
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return minimum(input, other)
    if dim is None:
        return amin(input)
    require_tensor("min", input)
    require_elements("min", input, one_dim(dim, input.array.ndim))
    return _Min(*along("min", min_along, input, dim, keepdim=keepdim))


NAMES = Names(both="amax amin aminmax argmax argmin max min", numpy={np.max: amax, np.min: amin})
