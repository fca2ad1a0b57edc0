"""The factors of Gaussian elimination as tensors: ``lu``, ``lu_factor``, ``lu_solve``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous, module_of
from autokit.ops.errors import describe
from autokit.ops.gpu.arrays import any_of, like
from autokit.ops.guards import guards
from autokit.ops.index import read_at
from autokit.ops.lu import lu_arrays, order_of_rows
from autokit.ops.matrices import (
    in_batch,
    in_columns,
    require_floating,
    require_kernel,
    require_matrices,
    require_square,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.return_types import return_type
from autokit.ops.solving import check_sizes, check_system, plain_solve_triangular, triangle
from autokit.ops.warn import warn_of_newer
from autokit.tensor import Tensor, new_tensor

LuResult = return_type("linalg_lu", "P", "L", "U")
LuFactorResult = return_type("linalg_lu_factor", "LU", "pivots")
LuFactorExResult = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
LuUnpackResult = return_type("lu_unpack", "P", "L", "U")


def _unit_lower(lu: Any) -> Any:
    """L, from L below the diagonal and U on and above it."""
    size = min(lu.shape[-2:])
    ones = module_of(lu).eye(lu.shape[-2], size, dtype=_dtype(lu))
    below = triangle(lu[..., :size], False, 1)
    beside = new_tensor(ones) if isinstance(lu, Tensor) else ones
    return below | beside if ones.dtype.kind == "b" else below + beside


def _dtype(a: Any) -> Any:
    return (a.array if isinstance(a, Tensor) else a).dtype


def _upper(lu: Any) -> Any:
    return triangle(lu[..., : min(lu.shape[-2:]), :], True)


def _lu_gradient(g: Any, out: Any, order: Any) -> Any:
    """The gradient of A by L and U at once, which fill one matrix.

    For a square matrix it is P L⁻ᵀ [tril(Lᵀ G_L) + triu(G_U Uᵀ)] U⁻ᵀ, with the
    diagonal in the upper half; rows or columns beyond the square follow from
    L₂ = A₂ U⁻¹ and U₂ = L⁻¹ A₂.
    """
    rows, columns = out.shape[-2:]
    size = min(rows, columns)
    lower, upper = out[..., :size, :size], out[..., :size, :size]
    square = g[..., :size, :size]
    by_lower, by_upper = triangle(square, False, 1), triangle(square, True)
    more = None
    if rows > columns:
        more = transposed(
            on(plain_solve_triangular, triangle(upper, True), transposed(g[..., size:, :]), upper=True)
        )
        by_upper = by_upper - triangle(transposed(out[..., size:, :]) @ more, True)
    elif columns > rows:
        more = on(plain_solve_triangular, transposed(lower), g[..., size:], upper=True, unit=True)
        by_lower = by_lower - triangle(more @ transposed(out[..., size:]), False, 1)
    unit = _unit_lower(lower)
    inner = triangle(transposed(unit) @ by_lower, False, 1)
    inner = inner + triangle(by_upper @ transposed(triangle(upper, True)), True)
    inner = on(plain_solve_triangular, transposed(lower), inner, upper=True, unit=True)
    gradient = transposed(on(plain_solve_triangular, triangle(upper, True), transposed(inner), upper=True))
    if more is not None:
        gradient = np.concatenate([gradient, more], axis=-2 if rows > columns else -1)
    # The rows go back to where the pivots took them from.
    return permutation_of(order, _dtype(out)) @ gradient


def permutation_of(order: Any, dtype: Any) -> Any:
    """P, for which P L U is A: column k has its 1 in the row that came to be row k."""
    return contiguous(
        np.swapaxes(read_at(module_of(order).eye(order.shape[-1], dtype=dtype), (order,)), -1, -2)
    )


@operation(
    "LU",
    "L and U of {a} = P · L · U",
    a=derivative("P L⁻ᵀ (tril(Lᵀ g) + triu(g Uᵀ)) U⁻ᵀ", _lu_gradient),
    backward="LinalgLuFactorExBackward0",
)
def plain_lu(a, /, found=None, order=None):
    """L below the diagonal and U on and above it; see :func:`lu_factor`."""
    return in_columns(found)


@guards(results=(0, 1))
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """As :func:`lu_factor`, with the number of the first zero on the diagonal of U, or 0, for each matrix."""
    if A.array.ndim < 2:
        raise RuntimeError(
            "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(A.array.shape)} instead"
        )
    require_kernel("lu_cpu", A)
    if not pivot and A.array.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    lu, pivots = lu_arrays(A.array)
    zero = np.diagonal(lu, axis1=-2, axis2=-1) == 0
    infos = (
        np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0).astype(np.int32)
        if zero.size
        else like(np.zeros_like, A.array, np.int32, shape=A.array.shape[:-2])
    )
    if check_errors and any_of(infos):
        place, number = in_batch(infos)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {place}U[{number},{number}] is zero and using it on lu_solve would "
            "result in a division by zero. If you still want to perform the factorization, consider calling "
            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    made = plain_lu(A, found=lu, order=order_of_rows(pivots, A.array.shape[-2]))
    return LuFactorExResult(made, new_tensor(pivots), new_tensor(infos))


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Gaussian elimination with pivots: L and U in one matrix, and the rows swapped at each step, from 1.

    Raises
    ------
    RuntimeError
        If a zero stands on the diagonal of U.
    """
    made = lu_factor_ex(A, pivot=pivot, check_errors=True)
    return LuFactorResult(made.LU, made.pivots)


