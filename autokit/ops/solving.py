"""Systems of linear equations.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation",
2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.gpu.arrays import any_of
from autokit.ops.gpu.arrays import solve as system
from autokit.ops.guards import guards
from autokit.ops.inverses import failures, inverses
from autokit.ops.matrices import (
    LinAlgError,
    in_batch,
    in_columns,
    require_kernel,
    require_matrices,
    require_square,
    require_square_floating,
    title,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import with_dtype
from autokit.ops.return_types import return_type
from autokit.ops.warn import warn_of_newer
from autokit.tensor import Tensor, new_tensor

SolveExResult = return_type("linalg_solve_ex", "result", "info")
TriangularSolveResult = return_type("triangular_solve", "solution", "cloned_coefficient")


def _columns(b: Any, vector: bool) -> Any:
    return b.reshape((*b.shape, 1)) if vector else b


def _solve_gradients(g: Any, a: Any, out: Any, vector: bool) -> tuple[Any, Any]:
    by_b = on(plain_solve, transposed(a), g, vector=vector)
    return -(_columns(by_b, vector) @ transposed(_columns(out, vector))), by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative({"a": "− {a}⁻ᵀ · g · {out}ᵀ", "b": "{a}⁻ᵀ ·"}, _solve_gradients),
    name="solve",
    backward="LinalgSolveExBackward0",
)
def plain_solve(a, b, /, vector=False):
    """See :func:`solve`."""
    columns = _columns(b, vector)
    try:
        made = system(a, columns)
    except np.linalg.LinAlgError:
        made = inverses(a) @ columns
    return made[..., 0] if vector else in_columns(made)


def check_system(function: str, A: Any, B: Any, name: str = "A") -> None:
    """Raise unless both sides of a system of equations are of one dtype."""
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"{function}: Expected {name} and B to have the same dtype, but found {name} of type {title(A)} "
            f"and B of type {title(B)} instead: convert one with .to(dtype)"
        )


def check_sizes(function: str, A: Any, shape: tuple[int, ...], left: bool) -> None:
    """Raise unless matrices of ``shape`` stand beside A in A X = B, or in X A = B."""
    rows, columns = A.array.shape[-2:]
    if shape[-2 if left else -1] != rows:
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({rows}x{columns} and {shape[-2]}x{shape[-1]})"
        )
    lead, own = A.array.shape[:-2], shape[:-2]
    if any(m != n and 1 not in (m, n) for m, n in zip(reversed(lead), reversed(own))):
        raise RuntimeError(broadcast_message(own, lead))


def is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether B holds a vector for each matrix of A, as PyTorch reads it."""
    return B.array.ndim == 1 or (
        A.array.ndim - 1 == B.array.ndim and A.array.shape[:-1] == B.array.shape and A.array.ndim > 2
    )


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of A X = B; with ``left=False``, of X A = B.

    Parameters
    ----------
    A : Tensor
        Square matrices, (..., n, n).
    B : Tensor
        Right-hand sides, (..., n, k), or a vector for each matrix, (..., n).
    left : bool
        On which side A stands.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    With G the gradient of X, that of B is A⁻ᵀ G, and that of A is
    −(A⁻ᵀ G) Xᵀ (Giles, section 2.3.1); both are solved for, not inverted.
    """
    return _solved("linalg.solve", A, B, left, True).result


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution X of A X = B, and for each matrix the number of the first zero pivot, or 0."""
    return _solved("linalg.solve_ex", A, B, left, check_errors)


