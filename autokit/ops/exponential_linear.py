"""Exponential linear units, elu, selu and celu: a line above 0, and a curve to a lowest value below."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.blocks import in_blocks, select, zeros_like
from autokit.ops.errors import require_floats
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor


def _of_elu(g: Any, a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = g * (input_scale * alpha * scale) * np.exp(input_scale * np.where(a < 0, a, 0.0))
    return np.where(a <= 0, below, g * scale)


def _of_elu_of_block(g: Any, a: Any, into: Any, /, alpha: float, scale: float, input_scale: float) -> None:
    np.fmin(a, zeros_like(a), out=into)
    if input_scale != 1:
        into *= input_scale
    np.exp(into, out=into)
    if (factor := input_scale * alpha * scale) != 1:
        into *= factor
    into *= g
    if factor == scale:  # the slope of the curve at 0, where the line goes on
        return
    select(a <= 0, into, g if scale == 1 else g * scale, into)


def _elu(a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    require_floats("elu_cpu", a)
    return np.where(a >= 0, a * scale, np.expm1(np.minimum(a, 0) * input_scale) * (alpha * scale))


def _elu_of_block(a: Any, into: Any, /, alpha: float, scale: float, input_scale: float) -> None:
    np.minimum(a, zeros_like(a), out=into)
    if input_scale != 1:
        into *= input_scale
    np.expm1(into, out=into)
    if alpha * scale != 1:
        into *= alpha * scale
    if 0 <= alpha * input_scale <= 1 and scale > 0:  # the curve is above the line below 0, and 0 above it
        np.maximum(a if scale == 1 else a * scale, into, out=into)
    else:
        select(a >= 0, a * scale, into, into)


@operation(
    "elu",
    "{a} where {a} > 0, else α · (exp {a} − 1)",
    a=derivative(
        "1 where {a} > 0, else α · exp {a}",
        _of_elu,
        in_blocks(_of_elu, _of_elu_of_block, "native_loops.elu_gradient"),
    ),
    name="elu",
    on_arrays=in_blocks(_elu, _elu_of_block, "native_loops.elu"),
    elementwise=True,
)
def plain_elu(a, /, alpha=1.0, scale=1.0, input_scale=1.0):
    """See :func:`elu`."""
    return _elu(a, alpha, scale, input_scale)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x) − 1)``.

    References
    ----------
    D.-A. Clevert, T. Unterthiner and S. Hochreiter, "Fast and accurate deep network
    learning by exponential linear units", ICLR 2016.
    """
    return plain_elu(input, alpha, 1.0, 1.0)


def selu(input: Tensor) -> Tensor:
    """An :func:`elu` with the two constants that keep mean 0 and variance 1 (Klambauer and others, 2017)."""
    return plain_elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


def _of_celu(g: Any, a: Any, alpha: float) -> Any:
    return np.where(a > 0, g, g * np.exp(np.where(a < 0, a, 0.0) / alpha))


def _of_celu_of_block(g: Any, a: Any, into: Any, /, alpha: float) -> None:
    np.fmin(a, zeros_like(a), out=into)  # the curve's slope at 0 is the line's
    into /= alpha
    np.exp(into, out=into)
    into *= g


def _celu(a: Any, alpha: float) -> Any:
    require_floats("elu_cpu", a)
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0) / alpha))


def _celu_of_block(a: Any, into: Any, /, alpha: float) -> None:
    np.minimum(a, zeros_like(a), out=into)
    into /= alpha
    np.expm1(into, out=into)
    into *= alpha
    if alpha > 0:  # below 0 the curve is above the line
        np.maximum(a, into, out=into)
    else:
        select(a > 0, a, into, into)


@operation(
    "celu",
    "{a} where {a} > 0, else α · (exp({a}/α) − 1)",
    a=derivative("1 where {a} > 0, else exp({a}/α)", _of_celu, in_blocks(_of_celu, _of_celu_of_block)),
    name="celu",
    on_arrays=in_blocks(_celu, _celu_of_block),
    elementwise=True,
)
def plain_celu(a, /, alpha=1.0):
    """See :func:`celu`."""
    return _celu(a, alpha)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x / alpha) − 1)``.

    References
    ----------
    J. T. Barron, "Continuously differentiable exponential linear units", 2017.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return plain_celu(input, alpha)
