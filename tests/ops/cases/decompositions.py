"""Cases of inverses, systems of equations and decompositions.

Eigenvectors and singular vectors are compared without their signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import R, otherwise
from tests.ops.case import case as c


def S(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    a = R(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def L(*shape: int) -> np.ndarray:
    """Lower triangles, far from singular."""
    return np.tril(R(*shape)) / 2 + 2 * np.eye(shape[-1])


def _signless(results: Any) -> Any:
    return tuple(each.abs() for each in results)


INF = float("inf")
HALF = np.tril(np.ones((3, 3), int))

SIZES = ((3, 3), (2, 2, 2), (1, 1))

_SPREAD = R(3, 4) + np.eye(3, 4) * [1, 3, 6, 0]
"""Singular values far apart, near which the vectors hardly turn."""

CASES = [
    *(
        otherwise(
            "linalg.householder_product",
            lambda T, a, t: T.linalg.householder_product(a, t),
            R(*lead, 4, 3),
            R(*lead, count) / 2,
        )
        for lead in ((), (2,))
        for count in (3, 2)
    ),
    otherwise("orgqr", lambda T, a, t: T.orgqr(a, t), R(3, 3), R(3)),
    c("geqrf", lambda T, a: T.geqrf(a.detach()), R(4, 3)),
    otherwise("linalg.tensorinv", lambda T, a: T.linalg.tensorinv(a), R(2, 3, 6)),
    otherwise("linalg.tensorinv", lambda T, a: T.linalg.tensorinv(a, ind=1), R(4, 2, 2)),
    otherwise("linalg.tensorsolve", lambda T, a, b: T.linalg.tensorsolve(a, b), R(2, 3, 6), R(2, 3)),
    otherwise(
        "linalg.tensorsolve", lambda T, a, b: T.linalg.tensorsolve(a, b, dims=(0,)), R(6, 2, 3), R(2, 3)
    ),
    *(c("linalg.inv", lambda T, a: T.linalg.inv(a), R(*size)) for size in (*SIZES, (0, 0))),
    c("linalg.inv_ex", lambda T, a: T.linalg.inv_ex(a), R(2, 2, 2)),
    *(c("linalg.det", lambda T, a: T.linalg.det(a), R(*size)) for size in (*SIZES, (0, 0))),
    c("det", lambda T, a: T.det(a), R(3, 3)),
    c("det", lambda T, a: a.det(), R(2, 2)),
    *(c("linalg.slogdet", lambda T, a: T.linalg.slogdet(a), R(*size)) for size in SIZES),
    c("slogdet", lambda T, a: a.slogdet(), R(3, 3)),
    c("logdet", lambda T, a: T.logdet(a), S(3, 3)),
    c("logdet", lambda T, a: a.logdet(), S(2, 2, 2)),
    *(
        c("linalg.solve", lambda T, a, b: T.linalg.solve(a, b), R(*left), R(*right))
        for left, right in (
            ((3, 3), (3, 2)),
            ((3, 3), (3,)),
            ((2, 3, 3), (2, 3)),
            ((2, 3, 3), (2, 3, 1)),
            ((0, 0), (0, 2)),
        )
    ),
    otherwise("linalg.solve", lambda T, a, b: T.linalg.solve(a, b), R(2, 1, 2, 2), R(3, 2, 2)),
    otherwise("linalg.solve", lambda T, a, b: T.linalg.solve(a, b, left=False), R(3, 3), R(2, 3)),
    c("linalg.solve_ex", lambda T, a, b: T.linalg.solve_ex(a, b), R(2, 2), R(2, 1)),
    *(
        otherwise(
            "linalg.solve_triangular",
            lambda T, a, b, u=upper, l=left, n=unit: T.linalg.solve_triangular(
                a, b, upper=u, left=l, unitriangular=n
            ),
            L(2, 2) + L(2, 2).T,
            R(2, 2),
        )
        for upper in (True, False)
        for left in (True, False)
        for unit in (True, False)
    ),
    c(
        "linalg.solve_triangular",
        lambda T, a, b: T.linalg.solve_triangular(a, b, upper=False),
        L(3, 3),
        R(3, 2),
    ),
    otherwise(
        "linalg.solve_triangular",
        lambda T, a, b: T.linalg.solve_triangular(a, b, upper=False),
        L(2, 2, 2),
        R(2, 1),
    ),
    otherwise("triangular_solve", lambda T, b, a: T.triangular_solve(b, a)[0], R(2, 3), L(2, 2).T),
    otherwise("triangular_solve", lambda T, b, a: b.triangular_solve(a, False, True)[0], R(2, 3), L(2, 2)),
    # Where a factor's other half is no part of the computation, PyTorch gives it a gradient all the same.
    otherwise("cholesky_solve", lambda T, b, l, half: T.cholesky_solve(b, l * half), R(3, 2), L(3, 3), HALF),
    otherwise(
        "cholesky_solve",
        lambda T, b, l, half: b.cholesky_solve((l * half).transpose(-2, -1), upper=True),
        R(3, 2),
        L(3, 3),
        HALF,
    ),
    otherwise("cholesky_inverse", lambda T, l, half: T.cholesky_inverse(l * half), L(3, 3), HALF),
    otherwise("cholesky_inverse", lambda T, l, half: (l * half).T.cholesky_inverse(True), L(3, 3), HALF),
    *(c("linalg.cholesky", lambda T, a: T.linalg.cholesky(a), S(*size)) for size in SIZES),
    otherwise("linalg.cholesky", lambda T, a: T.linalg.cholesky(a, upper=True), S(3, 3)),
    c("linalg.cholesky_ex", lambda T, a: T.linalg.cholesky_ex(a), S(3, 3)),
    otherwise("cholesky", lambda T, a: T.cholesky(a), S(3, 3)),
    otherwise("cholesky", lambda T, a: a.cholesky(), S(2, 2)),
    *(
        c("linalg.qr", lambda T, a: T.linalg.qr(a), R(*size))
        for size in ((3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 1))
    ),
    c("linalg.qr", lambda T, a: T.linalg.qr(a, mode="complete"), R(2, 4)),
    c("linalg.qr", lambda T, a: T.linalg.qr(a.detach(), mode="complete"), R(4, 2)),
    c("linalg.qr", lambda T, a: T.linalg.qr(a.detach(), mode="r"), R(4, 2)),
    c("linalg.qr", lambda T, a: T.linalg.qr(a)[0], R(3, 2)),
    c("linalg.qr", lambda T, a: T.linalg.qr(a)[1], R(3, 2)),
    c("linalg.qr", lambda T, a: T.linalg.qr(a)[0], R(2, 3)),
    c("qr", lambda T, a: T.qr(a), R(3, 2)),
    c("qr", lambda T, a: a.qr(), R(2, 2)),
    *(
        c(
            "linalg.svd",
            lambda T, a: _signless(T.linalg.svd(a, full_matrices=False)),
            R(*size) + 2 * np.eye(*size[-2:]),
        )
        for size in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ),
    c("linalg.svd", lambda T, a: T.linalg.svd(a)[1], R(3, 2)),
    c("linalg.svd", lambda T, a: _signless(T.linalg.svd(a)), R(2, 2) + np.diag([2, 4])),
    c("linalg.svd", lambda T, a: [each.shape for each in T.linalg.svd(a)], R(3, 2)),
    otherwise("linalg.svd", lambda T, a: _low_rank(*T.linalg.svd(a, full_matrices=False)), _SPREAD),
    otherwise(
        "linalg.svd",
        lambda T, a, b: T.view_as_real(_low_rank(*T.linalg.svd(T.complex(a, b), full_matrices=False))),
        _SPREAD,
        R(3, 4),
    ),
    c("svd", lambda T, a: _signless(T.svd(a)), R(3, 2)),
    c("svd", lambda T, a: _signless(a.svd()), R(2, 3)),
    *(c("linalg.svdvals", lambda T, a: T.linalg.svdvals(a), R(*size)) for size in ((3, 2), (2, 2, 3))),
    *(c("linalg.eigh", lambda T, a: _signless(T.linalg.eigh(a)), S(*size)) for size in SIZES),
    c("linalg.eigh", lambda T, a: _signless(T.linalg.eigh(a, UPLO="U")), S(3, 3)),
    otherwise("linalg.eigh", lambda T, a: _function_of(*T.linalg.eigh(a)), S(3, 3)),
    *(c("linalg.eigvalsh", lambda T, a: T.linalg.eigvalsh(a), S(*size)) for size in SIZES),
    otherwise("linalg.eigvals", lambda T, a: _real(T.linalg.eigvals(a)), S(3, 3)),
    otherwise(
        "linalg.eig",
        lambda T, a: _signless(map(_real, T.linalg.eig(a))),
        np.triu(R(3, 3)) + np.diag([1, 4, 9.0]),
    ),
    *(c("linalg.matrix_exp", lambda T, a: T.linalg.matrix_exp(a), R(*size)) for size in (*SIZES, (0, 0))),
    c("matrix_exp", lambda T, a: T.matrix_exp(a * 5), R(3, 3)),
    c("matrix_exp", lambda T, a: a.matrix_exp(), np.zeros((2, 2))),
    *(
        c("linalg.pinv", lambda T, a: T.linalg.pinv(a), R(*size))
        for size in ((3, 2), (2, 3), (2, 2), (2, 3, 2))
    ),
    c("linalg.pinv", lambda T, a: T.linalg.pinv(a, rtol=0.3), np.diag([3.0, 2.0, 0.5])),
    c("linalg.pinv", lambda T, a: T.linalg.pinv(a, atol=1), np.diag([3.0, 2.0, 0.5])),
    otherwise("linalg.pinv", lambda T, a: T.linalg.pinv(a + a.T, hermitian=True), R(3, 3) + 3 * np.eye(3)),
    otherwise("linalg.pinv", lambda T, a: T.linalg.pinv(a, hermitian=True), R(3, 3) + 3 * np.eye(3)),
    c("pinverse", lambda T, a: T.pinverse(a), R(3, 2)),
    c("pinverse", lambda T, a: a.pinverse(), R(2, 3)),
    *(
        otherwise("linalg.lstsq", lambda T, a, b: T.linalg.lstsq(a, b)[0], R(*left), R(*right))
        for left, right in (((4, 2), (4, 3)), ((2, 2), (2, 1)), ((2, 3), (2, 1)), ((2, 3, 2), (2, 3)))
    ),
    otherwise("linalg.lstsq", lambda T, a, b: T.linalg.lstsq(a.detach(), b.detach()), R(4, 2), R(4, 3)),
    *(
        otherwise(
            "linalg.lstsq", lambda T, a, b: T.linalg.lstsq(a, b, driver="gelsd")[:2], R(*left), R(*right)
        )
        for left, right in (((4, 2), (4, 1)), ((4, 2), (4,)), ((2, 4, 2), (2, 4)))
    ),
    otherwise(
        "linalg.lstsq",
        lambda T, a, b: T.linalg.lstsq(a.detach(), b.detach(), driver="gelsd"),
        R(4, 2),
        R(4, 1),
    ),
    otherwise("linalg.lstsq", lambda T, a, b: T.linalg.lstsq(a, b, 0.9, driver="gels")[0], R(4, 2), R(4, 1)),
    *(
        c("linalg.matrix_rank", lambda T, a: T.linalg.matrix_rank(a), a)
        for a in (R(3, 2), np.ones((3, 3)), np.zeros((2, 2)), R(2, 3, 3))
    ),
    c("linalg.matrix_rank", lambda T, a: T.linalg.matrix_rank(a, tol=1.0), np.diag([3.0, 2.0, 0.5])),
    c("linalg.matrix_rank", lambda T, a: T.linalg.matrix_rank(a, rtol=0.7), np.diag([3.0, 2.0, 0.5])),
    *(
        otherwise("linalg.lu", lambda T, a: T.linalg.lu(a), R(*size))
        for size in ((3, 3), (4, 2), (2, 4), (2, 3, 3))
    ),
    c("linalg.lu_factor", lambda T, a: T.linalg.lu_factor(a), R(3, 3)),
    c("linalg.lu_factor", lambda T, a: T.linalg.lu_factor(a), R(2, 4, 3)),
    c("linalg.lu_factor", lambda T, a: T.linalg.lu_factor(a), R(2, 4)),
    c("linalg.lu_factor_ex", lambda T, a: T.linalg.lu_factor_ex(a), R(3, 3)),
    c("lu", lambda T, a: T.lu(a), R(3, 3)),
    c("lu", lambda T, a: a.lu(get_infos=True), R(3, 3)),
    otherwise("lu_unpack", lambda T, a: T.lu_unpack(*T.linalg.lu_factor(a)), R(3, 3)),
    otherwise("lu_unpack", lambda T, a: T.lu_unpack(*T.linalg.lu_factor(a)), R(2, 3, 2)),
    otherwise("lu_solve", lambda T, a, b: T.lu_solve(b, *T.linalg.lu_factor(a)), R(3, 3), R(3, 2)),
    otherwise("lu_solve", lambda T, a, b: b.lu_solve(*T.linalg.lu_factor(a)), R(2, 2), R(2, 2)),
    otherwise(
        "linalg.lu_solve",
        lambda T, a, b: T.linalg.lu_solve(*T.linalg.lu_factor(a), b),
        R(2, 3, 3),
        R(2, 3, 1),
    ),
    *(
        otherwise(
            "linalg.lu_solve",
            lambda T, a, b, l=left: T.linalg.lu_solve(*T.linalg.lu_factor(a), b, left=l, adjoint=True),
            R(2, 2),
            R(2, 2),
        )
        for left in (True, False)
    ),
    *(
        c(
            f"linalg.{name}",
            lambda T, a, n=name, h=hermitian: getattr(T.linalg, n)(a.detach(), hermitian=h),
            R(*size),
        )
        for name in ("ldl_factor", "ldl_factor_ex")
        for size in ((4, 4), (2, 3, 5, 5), (1, 1), (0, 0))
        for hermitian in (False, True)
    ),
    c("plain_ldl", lambda T, a: T.linalg.ldl_factor(a.detach()), S(3, 3) - 2 * np.eye(3)),
    *(
        otherwise(
            "linalg.ldl_solve",
            lambda T, a, b, h=hermitian: T.linalg.ldl_solve(
                *T.linalg.ldl_factor(a.detach(), hermitian=h), b.detach(), hermitian=h
            ),
            R(*left),
            R(*right),
        )
        for left, right in (((4, 4), (4, 2)), ((2, 5, 5), (5, 1)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)))
        for hermitian in (False, True)
    ),
    otherwise(
        "linalg.multi_dot", lambda T, a, b, c: T.linalg.multi_dot([a, b, c]), R(2, 3), R(3, 1), R(1, 3)
    ),
    otherwise("linalg.multi_dot", lambda T, a, b, c: T.linalg.multi_dot([a, b, c]), R(3), R(3, 2), R(2)),
    otherwise("linalg.multi_dot", lambda T, a, b: T.linalg.multi_dot([a, b]), R(3), R(3)),
    otherwise("linalg.multi_dot", lambda T, a, b: T.linalg.multi_dot([a, b]), R(2, 3), R(3)),
    c("linalg.cross", lambda T, a, b: T.linalg.cross(a, b), R(2, 3), R(2, 3)),
    c("linalg.cross", lambda T, a, b: T.linalg.cross(a, b, dim=0), R(3, 2), R(3, 1)),
    c("linalg.vecdot", lambda T, a, b: T.linalg.vecdot(a, b), R(2, 3), R(3)),
    c("linalg.vecdot", lambda T, a, b: T.linalg.vecdot(a, b, dim=0), R(2, 3), R(2, 1)),
    c("linalg.matrix_power", lambda T, a: T.linalg.matrix_power(a, 3), R(2, 2)),
    c("linalg.matmul", lambda T, a, b: T.linalg.matmul(a, b), R(2, 3), R(3, 2)),
    *(
        c("linalg.vector_norm", lambda T, a, p=p, d=d: T.linalg.vector_norm(a, p, d), R(2, 3))
        for p in (2, 1, 3, 1.5, 0.5, -1, -2.5, INF, -INF)
        for d in (None, 0, (0, 1))
    ),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a, dim=1, keepdim=True), R(2, 3)),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a, dtype=T.float64), R(2, 3)),
    *(
        c("linalg.vector_norm", lambda T, a, p=p: T.linalg.vector_norm(a, p), np.array([0.0, -2, 2, 0]))
        for p in (2, 1, 3, INF, -INF)
    ),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a, 1), np.zeros(3)),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a.detach(), 0), np.array([0.0, 1, 2])),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a), R(0)),
    c("linalg.vector_norm", lambda T, a: T.linalg.vector_norm(a, 3), R()),
    *(
        c("linalg.matrix_norm", lambda T, a, p=p: T.linalg.matrix_norm(a, p), R(*size))
        for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)
        for size in ((3, 2), (2, 2, 3))
    ),
    *(
        otherwise(
            "linalg.matrix_norm",
            lambda T, a, p=p, d=d, k=k: T.linalg.matrix_norm(a, p, dim=d, keepdim=k),
            R(2, 3, 2),
        )
        for p in ("fro", "nuc", 1, -2, INF)
        for d in ((0, 2), (1, 0), (-1, -2))
        for k in (True, False)
    ),
    *(
        c("linalg.norm", lambda T, a, p=p: T.linalg.norm(a, p), R(3, 2))
        for p in (None, "fro", "nuc", 1, 2, INF)
    ),
    *(c("linalg.norm", lambda T, a, p=p: T.linalg.norm(a, p), R(3)) for p in (None, 1, 3, -INF)),
    c("linalg.norm", lambda T, a: T.linalg.norm(a), R(2, 3, 2)),
    c("linalg.norm", lambda T, a: T.linalg.norm(a, dim=(0, 1)), R(2, 3, 2)),
    c("linalg.norm", lambda T, a: T.linalg.norm(a, 1, dim=1, keepdim=True), R(2, 3, 2)),
    *(
        otherwise("linalg.cond", lambda T, a, p=p: T.linalg.cond(a, p), R(*size))
        for p in (None, 2, -2)
        for size in ((3, 3), (2, 2, 2))
    ),
    *(  # PyTorch's derivative of these fails: it changes in place what it has saved.
        c("linalg.cond", lambda T, a, p=p: T.linalg.cond(a.detach(), p), R(*size))
        for p in (1, "fro", "nuc", INF)
        for size in ((3, 3), (2, 2, 2))
    ),
    otherwise("linalg.cond", lambda T, a: T.linalg.cond(a), R(3, 2)),
    otherwise("linalg.cond", lambda T, a: T.linalg.cond(a.detach(), 1), np.ones((2, 2))),
    c("linalg.diagonal", lambda T, a: T.linalg.diagonal(a), R(2, 3, 3)),
    c("linalg.diagonal", lambda T, a: T.linalg.diagonal(a, offset=1, dim1=0, dim2=1), R(2, 3, 3)),
]


def _low_rank(u: Any, s: Any, vh: Any) -> Any:
    return (u[:, :1] * s[:1]) @ vh[:1]


def _function_of(values: Any, vectors: Any) -> Any:
    return (vectors * values.log()) @ vectors.T


def _real(tensor: Any) -> Any:
    return tensor.real if "complex" in str(tensor.dtype) else tensor
