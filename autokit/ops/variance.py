"""Variances and standard deviations, of one variable and of several together (covariances, correlations)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import contiguous
from autokit.ops.blocks import in_blocks
from autokit.ops.complex_numbers import is_complex
from autokit.ops.complex_parts import complex, conj, imag, real
from autokit.ops.gpu.arrays import any_of, reduced
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.reduce import (
    Dim,
    added,
    axes,
    checked,
    converted,
    count,
    kind_of,
    plain_mean,
    require_flag,
    require_operand,
    restored,
    total_in_a_loop,
)
from autokit.ops.warn import warn
from autokit.tensor import Tensor


def _variance_gradient(
    g: Any, a: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, correction: float
) -> Any:
    dim = dim if shape else None
    freedom = count(shape, dim) - correction
    centre = a.mean(axis=reduced(a, axes(dim)), keepdims=True)
    # Without a degree of freedom the variance itself is nan or inf, and so is its gradient.
    if freedom > 0 or dim is not None:
        slope = (a - centre) * (2 / freedom if freedom else np.inf)
    else:
        slope = np.where(a == centre, np.nan, np.inf)
    return restored(g, shape, dim, keepdim) * slope


def _away_of_block(a: Any, into: Any, /, centre: Any, factor: Any) -> None:
    np.subtract(a, centre, out=into)
    into *= factor


_away = in_blocks(lambda a, centre, factor: (a - centre) * factor, _away_of_block, "native_arithmetic.away")


def _variance_gradient_on_arrays(
    g: Any, a: Any, shape: tuple[int, ...], dim: Dim, keepdim: bool, correction: float
) -> Any:
    """The same, of all elements of an array in two steps for each."""
    freedom = a.size - correction
    if axes(dim) is not None or freedom <= 0 or not shape or not a.__class__ is g.__class__ is np.ndarray:
        return _variance_gradient(g, a, shape, dim, keepdim, correction)
    centre = added(a, None, False) / a.dtype.type(a.size)
    return _away(a, a.dtype.type(centre), a.dtype.type(g.reshape(()) * (2 / freedom)))


@operation(
    "var",
    "Σ ({a} − mean)² / (n − correction)",
    name="var",
    layout=contiguous,
    a=derivative("2 ({a} − mean) / (n − correction)", _variance_gradient, _variance_gradient_on_arrays),
    backward=lambda node: node.settings["made_by"],
)
def plain_var(a, /, dim=None, keepdim=False, correction=1, made_by="VarBackward0"):
    """See :func:`var`."""
    return _variance(a, dim, keepdim, correction)


def _variance(a: Any, dim: Dim, keepdim: bool, correction: float) -> Any:
    if a.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "std and var only support floating point and complex dtypes; convert it with .float()"
        )
    size = count(a.shape, dim)
    if size <= correction:
        warn(
            "var(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
        )
    if not a.size:
        return np.real(a).sum(axis=reduced(a, axes(dim)), keepdims=keepdim) * np.nan
    mean = added(a, axes(dim), True) / a.dtype.type(size)
    squares = None
    if axes(dim) is None:
        squares = total_in_a_loop("native_sums.squares_of_runs", a, others=(mean.reshape(-1)[0],))
    if squares is None:
        centred = a - mean
        if centred.dtype.kind == "c":
            centred = np.abs(centred)
        centred *= centred
        squares = added(centred, axes(dim), keepdim)
    elif keepdim:
        squares = squares.reshape(mean.shape)
    return squares / squares.dtype.type(max(size - correction, 0))


def _slope_of_root(g: Any, out: Any) -> Any:
    # Where all elements are equal the deviation is at its minimum: 0 is a subgradient.
    return np.where(out == 0, 0.0, g / (2 * np.where(out == 0, 1.0, out)))


def _deviation_gradient(
    g: Any, a: Any, out: Any, shape: Any, dim: Dim, keepdim: bool, correction: float
) -> Any:
    return _variance_gradient(_slope_of_root(g, out), a, shape, dim, keepdim, correction)


def _deviation_gradient_on_arrays(
    g: Any, a: Any, out: Any, shape: Any, dim: Dim, keepdim: bool, correction: float
) -> Any:
    return _variance_gradient_on_arrays(_slope_of_root(g, out), a, shape, dim, keepdim, correction)


@operation(
    "std",
    "√(Σ ({a} − mean)² / (n − correction))",
    name="std",
    layout=contiguous,
    a=derivative(
        "({a} − mean) / ((n − correction) · {out})", _deviation_gradient, _deviation_gradient_on_arrays
    ),
    backward=lambda node: node.settings["made_by"],
)
def plain_std(a, /, dim=None, keepdim=False, correction=1, made_by="StdBackward0"):
    """See :func:`std`."""
    return np.sqrt(_variance(a, dim, keepdim, correction))


def var(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance: the mean squared distance from the mean, over ``n - correction``.

    PyTorch's default ``correction=1`` is the sample variance; NumPy's is 0.
    ``unbiased=False`` is the older spelling of ``correction=0``.
    """
    return plain_var(input, *_understood("var", input, dim, unbiased, keepdim, correction))


