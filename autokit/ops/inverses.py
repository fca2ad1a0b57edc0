"""Inverses and determinants of matrices.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation",
2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.choices import where
from autokit.ops.complex_numbers import is_complex
from autokit.ops.gpu.arrays import any_of, like, raising
from autokit.ops.lu import lu_arrays
from autokit.ops.matrices import (
    LinAlgError,
    adjoint,
    in_batch,
    in_columns,
    require_square_floating,
    svd,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.return_types import return_type
from autokit.tensor import Tensor, new_tensor

InvExResult = return_type("linalg_inv_ex", "inverse", "info")
SlogdetResult = return_type("linalg_slogdet", "sign", "logabsdet")
OlderSlogdetResult = return_type("slogdet", "sign", "logabsdet")

# ---------------------------------------------------------------- inverses


def inverses(a: Any) -> Any:
    """The inverses; NaN for singular matrices."""
    try:
        with raising(a):
            return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(a, np.nan)
        return np.stack([inverses(each) for each in a])


@operation(
    "⁻¹",
    "{a}⁻¹",
    a=derivative("−{out}ᵀ · {out}ᵀ", lambda g, out: -(transposed(out) @ g @ transposed(out))),
    name="inv",
    backward="LinalgInvExBackward0",
    reduces=True,
)
def plain_inv(a, /):
    """See :func:`inv`."""
    return in_columns(inverses(a))


def first_zero_pivot(a: Any) -> Any:
    """For each matrix, the number (from 1) of the first zero on the diagonal of U in P A = L U, or 0."""
    diagonal = np.diagonal(lu_arrays(a)[0], axis1=-2, axis2=-1)
    zero = diagonal == 0
    return np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0).astype(np.int32)


def failures(answer: Any, a: Any, dims: int) -> Any:
    """For each matrix ``a``, which pivot was zero, where ``answer`` has become NaN for it; else 0."""
    if not any_of(np.isnan(answer)):
        return like(np.zeros_like, a, np.int32, shape=a.shape[:-2])
    return first_zero_pivot(a)


def inv(A: Tensor) -> Tensor:
    """The inverse of each matrix.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    From A A⁻¹ = I follows d(A⁻¹) = −A⁻¹ dA A⁻¹ (Giles, section 2.2.3).
    """
    return _inverse("linalg.inv", A, True).inverse


def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix; see ``torch.linalg.inv``."""
    return inv(input)


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse of each matrix, and for each the number of the first zero pivot, or 0."""
    return _inverse("linalg.inv_ex", A, check_errors)


def _inverse(function: str, A: Tensor, check_errors: bool) -> Any:
    require_square_floating(function, A)
    made = plain_inv(A)
    infos = failures(made.array, A.array, 2)
    if check_errors and any_of(infos):
        place, number = in_batch(infos)
        raise LinAlgError(
            f"{function}: {place}The diagonal element {number} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    return InvExResult(made, new_tensor(infos))


# ---------------------------------------------------------------- determinants


def _matrices(scalars: Any) -> Any:
    """A number for each matrix, as a matrix of one element."""
    return scalars.reshape((*scalars.shape, 1, 1))


def _cofactors(a: Any) -> Any:
    """det(A) A⁻ᵀ, found without a division, so that a singular matrix has it too."""
    try:
        u, s, vh = svd(a)
    except RuntimeError:  # a number is not finite
        return np.full_like(a, np.nan)
    others = np.where(module_of(a).eye(a.shape[-1], dtype=bool), 1, s[..., None, :]).prod(axis=-1)
    signs = _matrices(np.linalg.det(u) * np.linalg.det(vh))
    return np.conjugate(u * others[..., None, :]) @ np.conjugate(vh) * signs


def _determinant_gradient(g: Any, a: Any, out: Any) -> Any:
    if a.shape[-1] == 1:  # the element itself, with nothing to round
        return _matrices(g)
    if isinstance(a, Tensor):
        return _matrices(g * out) * transposed(plain_inv(a))
    return _matrices(g) * _cofactors(a)


@operation(
    "det",
    "det {a}",
    a=derivative("{out} · {a}⁻ᵀ", _determinant_gradient),
    name="det",
    backward="LinalgDetBackward0",
    reduces=True,
)
def plain_det(a, /):
    """See :func:`det`."""
    return np.linalg.det(a)


def det(A: Tensor) -> Tensor:
    """The determinant of each matrix.

    Notes
    -----
    Its gradient is the matrix of cofactors, det(A) A⁻ᵀ where there is an
    inverse (Jacobi's formula; Giles, section 2.2.4).  It is found by singular
    values, and is right for a singular matrix as well; the second derivative
    asks for the inverse.
    """
    require_square_floating("linalg.det", A)
    return plain_det(A)


def _sign_gradient(g: Any, a: Any, out: Any) -> Any:
    if not is_complex(a):
        return np.zeros_like(a)
    # The sign of a complex determinant moves along the circle, by Im(tr(A⁻¹ dA)).
    along = np.imag(np.conjugate(g) * out) * -1j
    return _matrices(along) * adjoint(on(plain_inv, a))


@operation(
    "sign det",
    "sign of det {a}",
    a=derivative("0, for complex numbers i Im({out} · {a}⁻¹)", _sign_gradient),
    backward="LinalgSlogdetBackward0",
    reduces=True,
)
def slogdet_sign(a, /):
    """The sign of each determinant; see :func:`slogdet`."""
    return np.linalg.slogdet(a)[0]


@operation(
    "log |det|",
    "log |det {a}|",
    a=derivative("{a}⁻ᵀ", lambda g, a: _matrices(g) * adjoint(on(plain_inv, a))),
    backward="LinalgSlogdetBackward0",
    reduces=True,
)
def slogdet_log(a, /):
    """The logarithm of each determinant's absolute value; see :func:`slogdet`."""
    return np.linalg.slogdet(a)[1]


def linalg_slogdet(A: Tensor) -> Any:
    """The determinant's sign, and the logarithm of its absolute value, which does not overflow."""
    require_square_floating("linalg.slogdet", A)
    return SlogdetResult(slogdet_sign(A), slogdet_log(A))


def slogdet(input: Tensor) -> Any:
    """The determinant's sign, and the logarithm of its absolute value, which does not overflow."""
    return OlderSlogdetResult(*linalg_slogdet(input))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative, -inf where it is 0."""
    require_square_floating("logdet", input)
    if is_complex(input):
        sign, size = linalg_slogdet(input)
        return sign.log() + size
    return where(new_tensor(np.linalg.slogdet(input.array)[0] == -1), np.nan, slogdet_log(input))


NAMES = Names(both="det inverse logdet slogdet")
