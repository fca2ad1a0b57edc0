"""Elimination that keeps a matrix symmetric: ``ldl_factor``, ``ldl_factor_ex``, ``ldl_solve``.

A is P L D Lᵀ Pᵀ, with a permutation P, ones on the diagonal of the lower triangle L, and a D of single
elements and 2×2 blocks on its diagonal: an element alone may be 0, or too small to divide by, where the
matrix is not positive definite [1]_.

References
----------
.. [1] J. R. Bunch, L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear
   systems", Mathematics of Computation 31 (1977), 163-179.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.devices import beside, module_of, to_numpy
from autokit.meta_array import MetaArray, run
from autokit.ops.errors import describe
from autokit.ops.factors import permutation_of
from autokit.ops.gpu.arrays import any_of
from autokit.ops.lu import sizes
from autokit.ops.matrices import (
    in_batch,
    in_columns,
    mirrored,
    require_floating,
    require_kernel,
    require_square,
    transposed,
)
from autokit.ops.operation import derivative, operation
from autokit.ops.return_types import return_type
from autokit.ops.solving import check_system, plain_solve, plain_solve_triangular
from autokit.tensor import Tensor, new_tensor

LdlFactorResult = return_type("linalg_ldl_factor", "LD", "pivots")
LdlFactorExResult = return_type("linalg_ldl_factor_ex", "LD", "pivots", "info")

_GROWTH = (1 + math.sqrt(17)) / 8
"""How large a pivot has to be beside its column: then elements grow least, by one step or by two [1]."""


def _on_the_cpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays on any device: it asks for a number at each step, which a GPU would wait for."""

    @wraps(function)
    def apply(a: Any, *settings: Any) -> Any:
        if a.__class__ is MetaArray:
            return run(function, (a, *settings), {})
        return tuple([beside(a, each) for each in function(to_numpy(a), *settings)])

    return apply


def _block(a: Any) -> tuple[int, int]:
    """How many rows the next pivot takes, 1 or 2, and which row comes to be the last of these; or (0, 0).

    The four cases of the paper, section 4.2, in the order in which LAPACK's ``sytf2`` asks.
    """
    size = sizes(a)
    diagonal, column = float(size[0, 0]), size[1:, 0]
    largest = float(column.max()) if len(column) else 0.0
    if not diagonal > 0 and largest == 0:
        return 0, 0
    if diagonal >= _GROWTH * largest:
        return 1, 0
    row = 1 + int(column.argmax())
    others = max(float(size[row, :row].max()), float(size[row + 1 :, row].max()) if row + 1 < len(a) else 0.0)
    if diagonal >= _GROWTH * largest * (largest / others):
        return 1, 0
    return (1, row) if float(size[row, row]) >= _GROWTH * others else (2, row)


def _factor(a: Any, pivots: Any, conjugated: bool) -> int:
    """Overwrite one symmetric matrix by L and D, and write its pivots; the first step without one, or 0."""
    failed, step = 0, 0
    while step < len(a):
        rest = a[step:, step:]
        count, row = _block(rest)
        if not count:
            failed = failed or step + 1
            pivots[step] = step + 1
            step += 1
            continue
        last = count - 1
        if row != last:
            rest[[last, row]] = rest[[row, last]]
            rest[:, [last, row]] = rest[:, [row, last]]
        columns = rest[count:, :count].copy()
        below = columns @ np.linalg.inv(rest[:count, :count])
        rest[count:, count:] -= below @ (columns.conj() if conjugated else columns).T
        rest[count:, :count] = below
        pivots[step : step + count] = (step + row + 1) * (1 if count == 1 else -1)
        step += count
    return failed


