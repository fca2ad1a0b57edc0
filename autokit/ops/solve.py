"""Systems of linear equations: solutions, inverses, determinants and least squares.

NumPy and SciPy compute them with LAPACK. "Giles" refers to M. B. Giles, "Collected matrix derivative results
for forward and reverse mode algorithmic differentiation", 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of, on_a_gpu
from autokit.base.errors import require_floats
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu import lacking
from autokit.ops.gather import return_type
from autokit.ops.names import Names
from autokit.ops.product import matmul

Slogdet = return_type("slogdet", "sign", "logabsdet")
Lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


class LinAlgError(RuntimeError):
    """There is no result for a matrix: it is singular, not positive definite, or not finite."""


def transposed(a: Any) -> Any:
    """Each matrix of an array or a tensor transposed."""
    return np.swapaxes(a, -1, -2)


def require_matrices(name: str, a: Any) -> None:
    """Raise unless the array ``a``, the operand of the function ``name``, holds matrices of floats."""
    if a.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor A must have at least 2 dimensions, but its shape is {list(a.shape)}"
        )
    require_floats(name, a)


def require_square(name: str, a: Any) -> None:
    """Raise unless the array ``a``, the operand of the function ``name``, holds square matrices of floats."""
    require_matrices(name, a)
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} "
            "matrices"
        )


def _singular(name: str) -> LinAlgError:
    return LinAlgError(
        f"{name}: the input matrix is singular, so the solver failed: its columns are not independent; "
        "torch.linalg.lstsq and torch.linalg.pinv find the best answer there is"
    )


# ---------------------------------------------------------------- inverses and determinants


@operation(
    "⁻¹",
    "{a}⁻¹",
    a=derivative("−{out}ᵀ · {out}ᵀ", lambda g, out: -(transposed(out) @ g @ transposed(out))),
    backward="LinalgInvExBackward0",
)
def inv(a, /):
    """The inverse of each matrix.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    From A A⁻¹ = I follows d(A⁻¹) = −A⁻¹ dA A⁻¹ (Giles, section 2.2.3).
    """
    require_square("linalg.inv", a)
    try:
        with lacking.raising(a):
            return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        raise _singular("linalg.inv") from None


def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix; see ``torch.linalg.inv``."""
    return inv(input)


def _cofactors(a: Any) -> Any:
    """The matrix of cofactors, det(A) A⁻ᵀ, computed without a division, also for a singular matrix."""
    u, s, vh = np.linalg.svd(a)
    identity = module_of(a).eye(a.shape[-1], dtype=bool)
    others = np.where(identity, 1, s[..., None, :]).prod(axis=-1)
    return (u * others[..., None, :]) @ vh * (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _det_gradient(g: Any, a: Any, out: Any) -> Any:
    if isinstance(a, Tensor):  # to be differentiated again
        return (g * out)[..., None, None] * transposed(inv(a))
    return g[..., None, None] * _cofactors(a)


@operation("det", "det {a}", a=derivative("{out} · {a}⁻ᵀ", _det_gradient), backward="LinalgDetBackward0")
def det(a, /):
    """The determinant of each matrix.

    Notes
    -----
    Its gradient is the matrix of cofactors, which is det(A) A⁻ᵀ where there is an inverse (Jacobi's formula;
    Giles, section 2.2.4). It is found by singular values, and so is right for a singular matrix as well.
    """
    require_square("linalg.det", a)
    return np.linalg.det(a)


def _slogdet_gradient(g: Any, a: Any) -> Any:
    by_logarithm = g[1]  # the sign does not change when A changes a little
    return (
        np.zeros_like(a) if by_logarithm is None else by_logarithm[..., None, None] * transposed(on(inv, a))
    )


@operation(
    "log |det|",
    "sign and logarithm of |det {a}|",
    a=derivative("{a}⁻ᵀ", _slogdet_gradient),
    name="slogdet",
    mixed=True,
    backward="LinalgSlogdetBackward0",
)
def _slogdet(a, /):
    require_square("linalg.slogdet", a)
    return tuple(np.linalg.slogdet(a))


def slogdet(input: Tensor) -> Any:
    """The determinant's sign, and the logarithm of its absolute value, which does not overflow."""
    return Slogdet(*_slogdet(input))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative, -inf where it is 0."""
    sign, logarithm = _slogdet(input)
    return np.where(sign < 0, np.nan, logarithm)  # type: ignore[return-value]


def _power_gradient(g: Any, a: Any, n: int) -> Any:
    """The sum of Aᵀᵏ G Aᵀⁿ⁻¹⁻ᵏ over k: it stands in the power of a matrix of blocks, (Aᵀ G; 0 Aᵀ)ⁿ."""
    turned, size = transposed(a), a.shape[-1]
    blocks = [turned, g], [np.zeros_like(g), turned]
    both = np.concatenate([np.concatenate(row, axis=-1) for row in blocks], axis=-2)
    return on(matrix_power, both, n=n)[..., :size, size:]


@operation("ⁿ", "{a}ⁿ", a=derivative("Σ {a}ᵀᵏ · g · {a}ᵀⁿ⁻¹⁻ᵏ", _power_gradient))
def matrix_power(a, /, n):
    """A square matrix times itself, ``n`` times; the inverse's power where ``n`` is negative.

    >>> import autokit as torch
    >>> torch.matrix_power(torch.tensor([[1.0, 1.0], [1.0, 0.0]]), 10)[0, 1]
    tensor(55.)

    Notes
    -----
    The gradient is computed with blocks: N. J. Higham, "Functions of Matrices", 2008, theorem 3.6.
    """
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"matrix_power: A must be batches of square matrices, but its shape is {list(a.shape)}"
        )
    base = a.copy() if n >= 0 else inv.operation.forward(a)  # NumPy's first power would be a itself
    return np.linalg.matrix_power(base, abs(n))


# ---------------------------------------------------------------- systems of equations


def _in_columns(b: Any, vector: bool) -> Any:
    return b[..., None] if vector else b


def _is_vector(a: Any, b: Any) -> bool:
    """Whether ``b`` holds a vector, not a matrix, for each matrix of ``a``."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])


def _solve_gradients(g: Any, a: Any, b: Any, out: Any, left: bool) -> tuple[Any, Any]:
    if not left:
        by_a, by_b = _solve_gradients(transposed(g), transposed(a), transposed(b), transposed(out), True)
        return transposed(by_a), transposed(by_b)
    vector = _is_vector(a, b)
    by_b = on(solve, transposed(a), _in_columns(g, vector))
    return -(by_b @ transposed(_in_columns(out, vector))), by_b[..., 0] if vector else by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative({"a": "− {a}⁻ᵀ · g · {out}ᵀ", "b": "{a}⁻ᵀ ·"}, _solve_gradients),
    backward="LinalgSolveExBackward0",
)
def solve(a, b, /, left=True):
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
    With G the gradient of X, that of B is A⁻ᵀ G, and that of A is −(A⁻ᵀ G) Xᵀ (Giles, section 2.3.1); both
    are solved for, not inverted.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    require_square("linalg.solve", a)
    if not left:
        return transposed(solve.operation.forward(transposed(a), transposed(b)))
    vector = _is_vector(a, b)
    columns = _in_columns(b, vector)
    _require_fitting("linalg.solve", a, columns)
    try:
        solution = lacking.solve(a, columns)
    except np.linalg.LinAlgError:
        raise _singular("linalg.solve") from None
    return solution[..., 0] if vector else solution


