"""Decompositions of matrices: Cholesky's, QR, singular values, eigenvalues; and the exponential.

A decomposition with several results is computed once, and each result has a
rule of its own; a derivative needs the other results too.  On the way back
they are at hand as arrays (the setting ``found``), and are computed anew, as
tensors with a history, where the derivative is itself to be differentiated.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation",
2008; "Townsend" is J. Townsend, "Differentiating the singular value
decomposition", 2016.

Eigenvectors and singular vectors are determined up to their sign; LAPACK
chooses it, and another build of LAPACK than PyTorch's may choose otherwise.
A loss should not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.gpu import any_of
from autokit.ops.matrices import (
    LinAlgError,
    in_batch,
    require_floating,
    require_matrices,
    require_square,
    require_square_floating,
    title,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.return_types import return_type
from autokit.ops.solving import plain_inv, plain_solve_triangular, triangle
from autokit.tensor import Tensor, new_tensor

CholeskyExResult = return_type("linalg_cholesky_ex", "L", "info")
QrResult = return_type("linalg_qr", "Q", "R")
OlderQrResult = return_type("qr", "Q", "R")
SvdResult = return_type("linalg_svd", "U", "S", "Vh")
OlderSvdResult = return_type("svd", "U", "S", "V")
EighResult = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
EigResult = return_type("linalg_eig", "eigenvalues", "eigenvectors")


def _rows(scalars: Any) -> Any:
    """A vector for each matrix, as a row: it scales columns."""
    return scalars.reshape((*scalars.shape[:-1], 1, scalars.shape[-1]))


def _column(scalars: Any) -> Any:
    """A vector for each matrix, as a column: it scales rows."""
    return scalars.reshape((*scalars.shape, 1))


def _off_diagonal(a: Any, over: Any) -> Any:
    """``a / over`` off the diagonal, and zeros on it."""
    diagonal = np.eye(a.shape[-1], dtype=bool)
    return np.where(diagonal, 0, a / np.where(diagonal, 1, over))


# ---------------------------------------------------------------- Cholesky's


def _cholesky_gradient(g: Any, out: Any, upper: bool) -> Any:
    if upper:
        g, out = transposed(g), transposed(out)
    inner = triangle(transposed(out) @ g, False)
    inner = (inner + transposed(triangle(inner, False, 1))) / 2
    half = on(plain_solve_triangular, transposed(out), inner, upper=True)
    return transposed(on(plain_solve_triangular, transposed(out), transposed(half), upper=True))


@operation(
    "Cholesky",
    "L of {a} = L · Lᵀ",
    a=derivative("L⁻ᵀ sym(Lᵀ g) L⁻¹, where L = {out}", _cholesky_gradient),
    name="cholesky",
    backward="LinalgCholeskyExBackward0",
)
def plain_cholesky(a, /, upper=False):
    """See :func:`linalg_cholesky`."""
    return transposed(np.linalg.cholesky(transposed(a))) if upper else np.linalg.cholesky(a)


def _first_bad_minor(a: Any) -> int:
    """The order of the first leading minor of a matrix that is not positive definite, or 0."""
    for order in range(1, len(a) + 1):
        try:
            np.linalg.cholesky(a[:order, :order])
        except np.linalg.LinAlgError:
            return order
    return 0


def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L for which A = L Lᵀ; or the upper one U for which A = Uᵀ U.

    Parameters
    ----------
    A : Tensor
        Symmetric positive definite matrices; half of each is read.
    upper : bool
        Which triangle.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.

    Notes
    -----
    With Φ taking the lower half, and half of the diagonal, the gradient is
    the symmetric part of L⁻ᵀ Φ(Lᵀ G) L⁻¹ [1]_.

    References
    ----------
    .. [1] I. Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    return _cholesky("linalg.cholesky", A, upper)


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Cholesky's factor of each matrix; see ``torch.linalg.cholesky``."""
    return _cholesky("cholesky", input, upper)


