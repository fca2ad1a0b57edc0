"""Pseudoinverses, least squares and the rank of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.complex_parts import real
from autokit.ops.errors import broadcast_message, describe, kind_of
from autokit.ops.gpu.arrays import any_of, ask, like
from autokit.ops.guards import guards
from autokit.ops.matrices import (
    LinAlgError,
    adjoint,
    mirrored,
    require_floating,
    require_square,
    svd,
    title,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.return_types import return_type
from autokit.ops.solving import is_vector
from autokit.tensor import Tensor, new_tensor


def _pseudoinverse_gradient(g: Any, a: Any, out: Any) -> Any:
    turned, back = adjoint(g), adjoint(out)
    outside = turned @ out @ back
    inside = back @ out @ turned
    return -(back @ g @ back) + (outside - a @ (out @ outside)) + (inside - (inside @ out) @ a)


@operation(
    "⁺",
    "{a}⁺",
    a=derivative("Golub and Pereyra's formula", _pseudoinverse_gradient),
    name="pinv",
    backward="LinalgPinvBackward0",
)
def plain_pinv(a, /, atol=0.0, rtol=0.0, hermitian=False):
    """See :func:`pinv`."""
    u, s, vh = svd(mirrored(a) if hermitian else a, full_matrices=False)
    kept = s > cutoff(s, a.shape, atol, rtol)
    inverted = np.where(kept, 1 / np.where(kept, s, 1), 0)
    return adjoint(vh) @ (inverted[..., None] * adjoint(u))


def cutoff(s: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """What a singular value must exceed to count: ``max(atol, rtol · the largest)``."""
    if rtol is None:
        rtol = max(shape[-2:]) * float(np.finfo(s.dtype).eps)
        if isinstance(atol, np.ndarray):
            rtol = np.where(atol > 0, 0.0, rtol)
        elif atol:
            rtol = 0.0
    if not s.shape[-1]:
        return np.zeros_like(s, shape=(*s.shape[:-1], 1))
    largest = s.max(axis=-1, keepdims=True)
    return np.maximum(0.0 if atol is None else atol, rtol * largest)


def _bound(value: Any, A: Tensor) -> Any:
    """A bound for each matrix of A, to be compared with its singular values, or one number for all."""
    if not isinstance(value, Tensor):
        return value
    if value.array.dtype.kind == "c":
        raise RuntimeError(f"a bound of complex type is not supported. Got {kind_of(value)}: take its .abs()")
    if not value.array.ndim:
        return value.item()
    own, batch = value.array.shape, A.array.shape[:-2]
    if any(m != n and 1 not in (m, n) for m, n in zip(reversed(own), reversed(batch))):
        raise RuntimeError(
            f"{broadcast_message(own, batch)}: there is one bound for each matrix. Got {describe(value)} for "
            f"{describe(A)}"
        )
    return value.array[..., None]


def _bounds(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Both bounds, which broadcast with the batch and with each other."""
    if isinstance(atol, Tensor) and isinstance(rtol, Tensor):
        one, other = atol.array.shape, rtol.array.shape
        if any(m != n and 1 not in (m, n) for m, n in zip(reversed(one), reversed(other))):
            raise RuntimeError(f"{broadcast_message(one, other)}: these are the shapes of atol and rtol")
    return _bound(atol, A), _bound(rtol, A)


