"""Reductions combine elements: sums, means and products, counts, and whether all or any are true.

A reduction combines the elements along ``dim``: a dimension, several, or all of them where it is left out.
The gradient of a result goes to every element that it combines. A derivative inserts the reduced dimensions
with size 1; the backward pass broadcasts a gradient that is smaller than its operand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.dtypes import dtype as Dtype
from autokit.base.errors import dims_of, one_dim, require_floats, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names
from autokit.ops.scan import running_product

Dim = int | Sequence[int] | None


def checked(name: str, input: Any, dim: Dim) -> int | tuple[int, ...] | None:
    """NumPy's ``axis`` for ``dim``: the places counted from the front, or None for all dimensions.

    Raises
    ------
    IndexError, RuntimeError
        If there is no such dimension, or one is given twice.
    """
    require_tensor(name, input)
    if dim is None:
        return None
    dims = dims_of(dim, input.array.ndim)
    return dims[0] if len(dims) == 1 else dims or None


def checked_one(name: str, input: Any, dim: int | None) -> int | None:
    """NumPy's ``axis`` for one dimension, or for all."""
    require_tensor(name, input)
    if dim is None:
        return None
    place = one_dim(dim, input.array.ndim)
    return place if input.array.ndim else None


def _reduced(shape: Sequence[int], dim: Any) -> Sequence[int]:
    """The places of the dimensions that are reduced."""
    return range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim


def count(shape: Sequence[int], dim: Any) -> int:
    """How many elements each result combines."""
    return math.prod([shape[place] for place in _reduced(shape, dim)])


def restored(g: Any, shape: Sequence[int], dim: Any) -> Any:
    """``g`` in a shape that broadcasts to ``shape``: the reduced dimensions are back, with size 1."""
    gone = _reduced(shape, dim)
    return g.reshape(tuple([1 if place in gone else size for place, size in enumerate(shape)]))


def converted(input: Tensor, dtype: Dtype | None) -> Tensor:
    """``input`` in ``dtype``, where one is given."""
    return input if dtype is None else input.to(dtype)


# ---------------------------------------------------------------- sums and means


_OF_SUM = {"a": "Each value gets the upstream gradient of its sum"}


@operation("Σ", "Σ {a}", a=derivative("1", restored), words=_OF_SUM, name="sum", backward="SumBackward1")
def total_along(a, /, dim, keepdim=False):
    """See :func:`sum`; a rule of its own, as the node of a sum along ``dim`` has another printed name."""
    return total.operation.forward(a, dim, keepdim)


@operation("Σ", "Σ {a}", a=derivative("1", restored), words=_OF_SUM, name="sum")
def total(a, /, dim=None, keepdim=False):
    """See :func:`sum`."""
    return a.sum(axis=dim, keepdims=keepdim, dtype=None if a.dtype.kind == "f" else np.int64)


