"""Sparse tensors: made of places and values, made dense, and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import put_on
from autokit.formats import sparse_coo, strided
from autokit.meta_array import is_meta as has_no_elements
from autokit.ops.create import as_tensor, tensor
from autokit.ops.gpu.arrays import ask, like
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.reduce import require_operand
from autokit.ops.sparse_array import SparseArray, sparse_of
from autokit.size import Size
from autokit.tensor import Tensor, new_tensor


def _is_sparse(array: Any) -> bool:
    return array.__class__ is SparseArray


def _values_of(g: Any, indices: Any) -> Any:
    """From the gradient of a sparse tensor that of its values."""
    dense = to_dense(g) if isinstance(g, Tensor) else g.dense() if _is_sparse(g) else g
    if not len(indices):  # of a number, which all values add up to
        dense, indices = dense[None], np.zeros((1, indices.shape[1]), np.int64)
    return dense[tuple([new_tensor(row) for row in indices] if isinstance(g, Tensor) else indices)]


@operation(
    "sparse",
    "{a} at their places",
    a=derivative("1 at the places", lambda g, indices: _values_of(g, indices)),
    backward="SparseCooTensorWithDimsAndTensorsBackward0",
)
def from_values(a, /, indices, shape, coalesced=False):
    """A sparse tensor of the values ``a``."""
    return SparseArray(indices, a, shape, coalesced)


def _at_places(g: Any, a: Any) -> Any:
    """The gradient at the places that are held: the other zeros count as constants, as in PyTorch."""
    indices = getattr(a, "array", a).indices
    held = like(np.zeros_like, indices, shape=a.shape, dtype=bool)
    held[tuple(indices)] = True
    return np.where(held, g.dense() if _is_sparse(g) else g, 0)


@operation("dense", "{a} with its zeros", a=derivative("1 at the places", _at_places), name="to_dense")
def plain_to_dense(a, /):
    """See :func:`to_dense`."""
    return a.dense()


@operation("held", "{a}", a=derivative("1 at the places", _at_places), name="held")
def plain_held(a, /):
    """The sparse tensor ``a``, whose other zeros count as constants."""
    return a.with_values(a.values)


@operation(
    "sparse",
    "{a} without its zeros",
    a=derivative("1 at the places", lambda g: g.dense() if _is_sparse(g) else g),
    name="to_sparse",
)
def plain_to_sparse(a, /, dims=None):
    """See :func:`to_sparse`."""
    return sparse_of(a, dims)


@operation("in order", "{a} in order", a=derivative("1", lambda g: g), name="coalesce")
def plain_coalesce(a, /):
    """See :func:`coalesce`."""
    return a.coalesce()


@operation(
    "values",
    "values of {a}",
    a=derivative(
        "1 at the places",
        lambda g, shape, indices: on(from_values, g, indices=indices, shape=shape, coalesced=True),
    ),
    name="values",
)
def plain_values(a, /, indices):
    """See :func:`values`."""
    return a.values


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor that holds only some elements: ``values``, at the places ``indices``; all others are 0.

    It takes part in matrix products (``adj @ x``), sums and products with numbers; for all else there is
    ``to_dense()``.  Gradients flow to ``values``; on the way there, the gradient of a product takes a dense
    matrix of the sparse one's shape.

    Parameters
    ----------
    indices : Tensor of int64, of shape (dimensions, count)
        The places, a column for each; what is named twice holds the sum.
    values : Tensor, of shape (count, ...)
        What stands there.
    size : tuple of int, optional
        The shape; the smallest that has all places unless it is given.  Alone, in place of ``indices``, it
        makes a tensor of zeros.
    dtype, device, requires_grad
        As for :func:`autokit.tensor`.
    check_invariants
        Places are always checked.
    is_coalesced : bool, optional
        The places are in order, and none is named twice.

    Raises
    ------
    RuntimeError
        If a place lies outside, or there are more places than values.

    Examples
    --------
    >>> import autokit as torch
    >>> adjacency = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
    >>> adjacency @ torch.tensor([[5.0], [7.0]])
    tensor([[ 7.],
            [10.]])
    """
    if values is None:
        size = indices if size is None else size
        if not isinstance(size, tuple | list):
            raise TypeError(
                "sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not "
                f"{type(size).__name__}"
            )
        indices, values = np.zeros((len(size), 0), np.int64), tensor([], dtype=dtype)
    if indices is None:
        raise TypeError('sparse_coo_tensor() missing 1 required positional argument: "indices"')
    held = as_tensor(values, dtype=dtype, device=device)
    held = held if dtype is None or held.dtype is dtype else held.to(dtype)
    places = _places(indices, held, device)
    shape = _shape(size, places, held.array)
    made = from_values(held, indices=places, shape=shape, coalesced=bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


def is_in_order(array: SparseArray) -> bool:
    """Whether the places are in order, and none is named twice."""
    if not len(array.indices):  # a number, at whose only place all values stand
        return len(array.values) < 2
    lines = np.ravel_multi_index(tuple(array.indices), array.shape[: len(array.indices)])
    return bool((lines[1:] > lines[:-1]).all())


def _places(indices: Any, held: Tensor, device: Any) -> Any:
    """``indices`` as an array of integers with a column for each of the values, beside them."""
    values, where = held.array, held.device
    if where.type == "meta":
        raise NotImplementedError("sparse_coo_tensor: on the meta device no tensor is sparse")
    if isinstance(indices, Tensor) and device is None and indices.device != where:
        raise RuntimeError(
            f"device of indices ({indices.device}) must match device of values ({where}): send one of them "
            "by .to(), or say device="
        )
    given = indices.array if isinstance(indices, Tensor) else np.asarray(indices)
    places = put_on(where, given).astype(np.int64)
    if not places.ndim:
        raise IndexError(
            "Dimension specified as 0 but tensor has no dimensions: indices are sparse_dim x nnz"
        )
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if values.ndim < 1 or values.shape[0] != places.shape[1]:
        count = values.shape[0] if values.ndim else 1
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from "
            f"values: {count}"
        )
    return places