def _require_fitting(name: str, a: Any, b: Any) -> None:
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation AX = B: {list(a.shape)} and "
            f"{list(b.shape)}; B must have {a.shape[-1]} rows"
        )


def _triangular_gradients(g: Any, a: Any, out: Any, upper: bool, unitriangular: bool) -> tuple[Any, Any]:
    by_b = on(triangular_solution, transposed(a), g, upper=not upper, unitriangular=unitriangular)
    by_a, diagonal = -(by_b @ transposed(out)), int(unitriangular)
    return (np.triu(by_a, diagonal) if upper else np.tril(by_a, -diagonal)), by_b


@operation(
    "solve",
    "{a}⁻¹ · {b}",
    joint=derivative({"a": "− {a}⁻ᵀ · g · {out}ᵀ", "b": "{a}⁻ᵀ ·"}, _triangular_gradients),
    name="solve_triangular",
    backward="LinalgSolveTriangularBackward0",
)
def triangular_solution(a, b, /, upper=True, unitriangular=False):
    """The solution X of A X = B by substitution, where A is a triangle: one half of it is read."""
    require_square("linalg.solve_triangular", a)
    _require_fitting("linalg.solve_triangular", a, b)
    if on_a_gpu(a):  # CuPy substitutes in single matrices alone
        identity = module_of(a).eye(a.shape[-1], dtype=a.dtype)
        half = np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))
        return lacking.solve(half + identity if unitriangular else half, b)
    if not (a.size and b.size):
        return a @ b  # nothing to solve for: a result of the right shape
    from scipy.linalg import solve_triangular

    try:
        return solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular, check_finite=False)
    except np.linalg.LinAlgError:
        raise _singular("linalg.solve_triangular") from None


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution X of A X = B (or of X A = B), where A is a triangle; the other half of A is not read.

    Parameters
    ----------
    A, B : Tensor
        Square matrices, (..., n, n), and right-hand sides, (..., n, k).
    upper : bool
        Which triangle it is.
    left : bool
        On which side A stands.
    unitriangular : bool
        Take the diagonal of A for ones, without reading it.
    """
    if left:
        return triangular_solution(A, B, upper=upper, unitriangular=unitriangular)
    turned = triangular_solution(transposed(A), transposed(B), upper=not upper, unitriangular=unitriangular)
    return transposed(turned)


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of A X = B, given B (``input``) and the factor of A = L Lᵀ, or of Lᵀ L if ``upper``."""
    lower = transposed(L) if upper else L
    half = triangular_solution(lower, input, upper=False)
    return triangular_solution(transposed(lower), half, upper=True)