@_on_the_cpu
def ldl_arrays(a: Any, conjugated: bool) -> tuple[Any, Any, Any]:
    """L and D in one array, the pivots, and the number of the first zero pivot, or 0, for each matrix."""
    *lead, rows, _ = a.shape
    count = math.prod(lead)
    made = mirrored(a, conjugated).reshape((count, rows, rows))
    pivots = np.zeros_like(a, np.int32, shape=(count, rows))
    failed = [_factor(*each, conjugated) for each in zip(made, pivots)]
    infos = np.asarray(failed, np.int32).reshape(lead)
    return np.tril(made).reshape(a.shape), pivots.reshape((*lead, rows)), infos


def _refuse_gradient(g: Any) -> Any:
    raise RuntimeError(
        "derivative for aten::linalg_ldl_factor_ex is not implemented: torch.linalg.solve, lu_factor and "
        "cholesky have one"
    )


@operation("LD", "L and D of {a} = L · D · Lᵀ", a=derivative("not given", _refuse_gradient))
def plain_ldl(a, /, found=None):
    """L below the blocks of D; see :func:`ldl_factor`."""
    return in_columns(found)


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """As :func:`ldl_factor`, and for each matrix the number of the first zero on D's diagonal, or 0."""
    return _factored("torch.linalg.ldl_factor_ex", A, hermitian, check_errors)


def _factored(name: str, A: Tensor, hermitian: bool, check_errors: bool) -> Any:
    require_square(name, A)
    if A.array.dtype.kind in "bui":
        require_floating(name, A)
    require_kernel("ldl_factor_kernel_cpu", A)
    found, pivots, infos = ldl_arrays(A.array, hermitian and A.array.dtype.kind == "c")
    if check_errors and any_of(infos):
        place, number = in_batch(infos)
        raise RuntimeError(
            f"{name}: {place}D[{number},{number}] is zero or no number, and ldl_solve would divide by it: "
            "the matrix is singular. If you still want the factors, call linalg.ldl_factor_ex(A)"
        )
    return LdlFactorExResult(plain_ldl(A, found=found), new_tensor(pivots), new_tensor(infos))


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """Symmetric elimination, A = P L D Lᵀ Pᵀ, also of matrices that are not positive definite.

    Parameters
    ----------
    A : Tensor
        Symmetric matrices, of which the lower triangle is read.
    hermitian : bool
        Complex matrices are Hermitian, and Lᵀ is conjugated.

    Returns
    -------
    LD, pivots
        As LAPACK's ``sytrf`` lays them out: D on the diagonal, and beside it where it has a 2×2 block; L
        below.  A pivot k above 0 says that row k changed places with the step's own, two equal ones −k that
        it did with the second of a block.  Of candidates that are equal but for their rounding PyTorch may
        have taken another.

    Raises
    ------
    RuntimeError
        If D has a zero on its diagonal; in backward: there is no derivative, as in PyTorch.

    Examples
    --------
    >>> import autokit as torch
    >>> A = torch.tensor([[0.0, 2.0], [2.0, 0.0]])
    >>> LD, pivots = torch.linalg.ldl_factor(A)
    >>> pivots
    tensor([-2, -2], dtype=torch.int32)
    >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[2.0], [4.0]]))
    tensor([[2.],
            [1.]])
    """
    made = _factored("torch.linalg.ldl_factor", A, hermitian, True)
    return LdlFactorResult(made.LD, made.pivots)


