"""``torch.sparse``: products and sums of sparse tensors; :func:`autokit.sparse_coo_tensor` makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.missing import names_of
from autokit.ops.errors import describe, require_tensor
from autokit.ops.filled import zeros, zeros_like
from autokit.ops.linalg import mm as plain_mm
from autokit.ops.sparse import from_values, plain_held, to_sparse
from autokit.ops.sparse import legacy_sparse_tensor as FloatTensor
from autokit.tensor import Tensor

__getattr__ = names_of("torch.sparse")

__all__ = ["FloatTensor", "addmm", "mm", "sum"]

DoubleTensor = LongTensor = FloatTensor


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, one of them sparse at least; its zeros count as constants.

    Unlike those of ``mat1 @ mat2``, gradients go back to the places that ``mat1`` holds alone.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    require_tensor("_sparse_mm", mat1, "sparse", 1)
    return plain_mm(plain_held(mat1) if mat1.is_sparse and mat1.requires_grad else mat1, mat2)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta`` times ``input`` plus ``alpha`` times the product of the sparse ``mat1`` and ``mat2``.

    A ``beta`` of 0 leaves out ``input``, whatever its elements are.
    """
    require_tensor("_sparse_addmm", input, "input", 1)
    for name, number in (("beta", beta), ("alpha", alpha)):
        if not isinstance(number, int | float | complex | np.generic):
            hint = "; take its .item()" if isinstance(number, Tensor) else ""
            raise TypeError(
                f"_sparse_addmm(): argument '{name}' must be Number, not {type(number).__name__}{hint}"
            )
    return (beta * input if beta else zeros_like(input)) + alpha * mm(mat1, mat2)


def sum(input: Tensor, dim: Any = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """The sum of all elements of a sparse tensor, or a sparse one of those along ``dim``.

    Examples
    --------
    >>> import autokit as torch
    >>> degrees = torch.sparse.sum(torch.eye(3).to_sparse(), 1)
    >>> degrees.to_dense()
    tensor([1., 1., 1.])
    """
    require_tensor("_sparse_sum", input, "input", 1)
    if not input.is_sparse:
        raise RuntimeError(
            f"coalesce expected sparse coordinate tensor layout but got Strided: {describe(input)}"
        )
    input = input if dtype is None else input.to(dtype)
    if dim is None:
        return input.coalesce().values().sum()
    total = input.to_dense().sum(dim)
    if not total.array.ndim or len(input.array.indices) < input.array.ndim:
        return to_sparse(total) if total.array.ndim else total
    # A sum that is 0 by chance is held, too: it has a gradient.
    held = zeros(input.shape, device=input.device)
    held[tuple(input.coalesce().indices())] = 1
    places = held.sum(dim).nonzero().t()
    values = total[tuple(places)]
    return from_values(values, indices=places.array, shape=tuple(total.shape), coalesced=True)