def _cholesky(name: str, A: Tensor, upper: bool) -> Tensor:
    require_square_floating(name, A)
    if not A.array.size:
        return A.clone()
    try:
        return plain_cholesky(A, upper=upper)
    except RuntimeError:
        infos = _minors(transposed(A.array) if upper else A.array)
        place, order = in_batch(infos)
        raise LinAlgError(
            f"{name}: {place}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        ) from None


def _minors(a: Any) -> Any:
    flat = a.reshape((-1, *a.shape[-2:]))
    return np.array([_first_bad_minor(each) for each in flat], np.int32).reshape(a.shape[:-2])


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Cholesky's factor, and for each matrix the order of the first minor that is not positive, or 0.

    Where it is not 0, the factor is NaN; PyTorch leaves an unfinished one.
    """
    require_square_floating("linalg.cholesky_ex", A)
    infos = _minors(transposed(A.array) if upper else A.array)
    if not any_of(infos != 0):
        return CholeskyExResult(linalg_cholesky(A, upper=upper), new_tensor(infos))
    if check_errors:
        return CholeskyExResult(_cholesky("linalg.cholesky_ex", A, upper), new_tensor(infos))
    good = np.where(_column(_column(infos == 0)), A.array, np.eye(A.array.shape[-1], dtype=A.array.dtype))
    factor = plain_cholesky(new_tensor(good), upper=upper).array
    factor = np.where(_column(_column(infos == 0)), factor, np.nan).astype(factor.dtype)
    return CholeskyExResult(new_tensor(factor), new_tensor(infos))


# ---------------------------------------------------------------- QR


def _square_gradient(g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    """The gradient of A = Q R, where R is square; a gradient that is None is zero."""
    if g_q is None:
        inner = g_r @ transposed(r)
    elif g_r is None:
        inner = -(transposed(q) @ g_q)
    else:
        inner = g_r @ transposed(r) - transposed(q) @ g_q
    inner = triangle(inner, True) + transposed(triangle(inner, True, 1))
    total = q @ inner if g_q is None else g_q + q @ inner
    return transposed(on(plain_solve_triangular, r, transposed(total), upper=True))


def _qr_gradient(g_q: Any, g_r: Any, a: Any, q: Any, r: Any) -> Any:
    """The gradient of A = Q R; the columns beyond a square R are Qᵀ A, and pass theirs on directly."""
    size = q.shape[-1]
    if a.shape[-1] <= size:
        return _square_gradient(g_q, g_r, q, r)
    own = r[..., :size]
    if g_r is not None:
        rest = g_r[..., size:]
        through = a[..., size:] @ transposed(rest)
        g_q = through if g_q is None else g_q + through
        left = _square_gradient(g_q, g_r[..., :size], q, own)
        return np.concatenate([left, q @ rest], axis=-1)
    left = _square_gradient(g_q, None, q, own)
    return np.concatenate([left, np.zeros_like(a[..., size:])], axis=-1)


def _both(a: Any, found: Any, mode: str) -> Any:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: use "
            "mode='reduced'"
        )
    return linalg_qr(a, mode) if isinstance(a, Tensor) else found


def _q_gradient(g: Any, a: Any, found: Any, mode: str) -> Any:
    q, r = _both(a, found, mode)
    return _qr_gradient(g, None, a, q, r)


def _r_gradient(g: Any, a: Any, found: Any, mode: str) -> Any:
    q, r = _both(a, found, mode)
    return _qr_gradient(None, g, a, q, r)


@operation(
    "Q",
    "Q of {a} = Q · R",
    a=derivative("(g + Q · sym(−gᵀ Q)) · R⁻ᵀ", _q_gradient),
    backward="LinalgQrBackward0",
)
def qr_q(a, /, found=None, mode="reduced"):
    """The orthogonal factor; see :func:`linalg_qr`."""
    return found[0]


@operation(
    "R",
    "R of {a} = Q · R",
    a=derivative("Q · sym(g Rᵀ) · R⁻ᵀ", _r_gradient),
    backward="LinalgQrBackward0",
)
def qr_r(a, /, found=None, mode="reduced"):
    """The upper triangle; see :func:`linalg_qr`."""
    return found[1]


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
    The gradient, for m ≥ n, is (G_Q + Q sym(G_R Rᵀ − Qᵀ G_Q)) R⁻ᵀ [1]_, where sym
    mirrors the upper half.

    References
    ----------
    .. [1] S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear
       algebra functions with application in optimum experimental design", 2010.
    """
    require_matrices("linalg.qr", A)
    require_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    if mode == "r":
        triangle_ = np.linalg.qr(A.array, mode="r")
        empty = new_tensor(np.zeros(0, A.array.dtype))
        return QrResult(empty, qr_r(A, found=(empty.array, triangle_), mode=mode))
    q, r = np.linalg.qr(A.array, mode=mode)  # type: ignore[call-overload]
    return QrResult(qr_q(A, found=(q, r), mode=mode), qr_r(A, found=(q, r), mode=mode))


def qr(input: Tensor, some: bool = True) -> Any:
    """A = Q R; see ``torch.linalg.qr``, whose mode is "reduced" for ``some``, and else "complete"."""
    return OlderQrResult(*linalg_qr(input, "reduced" if some else "complete"))


# ---------------------------------------------------------------- singular values


def _thin(a: Any, found: Any) -> tuple[Any, Any, Any]:
    """U, the singular values and Vᵀ without what is beyond the smaller size."""
    u, s, vh = linalg_svd(a, full_matrices=False) if isinstance(a, Tensor) else found
    size = s.shape[-1]
    return u[..., :size], s, vh[..., :size, :]


def _u_gradient(g: Any, a: Any, found: Any) -> Any:
    u, s, vh = _thin(a, found)
    g = g[..., : s.shape[-1]]
    inner = transposed(u) @ g
    skew = _off_diagonal(inner - transposed(inner), _rows(s * s) - _column(s * s))
    gradient = u @ (skew * _rows(s)) @ vh
    if u.shape[-2] > s.shape[-1]:
        outside = g / _rows(s)
        gradient = gradient + (outside - u @ (transposed(u) @ outside)) @ vh
    return gradient


def _vh_gradient(g: Any, a: Any, found: Any) -> Any:
    u, s, vh = _thin(a, found)
    g = g[..., : s.shape[-1], :]
    inner = vh @ transposed(g)
    skew = _off_diagonal(inner - transposed(inner), _rows(s * s) - _column(s * s))
    gradient = u @ (_column(s) * skew) @ vh
    if vh.shape[-1] > s.shape[-1]:
        outside = g / _column(s)
        gradient = gradient + u @ (outside - (outside @ transposed(vh)) @ vh)
    return gradient


def _s_gradient(g: Any, a: Any, found: Any) -> Any:
    u, _, vh = _thin(a, found)
    return (u * _rows(g)) @ vh


@operation(
    "U",
    "U of {a} = U · S · Vᵀ",
    a=derivative("U ((Uᵀ g − gᵀ U) / (sⱼ² − sᵢ²) · S) Vᵀ + …", _u_gradient),
    backward="LinalgSvdBackward0",
)
def svd_u(a, /, found=None):
    """The left singular vectors; see :func:`linalg_svd`."""
    return found[0]


@operation(
    "S",
    "S of {a} = U · S · Vᵀ",
    a=derivative("U diag(g) Vᵀ", _s_gradient),
    backward="LinalgSvdBackward0",
)
def svd_s(a, /, found=None):
    """The singular values; see :func:`linalg_svd`."""
    return found[1]


@operation(
    "Vᵀ",
    "Vᵀ of {a} = U · S · Vᵀ",
    a=derivative("U (S · (Vᵀ gᵀ − g V) / (sⱼ² − sᵢ²)) Vᵀ + …", _vh_gradient),
    backward="LinalgSvdBackward0",
)
def svd_vh(a, /, found=None):
    """The right singular vectors, in rows; see :func:`linalg_svd`."""
    return found[2]


def _svd_arrays(A: Tensor, full: bool) -> Any:
    require_matrices("linalg.svd", A)
    require_floating("linalg.svd", A)
    try:
        return np.linalg.svd(A.array, full_matrices=full)
    except np.linalg.LinAlgError:
        if np.isfinite(A.array).all():
            reason = "failed to converge because the input matrix is ill-conditioned or has too many repeated"
            raise LinAlgError(f"linalg.svd: The algorithm {reason} singular values.") from None
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite "
            "values."
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
        With V transposed, as in NumPy.  A pair of singular vectors may have
        the other sign in PyTorch.

    Raises
    ------
    LinAlgError
        If an element is not finite.

    Notes
    -----
    The gradient through U and V divides by differences of squared singular
    values: it is not finite where two are equal, and means something only
    for a loss that does not depend on signs (Giles, section 3.2; Townsend).
    Columns that ``full_matrices`` adds pass no gradient on.
    """
    found = _svd_arrays(A, full_matrices)
    return SvdResult(svd_u(A, found=found), svd_s(A, found=found), svd_vh(A, found=found))


def svdvals(A: Tensor) -> Tensor:
    """The singular values of each matrix, from the largest."""
    return svd_s(A, found=tuple(_svd_arrays(A, False)))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """A = U diag(S) Vᵀ; see ``torch.linalg.svd``, which gives V transposed."""
    if not compute_uv:  # PyTorch then fills square matrices with zeros
        *lead, m, n = input.array.shape
        nothing = [np.zeros_like(input.array, shape=(*lead, size, size)) for size in (m, n)]
        return OlderSvdResult(new_tensor(nothing[0]), svdvals(input), new_tensor(nothing[1]))
    u, s, vh = linalg_svd(input, full_matrices=not some)
    return OlderSvdResult(u, s, vh.transpose(-2, -1))


# ---------------------------------------------------------------- eigenvalues of symmetric matrices


def _symmetric_vectors(a: Any, found: Any, uplo: str) -> tuple[Any, Any]:
    return eigh(a, uplo) if isinstance(a, Tensor) else found


def _eigh_vectors_gradient(g: Any, a: Any, found: Any, uplo: str) -> Any:
    values, vectors = _symmetric_vectors(a, found, uplo)
    inner = transposed(vectors) @ g
    # Orthonormal vectors can only turn: a change of V is V times a skew matrix.
    inner = _off_diagonal((inner - transposed(inner)) / 2, _rows(values) - _column(values))
    return vectors @ inner @ transposed(vectors)


def _eigh_values_gradient(g: Any, a: Any, found: Any, uplo: str) -> Any:
    _, vectors = _symmetric_vectors(a, found, uplo)
    return (vectors * _rows(g)) @ transposed(vectors)


@operation(
    "λ",
    "λ of {a} = V · diag(λ) · Vᵀ",
    a=derivative("V diag(g) Vᵀ", _eigh_values_gradient),
    backward="LinalgEighBackward0",
)
def eigh_values(a, /, found=None, uplo="L"):
    """The eigenvalues; see :func:`eigh`."""
    return found[0]


@operation(
    "V",
    "V of {a} = V · diag(λ) · Vᵀ",
    a=derivative("V (skew(Vᵀ g) / (λⱼ − λᵢ)) Vᵀ", _eigh_vectors_gradient),
    backward="LinalgEighBackward0",
)
def eigh_vectors(a, /, found=None, uplo="L"):
    """The eigenvectors, in columns; see :func:`eigh`."""
    return found[1]


def _eigh_arrays(A: Tensor, uplo: str) -> Any:
    require_square("linalg.eigh", A)
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    if A.array.dtype.kind not in DIFFERENTIABLE or A.array.dtype.itemsize < 4:
        raise NotImplementedError(
            f"\"linalg_eigh_cpu\" not implemented for '{title(A)}': convert it with .float()"
        )
    try:
        return np.linalg.eigh(A.array, UPLO=uplo.upper())  # type: ignore[call-overload]
    except np.linalg.LinAlgError:  # an element is not a number
        return np.full_like(A.array, np.nan, shape=A.array.shape[:-1]), np.full_like(A.array, np.nan)


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, in ascending order, and orthonormal eigenvectors in columns.

    Parameters
    ----------
    A : Tensor
        Symmetric matrices, of which one half is read.
    UPLO : "L" or "U"
        Which half.

    Returns
    -------
    eigenvalues, eigenvectors
        An eigenvector may have the other sign in PyTorch.

    Notes
    -----
    The gradient is V (diag(g_λ) + skew(Vᵀ G_V) / (λⱼ − λᵢ)) Vᵀ (Giles,
    section 3.1): not finite where two eigenvalues are equal and eigenvectors are used.
    """
    found = tuple(_eigh_arrays(A, UPLO))
    return EighResult(eigh_values(A, found=found, uplo=UPLO), eigh_vectors(A, found=found, uplo=UPLO))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, in ascending order; see :func:`eigh`."""
    return eigh_values(A, found=tuple(_eigh_arrays(A, UPLO)), uplo=UPLO)


# ---------------------------------------------------------------- eigenvalues


def _general_vectors(a: Any, found: Any) -> tuple[Any, Any]:
    return eig(a) if isinstance(a, Tensor) else found


def _eig_values_gradient(g: Any, a: Any, found: Any) -> Any:
    _, vectors = _general_vectors(a, found)
    return transposed(on(plain_inv, vectors)) @ (_column(g) * transposed(vectors))


def _eig_vectors_gradient(g: Any, a: Any, found: Any) -> Any:
    values, vectors = _general_vectors(a, found)
    inner = transposed(vectors) @ g
    # Eigenvectors have length 1: what would change that is taken off.
    along = (vectors * g).sum(axis=-2)
    inner = inner - (transposed(vectors) @ vectors) * _rows(along)
    inner = _off_diagonal(inner, _rows(values) - _column(values))
    return transposed(on(plain_inv, vectors)) @ inner @ transposed(vectors)


@operation(
    "λ",
    "λ of {a} = V · diag(λ) · V⁻¹",
    a=derivative("V⁻ᵀ diag(g) Vᵀ", _eig_values_gradient),
    backward="LinalgEigBackward0",
)
def eig_values(a, /, found=None):
    """The eigenvalues; see :func:`eig`."""
    return found[0]


@operation(
    "V",
    "V of {a} = V · diag(λ) · V⁻¹",
    a=derivative("V⁻ᵀ ((Vᵀ g − …) / (λⱼ − λᵢ)) Vᵀ", _eig_vectors_gradient),
    backward="LinalgEigBackward0",
)
def eig_vectors(a, /, found=None):
    """The eigenvectors, in columns; see :func:`eig`."""
    return found[1]


def _eig_arrays(A: Tensor) -> Any:
    require_square_floating("linalg.eig", A)
    if not np.isfinite(A.array).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(A.array)
    if np.iscomplexobj(values):
        if (values.imag != 0).any():
            raise NotImplementedError(
                "linalg.eig: the matrix has complex eigenvalues, and autokit has no gradients of complex "
                "numbers. A symmetric matrix has real ones: use torch.linalg.eigh; without a gradient, "
                "numpy.linalg.eig(A.numpy()) gives them"
            )
        values, vectors = values.real, vectors.real
    return values, vectors


def eig(A: Tensor) -> Any:
    """The eigenvalues of square matrices, in no order, and eigenvectors of length 1 in columns.

    Unlike PyTorch, whose results are complex always, this gives real ones,
    and refuses a matrix whose eigenvalues are not real.

    Raises
    ------
    NotImplementedError
        If an eigenvalue is complex.
    """
    found = _eig_arrays(A)
    return EigResult(eig_values(A, found=found), eig_vectors(A, found=found))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, in no order: real ones only; see :func:`eig`."""
    return eig_values(A, found=_eig_arrays(A))


# ---------------------------------------------------------------- the exponential

_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
"""The coefficients of Padé's approximation of degree 13."""

_PADE_REACH = 5.4
"""The norm up to which that approximation is exact to double precision."""


def _exponentials(a: Any) -> Any:
    identity = np.eye(a.shape[-1], dtype=a.dtype)
    norm = np.abs(a).sum(axis=-2).max(initial=0)
    if not np.isfinite(norm):
        return np.full_like(a, np.nan)
    squarings = max(0, int(np.ceil(np.log2(norm / _PADE_REACH)))) if norm else 0
    a = a / a.dtype.type(2.0**squarings)
    b = [a.dtype.type(each) for each in _PADE]
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a2 @ a4
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * identity
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * identity
    odd = a @ odd
    result = np.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        result = result @ result
    return result


def _exponential_gradient(g: Any, a: Any) -> Any:
    size = a.shape[-1]
    turned = transposed(a)
    above = np.concatenate([turned, g], axis=-1)
    below = np.concatenate([np.zeros_like(turned), turned], axis=-1)
    return on(plain_matrix_exp, np.concatenate([above, below], axis=-2))[..., :size, size:]


@operation(
    "exp",
    "exp {a}, of a matrix",
    a=derivative("Fréchet derivative at {a}ᵀ", _exponential_gradient),
    name="matrix_exp",
    backward="LinalgMatrixExpBackward0",
    reduces=True,
)
def plain_matrix_exp(a, /):
    """See :func:`matrix_exp`."""
    return _exponentials(a)


def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of each square matrix, the sum of Aⁿ / n! over all n.

    Notes
    -----
    Found by scaling, Padé's approximation of degree 13, and squaring [1]_.
    The gradient is a block of the exponential of [[Aᵀ, G], [0, Aᵀ]] [2]_.

    References
    ----------
    .. [1] N. J. Higham, "The scaling and squaring method for the matrix
       exponential revisited", SIAM Journal on Matrix Analysis, 2005.
    .. [2] R. Mathias, "A chain rule for matrix functions and applications",
       SIAM Journal on Matrix Analysis, 1996.
    """
    require_square_floating("linalg.matrix_exp", input)
    return plain_matrix_exp(input)


NAMES = Names(both="cholesky matrix_exp qr svd")
