"""Linear equations between tensors: several dimensions together are the rows, or columns, of a matrix."""

from __future__ import annotations

import math

from autokit.ops.inverses import inv
from autokit.ops.names import Names
from autokit.ops.solving import solve
from autokit.tensor import Tensor


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of ``tensordot(A, ·)``: its first ``ind`` dimensions are the rows, the others the columns.

    Raises
    ------
    RuntimeError
        If there are not as many rows as columns, or ``ind`` is not positive.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.linalg.tensorinv(torch.eye(6).reshape(2, 3, 6)).shape
    torch.Size([6, 2, 3])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > A.array.ndim:
        raise RuntimeError(f"ind={ind} of the dimensions are to be rows, but A has {A.array.ndim}")
    rows, columns = A.array.shape[:ind], A.array.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
            f"got {math.prod(columns)} != {math.prod(rows)}"
        )
    return inv(A.reshape(math.prod(rows), math.prod(columns))).reshape((*columns, *rows))


def tensorsolve(A: Tensor, B: Tensor, dims: tuple[int, ...] | None = None) -> Tensor:
    """The X with ``tensordot(A, X, X.ndim) = B``; the dimensions ``dims`` of ``A`` move to its end first.

    Raises
    ------
    RuntimeError
        If ``A`` has not as many columns as ``B`` has elements.

    Examples
    --------
    >>> import autokit as torch
    >>> A = torch.eye(6).reshape(2, 3, 6)
    >>> torch.linalg.tensorsolve(A, torch.ones(2, 3)).shape
    torch.Size([6])
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.array.ndim - len(dims), A.array.ndim)))
    rows, columns = A.array.shape[: B.array.ndim], A.array.shape[B.array.ndim :]
    if (
        B.array.ndim > A.array.ndim
        or math.prod(columns) != math.prod(rows)
        or math.prod(rows) != B.array.size
    ):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {math.prod(columns)} != {math.prod(rows)}; B is of "
            f"shape {list(B.shape)}"
        )
    return solve(A.reshape(math.prod(rows), math.prod(columns)), B.reshape(-1)).reshape(columns)


NAMES = Names()
