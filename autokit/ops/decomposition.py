"""Decompositions of matrices: Cholesky's, QR, singular values and eigenvalues.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix derivative results for forward and
reverse mode algorithmic differentiation", 2008; "Townsend" is J. Townsend, "Differentiating the singular
value decomposition", 2016.

Eigenvectors and singular vectors are determined up to their sign; LAPACK chooses it, and another build of
LAPACK may choose otherwise. A loss should not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.gpu.lacking import raising
from autokit.ops.gather import return_type
from autokit.ops.names import Names
from autokit.ops.solve import (
    LinAlgError,
    inv,
    require_matrices,
    require_square,
    transposed,
    triangular_solution,
)

QR = return_type("linalg_qr", "Q", "R")
SVD = return_type("linalg_svd", "U", "S", "Vh")
OlderSVD = return_type("svd", "U", "S", "V")
Eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
Eig = return_type("linalg_eig", "eigenvalues", "eigenvectors")


def _identity(a: Any) -> Any:
    """The identity as a mask, as large as the matrices of ``a``."""
    return module_of(a).eye(a.shape[-1], dtype=bool)


def _off_diagonal(a: Any, over: Any) -> Any:
    """``a / over`` off the diagonal, and zeros on it."""
    diagonal = _identity(a)
    return np.where(diagonal, 0.0, a / np.where(diagonal, 1.0, over))


def _row(values: Any) -> Any:
    """A vector for each matrix, as a row: it scales columns."""
    return values[..., None, :]


def _column(values: Any) -> Any:
    """A vector for each matrix, as a column: it scales rows."""
    return values[..., :, None]


def _skew(a: Any) -> Any:
    return a - transposed(a)


# ---------------------------------------------------------------- Cholesky's


def _cholesky_gradient(g: Any, out: Any) -> Any:
    inner = np.tril(transposed(out) @ g)
    symmetric = (inner + transposed(np.tril(inner, -1))) / 2
    half = on(triangular_solution, transposed(out), symmetric, upper=True)
    return transposed(on(triangular_solution, transposed(out), transposed(half), upper=True))


@operation(
    "Cholesky",
    "L of {a} = L · Lᵀ",
    a=derivative("sym(L⁻ᵀ Φ(Lᵀ g) L⁻¹), where L = {out} and Φ takes the lower half", _cholesky_gradient),
    name="cholesky",
    backward="LinalgCholeskyExBackward0",
)
def _cholesky(a, /):
    require_square("linalg.cholesky", a)
    try:
        with raising(a):
            factor = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        factor = None
    if factor is None or np.isnan(factor).any():
        raise LinAlgError(
            "linalg.cholesky: the input is not positive-definite: all eigenvalues must be above 0; adding a "
            "small multiple of the identity, A + 1e-6 * torch.eye(n), often helps where rounding made one "
            "negative"
        )
    return factor


def cholesky(A: Tensor, upper: bool = False) -> Tensor:
    """The lower triangle L for which A = L Lᵀ; or the upper one U for which A = Uᵀ U.

    Parameters
    ----------
    A : Tensor
        Symmetric positive definite matrices; one half of each is read, the lower one unless ``upper``.
    upper : bool
        Which triangle, and which half is read.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.

    Notes
    -----
    With Φ taking the lower half, and half of the diagonal, the gradient is the symmetric part of
    L⁻ᵀ Φ(Lᵀ G) L⁻¹ [1]_.

    References
    ----------
    .. [1] I. Murray, "Differentiation of the Cholesky decomposition", 2016.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return transposed(_cholesky(transposed(A))) if upper else _cholesky(A)


# ---------------------------------------------------------------- QR


def _square_gradient(g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    """The gradient of A = Q R, where R is square."""
    inner = np.triu(g_r @ transposed(r) - transposed(q) @ g_q)
    # sym mirrors the upper half, with the diagonal counted once.
    total = g_q + q @ (inner + transposed(np.triu(inner, 1)))
    return transposed(on(triangular_solution, r, transposed(total), upper=True))


def _qr_gradient(g: Any, out: Any, mode: str) -> Any:
    """The gradient of A = Q R; the columns beyond a square R are Qᵀ A, and pass theirs on directly."""
    q, r = out
    if mode == "r":
        raise RuntimeError(
            "linalg.qr with mode='r' computes no Q, which its derivative needs: use mode='reduced'"
        )
    if q.shape[-1] > r.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: use "
            "mode='reduced'"
        )
    g_q = np.zeros_like(q) if g[0] is None else g[0]
    g_r = np.zeros_like(r) if g[1] is None else g[1]
    size = q.shape[-1]
    if r.shape[-1] == size:
        return _square_gradient(g_q, g_r, q, r)
    further = g_r[..., size:]
    g_q = g_q + q @ (r[..., size:] @ transposed(further))
    left = _square_gradient(g_q, g_r[..., :size], q, r[..., :size])
    return np.concatenate([left, q @ further], axis=-1)


