"""Functions that PyTorch has kept by name alone: each raises, and says what does its work today."""

from __future__ import annotations

from typing import Any

from autokit.ops.names import Names


def _refuse(name: str, newer: str) -> RuntimeError:
    return RuntimeError(
        f"torch.{name}: This function was deprecated since version 1.9 and is now removed. Write {newer}"
    )


def eig(input: Any, eigenvectors: bool = False) -> Any:
    """Removed: :func:`torch.linalg.eig`, which gives complex tensors, does this today."""
    raise _refuse("eig", "L, V = torch.linalg.eig(A), or L = torch.linalg.eigvals(A): they are complex")


def lstsq(input: Any, A: Any) -> Any:
    """Removed: :func:`torch.linalg.lstsq`, its arguments exchanged, does this today."""
    raise _refuse("lstsq", "torch.linalg.lstsq(A, B).solution, with the arguments exchanged")


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False) -> Any:
    """Removed: :func:`torch.linalg.matrix_rank` does this today."""
    raise _refuse("matrix_rank", "torch.linalg.matrix_rank(A); symmetric= is called hermitian= there")


def solve(input: Any, A: Any) -> Any:
    """Removed: :func:`torch.linalg.solve`, its arguments exchanged, does this today."""
    raise _refuse("solve", "torch.linalg.solve(A, B), with the arguments exchanged")


def symeig(input: Any, eigenvectors: bool = False, upper: bool = True) -> Any:
    """Removed: :func:`torch.linalg.eigh` does this today."""
    raise _refuse(
        "symeig", "L, V = torch.linalg.eigh(A), or L = torch.linalg.eigvalsh(A); upper=True is UPLO='U' there"
    )


NAMES = Names(both="eig lstsq solve symeig", functions="matrix_rank")
