"""Inverses, determinants and systems of linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.lu import lu_arrays
from autokit.ops.matrices import LinAlgError, in_batch, require_square_floating, transposed
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor


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
    return np.linalg.inv(a)


def first_zero_pivot(a: Any) -> Any:
    """For each matrix, the number (from 1) of the first zero on the diagonal of U in P A = L U, or 0."""
    diagonal = np.diagonal(lu_arrays(a)[0], axis1=-2, axis2=-1)
    zero = diagonal == 0
    return np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0)


def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix; see :func:`inv`."""
    return inv(input)


def inv(A: Tensor) -> Tensor:
    """The inverse of each matrix.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    From A A⁻¹ = I: d(A⁻¹) = −A⁻¹ dA A⁻¹ [1]_.

    References
    ----------
    .. [1] M. B. Giles, "Collected matrix derivative results for forward and
       reverse mode algorithmic differentiation", 2008, section 2.2.3.
    """
    require_square_floating("linalg.inv", A)
    try:
        return plain_inv(A)
    except (RuntimeError, np.linalg.LinAlgError):
        where, place = in_batch(first_zero_pivot(A.array))
        raise LinAlgError(
            f"linalg.inv: {where}The diagonal element {place} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        ) from None


NAMES = Names(both="inverse")
