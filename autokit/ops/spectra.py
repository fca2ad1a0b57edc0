"""Singular values and eigenvalues of matrices, with their vectors.

A decomposition with several results is computed once, and each result has a
rule of its own; a derivative needs the other results too.  On the way back
they are at hand as arrays (the setting ``found``, of which the results are
copies: these may be changed in place), and are computed anew, as tensors with
a history, where the derivative is itself to be differentiated.

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

from autokit.devices import copied, module_of
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.complex_numbers import is_complex
from autokit.ops.gpu.arrays import any_of
from autokit.ops.guards import guards
from autokit.ops.inverses import plain_inv
from autokit.ops.matrices import (
    LinAlgError,
    adjoint,
    column,
    in_columns,
    require_floating,
    require_matrices,
    require_square,
    require_square_floating,
    row,
    title,
)
from autokit.ops.matrices import svd as finite_svd
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.own_copies import outlives
from autokit.ops.return_types import return_type
from autokit.tensor import Tensor, new_tensor

SvdResult = return_type("linalg_svd", "U", "S", "Vh")
OlderSvdResult = return_type("svd", "U", "S", "V")
EighResult = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
EigResult = return_type("linalg_eig", "eigenvalues", "eigenvectors")


def _off_diagonal(a: Any, over: Any) -> Any:
    """``a / over`` off the diagonal, and zeros on it."""
    diagonal = module_of(a).eye(a.shape[-1], dtype=bool)
    return np.where(diagonal, 0, a / np.where(diagonal, 1, over))


def _refuse_phase(name: str, vectors: str, inner: Any, end: str = "quantity, so it is") -> None:
    """Raise where a loss depends on the angles of complex vectors, of which any would do.

    On the diagonal of ``inner``, Vᴴ g, stands how it changes with them.
    """
    if is_complex(inner):
        array = inner.array if isinstance(inner, Tensor) else inner
        turning = np.abs(np.diagonal(array, axis1=-2, axis2=-1).imag)
        precision = float(np.finfo(array.dtype).eps)
        if array.size and any_of(turning > precision**0.5 * np.abs(array).max() + precision**0.75):
            raise RuntimeError(
                f"{name}: The {vectors} in the complex case are specified up to multiplication by "
                f"e^{{i phi}}. The specified loss function depends on this {end} ill-defined."
            )


# ---------------------------------------------------------------- singular values


def _thin(a: Any, found: Any) -> tuple[Any, Any, Any]:
    """U, the singular values and Vᵀ without what is beyond the smaller size."""
    u, s, vh = linalg_svd(a, full_matrices=False) if isinstance(a, Tensor) else found
    size = s.shape[-1]
    return u[..., :size], s, vh[..., :size, :]


def _through_u(g: Any, u: Any, s: Any, vh: Any) -> Any:
    """The gradient of A by its left singular vectors."""
    inner = adjoint(u) @ g
    skew = _off_diagonal(inner - adjoint(inner), row(s * s) - column(s * s))
    gradient = u @ (skew * row(s)) @ vh
    if u.shape[-2] > s.shape[-1]:
        outside = g / row(s)
        gradient = gradient + (outside - u @ (adjoint(u) @ outside)) @ vh
    return gradient


def _through_vh(g: Any, u: Any, s: Any, vh: Any) -> Any:
    """The gradient of A by its right singular vectors."""
    inner = vh @ adjoint(g)
    skew = _off_diagonal(inner - adjoint(inner), row(s * s) - column(s * s))
    gradient = u @ (column(s) * skew) @ vh
    if vh.shape[-1] > s.shape[-1]:
        outside = g / column(s)
        gradient = gradient + u @ (outside - (outside @ adjoint(vh)) @ vh)
    return gradient


def _u_gradient(g: Any, a: Any, found: Any) -> Any:
    u, s, vh = _thin(a, found)
    return _through_u(g[..., : s.shape[-1]], u, s, vh)


def _vh_gradient(g: Any, a: Any, found: Any) -> Any:
    u, s, vh = _thin(a, found)
    return _through_vh(g[..., : s.shape[-1], :], u, s, vh)


def _vectors_gradient(g: Any, a: Any, out: Any, found: Any) -> Any:
    s, rows = svdvals(a) if isinstance(a, Tensor) else found[1], found[0].shape[-2]
    u, v, by_u, by_v = (part for whole in (out, g) for part in (whole[..., :rows, :], whole[..., rows:, :]))
    inner = adjoint(u) @ by_u
    both = inner + adjoint(v) @ by_v
    _refuse_phase("svd_backward", "singular vectors", both, "phase term, making it")
    # How far U turns against V is given by the matrix: it is seen in either of them.
    turn = np.where(module_of(s).eye(s.shape[-1], dtype=bool), inner - adjoint(inner), 0) / (2 * row(s))
    vh = adjoint(v)
    return _through_u(by_u, u, s, vh) + _through_vh(adjoint(by_v), u, s, vh) + u @ turn @ vh


def _s_gradient(g: Any, a: Any, found: Any) -> Any:
    u, _, vh = _thin(a, found)
    return (u * row(g)) @ vh


@operation(
    "U",
    "U of {a} = U · S · Vᵀ",
    a=derivative(
        "U ((Uᵀ g − gᵀ U) / (sⱼ² − sᵢ²) · S) Vᵀ + …",
        _u_gradient,
        lambda g, found: _u_gradient(g, None, found),
    ),
    backward="LinalgSvdBackward0",
)
def svd_u(a, /, found=None):
    """The left singular vectors; see :func:`linalg_svd`."""
    return in_columns(copied(found[0]))


@operation(
    "S",
    "S of {a} = U · S · Vᵀ",
    a=derivative("U diag(g) Vᵀ", _s_gradient, lambda g, found: _s_gradient(g, None, found)),
    backward="LinalgSvdBackward0",
)
def svd_s(a, /, found=None):
    """The singular values; see :func:`linalg_svd`."""
    return copied(found[1])


@operation(
    "Vᵀ",
    "Vᵀ of {a} = U · S · Vᵀ",
    a=derivative(
        "U (S · (Vᵀ gᵀ − g V) / (sⱼ² − sᵢ²)) Vᵀ + …",
        _vh_gradient,
        lambda g, found: _vh_gradient(g, None, found),
    ),
    backward="LinalgSvdBackward0",
)
def svd_vh(a, /, found=None):
    """The right singular vectors, in rows; see :func:`linalg_svd`."""
    return in_columns(copied(found[2]))


@operation(
    "U, V",
    "U and V of {a} = U · S · Vᴴ",
    a=derivative(
        "U (skew(Uᴴ g) / (sⱼ² − sᵢ²) · S + S · skew(Vᴴ g) / (sⱼ² − sᵢ²)) Vᴴ + …",
        _vectors_gradient,
        lambda g, out, found: _vectors_gradient(g, None, out, found),
    ),
    backward="LinalgSvdBackward0",
)
def svd_vectors(a, /, found=None):
    """The singular vectors of complex matrices, those of V below those of U: together they may turn."""
    size = found[1].shape[-1]
    return np.concatenate([found[0][..., :size], adjoint(found[2][..., :size, :])], axis=-2)


def _complex_vectors(A: Tensor, found: Any) -> tuple[Tensor, Tensor]:
    """U and Vᴴ of complex matrices, and what ``full_matrices`` adds to them."""
    both, rows = svd_vectors(A, found=found), A.array.shape[-2]
    u, vh = both[..., :rows, :], both[..., rows:, :].mH
    size = found[1].shape[-1]
    if found[0].shape[-1] > size:
        u = np.concatenate([u, new_tensor(found[0][..., size:])], axis=-1)
    if found[2].shape[-2] > size:
        vh = np.concatenate([vh, new_tensor(found[2][..., size:, :])], axis=-2)
    return u, vh


def _svd_arrays(A: Tensor, full: bool) -> Any:
    require_matrices("linalg.svd", A)
    require_floating("linalg.svd", A)
    try:
        return finite_svd(A.array, full_matrices=full)
    except np.linalg.LinAlgError:
        reason = "failed to converge because the input matrix is ill-conditioned or has too many repeated"
        raise LinAlgError(f"linalg.svd: The algorithm {reason} singular values.") from None


@guards(results=(0, 1, 2))
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """A = U diag(S) Vᵀ: orthonormal columns in U and in V, singular values from the largest.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    full_matrices : bool
        U and V are square; else they have min(m, n) columns.
    driver : None
        Which of a GPU's methods to take: there is no choice on the CPU.

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
    Of complex matrices each pair of vectors may turn by an angle, and a loss
    that depends on it is refused in backward [1]_.
    Columns that ``full_matrices`` adds pass no gradient on.

    References
    ----------
    .. [1] Z.-Q. Wan, S.-X. Zhang, "Automatic differentiation for complex valued SVD", 2019, arXiv:1909.02659.
    """
    found = tuple(_svd_arrays(A, full_matrices))
    _refuse_driver(A, driver)
    if A.array.dtype.kind == "c":
        u, vh = _complex_vectors(A, found)
        return SvdResult(u, svd_s(A, found=found), vh)
    return SvdResult(svd_u(A, found=found), svd_s(A, found=found), svd_vh(A, found=found))


@guards(results=(0,))
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of each matrix, from the largest; ``driver`` counts on a GPU alone.

    Raises
    ------
    RuntimeError
        If a ``driver`` is given.
    """
    found = tuple(_svd_arrays(A, False))
    _refuse_driver(A, driver)
    return svd_s(A, found=found)