def sum(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    """The sum of all elements, or along ``dim``; integers and bools sum to int64.

    Parameters
    ----------
    input : Tensor
    dim : int or sequence of int, optional
        The dimensions to sum over (also ``axis``); all without it.
    keepdim : bool
        Keep the summed dimensions, with size 1 (also ``keepdims``).
    dtype : dtype, optional
        Convert first.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """
    dim = checked("sum", input, dim)
    function = total if dim is None else total_along
    return converted(function(converted(input, dtype), dim=dim, keepdim=keepdim), dtype)


@operation(
    "Σ",
    "Σ of the numbers in {a}",
    a=derivative("1, and 0 for nan", lambda g, a, shape, dim: np.where(a == a, restored(g, shape, dim), 0.0)),
    name="nansum",
)
def total_of_numbers(a, /, dim=None, keepdim=False):
    """See :func:`nansum`."""
    return np.nansum(a, axis=dim, keepdims=keepdim, dtype=None if a.dtype.kind == "f" else np.int64)


def nansum(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    """The :func:`sum` of the elements that are not nan."""
    dim = checked("nansum", input, dim)
    return converted(total_of_numbers(converted(input, dtype), dim=dim, keepdim=keepdim), dtype)


@operation(
    "mean",
    "mean {a}",
    a=derivative("1 / n", lambda g, shape, dim: restored(g, shape, dim) / max(count(shape, dim), 1)),
    words={"a": "Each value gets {share} of the upstream gradient"},
    name="mean",
)
def average(a, /, dim=None, keepdim=False):
    """See :func:`mean`."""
    return a.sum(axis=dim, keepdims=keepdim) / count(a.shape, dim)


def mean(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    """The mean of all elements, or along ``dim``; of floating point numbers only.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).mean(dim=1)
    tensor([1.5000, 3.5000])
    """
    dim = checked("mean", input, dim)
    input = converted(input, dtype)
    require_floats("mean", input.array)
    return average(input, dim=dim, keepdim=keepdim)


def nanmean(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    """The :func:`mean` of the elements that are not nan."""
    require_tensor("nanmean", input)
    input = converted(input, dtype)
    require_floats("nanmean", input.array)
    numbers: Any = input.detach() == input.detach()
    return nansum(input, dim, keepdim) / sum(numbers, dim, keepdim)


# ---------------------------------------------------------------- products


def _product_of_others(a: Any) -> Any:
    """For each element the product of the others along the last dimension: of those before and those behind.

    The quotient of the whole product and the element would be 0 / 0 at a zero.
    """
    one = np.ones_like(a[..., :1])
    before = on(running_product, np.concatenate([one, a[..., :-1]], axis=-1), dim=-1)
    behind = on(running_product, np.concatenate([one, np.flip(a, -1)[..., :-1]], axis=-1), dim=-1)
    return before * np.flip(behind, -1)


def _product_gradient(g: Any, a: Any, shape: Sequence[int], dim: int | None) -> Any:
    if not shape:
        return g
    if dim is None:
        return g * _product_of_others(a.reshape(-1)).reshape(shape)
    return restored(g, shape, dim) * np.swapaxes(_product_of_others(np.swapaxes(a, dim, -1)), dim, -1)


@operation("Π", "Π {a}", a=derivative("the product of the others", _product_gradient), name="prod")
def product(a, /, dim=None, keepdim=False):
    """See :func:`prod`."""
    return a.prod(axis=dim, keepdims=keepdim, dtype=None if a.dtype.kind == "f" else np.int64)


def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """The product of all elements, or along one dimension; integers and bools multiply to int64."""
    dim = checked_one("prod", input, dim)
    return converted(product(converted(input, dtype), dim=dim, keepdim=keepdim), dtype)


# ---------------------------------------------------------------- counts and truth


@operation("count", "count of {a} ≠ 0", name="count_nonzero")
def count_of_nonzero(a, /, dim=None):
    """See :func:`count_nonzero`."""
    return module_of(a).asarray(np.count_nonzero(a, axis=dim))


def count_nonzero(input: Tensor, dim: Dim = None) -> Tensor:
    """How many elements are not 0, of all or along ``dim``."""
    return count_of_nonzero(input, dim=checked("count_nonzero", input, dim))


@operation("all", "all {a}", name="all")
def all_true(a, /, dim=None, keepdim=False):
    """See :func:`all`."""
    return a.all(axis=dim, keepdims=keepdim)


def all(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true, of all or along ``dim``."""
    return all_true(input, dim=checked("all", input, dim), keepdim=keepdim)


@operation("any", "any {a}", name="any")
def any_true(a, /, dim=None, keepdim=False):
    """See :func:`any`."""
    return a.any(axis=dim, keepdims=keepdim)


def any(input: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Whether at least one element is true, of all or along ``dim``."""
    return any_true(input, dim=checked("any", input, dim), keepdim=keepdim)


NAMES = Names(
    both="all any count_nonzero mean nanmean nansum prod sum",
    numpy={np.sum: sum, np.mean: mean, np.prod: prod},
)