@operation(
    "QR",
    "Q and R of {a} = Q · R",
    a=derivative("(g_Q + Q · sym(g_R Rᵀ − Qᵀ g_Q)) · R⁻ᵀ", _qr_gradient),
    name="qr",
    backward="LinalgQrBackward0",
)
def _qr(a, /, mode="reduced"):
    require_matrices("linalg.qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected 'reduced' (default), 'complete' or 'r'"
        )
    if mode == "r":
        return np.zeros_like(a, shape=0), np.linalg.qr(a, mode="r")
    return tuple(np.linalg.qr(a, mode=mode))


def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """A = Q R, with orthonormal columns in Q and an upper triangle R.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    mode : "reduced", "complete" or "r"
        Q is m×min(m, n), or m×m, or empty because it is not asked for.

    Raises
    ------
    RuntimeError
        If there is no such mode; in backward, for mode "r", and for "complete" where m > n.

    Notes
    -----
    The gradient, for m ≥ n, is (G_Q + Q sym(G_R Rᵀ − Qᵀ G_Q)) R⁻ᵀ [1]_, where sym mirrors the upper half.

    References
    ----------
    .. [1] S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions with
    application in
       optimum experimental design", 2010.
    """
    return QR(*_qr(A, mode=mode))


def qr(input: Tensor, some: bool = True) -> Any:
    """A = Q R; see ``torch.linalg.qr``, whose mode is "reduced" for ``some``, and else "complete"."""
    return linalg_qr(input, "reduced" if some else "complete")


# ---------------------------------------------------------------- singular values


def _gradient_by_vectors(g: Any, u: Any, s: Any, vh: Any) -> Any:
    """The gradient of A = U diag(S) Vᵀ through U: how its columns turn, and what leads out of them."""
    differences = _row(s * s) - _column(s * s)
    change = u @ (_off_diagonal(_skew(transposed(u) @ g), differences) * _row(s))
    if u.shape[-2] > u.shape[-1]:
        outside = g / _row(s)
        change = change + outside - u @ (transposed(u) @ outside)
    return change @ vh


def _svd_gradient(g: Any, out: Any) -> Any:
    """The gradient through U, S and Vᵀ, those that have one; columns beyond the smaller size have none."""
    g_u, g_s, g_vh = g
    u, s, vh = out
    size = s.shape[-1]
    u, vh = u[..., :size], vh[..., :size, :]
    total = 0.0
    if g_s is not None:
        total = total + (u * _row(g_s)) @ vh
    if g_u is not None:
        total = total + _gradient_by_vectors(g_u[..., :size], u, s, vh)
    if g_vh is not None:  # as the gradient of Aᵀ = V diag(S) Uᵀ
        by_v = _gradient_by_vectors(transposed(g_vh[..., :size, :]), transposed(vh), s, transposed(u))
        total = total + transposed(by_v)
    return total


@operation(
    "SVD",
    "U, S and Vᵀ of {a} = U · S · Vᵀ",
    a=derivative(
        "U (skew(Uᵀ g_U) / (sⱼ² − sᵢ²) · S + diag(g_S) + S · skew(Vᵀ g_V) / (sⱼ² − sᵢ²)) Vᵀ", _svd_gradient
    ),
    name="svd",
    backward="LinalgSvdBackward0",
)
def _svd(a, /, full_matrices=True):
    require_matrices("linalg.svd", a)
    try:
        return tuple(np.linalg.svd(a, full_matrices=full_matrices))
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge, most likely because the input matrix contains "
            "NaN or inf"
        ) from None


def linalg_svd(A: Tensor, full_matrices: bool = True) -> Any:
    """A = U diag(S) Vᵀ: orthonormal columns in U and in V, singular values from the largest.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    full_matrices : bool
        U and V are square; else they have min(m, n) columns.

    Returns
    -------
    U, S, Vh
        With V transposed, as in NumPy.

    Raises
    ------
    LinAlgError
        If an element is not finite.

    Notes
    -----
    The gradient through U and V divides by differences of squared singular values: it is not finite where
    two are equal, and means something only for a loss that does not depend on signs (Giles, section 3.2;
    Townsend). Columns that ``full_matrices`` adds pass no gradient on.
    """
    return SVD(*_svd(A, full_matrices=full_matrices))