def _refuse_driver(A: Tensor, driver: str | None) -> None:
    if driver is not None and A.array.size:
        raise RuntimeError(
            "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs: leave it out"
        )


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """A = U diag(S) Vᵀ; see ``torch.linalg.svd``, which gives V transposed."""
    if not compute_uv:  # PyTorch then fills square matrices with zeros
        require_matrices("linalg.svd", input)
        *lead, m, n = input.array.shape
        nothing = [np.zeros_like(input.array, shape=(*lead, size, size)) for size in (m, n)]
        return OlderSvdResult(new_tensor(nothing[0]), svdvals(input), new_tensor(nothing[1]))
    u, s, vh = linalg_svd(input, full_matrices=not some)
    return OlderSvdResult(u, s, vh.mH)


# ---------------------------------------------------------------- eigenvalues of symmetric matrices


def _symmetric_vectors(a: Any, found: Any, uplo: str) -> tuple[Any, Any]:
    return eigh(a, uplo) if isinstance(a, Tensor) else found


def _eigh_vectors_gradient(g: Any, a: Any, out: Any, found: Any, uplo: str) -> Any:
    values, vectors = eigvalsh(a, uplo) if isinstance(a, Tensor) else found[0], out
    inner = adjoint(vectors) @ g
    _refuse_phase("linalg_eigh_backward", "eigenvectors", inner)
    # Orthonormal vectors can only turn: a change of V is V times a skew matrix.
    inner = _off_diagonal((inner - adjoint(inner)) / 2, row(values) - column(values))
    return vectors @ inner @ adjoint(vectors)


