"""Inverses, determinants and systems of linear equations.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation",
2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import FLOATS
from autokit.ops.choices import where
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.gpu import any_of
from autokit.ops.lu import lu_arrays
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
from autokit.tensor import Tensor, new_tensor

InvExResult = return_type("linalg_inv_ex", "inverse", "info")
SlogdetResult = return_type("linalg_slogdet", "sign", "logabsdet")
OlderSlogdetResult = return_type("slogdet", "sign", "logabsdet")
SolveExResult = return_type("linalg_solve_ex", "result", "info")
TriangularSolveResult = return_type("triangular_solve", "solution", "cloned_coefficient")

# ---------------------------------------------------------------- inverses


def _inverses(a: Any) -> Any:
    """The inverses; NaN for singular matrices."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(a, np.nan)
        return np.stack([_inverses(each) for each in a])


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
    return _inverses(a)


def first_zero_pivot(a: Any) -> Any:
    """For each matrix, the number (from 1) of the first zero on the diagonal of U in P A = L U, or 0."""
    diagonal = np.diagonal(lu_arrays(a)[0], axis1=-2, axis2=-1)
    zero = diagonal == 0
    return np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0).astype(np.int32)


def _failures(answer: Any, a: Any, dims: int) -> Any:
    """For each matrix ``a``, which pivot was zero, where ``answer`` has become NaN for it; else 0."""
    if not any_of(np.isnan(answer)):
        return np.zeros_like(a, np.int32, shape=a.shape[:-2])
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
    infos = _failures(made.array, A.array, 2)
    if check_errors and infos.any():
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
    u, s, vh = np.linalg.svd(a)
    others = np.where(np.eye(a.shape[-1], dtype=bool), 1, s[..., None, :]).prod(axis=-1)
    return (u * others[..., None, :]) @ vh * _matrices(np.linalg.det(u) * np.linalg.det(vh))


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


@operation(
    "sign det",
    "sign of det {a}",
    a=derivative("0", lambda g, a: np.zeros_like(a)),
    backward="LinalgSlogdetBackward0",
    reduces=True,
)
def slogdet_sign(a, /):
    """The sign of each determinant; see :func:`slogdet`."""
    return np.linalg.slogdet(a)[0]


@operation(
    "log |det|",
    "log |det {a}|",
    a=derivative("{a}⁻ᵀ", lambda g, a: _matrices(g) * transposed(on(plain_inv, a))),
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
    return where(new_tensor(np.linalg.slogdet(input.array)[0] == -1), np.nan, slogdet_log(input))


# ---------------------------------------------------------------- systems of equations


def _columns(b: Any, vector: bool) -> Any:
    return b.reshape((*b.shape, 1)) if vector else b


def _solve_gradients(g: Any, a: Any, out: Any, vector: bool) -> tuple[Any, Any]:
    by_b = on(plain_solve, transposed(a), g, vector=vector)
    return -(_columns(by_b, vector) @ transposed(_columns(out, vector))), by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative("for b: {a}⁻ᵀ ·; for a: minus that, times {out}ᵀ", _solve_gradients),
    name="solve",
    backward="LinalgSolveExBackward0",
)
def plain_solve(a, b, /, vector=False):
    """See :func:`solve`."""
    columns = _columns(b, vector)
    try:
        made = np.linalg.solve(a, columns)
    except np.linalg.LinAlgError:
        made = _inverses(a) @ columns
    return made[..., 0] if vector else made


def _check_system(function: str, A: Any, B: Any) -> None:
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"{function}: Expected A and B to have the same dtype, but found A of type {title(A)} and B of "
            f"type {title(B)} instead"
        )


def _check_sizes(function: str, A: Any, shape: tuple[int, ...], left: bool) -> None:
    """Raise unless matrices of ``shape`` stand beside A in A X = B, or in X A = B."""
    rows, columns = A.array.shape[-2:]
    if shape[-2 if left else -1] != rows:
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({rows}x{columns} and {shape[-2]}x{shape[-1]})"
        )
    lead, own = A.array.shape[:-2], shape[:-2]
    if any(m != n and 1 not in (m, n) for m, n in zip(reversed(lead), reversed(own))):
        raise RuntimeError(broadcast_message(own, lead))