@_on_the_cpu
def _order(pivots: Any) -> tuple[Any, Any, Any]:
    """From the pivots: where D has elements beside its diagonal, P, and the row from which each of L comes.

    LAPACK leaves the columns that are done as they are where it swaps rows for a later step; here they swap
    with them.
    """
    *lead, rows = pivots.shape
    count = math.prod(lead)
    steps = pivots.reshape((count, rows)).astype(np.int64)
    each, place = np.arange(count), np.arange(rows)
    order = np.zeros_like(steps, shape=(count, rows)) + place
    sources = np.zeros_like(steps, shape=(count, rows, rows)) + place[:, None]
    off_diagonal = np.zeros_like(steps, bool, shape=(count, rows, rows))
    begins = ends = np.zeros_like(steps, bool, shape=(count,))
    for step in range(rows):
        ends, begins = begins, (steps[:, step] < 0) & ~begins
        if step + 1 < rows:
            off_diagonal[:, step + 1, step] = begins
        here = step + begins
        other = np.where(ends, here, np.abs(steps[:, step]) - 1)
        alone = begins & (steps[:, step] != steps[:, step + 1] if step + 1 < rows else True)
        wrong = (other < here) & (other >= 0)  # on the meta device all are 0
        if (wrong | alone).any():
            raise RuntimeError(
                "Pivots given to ldl_solve must be those of an elimination: each names its own row or a "
                f"later one, and those below 0 stand in equal pairs; that of row {step} does not. Did you "
                "properly pass the result of ldl_factor?"
            )
        done = sources[:, :, :step]
        for rows_of in (order, done):
            rows_of[each, here], rows_of[each, other] = rows_of[each, other], rows_of[each, here]
    shape = (*lead, rows, rows)
    return off_diagonal.reshape(shape), order.reshape(pivots.shape), sources.reshape(shape)


def _checked(LD: Tensor, pivots: Tensor) -> Any:
    """The pivots as numbers, if they can be those of ``LD``."""
    name, rows = "torch.linalg.ldl_solve", LD.array.shape[-1]
    if pivots.array.shape != LD.array.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got {describe(pivots)} for "
            f"{describe(LD)}"
        )
    if pivots.array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {describe(pivots)}")
    size = np.abs(pivots.array)
    if any_of(size < 1):
        raise RuntimeError(
            "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Did you properly pass the result of "
            "ldl_factor?"
        )
    if any_of(size > rows):
        raise RuntimeError(
            f"Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2), which is {rows}. Did you "
            "properly pass the result of ldl_factor?"
        )
    return pivots.array


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution X of A X = B, given what :func:`ldl_factor` makes of A.

    Parameters
    ----------
    LD, pivots : Tensor
        What :func:`ldl_factor` returned.
    B : Tensor
        Right-hand sides, (..., n, k).
    hermitian : bool
        As it was for :func:`ldl_factor`.

    Raises
    ------
    RuntimeError
        If the shapes or dtypes do not fit, or the pivots can be those of no such matrix.

    Notes
    -----
    It has a gradient here, by LD and by B, and none in PyTorch.
    """
    name = "torch.linalg.ldl_solve"
    require_square(name, LD)
    if B.array.ndim < 2:
        raise IndexError(
            f"{name}: B must have at least 2 dimensions. Got {describe(B)}: unsqueeze(-1) makes a column"
        )
    require_floating(name, LD)
    check_system(name, LD, B, "LD")
    rows = LD.array.shape[-1]
    if B.array.shape[-2] != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {rows} but each b matrix is "
            f"{B.array.shape[-2]} by {B.array.shape[-1]}"
        )
    off_diagonal, order, sources = _order(_checked(LD, pivots))
    turned = LD.mH if hermitian else LD.mT
    blocks = _where(module_of(LD).eye(rows, dtype=bool) | off_diagonal, LD) + _where(
        transposed(off_diagonal), turned
    )
    below = _where(
        module_of(LD).tri(rows, k=-1, dtype=bool) & ~off_diagonal, LD.take_along_dim(new_tensor(sources), -2)
    )
    permuted = new_tensor(permutation_of(order, LD.array.dtype))
    half = plain_solve(blocks, plain_solve_triangular(below, permuted.mT @ B, upper=False, unit=True))
    return permuted @ plain_solve_triangular(below.mH if hermitian else below.mT, half, upper=True, unit=True)


def _where(mask: Any, matrices: Tensor) -> Tensor:
    """The matrices where ``mask`` holds, and 0 elsewhere."""
    return matrices.masked_fill(new_tensor(~mask), 0)