def _eigh_values_gradient(g: Any, a: Any, found: Any, uplo: str) -> Any:
    _, vectors = _symmetric_vectors(a, found, uplo)
    return (vectors * row(g)) @ adjoint(vectors)


@operation(
    "λ",
    "λ of {a} = V · diag(λ) · Vᵀ",
    a=derivative(
        "V diag(g) Vᵀ",
        _eigh_values_gradient,
        lambda g, found, uplo: _eigh_values_gradient(g, None, found, uplo),
    ),
    backward="LinalgEighBackward0",
)
def eigh_values(a, /, found=None, uplo="L"):
    """The eigenvalues; see :func:`eigh`."""
    return copied(found[0])


@operation(
    "V",
    "V of {a} = V · diag(λ) · Vᵀ",
    a=derivative(
        "V (skew(Vᵀ g) / (λⱼ − λᵢ)) Vᵀ",
        _eigh_vectors_gradient,
        lambda g, out, found, uplo: _eigh_vectors_gradient(g, None, out, found, uplo),
    ),
    backward="LinalgEighBackward0",
)
def eigh_vectors(a, /, found=None, uplo="L"):
    """The eigenvectors, in columns; see :func:`eigh`."""
    return in_columns(copied(found[1]))


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


@guards(results=(0, 1))
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


