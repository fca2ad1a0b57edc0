"""``torch.sparse``: products and sums of sparse tensors; :func:`autokit.sparse_coo_tensor` makes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit import dtypes, formats
from autokit.missing import names_of
from autokit.ops.create import tensor
from autokit.ops.dims import place_of
from autokit.ops.errors import describe, require_tensor
from autokit.ops.filled import zeros, zeros_like
from autokit.ops.join import stack
from autokit.ops.linalg import mm as plain_mm
from autokit.ops.sparse import from_values, plain_held, to_sparse
from autokit.ops.sparse import legacy_sparse_tensor as FloatTensor
from autokit.ops.unique import unique
from autokit.tensor import Tensor

__getattr__ = names_of("torch.sparse")

__all__ = ["FloatTensor", "addmm", "log_softmax", "mm", "softmax", "spdiags", "sum"]

DoubleTensor = LongTensor = FloatTensor
IntTensor = ShortTensor = CharTensor = ByteTensor = HalfTensor = BFloat16Tensor = FloatTensor


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


def softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The softmax along ``dim`` of what a sparse tensor holds: what it does not hold is -∞, and stays unheld.

    Examples
    --------
    >>> import autokit as torch
    >>> scores = torch.tensor([[1.0, 0.0, 1.0]]).to_sparse()
    >>> torch.sparse.softmax(scores, 1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000]])
    """
    return _normalized("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`."""
    return _normalized("log_softmax", input, dim, dtype)


def _normalized(name: str, input: Tensor, dim: int, dtype: dtypes.dtype | None) -> Tensor:
    require_tensor(f"_sparse_{name}", input, "input", 1)
    if not input.is_sparse:
        raise NotImplementedError(
            f"Could not run 'aten::_sparse_{name}' of a dense tensor; torch.{name} does it: {describe(input)}"
        )
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"_sparse_{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    place = place_of(dim, input.array.ndim, name)
    held = (input if dtype is None else input.to(dtype)).coalesce()
    indices, values = held.indices(), held.values()
    if place >= len(indices):
        made = getattr(values, name)(place - len(indices) + 1)
    else:
        made = _over_places(values, _lines(indices, place, input.shape), name == "log_softmax")
    return from_values(made, indices=indices.array, shape=tuple(input.shape), coalesced=True)


def _lines(indices: Tensor, place: int, shape: Any) -> Tensor:
    """Which line along ``place`` each element is on, counted from 0 on."""
    line = zeros_like(indices[0])
    for other, size in enumerate(shape[: len(indices)]):
        if other != place:
            line = line * size + indices[other]
    return unique(line, return_inverse=True)[1]


def _over_places(values: Tensor, line: Tensor, logarithm: bool) -> Tensor:
    """The softmax of the values of each line."""
    count = int(line.max()) + 1 if len(line) else 0
    shape = (count, *values.shape[1:])
    index = line.reshape(-1, *[1] * (values.dim() - 1)).expand(values.shape)
    tops = values.new_full(shape, -math.inf).scatter_reduce(0, index, values.detach(), "amax")
    below = values - tops[line]
    total = values.new_zeros(shape).index_add(0, line, below.exp())
    return below - total.log()[line] if logarithm else below.exp() / total[line]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix of ``shape`` with the rows of ``diagonals`` on the diagonals ``offsets``.

    What a diagonal holds in column j is what its row holds at place j, as in SciPy.

    Raises
    ------
    RuntimeError
        If there are not as many offsets as rows, or one twice.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.sparse.spdiags(torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([0, -1]), (3, 3)).to_dense()
    tensor([[1, 0, 0],
            [4, 2, 0],
            [0, 5, 3]])
    """
    if layout is not None and layout != formats.sparse_coo:
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}")
    require_tensor("_spdiags", diagonals, "diagonals", 1)
    require_tensor("_spdiags", offsets, "offsets", 2)
    if not isinstance(shape, tuple | list):
        raise TypeError(
            f"_spdiags(): argument 'shape' (position 3) must be tuple of ints, not {type(shape).__name__}"
        )
    rows = diagonals if diagonals.dim() > 1 else diagonals.unsqueeze(0)
    shifts = offsets if offsets.dim() else offsets.unsqueeze(0)
    sizes = tuple(shape)
    if len(sizes) != 2:
        raise RuntimeError(f"Output shape must be 2d: it is {list(sizes)}")
    if rows.dim() > 2:
        raise RuntimeError(f"Diagonals must be vector or matrix: they are {list(rows.shape)}")
    if shifts.dim() != 1:
        raise RuntimeError(f"Offsets must be scalar or vector: they are {list(offsets.shape)}")
    if offsets.dtype != dtypes.BY_NAME["int64"]:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype}")
    if len(rows) != len(shifts):
        raise RuntimeError(
            f"Number of diagonals ({len(rows)}) does not match the number of offsets ({len(shifts)})"
        )
    given = shifts.tolist()
    if len(set(given)) < len(given):
        raise RuntimeError(f"Offset tensor contains duplicate values: {given}")
    places = [
        (number, column, column - shift)
        for number, shift in enumerate(given)
        for column in range(min(rows.shape[1], sizes[1]))
        if 0 <= column - shift < sizes[0]
    ]
    number, column, row = tensor(places, dtype=offsets.dtype, device=rows.device).reshape(-1, 3).unbind(1)
    return from_values(rows[number, column], indices=stack([row, column]).array, shape=sizes, coalesced=False)