def std(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation: the square root of :func:`var`."""
    return plain_std(input, *_understood("std", input, dim, unbiased, keepdim, correction))


def var_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean; see :func:`var`."""
    dim, keepdim, correction = _understood("var_mean", input, dim, unbiased, keepdim, correction)
    name = "VarMeanBackward0"
    return plain_var(input, dim, keepdim, correction, name), plain_mean(input, dim, keepdim, name)


def std_mean(
    input: Tensor,
    dim: Dim | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean; see :func:`std`."""
    dim, keepdim, correction = _understood("std_mean", input, dim, unbiased, keepdim, correction)
    name = "StdMeanBackward0"
    return plain_std(input, dim, keepdim, correction, name), plain_mean(input, dim, keepdim, name)


def _understood(
    name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: float | None
) -> tuple[Any, bool, float]:
    """Which dimensions, whether they are kept, and the correction, of either spelling of a call."""
    if isinstance(dim, bool):  # var(False)
        dim, unbiased = None, dim
    dim = checked(name, input, dim, keepdim)
    if unbiased is None:
        return dim, keepdim, 1 if correction is None else correction
    require_flag(name, "unbiased", unbiased)
    if correction is not None:
        raise TypeError(f"{name}() takes either unbiased or correction, not both")
    return dim, keepdim, int(unbiased)


# ---------------------------------------------------------------- of variables together


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of variables in rows, each with its observations in columns.

    Parameters
    ----------
    input : Tensor
        Of shape (variables, observations), or the observations of one variable.
    correction : int
        What is taken off the number of observations; 1 makes the estimate unbiased.
    fweights : Tensor of integers, optional
        How often each observation was made.
    aweights : Tensor of floating point numbers, optional
        How much each observation counts.

    Returns
    -------
    Tensor
        Of shape (variables, variables); without dimensions for one variable.
    """
    require_operand("cov", input)
    ndim = input.array.ndim
    if ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        )
    if input.array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input; convert it with .float()")
    rows = input.reshape(1, -1) if ndim < 2 else input
    if rows.array.dtype.kind not in dtypes.DIFFERENTIABLE:
        rows = converted(rows, dtypes.get_default_dtype())
    observations = rows.array.shape[1]
    weights = _observation_weights(fweights, aweights, observations)
    if weights is None:
        averages = rows.sum(1) / max(observations, 1) if observations else rows.sum(1) * float("nan")
        freedom: Any = observations - correction
    else:
        total = weights.sum()
        averages = (rows * weights).sum(1) / total
        freedom = total - correction
        if aweights is not None and correction:
            freedom = total - correction * (weights * aweights).sum() / total
    if float(freedom) <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
            "observations.",
        )
        freedom = 0
    centred = rows - averages.unsqueeze(1)
    weighted = centred if weights is None else centred * weights
    return (centred @ conj(weighted.t()) / freedom).squeeze()


def _observation_weights(fweights: Any, aweights: Any, observations: int) -> Tensor | None:
    """How much each observation counts, where this is given."""
    for name, weights, kinds in (("fweights", fweights, "ui"), ("aweights", aweights, "fV")):
        if weights is None:
            continue
        require_operand("cov", weights)
        if weights.array.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{weights.array.ndim} dimensions"
            )
        if weights.array.dtype.kind not in kinds:
            wanted = "integral" if name == "fweights" else "floating point"
            raise RuntimeError(
                f"cov(): expected {name} to have {wanted} dtype but got {name} with "
                f"{kind_of(weights.array)} dtype"
            )
        if weights.array.size != observations:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but "
                f"got {weights.array.size} != {observations}"
            )
        if any_of(weights.array < 0):
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None or aweights is None:
        return fweights if aweights is None else aweights
    return fweights * aweights


def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables in rows: their covariances over their standard deviations."""
    require_operand("corrcoef", input)
    if input.array.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.array.ndim} dimensions"
        )
    covariances = cov(input)
    if not covariances.array.ndim:
        return covariances / covariances
    deviations = real(covariances.diagonal()).sqrt()
    correlations = covariances / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    if is_complex(correlations):
        return complex(real(correlations).clamp(-1, 1), imag(correlations).clamp(-1, 1))
    return correlations.clamp(-1, 1)


NAMES = Names(both="corrcoef cov std var", functions="std_mean var_mean")