@guards(results=(0,))
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, in ascending order; see :func:`eigh`."""
    return eigh_values(A, found=tuple(_eigh_arrays(A, UPLO)), uplo=UPLO)


# ---------------------------------------------------------------- eigenvalues


def _general_vectors(a: Any, found: Any) -> tuple[Any, Any]:
    return eig(a) if isinstance(a, Tensor) else found


def _inverse_of_vectors(vectors: Any) -> Any:
    made = on(plain_inv, vectors)
    if any_of(np.isnan(made.array if isinstance(made, Tensor) else made)):
        raise LinAlgError(
            "linalg_eig_backward: torch.linalg.solve: The solver failed because the input matrix is "
            "singular. It holds the eigenvectors: an eigenvalue occurs several times and has fewer vectors, "
            "so that there is no gradient"
        )
    return made


def _eig_values_gradient(g: Any, a: Any, found: Any) -> Any:
    _, vectors = _general_vectors(a, found)
    return adjoint(_inverse_of_vectors(vectors)) @ (column(g) * adjoint(vectors))


def _eig_vectors_gradient(g: Any, a: Any, out: Any, found: Any) -> Any:
    values, vectors = eigvals(a) if isinstance(a, Tensor) else found[0], out
    inner = adjoint(vectors) @ g
    _refuse_phase("linalg_eig_backward", "eigenvectors", inner)
    # Eigenvectors have length 1: what would change that is taken off.
    along = np.real(np.conjugate(vectors) * g).sum(axis=-2)
    inner = inner - (adjoint(vectors) @ vectors) * row(along)
    inner = _off_diagonal(inner, np.conjugate(row(values) - column(values)))
    return adjoint(_inverse_of_vectors(vectors)) @ inner @ adjoint(vectors)


@operation(
    "λ",
    "λ of {a} = V · diag(λ) · V⁻¹",
    a=derivative(
        "V⁻ᵀ diag(g) Vᵀ", _eig_values_gradient, lambda g, found: _eig_values_gradient(g, None, found)
    ),
    backward="LinalgEigBackward0",
)
def eig_values(a, /, found=None):
    """The eigenvalues; see :func:`eig`."""
    return copied(found[0])


@operation(
    "V",
    "V of {a} = V · diag(λ) · V⁻¹",
    a=derivative(
        "V⁻ᵀ ((Vᵀ g − …) / (λⱼ − λᵢ)) Vᵀ",
        _eig_vectors_gradient,
        lambda g, out, found: _eig_vectors_gradient(g, None, out, found),
    ),
    backward="LinalgEigBackward0",
)
def eig_vectors(a, /, found=None):
    """The eigenvectors, in columns; see :func:`eig`."""
    return in_columns(copied(found[1]))


def _eig_arrays(A: Tensor) -> Any:
    require_square_floating("linalg.eig", A)
    if any_of(~np.isfinite(A.array)):
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(A.array)
    kind = A.dtype.to_complex().numpy
    return values.astype(kind), vectors.astype(kind)


@guards(results=(0, 1))
def eig(A: Tensor) -> Any:
    """The eigenvalues of square matrices, in no order, and eigenvectors of length 1 in columns.

    Both are complex, also where all numbers are real.

    Raises
    ------
    RuntimeError
        If an element is not finite; in backward, if the loss depends on the angles of the vectors, which
        are determined up to a factor exp(i φ).
    LinAlgError
        In backward, if a matrix has fewer eigenvectors than rows.
    """
    found = _eig_arrays(A)
    return EigResult(
        outlives(eig_values(A, found=found), {0: A}), outlives(eig_vectors(A, found=found), {0: A})
    )


@guards(results=(0,))
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex numbers in no order; see :func:`eig`."""
    return outlives(eig_values(A, found=_eig_arrays(A)), {0: A})


NAMES = Names(both="svd")