def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """As :func:`lu_factor`; with ``get_infos`` also the number of the first zero pivot, or 0."""
    warn_of_newer("lu", "torch.linalg.lu_factor")
    made = lu_factor_ex(input, pivot=pivot)
    return tuple(made) if get_infos else (made.LU, made.pivots)


@guards(results=(0, 1, 2))
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P L U: a permutation, a lower triangle with ones on its diagonal, and an upper triangle."""
    if A.array.ndim < 2:
        raise RuntimeError(
            f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A.array.shape)} instead"
        )
    made = lu_factor_ex(A, pivot=pivot)
    return LuResult(*lu_unpack(made.LU, made.pivots, unpack_pivots=pivot))


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U, from what :func:`lu_factor` gives.

    Raises
    ------
    RuntimeError
        If the pivots are no pivots of such a matrix: of int32, one for each step, the number of a row.
    """
    if LU_data.array.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.array.shape)} instead"
        )
    empty = new_tensor(like(np.zeros_like, LU_data.array, shape=0))
    permutation = empty
    if unpack_pivots:
        order = order_of_rows(_steps("lu_unpack", LU_data, LU_pivots), LU_data.array.shape[-2])
        permutation = new_tensor(permutation_of(order, LU_data.array.dtype))
    if not unpack_data:
        return LuUnpackResult(permutation, empty, empty)
    return LuUnpackResult(permutation, _unit_lower(LU_data), _upper(LU_data))


def _steps(function: str, LU: Tensor, pivots: Tensor) -> Any:
    """The pivots of each step, checked to be those of ``LU``."""
    if pivots.array.dtype != np.int32:
        raise RuntimeError(
            f"{function}: pivots should be a Tensor of scalar type torch.int32. Got {describe(pivots)}"
        )
    *lead, rows, columns = LU.array.shape
    steps = min(rows, columns)
    if pivots.array.shape[:-1] != tuple(lead) or pivots.array.ndim <= len(lead):
        raise RuntimeError(
            f"{function}: there must be one row of pivots for each matrix. Got {describe(pivots)} for "
            f"{describe(LU)}"
        )
    if pivots.array.shape[-1] < steps:
        raise RuntimeError(
            f"{function}: Number of pivots per batch should be same as the dimension of the matrix: "
            f"{describe(pivots)} for {describe(LU)}"
        )
    used = pivots.array[..., :steps]
    if used.size and any_of((used < 1) | (used > rows)):
        raise RuntimeError(
            f"Pivots given to {function} must all be between 1 and LU.size(-2), which is {rows}. Did you "
            "properly pass the result of lu_factor?"
        )
    return used


@guards(results=(0,))
def linalg_lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The solution X of A X = B, given what :func:`lu_factor` makes of A.

    With ``left=False`` of X A = B, and with ``adjoint`` for Aᴴ in place of A.
    """
    name = "linalg.lu_solve"
    require_square(name, LU)
    require_matrices(name, B, "B")
    require_floating(name, LU)
    check_system(name, LU, B, "LU")
    steps = _steps(name, LU, pivots)
    check_sizes(name, LU, B.array.shape, left)
    if not left:
        return linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    order = order_of_rows(steps, LU.array.shape[-1])
    permutation = new_tensor(permutation_of(order, LU.array.dtype))
    if adjoint:
        turned = LU.mH
        half = plain_solve_triangular(turned, B, upper=False)
        return permutation @ plain_solve_triangular(turned, half, upper=True, unit=True)
    half = plain_solve_triangular(LU, permutation.transpose(-2, -1) @ B, upper=False, unit=True)
    return plain_solve_triangular(LU, half, upper=True)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution X of A X = b, given what :func:`lu_factor` makes of A."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


NAMES = Names(both="lu lu_solve", functions="lu_unpack")
