"""Diagonals and triangular parts of matrices: ``diagonal``, ``diag``, ``trace``, ``tril``, ``triu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.errors import describe, dims_of
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.create import tensor
from autokit.ops.index import spread
from autokit.ops.join import cat
from autokit.ops.names import Names

# ---------------------------------------------------------------- diagonals


def _diagonal(a: Any, offset: int, dim1: int, dim2: int) -> Any:
    """The diagonal as a view that may be written to; NumPy's view is read-only at first."""
    view = np.diagonal(a, offset, dim1, dim2)
    if view.__class__ is np.ndarray:
        view.flags.writeable = a.flags.writeable
    return view


@operation(
    "diagonal",
    "the diagonal of {a}",
    a=derivative(
        "1 on the diagonal",
        lambda g, shape, offset, dim1, dim2: on(
            on_diagonal, g, shape=shape, offset=offset, dim1=dim1, dim2=dim2
        ),
    ),
    view=True,
    name="diagonal",
)
def plain_diagonal(a, /, offset, dim1, dim2):
    """See :func:`diagonal`."""
    return _diagonal(a, offset, dim1, dim2)


@operation(
    "diagonal",
    "zeros with {a} on the diagonal",
    a=derivative(
        "1 on the diagonal",
        lambda g, offset, dim1, dim2: on(plain_diagonal, g, offset=offset, dim1=dim1, dim2=dim2),
    ),
    name="diag_embed",
)
def on_diagonal(a, /, shape, offset, dim1, dim2):
    """Zeros of ``shape`` with ``a`` on a diagonal."""
    result = np.zeros_like(a, shape=shape)
    _diagonal(result, offset, dim1, dim2)[...] = a
    return result


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the elements whose indices in two dimensions differ by ``offset``, as the last one."""
    dim1, dim2 = dims_of((dim1, dim2), input.array.ndim)
    return plain_diagonal(input, offset=offset, dim1=dim1, dim2=dim2)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension on the diagonals of new matrices, whose dimensions become ``dim1`` and ``dim2``."""
    dim1, dim2 = dims_of((dim1, dim2), input.array.ndim + 1)
    size = input.array.shape[-1] + abs(offset)
    shape = list(input.array.shape[:-1])
    for place in sorted((dim1, dim2)):
        shape.insert(place, size)
    return on_diagonal(input, shape=tuple(shape), offset=offset, dim1=dim1, dim2=dim2)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, copied; or of a vector the matrix with that diagonal.

    >>> import autokit as torch
    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if input.array.ndim == 1:
        return diag_embed(input, diagonal)
    if input.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.array.ndim}D")
    return plain_diagonal(input, offset=diagonal, dim1=0, dim2=1).clone()


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of ``input`` on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if input.array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got {describe(input)}")
    return diagonal(input).sum()


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with the tensors, as matrices, along its diagonal."""
    blocks = [tensor.reshape((1,) * (2 - tensor.array.ndim) + tensor.array.shape) for tensor in tensors]
    width = sum(block.array.shape[1] for block in blocks)
    left = 0
    rows = []
    for block in blocks:
        height, size = block.array.shape
        place = (slice(None), slice(left, left + size))
        rows.append(spread(block, shape=(height, width), index=place))
        left += size
    return cat(rows)


# ---------------------------------------------------------------- triangles


def _require_matrices(a: Any, name: str) -> None:
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@operation(
    "◺", "{a} on and below the diagonal", a=derivative("1 there", lambda g, diagonal: np.tril(g, diagonal))
)
def tril(a, /, diagonal=0):
    """Put zeros above a diagonal of matrices, the one ``diagonal`` places to the right of the main one."""
    _require_matrices(a, "tril")
    return np.tril(a, diagonal)


@operation(
    "◹", "{a} on and above the diagonal", a=derivative("1 there", lambda g, diagonal: np.triu(g, diagonal))
)
def triu(a, /, diagonal=0):
    """Put zeros below a diagonal of matrices, the one ``diagonal`` places to the right of the main one."""
    _require_matrices(a, "triu")
    return np.triu(a, diagonal)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The places in the lower left triangle of a matrix, as two rows: row and column numbers."""
    return _indices(np.tri(row, col, offset, dtype=bool), dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The places in the upper right triangle of a matrix, as two rows: row and column numbers."""
    return _indices(~np.tri(row, col, offset - 1, dtype=bool), dtype, device)


def _indices(mask: np.ndarray, dtype: Any, device: Any) -> Tensor:
    return tensor(np.stack(np.nonzero(mask)), dtype=dtype, device=device)


NAMES = Names(
    both="diag diag_embed diagflat diagonal trace tril triu",
    functions="block_diag tril_indices triu_indices",
    in_place="tril triu",
    numpy={
        np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal(a, offset, axis1, axis2),
        np.trace: lambda a: trace(a),
        np.tril: lambda m, k=0: tril(m, k),
        np.triu: lambda m, k=0: triu(m, k),
    },
)