def _is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether B holds a vector for each matrix of A, as PyTorch reads it."""
    return B.array.ndim == 1 or (
        A.array.ndim - 1 == B.array.ndim and A.array.shape[:-1] == B.array.shape and A.array.ndim > 2
    )


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of A X = B; with ``left=False``, of X A = B.

    Parameters
    ----------
    A : Tensor
        Square matrices, (..., n, n).
    B : Tensor
        Right-hand sides, (..., n, k), or a vector for each matrix, (..., n).
    left : bool
        On which side A stands.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    With G the gradient of X, that of B is A⁻ᵀ G, and that of A is
    −(A⁻ᵀ G) Xᵀ (Giles, section 2.3.1); both are solved for, not inverted.
    """
    return _solved("linalg.solve", A, B, left, True).result


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution X of A X = B, and for each matrix the number of the first zero pivot, or 0."""
    return _solved("linalg.solve_ex", A, B, left, check_errors)


def _solved(function: str, A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Any:
    require_square_floating(function, A)
    if not isinstance(B, Tensor):
        raise TypeError(f"{function}(): argument 'B' (position 2) must be Tensor, not {type(B).__name__}")
    _check_system(function, A, B)
    vector = _is_vector(A, B)
    _check_sizes(function, A, (*B.array.shape, 1) if vector else B.array.shape, left or vector)
    if left:
        made = plain_solve(A, B, vector=vector)
    elif vector:
        made = plain_solve(A.transpose(-2, -1), B, vector=True)
    else:
        made = plain_solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    infos = _failures(made.array, A.array, 1 if vector else 2)
    if check_errors and infos.any():
        raise LinAlgError(
            f"torch.{function}: {in_batch(infos)[0]}The solver failed because the input matrix is singular."
        )
    return SolveExResult(made, new_tensor(infos))


def triangle(a: Any, upper: bool, offset: int = 0) -> Any:
    """The matrices with zeros below the diagonal (``upper``) or above it; with ``offset`` 1 on it too."""
    rows, columns = a.shape[-2:]
    below = np.tri(rows, columns, offset - 1 if upper else -offset, dtype=bool)
    return np.where(~below if upper else below, a, 0)


def _substitute(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """Substitution, row by row, backward for an upper triangle and forward for a lower one."""
    size = a.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.zeros_like(b, shape=(*lead, *b.shape[-2:]))
    for row in reversed(range(size)) if upper else range(size):
        known = slice(row + 1, size) if upper else slice(0, row)
        value = b[..., row, :] - (a[..., row, None, known] @ x[..., known, :])[..., 0, :]
        x[..., row, :] = value if unit else value / a[..., row, row, None]
    return x


def _triangular_gradients(g: Any, a: Any, out: Any, upper: bool, unit: bool) -> tuple[Any, Any]:
    by_b = on(plain_solve_triangular, transposed(a), g, upper=not upper, unit=unit)
    return -triangle(by_b @ transposed(out), upper, int(unit)), by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative("for b: {a}⁻ᵀ ·; for a: minus that, times {out}ᵀ", _triangular_gradients),
    name="solve_triangular",
    backward="LinalgSolveTriangularBackward0",
)
def plain_solve_triangular(a, b, /, upper=True, unit=False):
    """See :func:`solve_triangular`."""
    return _substitute(a, b, upper, unit)


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution X of A X = B (or of X A = B), where A is a triangle; the other half of A is not read.

    Parameters
    ----------
    A : Tensor
        Square matrices, (..., n, n).
    B : Tensor
        Right-hand sides, (..., n, k).
    upper : bool
        Which triangle it is.
    left : bool
        On which side A stands.
    unitriangular : bool
        Take the diagonal of A for ones, without reading it.
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_matrices(name, B, "B")
    require_floating(name, A)
    _check_system(name, A, B)
    _check_sizes(name, A, B.array.shape, left)
    if left:
        return plain_solve_triangular(A, B, upper=upper, unit=unitriangular)
    turned = plain_solve_triangular(
        A.transpose(-2, -1), B.transpose(-2, -1), upper=not upper, unit=unitriangular
    )
    return turned.transpose(-2, -1)


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The older form of ``torch.linalg.solve_triangular``: right-hand sides first."""
    if transpose:
        made = solve_triangular(A.transpose(-2, -1), input, upper=not upper, unitriangular=unitriangular)
    else:
        made = solve_triangular(A, input, upper=upper, unitriangular=unitriangular)
    return TriangularSolveResult(made, A.clone())


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of A X = B, given B (``input``) and the Cholesky factor of A.

    A is L Lᵀ, or Lᵀ L where the factor is ``upper``.  Its other half is not
    read, and has the gradient 0 (in PyTorch it has one nevertheless).
    """
    for name, tensor in (("b", input), ("u", L)):
        if tensor.array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {tensor.array.ndim} dimensions instead: "
                f"{describe(tensor)}"
            )
    rows, size = input.array.shape[-2], L.array.shape[-1]
    if rows != size:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {size} by {size} but each b "
            f"matrix is {rows} by {input.array.shape[-1]}"
        )
    lower = L.transpose(-2, -1) if upper else L
    half = plain_solve_triangular(lower, input, upper=False)
    return plain_solve_triangular(lower.transpose(-2, -1), half, upper=True)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor: A is L Lᵀ, or Lᵀ L where the factor is ``upper``."""
    require_square_floating("cholesky_inverse", L)
    zero = np.diagonal(L.array, axis1=-2, axis2=-1) == 0
    if any_of(zero):
        where_, number = in_batch(np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0))
        raise LinAlgError(
            f"cholesky_inverse: {where_}The diagonal element {number} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )
    identity = np.broadcast_to(np.eye(L.array.shape[-1], dtype=L.array.dtype), L.array.shape)
    return cholesky_solve(new_tensor(identity), L, upper)


# ---------------------------------------------------------------- least squares


def _pseudoinverse_gradient(g: Any, a: Any, out: Any) -> Any:
    turned, back = transposed(g), transposed(out)
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
def plain_pinv(a, /, atol=0.0, rtol=0.0):
    """See :func:`pinv`."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    kept = s > cutoff(s, a.shape, atol, rtol)
    inverted = np.where(kept, 1 / np.where(kept, s, 1), 0)
    return transposed(vh) @ (inverted[..., None] * transposed(u))


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


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _bound(value: Any) -> Any:
    """A bound for each matrix, to be compared with its singular values, or one number for all."""
    return value.array[..., None] if isinstance(value, Tensor) and value.array.ndim else _number(value)


def pinv(
    A: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False,
    rcond: float | None = None,
) -> Tensor:  # fmt: skip
    """The pseudoinverse (Moore and Penrose's) of each matrix.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    atol, rtol : float, optional
        Singular values up to ``max(atol, rtol · the largest)`` count as 0; by
        default, ``rtol`` is max(m, n) times the precision.
    hermitian : bool
        The matrices are symmetric.
    rcond : float, optional
        The older name of ``rtol``.

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
    if A.array.ndim < 2 or A.array.dtype.kind not in FLOATS or A.array.dtype.itemsize < 4:
        raise RuntimeError(
            f"linalg.pinv({title(A)}{{{list(A.array.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )
    if hermitian:
        require_square("linalg.eigh", A)
    return plain_pinv(A, atol=_number(atol), rtol=_number(rtol if rcond is None else rcond))


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse of each matrix; see ``torch.linalg.pinv``."""
    return pinv(input, rtol=rcond)


LstsqResult = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X for which A X is closest to B: the sum of the squared differences is least.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    B : Tensor
        Right-hand sides, (..., m, k), or a vector for each matrix, (..., m).
    rcond : float, optional
        Singular values up to this, relative to the largest, count as 0.
    driver : "gelsy", "gels", "gelsd" or "gelss"
        LAPACK's name of a method.  All are computed by the pseudoinverse
        here; "gels" refuses a matrix without full rank, and the last two
        give the singular values.

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
    vector = _is_vector(A, B)
    place = -1 if vector else -2
    if A.array.shape[-2] != B.array.shape[place]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({place}). Got {describe(A)} and {describe(B)}"
        )
    rows, columns = A.array.shape[-2:]
    s = np.linalg.svd(A.array, compute_uv=False)
    rank = (s > cutoff(s, A.array.shape, 0.0, rcond)).sum(axis=-1)
    full = bool((rank == min(rows, columns)).all())
    if driver == "gels" and not full:
        raise LinAlgError(
            f"{name}: The least squares solution could not be computed because the input matrix does not "
            f"have full rank (error code: {int(rank.min()) + 1})."
        )
    solution = pinv(A, rtol=rcond) @ (B.unsqueeze(-1) if vector else B)
    empty = new_tensor(np.zeros(0, A.array.dtype))
    residuals = empty
    if full and rows > columns and driver not in (None, "gelsy"):
        difference = A @ solution - (B.unsqueeze(-1) if vector else B)
        residuals = (difference * difference).sum(-2)
    return LstsqResult(
        solution.squeeze(-1) if vector else solution,
        residuals.squeeze(-1) if vector and residuals is not empty else residuals,
        new_tensor(new_tensor(rank).array.astype(np.int64) if driver != "gels" else np.zeros(0, np.int64)),
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
    if A.array.dtype.kind not in FLOATS or A.array.dtype.itemsize < 4:
        raise RuntimeError(f"This function doesn't handle types other than float and double: {describe(A)}")
    if hermitian:
        require_square("linalg.matrix_rank", A)
    s = np.linalg.svd(A.array, compute_uv=False)
    # The older `tol` is absolute, and leaves no room for the relative one.
    bounds = (_bound(tol), 0.0) if tol is not None else (_bound(atol), _bound(rtol))
    return new_tensor((s > cutoff(s, A.array.shape, *bounds)).sum(axis=-1, dtype=np.int64))


NAMES = Names(
    both="cholesky_inverse cholesky_solve det inverse logdet pinverse slogdet triangular_solve",
)