# ---------------------------------------------------------------- least squares


def _pinv_gradient(g: Any, a: Any, out: Any) -> Any:
    turned, back = transposed(g), transposed(out)
    outside = turned @ out @ back
    inside = back @ out @ turned
    return -(back @ g @ back) + (outside - a @ (out @ outside)) + (inside - (inside @ out) @ a)


def _rounding(a: Any) -> float:
    """Singular values up to this, relative to the largest, may come from rounding errors."""
    return max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)


@operation("⁺", "{a}⁺", a=derivative("Golub and Pereyra's formula", _pinv_gradient), name="pinv")
def _pinv(a, /, rtol=None, hermitian=False):
    require_matrices("linalg.pinv", a)
    rtol = _rounding(a) if rtol is None else rtol
    return np.linalg.pinv(a, rtol, hermitian) if hermitian else np.linalg.pinv(a, rtol)


def pinv(
    A: Tensor, rcond: float | None = None, hermitian: bool = False, *, rtol: float | None = None
) -> Tensor:
    """The pseudoinverse (Moore and Penrose's) of each matrix.

    Parameters
    ----------
    A : Tensor
        Matrices, (..., m, n).
    rcond, rtol : float, optional
        Singular values up to this, relative to the largest, count as 0; by default max(m, n) times the
        precision.
    hermitian : bool
        The matrices are symmetric.

    Notes
    -----
    The derivative, where the rank does not change [1]_:
    dA⁺ = −A⁺ dA A⁺ + A⁺ A⁺ᵀ dAᵀ (I − A A⁺) + (I − A⁺ A) dAᵀ A⁺ᵀ A⁺.

    References
    ----------
    .. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
    problems
       whose variables separate", SIAM Journal on Numerical Analysis, 1973.
    """
    return _pinv(A, rtol=rtol if rcond is None else rcond, hermitian=hermitian)


def matrix_rank(
    A: Tensor,
    tol: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """How many singular values exceed ``atol``, or ``rtol`` times the largest; by default rounding errors."""
    require_matrices("linalg.matrix_rank", A.array)
    atol = tol if atol is None else atol
    if atol is not None and rtol is not None:
        atol = np.maximum(atol, rtol * np.linalg.norm(A.array, 2, (-2, -1)))
        rtol = None
    asked: dict[str, Any] = {"hermitian": hermitian or None, "rtol": rtol}
    settings = {name: value for name, value in asked.items() if value is not None}  # CuPy knows neither
    return new_tensor(np.linalg.matrix_rank(A.array, atol, **settings))


def _lstsq_gradients(g: Any, a: Any, b: Any, rcond: float | None) -> tuple[Any, Any]:
    """The gradients of the solution, X = A⁺ B."""
    inverse = on(_pinv, a, rtol=rcond)
    return _pinv_gradient(g[0] @ transposed(b), a, inverse), transposed(inverse) @ g[0]


@operation(
    "lstsq",
    "the X of least ‖{a} · X − {b}‖",
    joint=derivative({"a": "as of {a}⁺ · {b}", "b": "({a}⁺)ᵀ ·"}, _lstsq_gradients),
    name="lstsq",
    backward="LinalgLstsqBackward0",
)
def _lstsq(a, b, /, rcond=None):
    require_matrices("linalg.lstsq", a)
    return lacking.lstsq(a, b, _rounding(a) if rcond is None else rcond)


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
    driver : str, optional
        LAPACK's name of a method; here NumPy chooses "gelsd" for one matrix, and batches are solved by the
        pseudoinverse. "gelsd" and "gelss" give the singular values.

    Returns
    -------
    solution, residuals, rank, singular_values
        The residuals, sums of squared differences, are empty unless m > n, the rank is full, and a
        ``driver`` other than "gelsy" is named.
    """
    vector = _is_vector(A, B)
    columns = B.unsqueeze(-1) if vector else B
    if A.ndim < 2 or columns.ndim < 2 or A.shape[-2] != columns.shape[-2]:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2}), but the "
            f"shapes are {list(A.shape)} and {list(B.shape)}"
        )
    solution, rank, values = _lstsq(A, columns, rcond=rcond)
    empty = new_tensor(np.zeros_like(A.array, shape=0))
    wanted = driver not in (None, "gelsy") and A.shape[-2] > A.shape[-1]
    wanted = wanted and (rank.array == A.shape[-1]).all()
    residuals = ((matmul(A, solution) - columns) ** 2).sum(-2) if wanted else empty
    values = values.detach() if driver in ("gelsd", "gelss") else empty
    return Lstsq(solution.squeeze(-1) if vector else solution, residuals, rank, values)


NAMES = Names(
    both="cholesky_solve det inverse logdet matrix_power slogdet",
    numpy={np.linalg.det: det, np.linalg.inv: inv, np.linalg.solve: solve},
)
