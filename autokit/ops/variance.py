"""Variance and standard deviation measure how far elements lie from their mean.

The variance is the mean squared distance from the mean. The sum of squares is divided by ``n - correction``:
by ``n - 1`` for the variance of a sample (PyTorch's default), by ``n`` where the correction is 0 (NumPy's).
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autokit.base.errors import require_floats
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names
from autokit.ops.reduce import Dim, checked, count, mean, restored


def _squared_deviation(a: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    """The variance in float64, in which the squares of float32 do not overflow."""
    size = np.float64(count(a.shape, dim))
    # Where n − correction is 0 or less, the factor is infinite; times a variance of 0 it is a nan.
    spread = np.var(a, axis=dim, dtype=np.float64, keepdims=keepdim) if size else a.sum(dim, keepdims=keepdim)
    return spread * (size / max(size - correction, 0))


def _variance_gradient(g: Any, a: Any, shape: Any, dim: Any, correction: float) -> Any:
    freedom = count(shape, dim) - correction
    centred = a - a.mean(axis=dim, keepdims=True)
    return restored(g, shape, dim) * (2 / freedom if freedom > 0 else math.nan) * centred


def _deviation_gradient(g: Any, a: Any, out: Any, shape: Any, dim: Any, correction: float) -> Any:
    # Where all elements are equal the deviation is at its minimum, and 0 is a subgradient.
    equal = out == 0
    slope = np.where(equal, 0.0, g / (2 * np.where(equal, 1.0, out)))
    return _variance_gradient(slope, a, shape, dim, correction)


@operation(
    "var",
    "Σ ({a} − mean)² / (n − correction)",
    a=derivative("2 ({a} − mean) / (n − correction)", _variance_gradient),
    name="var",
)
def variance(a, /, dim=None, keepdim=False, correction=1):
    """See :func:`var`."""
    return _squared_deviation(a, dim, keepdim, correction).astype(a.dtype)


@operation(
    "std",
    "√(Σ ({a} − mean)² / (n − correction))",
    a=derivative("({a} − mean) / ((n − correction) · {out})", _deviation_gradient),
    name="std",
)
def deviation(a, /, dim=None, keepdim=False, correction=1):
    """See :func:`std`."""
    return np.sqrt(_squared_deviation(a, dim, keepdim, correction)).astype(a.dtype)


def _settings(
    name: str, input: Tensor, dim: Any, unbiased: bool | None, keepdim: bool, correction: float | None
) -> dict[str, Any]:
    """The rules' settings; ``unbiased=False`` is the older spelling of ``correction=0``."""
    if isinstance(dim, bool):  # x.var(False)
        dim, unbiased = None, dim
    dim = checked(name, input, dim)
    require_floats(name, input.array)
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    elif unbiased is not None:
        raise TypeError(f"{name}() takes either unbiased or correction, not both")
    if count(input.array.shape, dim) <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
            "factor (input numel divided by output numel).",
            stacklevel=4,
        )
    return {"dim": dim, "keepdim": keepdim, "correction": correction}


def var(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance, of all elements or along ``dim``.

    Parameters
    ----------
    input : Tensor
    dim : int or sequence of int, optional
        The dimensions; all without it.
    unbiased : bool, optional
        The older spelling of ``correction``: 1 if True, 0 if False.
    keepdim : bool
        Keep the reduced dimensions, with size 1.
    correction : int
        What to subtract from the number of elements before dividing by it, 1 by default.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    >>> x.var(), x.var(correction=0)
    (tensor(1.6667), tensor(1.2500))
    """
    return variance(input, **_settings("var", input, dim, unbiased, keepdim, correction))


def std(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation: the square root of :func:`var`."""
    return deviation(input, **_settings("std", input, dim, unbiased, keepdim, correction))


def var_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean; see :func:`var`."""
    settings = _settings("var_mean", input, dim, unbiased, keepdim, correction)
    return variance(input, **settings), mean(input, settings["dim"], keepdim)


def std_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean; see :func:`var`."""
    settings = _settings("std_mean", input, dim, unbiased, keepdim, correction)
    return deviation(input, **settings), mean(input, settings["dim"], keepdim)


NAMES = Names(both="std var", functions="std_mean var_mean")
