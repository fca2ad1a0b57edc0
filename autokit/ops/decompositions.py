"""Decompositions of matrices into triangular and orthogonal ones: Cholesky's and QR.

A decomposition with several results is computed once, and each result has a
rule of its own; a derivative needs the other results too.  On the way back
they are at hand as arrays (the setting ``found``, of which the results are
copies: these may be changed in place), and are computed anew, as tensors with
a history, where the derivative is itself to be differentiated.

Where a source is named "Giles", it is M. B. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation",
2008.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import copied, module_of
from autokit.meta_array import MetaArray
from autokit.ops.choices import where
from autokit.ops.errors import describe
from autokit.ops.gpu.arrays import any_of, like, raising
from autokit.ops.guards import guards
from autokit.ops.matrices import (
    LinAlgError,
    adjoint,
    column,
    in_batch,
    in_columns,
    require_floating,
    require_kernel,
    require_matrices,
    require_square,
    require_square_floating,
    transposed,
)
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import no_derivative
from autokit.ops.return_types import return_type
from autokit.ops.solving import plain_solve_triangular, triangle
from autokit.ops.warn import warn_of_newer
from autokit.tensor import Tensor, new_tensor

CholeskyExResult = return_type("linalg_cholesky_ex", "L", "info")
QrResult = return_type("linalg_qr", "Q", "R")
GeqrfResult = return_type("geqrf", "a", "tau")
OlderQrResult = return_type("qr", "Q", "R")

# ---------------------------------------------------------------- Cholesky's


def _cholesky_gradient(g: Any, out: Any, upper: bool) -> Any:
    if upper:
        g, out = adjoint(g), adjoint(out)
    inner = triangle(adjoint(out) @ g, False)
    inner = (inner + adjoint(triangle(inner, False, 1))) / 2
    half = on(plain_solve_triangular, adjoint(out), inner, upper=True)
    return adjoint(on(plain_solve_triangular, adjoint(out), adjoint(half), upper=True))


@operation(
    "Cholesky",
    "L of {a} = L · Lᵀ",
    a=derivative("sym(L⁻ᵀ Φ(Lᵀ g) L⁻¹), where L = {out} and Φ takes the lower half", _cholesky_gradient),
    name="cholesky",
    backward="LinalgCholeskyExBackward0",
)
def plain_cholesky(a, /, upper=False):
    """See :func:`linalg_cholesky`."""
    with raising(a):
        made = adjoint(np.linalg.cholesky(adjoint(a))) if upper else np.linalg.cholesky(a)
    if made.__class__ is np.ndarray and np.isnan(made).any():  # NumPy goes on with it
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return in_columns(made)


def _first_bad_minor(a: Any) -> int:
    """The order of the first leading minor of a matrix that is not positive definite, or 0."""
    for order in range(1, len(a) + 1):
        try:
            with raising(a):
                if any_of(np.isnan(np.linalg.cholesky(a[:order, :order]))):
                    return order
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
    require_square_floating("linalg.cholesky", A)
    return _cholesky("linalg.cholesky", A, upper)


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Cholesky's factor of each matrix; see ``torch.linalg.cholesky``."""
    warn_of_newer("cholesky", "torch.linalg.cholesky")
    if input.array.size:
        require_square("cholesky", input)
        require_kernel("cholesky_cpu", input)
    return _cholesky("cholesky", input, upper)


def _cholesky(name: str, A: Tensor, upper: bool) -> Tensor:
    if not A.array.size or A.array.__class__ is MetaArray:
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
    if a.__class__ is MetaArray:
        return MetaArray(a.shape[:-2], np.int32)
    flat = a.reshape((math.prod(a.shape[:-2]), *a.shape[-2:]))
    found = [_first_bad_minor(each) for each in flat]
    return module_of(a).asarray(found, np.int32).reshape(a.shape[:-2])


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
    succeeded = new_tensor(column(column(infos == 0)))
    good = where(succeeded, A, new_tensor(module_of(A).eye(A.array.shape[-1], dtype=A.array.dtype)))
    factor = where(succeeded, plain_cholesky(good, upper=upper), math.nan)
    return CholeskyExResult(factor, new_tensor(infos))


# ---------------------------------------------------------------- QR


def _square_gradient(g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    """The gradient of A = Q R, where R is square; a gradient that is None is zero."""
    if g_q is None:
        inner = g_r @ adjoint(r)
    elif g_r is None:
        inner = -(adjoint(q) @ g_q)
    else:
        inner = g_r @ adjoint(r) - adjoint(q) @ g_q
    inner = triangle(inner, True) + adjoint(triangle(inner, True))
    inner = inner / _twice_on_the_diagonal(inner)
    total = q @ inner if g_q is None else g_q + q @ inner
    return adjoint(on(plain_solve_triangular, r, adjoint(total), upper=True))


def _twice_on_the_diagonal(a: Any) -> Any:
    """2 on the diagonal of a square matrix like ``a``, and 1 elsewhere."""
    return np.where(module_of(a).eye(a.shape[-1], dtype=bool), 2, 1)


def _qr_gradient(g_q: Any, g_r: Any, q: Any, r: Any) -> Any:
    """The gradient of A = Q R; the columns beyond a square R are Qᵀ A, and pass theirs on directly."""
    size = q.shape[-1]
    if r.shape[-1] <= size:
        return _square_gradient(g_q, g_r, q, r)
    own = r[..., :size]
    if g_r is not None:
        rest = g_r[..., size:]
        through = q @ (r[..., size:] @ adjoint(rest))
        g_q = through if g_q is None else g_q + through
        left = _square_gradient(g_q, g_r[..., :size], q, own)
        return np.concatenate([left, q @ rest], axis=-1)
    left = _square_gradient(g_q, None, q, own)
    return np.concatenate([left, np.zeros_like(q @ r[..., size:])], axis=-1)


def _both(a: Any, found: Any, mode: str) -> Any:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and found[1].shape[-2] > found[1].shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: use "
            "mode='reduced'"
        )
    return linalg_qr(a, mode) if isinstance(a, Tensor) else found