def _shape(size: Any, places: Any, values: Any) -> tuple[int, ...]:
    """The shape that ``size`` says, or the smallest, of a tensor of ``values`` at these ``places``."""
    rest = values.shape[1:]
    if size is None:
        size = (*[ask(row.max()) + 1 if row.size else 0 for row in places], *rest)
    shape = tuple(int(each) for each in size)
    if len(shape) != len(places) + len(rest):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{len(places)}, dense_dim = {len(rest)}"
        )
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    for dim, (row, length) in enumerate(zip(places, shape)):
        if not row.size:
            continue
        if (least := ask(row.min())) < 0:
            raise RuntimeError(f"found negative index {least} for dim {dim}")
        if (most := ask(row.max())) >= length:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {length} but found index {most}"
            )
    if shape[len(places) :] != rest:
        raise RuntimeError(
            f"values has incorrect size, expected {[places.shape[1], *shape[len(places) :]]}, got "
            f"{list(values.shape)}"
        )
    return shape


def to_dense(input: Tensor, dtype: dtypes.dtype | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """A sparse tensor with its zeros; any other one as it is."""
    require_operand("to_dense", input)
    made = plain_to_dense(input) if _is_sparse(input.array) else input
    return made if dtype is None else made.to(dtype)


def to_sparse(
    input: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """The elements that are not 0, with their places along the first ``sparse_dim`` dimensions, or all.

    ``dense_dim`` says how many dimensions are left.
    """
    require_operand("to_sparse", input)
    ndim = input.array.ndim
    if blocksize is not None:
        raise RuntimeError("dense_to_sparse: conversion with blocksize argument given is not supported")
    for name, dims in (("sparse_dim", sparse_dim), ("dense_dim", dense_dim)):
        if dims is not None and not 0 <= dims <= ndim:
            raise RuntimeError(
                f"dense_to_sparse: {name} argument must be in [0,{ndim}] range, but {dims} is given"
            )
    if dense_dim is not None:
        sparse_dim = ndim - dense_dim
    if sparse_dim == 0 and ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if layout == strided:
        return to_dense(input)
    if sparse_dim is not None and _is_sparse(input.array) and sparse_dim != len(input.array.indices):
        raise RuntimeError(
            "to_sparse: conversion from Sparse to Sparse with another sparse_dim is not supported"
        )
    if layout is not None and layout != sparse_coo:
        raise NotImplementedError(
            f"to_sparse: {layout} is not supported; the layout here is torch.sparse_coo"
        )
    if _is_sparse(input.array):
        return input
    return plain_to_sparse(input, dims=sparse_dim)


def to_sparse_coo(input: Tensor) -> Tensor:
    """As :func:`to_sparse`: places and values are the one form of sparse tensors here."""
    return to_sparse(input)


def is_sparse_csr(input: Tensor) -> bool:
    """Whether the rows of a sparse matrix are compressed: never, here."""
    return False


def is_sparse(input: Tensor) -> bool:
    """Whether only some elements are held, with their places."""
    return _is_sparse(input.array)


def is_meta(input: Tensor) -> bool:
    """Whether there are a shape and a dtype alone, and no elements."""
    return has_no_elements(input.array)


def layout(input: Tensor) -> Any:
    """How the elements are addressed: by strides, or in a sparse tensor by places."""
    return sparse_coo if _is_sparse(input.array) else strided


def _require_sparse(name: str, input: Tensor, is_coalesced: bool = False) -> SparseArray:
    require_operand(name, input)
    array = input.array
    if array.__class__ is not SparseArray:
        raise (NotImplementedError if name.startswith("_") else RuntimeError)(
            f"{name} expected sparse coordinate tensor layout but got Strided: this tensor holds all its "
            "elements"
        )
    if is_coalesced and not array.coalesced:
        raise RuntimeError(
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first: a place may be "
            "named twice"
        )
    return array


def coalesce(input: Tensor) -> Tensor:
    """The same sparse tensor with its places in order, and each of them named once."""
    return input if _require_sparse("coalesce", input).coalesced else plain_coalesce(input)


def is_coalesced(input: Tensor) -> bool:
    """Whether the places are in order, and none is named twice."""
    return _require_sparse("is_coalesced", input).coalesced


def indices(input: Tensor) -> Tensor:
    """The places of a coalesced sparse tensor, a column for each."""
    return new_tensor(_require_sparse("indices", input, True).indices)


def values(input: Tensor) -> Tensor:
    """What a coalesced sparse tensor holds at its places."""
    return plain_values(input, indices=_require_sparse("values", input, True).indices)


def _indices(input: Tensor) -> Tensor:
    """The places as they were given."""
    return new_tensor(_require_sparse("_indices", input).indices)


def _values(input: Tensor) -> Tensor:
    """The values as they were given, outside of the graph."""
    return new_tensor(_require_sparse("_values", input).values)


def _nnz(input: Tensor) -> int:
    """How many elements are held."""
    return _require_sparse("_nnz", input).indices.shape[1]


def sparse_dim(input: Tensor) -> int:
    """Along how many dimensions places are named; none of a dense tensor."""
    require_operand("sparse_dim", input)
    return len(input.array.indices) if _is_sparse(input.array) else 0


def dense_dim(input: Tensor) -> int:
    """Along how many dimensions all elements are held."""
    return input.array.ndim - sparse_dim(input)


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse matrix and a dense one, as ``input @ mat2``."""
    return input @ mat2


def legacy_sparse_tensor(indices: Any, values: Any, size: Any = None) -> Tensor:
    """``torch.sparse.FloatTensor(indices, values, size)``: PyTorch's older name of a sparse tensor."""
    return sparse_coo_tensor(indices, values, None if size is None else Size(size))


NAMES = Names(
    methods="_indices _nnz _values coalesce dense_dim indices is_coalesced sparse_dim to_dense to_sparse "
    "to_sparse_coo values",
    functions="sparse_coo_tensor spmm",
    properties="is_meta is_sparse is_sparse_csr layout",
)