def svdvals(A: Tensor) -> Tensor:
    """The singular values of each matrix, from the largest."""
    return _svd(A, full_matrices=False)[1]


def svd(input: Tensor, some: bool = True) -> Any:
    """A = U diag(S) Vᵀ; see ``torch.linalg.svd``, which gives V transposed."""
    u, s, vh = _svd(input, full_matrices=not some)
    return OlderSVD(u, s, transposed(vh))


# ---------------------------------------------------------------- eigenvalues


def _eigh_gradient(g: Any, out: Any) -> Any:
    by_values, by_vectors = g
    values, vectors = out
    total = 0.0
    if by_values is not None:
        total = total + (vectors * _row(by_values)) @ transposed(vectors)
    if by_vectors is not None:
        # Orthonormal vectors can only rotate: a change of V is V times a skew-symmetric matrix.
        turn = _skew(transposed(vectors) @ by_vectors) / 2
        turn = _off_diagonal(turn, _row(values) - _column(values))
        total = total + vectors @ turn @ transposed(vectors)
    return total


@operation(
    "λ, V",
    "λ and V of {a} = V · diag(λ) · Vᵀ",
    a=derivative("V (diag(g_λ) + skew(Vᵀ g_V) / (λⱼ − λᵢ)) Vᵀ", _eigh_gradient),
    name="eigh",
    backward="LinalgEighBackward0",
)
def _eigh(a, /, uplo="L"):
    require_square("linalg.eigh", a)
    if uplo not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    try:
        return tuple(np.linalg.eigh(a, UPLO=uplo))
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg.eigh: the algorithm failed to converge: an element is NaN or inf") from None


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, in ascending order, and orthonormal eigenvectors in columns.

    Parameters
    ----------
    A : Tensor
        Symmetric matrices, of which one half is read.
    UPLO : "L" or "U"
        Which half.

    Notes
    -----
    The gradient is V (diag(g_λ) + skew(Vᵀ G_V) / (λⱼ − λᵢ)) Vᵀ (Giles, section 3.1): not finite where two
    eigenvalues are equal and eigenvectors are used.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    return Eigh(*_eigh(A, uplo=UPLO.upper()))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, in ascending order; see :func:`eigh`."""
    return eigh(A, UPLO).eigenvalues


def _eig_gradient(g: Any, out: Any) -> Any:
    by_values, by_vectors = g
    values, vectors = out
    inner: Any = 0.0
    if by_values is not None:
        inner = inner + np.where(_identity(vectors), _row(by_values), 0.0)
    if by_vectors is not None:
        # Eigenvectors have length 1: the part of a change that would change the length is subtracted.
        along = (vectors * by_vectors).sum(axis=-2)
        turn = transposed(vectors) @ by_vectors - (transposed(vectors) @ vectors) * _row(along)
        inner = inner + _off_diagonal(turn, _row(values) - _column(values))
    return transposed(on(inv, vectors)) @ inner @ transposed(vectors)


@operation(
    "λ, V",
    "λ and V of {a} = V · diag(λ) · V⁻¹",
    a=derivative("V⁻ᵀ (diag(g_λ) + (Vᵀ g_V − …) / (λⱼ − λᵢ)) Vᵀ", _eig_gradient),
    name="eig",
    mixed=True,
    backward="LinalgEigBackward0",
)
def _eig(a, /):
    require_square("linalg.eig", a)
    if not np.isfinite(a).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(a)
    if values.dtype.kind == "c":
        raise NotImplementedError(
            "linalg.eig: this matrix has complex eigenvalues, and autokit computes with real numbers alone; "
            "numpy.linalg.eigvals(A.numpy()) gives them. Symmetric matrices, torch.linalg.eigh, always have "
            "real ones"
        )
    return values, vectors


def eig(A: Tensor) -> Any:
    """The eigenvalues of square matrices, in no order, and eigenvectors of length 1 in columns.

    They have the dtype of ``A``; a matrix whose eigenvalues are complex numbers raises an error.

    Raises
    ------
    NotImplementedError
        If an eigenvalue is complex.
    """
    return Eig(*_eig(A))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, in no order; see :func:`eig`."""
    return eig(A).eigenvalues


NAMES = Names(both="cholesky qr svd", numpy={np.linalg.cholesky: cholesky})
