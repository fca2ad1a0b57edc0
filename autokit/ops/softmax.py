"""Softmax, its logarithm, and the logarithm of a sum of exponentials, which is a smooth maximum.

The largest element is subtracted before exponentials are taken, so that none overflows; this changes no
result, since exp(x − m) / Σ exp(x − m) = exp(x) / Σ exp(x).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autokit.base.dtypes import dtype as Dtype
from autokit.base.errors import require_floats, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor
from autokit.gpu.lacking import largest
from autokit.ops.names import Names
from autokit.ops.product import FEW_ROWS, ones_beside
from autokit.ops.reduce import Dim, checked, checked_one, converted, restored


def _below_largest(a: Any, dim: Any) -> Any:
    """``a`` less its largest element along ``dim``."""
    return a - largest(a, dim)


# ---------------------------------------------------------------- softmax


def _softmax_gradient(g: Any, out: Any, dim: int | None) -> Any:
    return out * (g - (g * out).sum(axis=dim, keepdims=True))


def _softmax_gradient_of_arrays(g: Any, out: Any, dim: int | None) -> Any:
    """The same with fewer large arrays; for the benchmark's transformer."""
    if dim is None or g.__class__ is not np.ndarray:
        return _softmax_gradient(g, out, dim)
    slope = g - np.expand_dims(np.vecdot(g, out, axis=dim), dim)  # type: ignore[call-overload]
    slope *= out
    return slope


@operation(
    "softmax",
    "exp {a} / Σ exp {a}",
    a=derivative("diag({out}) − {out} {out}ᵀ", _softmax_gradient, _softmax_gradient_of_arrays),
    words={
        "a": "Shares add up to 1, so one grows at the cost of others: a score's gradient is its share · "
        "(its upstream gradient − the mean of these in its row, weighted by the shares)"
    },
    name="softmax",
)
def shares(a, /, dim):
    """See :func:`softmax`."""
    below = _below_largest(a, dim)
    exponentials = np.exp(below, out=below if below.ndim else None)
    exponentials /= exponentials.sum(axis=dim, keepdims=True)
    return exponentials


def softmax(input: Tensor, dim: int | None = None, dtype: Dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([0.0900, 0.2447, 0.6652])
    """
    return _along("softmax", shares, input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, dtype: Dtype | None = None) -> Tensor:
    """The :func:`softmax` of ``-input``: the smallest element gets the largest share."""
    return softmax(-input, dim, dtype)


def _along(name: str, rule: Any, input: Tensor, dim: int | None, dtype: Dtype | None) -> Tensor:
    require_tensor(name, input)
    if dim is None:
        dim = 0 if input.array.ndim in (0, 1, 3) else 1
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated: include dim={dim} in the call.",
            stacklevel=4,
        )
    input = converted(input, dtype)
    require_floats(name, input.array)
    return rule(input, dim=checked_one(name, input, dim))


# ---------------------------------------------------------------- its logarithm


def _log_softmax_gradient(g: Any, out: Any, dim: int) -> Any:
    return g - np.exp(out) * g.sum(axis=dim, keepdims=True)


def _has_short_rows(a: Any, dim: int) -> bool:
    """Whether ``dim`` are the rows of a matrix, as of logits: for the MLP rows these have fast paths."""
    return dim == 1 and a.ndim == 2 and 0 < a.shape[1] <= FEW_ROWS


def _sum_of_each_row(a: Any) -> Any:
    return a.dot(ones_beside(a.shape[1], a.dtype))[:, None]


def _log_softmax_gradient_of_rows(g: Any, out: Any, dim: int) -> Any:
    if not _has_short_rows(g, dim):
        return _log_softmax_gradient(g, out, dim)
    slope = np.exp(out)
    slope *= _sum_of_each_row(g)
    return np.subtract(g, slope, out=slope)


def _log_shares_of_rows(a: Any, dim: int) -> Any:
    if not _has_short_rows(a, dim):
        return log_shares.operation.plain(a, dim)
    below = a - a.T.copy().max(0)[:, None]  # NumPy finds the largest of columns sooner than of rows
    below -= np.log(_sum_of_each_row(np.exp(below)))
    return below


@operation(
    "log softmax",
    "{a} − log Σ exp {a}",
    a=derivative("I − 1 exp({out})ᵀ", _log_softmax_gradient, _log_softmax_gradient_of_rows),
    words={
        "a": "Every score gets its upstream gradient minus its probability, exp {out}, times the sum "
        "of its row's upstream gradients"
    },
    name="log_softmax",
    fast=_log_shares_of_rows,
)
def log_shares(a, /, dim):
    """See :func:`log_softmax`."""
    below = _below_largest(a, dim)
    below -= np.log(np.exp(below).sum(axis=dim, keepdims=True))
    return below


def log_softmax(input: Tensor, dim: int | None = None, dtype: Dtype | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, which stays finite where a share is too small for its dtype."""
    return _along("log_softmax", log_shares, input, dim, dtype)


# ---------------------------------------------------------------- the logarithm of a sum of exponentials


def _logsumexp_gradient(g: Any, a: Any, out: Any, shape: Any, dim: Any) -> Any:
    return restored(g, shape, dim) * np.exp(a - restored(out, shape, dim))


@operation(
    "logsumexp",
    "log Σ exp {a}",
    a=derivative("exp({a} − {out})", _logsumexp_gradient),
    floating=True,
    name="logsumexp",
)
def log_of_sum(a, /, dim, keepdim=False):
    """See :func:`logsumexp`."""
    highest = largest(a, dim)
    highest = np.where(np.isfinite(highest), highest, np.zeros_like(highest))  # ∞ − ∞ would be nan
    result = np.log(np.exp(a - highest).sum(axis=dim, keepdims=True)) + highest
    return result if keepdim else np.squeeze(result, dim)


def logsumexp(input: Tensor, dim: Dim, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along ``dim``, also where an exponential would overflow.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0], dtype=torch.float64), dim=0)
    tensor(1000.6931, dtype=torch.float64)
    """
    return log_of_sum(input, dim=checked("logsumexp", input, dim), keepdim=keepdim)


NAMES = Names(both="log_softmax logsumexp softmax", functional="log_softmax softmax softmin")