def _solved(function: str, A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Any:
    require_square_floating(function, A)
    if not isinstance(B, Tensor):
        raise TypeError(f"{function}(): argument 'B' (position 2) must be Tensor, not {type(B).__name__}")
    check_system(function, A, B)
    vector = is_vector(A, B)
    if not vector:
        require_matrices(function, B, "B")
    check_sizes(function, A, (*B.array.shape, 1) if vector else B.array.shape, left)
    if vector and not left:
        raise RuntimeError(
            f"{function}: Vector broadcasting of the left hand side is not supported for left=False. In this "
            "case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if left:
        made = plain_solve(A, B, vector=vector)
    else:
        made = plain_solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    infos = failures(made.array, A.array, 1 if vector else 2)
    if check_errors and any_of(infos):
        raise LinAlgError(
            f"torch.{function}: {in_batch(infos)[0]}The solver failed because the input matrix is singular."
        )
    return SolveExResult(made, new_tensor(infos))


def triangle(a: Any, upper: bool, offset: int = 0) -> Any:
    """The matrices with zeros below the diagonal (``upper``) or above it; with ``offset`` 1 on it too."""
    rows, columns = a.shape[-2:]
    below = module_of(a).tri(rows, columns, offset - 1 if upper else -offset, dtype=bool)
    return np.where(~below if upper else below, a, False)


def _substitute(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """Substitution, row by row, backward for an upper triangle and forward for a lower one."""
    size = a.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.zeros_like(b, shape=(*lead, *b.shape[-2:]))
    for row in reversed(range(size)) if upper else range(size):
        known = slice(row + 1, size) if upper else slice(0, row)
        value = b[..., row, :] - (a[..., row, None, known] @ x[..., known, :])[..., 0, :]
        x[..., row, :] = value if unit else value / a[..., row, row, None]
    return x


def _triangular_gradients(g: Any, a: Any, out: Any, upper: bool, unit: bool) -> tuple[Any, Any]:
    by_b = on(plain_solve_triangular, transposed(a), g, upper=not upper, unit=unit)
    return -triangle(by_b @ transposed(out), upper, int(unit)), by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative({"a": "− {a}⁻ᵀ · g · {out}ᵀ", "b": "{a}⁻ᵀ ·"}, _triangular_gradients),
    name="solve_triangular",
    backward="LinalgSolveTriangularBackward0",
)
def plain_solve_triangular(a, b, /, upper=True, unit=False):
    """See :func:`solve_triangular`."""
    return in_columns(_substitute(a, b, upper, unit))


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution X of A X = B (or of X A = B), where A is a triangle; the other half of A is not read.

    Parameters
    ----------
    A : Tensor
        Square matrices, (..., n, n).
    B : Tensor
        Right-hand sides, (..., n, k).
    upper : bool
        Which triangle it is.
    left : bool
        On which side A stands.
    unitriangular : bool
        Take the diagonal of A for ones, without reading it.
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_matrices(name, B, "B")
    require_kernel("triangular_solve_cpu", A)
    B = with_dtype(B, A.array.dtype)
    check_sizes(name, A, B.array.shape, left)
    if left:
        return plain_solve_triangular(A, B, upper=upper, unit=unitriangular)
    turned = plain_solve_triangular(
        A.transpose(-2, -1), B.transpose(-2, -1), upper=not upper, unit=unitriangular
    )
    return turned.transpose(-2, -1)


def _check_both(function: str, b: Tensor, A: Tensor) -> None:
    """Raise unless right-hand sides and matrices are of one dtype, and that one that LAPACK knows."""
    if b.array.dtype != A.array.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {title(b)} and A of type "
            f"{title(A)} instead."
        )
    require_kernel(f"{function}_cpu", A)


@guards("input")
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The older form of ``torch.linalg.solve_triangular``: right-hand sides first."""
    warn_of_newer("triangular_solve", "torch.linalg.solve_triangular")
    for name, tensor in (("b", input), ("A", A)):
        if tensor.array.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                f"{tensor.array.ndim} dimensions instead: {describe(tensor)}"
            )
    require_square("triangular_solve", A)
    _check_both("triangular_solve", input, A)
    if transpose:
        made = solve_triangular(A.transpose(-2, -1), input, upper=not upper, unitriangular=unitriangular)
    else:
        made = solve_triangular(A, input, upper=upper, unitriangular=unitriangular)
    batch = np.broadcast_shapes(A.array.shape[:-2], input.array.shape[:-2])
    return TriangularSolveResult(made, A.expand(*batch, *A.array.shape[-2:]).clone())


@guards("input")
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of A X = B, given B (``input``) and the Cholesky factor of A.

    A is L Lᵀ, or Lᵀ L where the factor is ``upper``.  Its other half is not
    read, and has the gradient 0 (in PyTorch it has one nevertheless).
    """
    for name, tensor in (("b", input), ("u", L)):
        if tensor.array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {tensor.array.ndim} dimensions instead: "
                f"{describe(tensor)}"
            )
    if L.array.shape[-2] != L.array.shape[-1]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {L.array.shape[-2]} by {L.array.shape[-1]} "
            f"matrices: {describe(L)}"
        )
    rows, size = input.array.shape[-2], L.array.shape[-1]
    if rows != size:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {size} by {size} but each b "
            f"matrix is {rows} by {input.array.shape[-1]}"
        )
    _check_both("cholesky_solve", input, L)
    lower = L.mH if upper else L
    half = plain_solve_triangular(lower, input, upper=False)
    return plain_solve_triangular(lower.mH, half, upper=True)


@guards("L")
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor: A is L Lᵀ, or Lᵀ L where the factor is ``upper``."""
    require_square("cholesky_inverse", L)
    require_kernel("cholesky_inverse_out_cpu", L)
    zero = np.diagonal(L.array, axis1=-2, axis2=-1) == 0
    if any_of(zero):
        where_, number = in_batch(np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0))
        raise LinAlgError(
            f"cholesky_inverse: {where_}The diagonal element {number} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )
    identity = np.broadcast_to(module_of(L).eye(L.array.shape[-1], dtype=L.array.dtype), L.array.shape)
    return cholesky_solve(new_tensor(identity), L, upper)


NAMES = Names(both="cholesky_inverse cholesky_solve triangular_solve")
