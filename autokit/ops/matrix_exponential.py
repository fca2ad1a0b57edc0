"""The exponential of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.gpu.arrays import ask, solve
from autokit.ops.matrices import (
    require_square_floating,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
"""The coefficients of Padé's approximation of degree 13."""

_PADE_REACH = 5.4
"""The norm up to which that approximation is exact to double precision."""


def _exponentials(a: Any) -> Any:
    identity = module_of(a).eye(a.shape[-1], dtype=a.dtype)
    norm = ask(np.abs(a).sum(axis=-2).max()) if a.size else 0.0
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
    result = solve(even - odd, even + odd)
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


NAMES = Names(both="matrix_exp")