def _q_gradient(g: Any, a: Any, found: Any, mode: str) -> Any:
    q, r = _both(a, found, mode)
    return _qr_gradient(g, None, q, r)


def _r_gradient(g: Any, a: Any, found: Any, mode: str) -> Any:
    q, r = _both(a, found, mode)
    return _qr_gradient(None, g, q, r)


@operation(
    "Q",
    "Q of {a} = Q · R",
    a=derivative(
        "(g + Q · sym(−gᵀ Q)) · R⁻ᵀ", _q_gradient, lambda g, found, mode: _q_gradient(g, None, found, mode)
    ),
    backward="LinalgQrBackward0",
)
def qr_q(a, /, found=None, mode="reduced"):
    """The orthogonal factor; see :func:`linalg_qr`."""
    return in_columns(copied(found[0]))


@operation(
    "R",
    "R of {a} = Q · R",
    a=derivative(
        "Q · sym(g Rᵀ) · R⁻ᵀ", _r_gradient, lambda g, found, mode: _r_gradient(g, None, found, mode)
    ),
    backward="LinalgQrBackward0",
)
def qr_r(a, /, found=None, mode="reduced"):
    """The upper triangle; see :func:`linalg_qr`."""
    return in_columns(copied(found[1]))


@guards(results=(0, 1))
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
        empty = new_tensor(like(np.zeros_like, A.array, shape=0))
        return QrResult(empty, qr_r(A, found=(empty.array, triangle_), mode=mode))
    q, r = np.linalg.qr(A.array, mode=mode)  # type: ignore[call-overload]
    return QrResult(qr_q(A, found=(q, r), mode=mode), qr_r(A, found=(q, r), mode=mode))


def qr(input: Tensor, some: bool = True) -> Any:
    """A = Q R; see ``torch.linalg.qr``, whose mode is "reduced" for ``some``, and else "complete"."""
    warn_of_newer("qr", "torch.linalg.qr")
    return OlderQrResult(*linalg_qr(input, "reduced" if some else "complete"))


@operation(
    "QR",
    "QR of {a} as reflections",
    a=no_derivative("geqrf", has_slope=True),
    name="geqrf",
    backward="GeqrfBackward0",
)
def _reflections(a, /, found=None, part=0):
    """One of the results of :func:`geqrf`, which were found before."""
    return found[part]


def geqrf(input: Tensor) -> Any:
    """The QR decomposition as reflections: R above, and the vectors of the reflections below the diagonal.

    PyTorch gives it no derivative either; ``torch.linalg.qr`` has one.
    """
    require_matrices("geqrf", input)
    require_kernel("geqrf_cpu", input)
    vectors, factors = np.linalg.qr(input.array, mode="raw")
    found = in_columns(np.swapaxes(vectors, -2, -1)), factors
    return GeqrfResult(_reflections(input, found=found), _reflections(input, found=found, part=1))


@guards("input", "tau", results=(0,))
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections 1 − τ v vᵀ, with conjugates in vᵀ.

    Parameters
    ----------
    input : Tensor
        Of shape (..., m, n) with m ≥ n: below its diagonal stand the vectors v, which have a 1 there and
        zeros above.
    tau : Tensor
        Of shape (..., k) with k ≤ n.

    Raises
    ------
    RuntimeError
        If the shapes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> A = torch.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> torch.allclose(torch.linalg.householder_product(*torch.geqrf(A)), torch.linalg.qr(A).Q, atol=1e-6)
    True
    """
    name = "torch.linalg.householder_product"
    if input.array.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    rows, columns = input.array.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]: {describe(input)}"
        )
    if not tau.array.ndim:
        raise IndexError(f"Dimension specified as -1 but tensor has no dimensions: tau is {describe(tau)}")
    count = tau.array.shape[-1]
    if columns < count:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.array.shape[:-2] != tau.array.shape[:-1] or input.array.dtype != tau.array.dtype:
        raise RuntimeError(
            f"{name}: {describe(input)} and {describe(tau)} are of different batches or dtypes"
        )
    require_kernel("orgqr_cpu", input)
    one = new_tensor(module_of(input).eye(rows, columns, dtype=input.array.dtype))
    vectors = input.tril(-1) + one
    product = one.expand(input.shape)
    for place in reversed(range(count)):
        vector = vectors[..., place : place + 1]
        factor = tau[..., place : place + 1].unsqueeze(-1)
        product = product - factor * vector @ (vector.mH @ product)
    return product


@guards("input", "input2", results=(0,))
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first columns of a product of reflections: ``torch.linalg.householder_product``."""
    return householder_product(input, input2)


NAMES = Names(both="cholesky geqrf orgqr qr")
