"""Sorting, the largest few elements, the distinct elements, and the places of values in a sorted sequence.

A nan counts as larger than any number. Equal elements keep their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import beside
from autokit.base.errors import describe, one_dim, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.gather import along, put_back, read, return_type
from autokit.ops.names import Names

# ---------------------------------------------------------------- sorting


def order_of(a: Any, dim: int, descending: bool = False) -> Any:
    """The places of the elements of ``a`` in order along ``dim``; equal elements keep theirs."""
    if not descending:
        return np.argsort(a, axis=dim, kind="stable")
    # Backwards twice, so that equal elements keep their order here too.
    places = np.argsort(np.flip(a, dim), axis=dim, kind="stable")
    return a.shape[dim] - 1 - np.flip(places, dim)


@operation("sort", "sorted {a}", a=derivative("1 at the places read, else 0", put_back), name="sort")
def sort_along(a, /, dim=-1, descending=False):
    """See :func:`sort`."""
    return read(a, order_of(a, dim, descending), dim, True)


_Sort = return_type("sort", "values", "indices")


def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The elements in order along ``dim``, and their places; equal elements keep their order in any case.

    Examples
    --------
    >>> import autokit as torch
    >>> values, indices = torch.tensor([3, 1, 2]).sort()
    >>> indices
    tensor([1, 2, 0])
    """
    return _Sort(*along("sort", sort_along, input, dim, descending=descending))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The places of the elements in order along ``dim``."""
    return sort(input.detach() if isinstance(input, Tensor) else input, dim, descending).indices


def _ranks(order: Any, dim: int, start: int, stop: int) -> Any:
    """The places in ``order`` from rank ``start`` up to ``stop``."""
    return order[(slice(None),) * dim + (slice(start, stop),)]


@operation("topk", "largest {k} of {a}", a=derivative("1 at the places read, else 0", put_back), name="topk")
def top_along(a, /, dim=-1, k=1, largest=True):
    """See :func:`topk`."""
    return read(a, _ranks(order_of(a, dim, largest), dim, 0, k), dim, True)


_Topk = return_type("topk", "values", "indices")


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest elements along ``dim``, or with ``largest=False`` the smallest, and their places.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.topk(torch.tensor([1.0, 4.0, 2.0, 3.0]), 2).values
    tensor([4., 3.])
    """
    require_tensor("topk", input)
    _check_count("topk", "k", k, 0, input, dim)
    return _Topk(*along("topk", top_along, input, dim, k=int(k), largest=largest))


def _check_count(name: str, argument: str, k: int, least: int, input: Tensor, dim: int) -> None:
    """Raise unless there are ``k`` elements along ``dim``."""
    place = one_dim(dim, input.array.ndim)
    size = input.array.shape[place] if input.array.ndim else 1
    if not least <= k <= size:
        raise RuntimeError(
            f"{name}(): selected index {argument} out of range: {argument} is {k}, and there are {size} "
            f"elements along dim {place}"
        )


@operation(
    "kthvalue",
    "smallest number {k} of {a}",
    a=derivative("1 at its place, else 0", put_back),
    name="kthvalue",
)
def rank_along(a, /, dim=-1, k=1, keepdim=False):
    """See :func:`kthvalue`."""
    return read(a, _ranks(order_of(a, dim), dim, k - 1, k), dim, keepdim)


_Kthvalue = return_type("kthvalue", "values", "indices")


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The ``k``-th smallest element along ``dim``, counted from 1, and its place."""
    require_tensor("kthvalue", input)
    _check_count("kthvalue", "k", k, 1, input, dim)
    return _Kthvalue(*along("kthvalue", rank_along, input, dim, k=int(k), keepdim=keepdim))


# ---------------------------------------------------------------- different elements


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements in ascending order, or along ``dim`` the distinct slices; without a gradient.

    Parameters
    ----------
    input : Tensor
    sorted : bool
        They are always sorted.
    return_inverse : bool
        Also return, for each element, which of the different ones it is.
    return_counts : bool
        Also return how often each different one occurs.
    dim : int, optional
        Compare slices along this dimension.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    require_tensor("unique", input)
    a = input.array
    place = None if dim is None else one_dim(dim, a.ndim)
    # A nan does not equal another nan.
    values, inverse, counts = np.unique(a, False, True, True, place, equal_nan=False)
    inverse = inverse.reshape(a.shape if place is None else -1)
    return _chosen(values, (inverse, return_inverse), (counts, return_counts))


def _chosen(values: Any, *others: tuple[Any, bool]) -> Any:
    results = [new_tensor(values), *[new_tensor(array) for array, wanted in others if wanted]]
    return tuple(results) if len(results) > 1 else results[0]


# ---------------------------------------------------------------- places in a sorted sequence


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
) -> Tensor:
    """The places at which values would be put into sorted sequences to keep them sorted.

    Parameters
    ----------
    sorted_sequence : Tensor
        A vector, or vectors along the last dimension.
    input : Tensor or number
        The values: any, for a vector; else values along the last dimension for each vector.
    out_int32 : bool
        Count in int32 instead of int64.
    right : bool
        Put a value behind its equals instead of before them.
    side : {"left", "right"}, optional
        Another way to say ``right``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 6]))
    tensor([0, 1, 3])
    """
    require_tensor("searchsorted", sorted_sequence, "sorted_sequence")
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    edges = sorted_sequence.array
    values = input.array if isinstance(input, Tensor) else beside(np.asarray(input), edges)
    if not edges.ndim or (edges.ndim > 1 and edges.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): the sorted sequence must be a vector, or agree with the values in all but "
            f"the last dimension, but they are {describe(sorted_sequence)} and of shape {list(values.shape)}"
        )
    chosen: Any = "right" if right or side == "right" else "left"
    if edges.ndim == 1:
        found = np.searchsorted(edges, values, side=chosen)
    else:
        rows = zip(edges.reshape(-1, edges.shape[-1]), values.reshape(-1, values.shape[-1]))
        found = np.stack([np.searchsorted(*row, side=chosen) for row in rows]).reshape(values.shape)
    # A nan belongs behind all others, its equals too.
    found = np.where(values != values, edges.shape[-1], found)
    return new_tensor(found.astype(np.int32 if out_int32 else np.int64))


def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The bin of each value between ascending ``boundaries``; with ``right`` a boundary opens its bin.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.bucketize(torch.tensor([0.5, 1.0, 7.0]), torch.tensor([1.0, 5.0]))
    tensor([0, 0, 2])
    """
    require_tensor("bucketize", boundaries, "boundaries", 1)
    if boundaries.array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but it is {describe(boundaries)}")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


NAMES = Names(both="argsort kthvalue sort topk unique", functions="bucketize searchsorted")