def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """The pseudoinverse (Moore and Penrose's) of each matrix.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    rcond : float or Tensor, optional
        The older name of ``rtol``.
    hermitian : bool
        The matrices are symmetric, or Hermitian: the lower half of each is read.
    atol, rtol : float or Tensor, optional
        Singular values up to ``max(atol, rtol · the largest)`` count as 0; by
        default, ``rtol`` is max(m, n) times the precision.  A tensor holds a
        bound for each matrix, and broadcasts with the batch.

    Notes
    -----
    The derivative, where the rank does not change [1]_:
    dA⁺ = −A⁺ dA A⁺ + A⁺ A⁺ᵀ dAᵀ (I − A A⁺) + (I − A⁺ A) dAᵀ A⁺ᵀ A⁺.

    References
    ----------
    .. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and
       nonlinear least squares problems whose variables separate", SIAM
       Journal on Numerical Analysis, 1973.
    """
    if A.array.ndim < 2 or A.array.dtype.kind not in DIFFERENTIABLE or A.array.dtype.itemsize < 4:
        raise RuntimeError(
            f"linalg.pinv({title(A)}{{{list(A.array.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )
    if hermitian:
        require_square("linalg.eigh", A)
    rtol = rtol if rcond is None else rcond
    for name, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, Tensor) and bound.requires_grad:
            raise RuntimeError(
                f"The function 'linalg_pinv' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True: detach() it"
            )
    if not A.array.size:
        return A.mH * 1
    atol, rtol = _bounds(A, atol, rtol)
    return plain_pinv(A, atol=atol, rtol=rtol, hermitian=hermitian)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse of each matrix; see ``torch.linalg.pinv``."""
    return pinv(input, rtol=rcond)


LstsqResult = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@guards("A", "B", results=(0,))
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X for which A X is closest to B: the sum of the squared differences is least.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    B : Tensor
        Right-hand sides, (..., m, k), or a vector for each matrix, (..., m).
    rcond : float, optional
        Singular values up to this, relative to the largest, count as 0.  As in LAPACK a number below 0
        stands for the precision, and so does one from 1 on, but for "gelss".
    driver : "gelsy", "gels", "gelsd" or "gelss"
        LAPACK's name of a method.  All are computed by the pseudoinverse
        here; "gels" refuses a matrix without full rank and takes no
        ``rcond``, and the last two give the singular values.  Where ``rcond``
        leaves something out, PyTorch's "gelsy" leaves out whole columns, in an
        order that is not the same each time; here it does what "gelsd" does.

    Returns
    -------
    solution, residuals, rank, singular_values
        The residuals, sums of squared differences, are empty unless m > n,
        the rank is full, and the driver is another than "gelsy", the default.

    Raises
    ------
    RuntimeError
        If the shapes do not fit, or there is no such driver.
    """
    name = "torch.linalg.lstsq"
    if not 0 <= A.array.ndim - B.array.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= "
            f"1. Got {describe(A)} and {describe(B)}"
        )
    if A.array.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions. Got {describe(A)}")
    if B.array.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension. Got {describe(B)}")
    require_floating(name, A)
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {title(A)} and "
            f"other's dtype {title(B)}"
        )
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    vector = is_vector(A, B)
    place = -1 if vector else -2
    if A.array.shape[-2] != B.array.shape[place]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({place}). Got {describe(A)} and {describe(B)}"
        )
    rows, columns = A.array.shape[-2:]
    if rcond is not None and (rcond < 0 or (rcond >= 1 and driver != "gelss")):
        rcond = float(np.finfo(A.array.dtype).eps)
    if driver == "gels":
        rcond = None
    s = svd(A.array, compute_uv=False)
    rank = (s > cutoff(s, A.array.shape, 0.0, rcond)).sum(axis=-1)
    full = not any_of(rank != min(rows, columns))
    if driver == "gels" and not full:
        raise LinAlgError(
            f"{name}: The least squares solution could not be computed because the input matrix does not "
            f"have full rank (error code: {ask(rank.min()) + 1})."
        )
    solution = pinv(A, rtol=rcond) @ (B.unsqueeze(-1) if vector else B)
    empty = new_tensor(like(np.zeros_like, s, shape=0))
    residuals = empty
    if not B.array.size:  # nothing to solve: PyTorch does not look at A then
        rank = rank * 0
    if full and rows > columns and driver not in (None, "gelsy"):
        difference = A @ solution - (B.unsqueeze(-1) if vector else B)
        residuals = real(difference * difference.conj()).sum(-2)
    return LstsqResult(
        solution.squeeze(-1) if vector else solution,
        residuals,
        new_tensor(rank.astype(np.int64) if driver != "gels" else like(np.zeros_like, s, np.int64, shape=0)),
        new_tensor(s) if driver in ("gelsd", "gelss") else empty,
    )


def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """How many singular values exceed ``max(atol, rtol · the largest)``; by default, rounding errors."""
    if A.array.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions. Got "
            f"{describe(A)}"
        )
    if A.array.dtype.kind not in DIFFERENTIABLE or A.array.dtype.itemsize < 4:
        raise RuntimeError(f"This function doesn't handle types other than float and double: {describe(A)}")
    if hermitian and A.array.size:
        require_square("linalg.matrix_rank", A)
    if not A.array.size:
        return new_tensor(like(np.zeros_like, A.array, np.int64, shape=A.array.shape[:-2]))
    # As in PyTorch, of symmetric matrices half is read.
    s = np.abs(np.linalg.eigvalsh(A.array)) if hermitian else svd(A.array, compute_uv=False)
    # The older `tol` is absolute, and leaves no room for the relative one.
    bounds = (_bound(tol, A), 0.0) if tol is not None else _bounds(A, atol, rtol)
    return new_tensor((s > cutoff(s, A.array.shape, *bounds)).sum(axis=-1, dtype=np.int64))


NAMES = Names(both="pinverse")
