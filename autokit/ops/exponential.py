"""Exponentials, logarithms and roots of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.dtypes import HALVES
from autokit.ops.blocks import in_blocks, replace
from autokit.ops.elementwise import exp, log, sigmoid, sqrt  # noqa: F401 - for their in-place functions
from autokit.ops.errors import require_floats
from autokit.ops.gpu.arrays import like
from autokit.ops.names import Names
from autokit.ops.operands import taking_numbers
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import is_number as _is_number
from autokit.ops.operators import neg  # noqa: F401 - for their in-place functions

_LOG_2, _LOG_10 = math.log(2), math.log(10)


def _of_exp2_of_block(g: Any, out: Any, into: Any, /, factor: float) -> None:
    np.multiply(g, out, out=into)
    into *= factor


_of_exp2 = in_blocks(
    lambda g, out, factor: g * out * factor, _of_exp2_of_block, "native_arithmetic.exp2_gradient"
)


@operation(
    "exp2",
    "2 ^ {a}",
    a=derivative("{out} · log 2", lambda g, out: g * out * _LOG_2, lambda g, out: _of_exp2(g, out, _LOG_2)),
    floating=True,
)
def exp2(a, /):
    """2 to the power of each element."""
    return np.exp2(a)


@operation("exp − 1", "exp {a} − 1", a=derivative("{out} + 1", lambda g, out: g * (out + 1)), floating=True)
def expm1(a, /):
    """exp(x) − 1 of each element x, exact where x is small."""
    return np.expm1(a)


@operation(
    "log₂", "log₂ {a}", a=derivative("1 / ({a} · log 2)", lambda g, a: g / (a * _LOG_2)), floating=True
)
def log2(a, /):
    """The logarithm of each element to the base 2."""
    return np.log2(a)


@operation(
    "log₁₀", "log₁₀ {a}", a=derivative("1 / ({a} · log 10)", lambda g, a: g / (a * _LOG_10)), floating=True
)
def log10(a, /):
    """The logarithm of each element to the base 10."""
    return np.log10(a)


@operation(
    "log(1 +)",
    "log(1 + {a})",
    a=derivative("1 / (1 + {a})", lambda g, a: g / (a + 1)),
    floating=True,
    backward="Log1PBackward0",
)
def log1p(a, /):
    """log(1 + x) of each element x, exact where x is small."""
    return np.log1p(a)


@operation(
    "1/√", "1 / √{a}", a=derivative("−{out}³ / 2", lambda g, out: g * (out * out * out) * -0.5), floating=True
)
def rsqrt(a, /):
    """One over the square root of each element."""
    return 1 / np.sqrt(a)


@operation("1/", "1 / {a}", a=derivative("−{out}²", lambda g, out: -g * out * out), floating=True)
def reciprocal(a, /):
    """One over each element."""
    return 1 / a


def _of_logaddexp(g: Any, mine: Any, other: Any) -> Any:
    return g / (1 + np.exp(other - mine))


def log_of_sum(a: Any, b: Any) -> Any:
    """log(exp a + exp b) of arrays, by the one with the larger real part where they are complex."""
    if a.dtype.kind != "c":
        return _log_of_sum(a, b)
    first = a.real > b.real
    top, low = np.where(first, a, b), np.where(first, b, a)
    with np.errstate(invalid="ignore"):  # of infinities
        return np.where(np.isneginf(low.real), top, top + np.log1p(np.exp(low - top)))


def _log_of_sum_of_block(a: Any, b: Any, into: Any, /) -> None:
    np.subtract(a, b, out=into)
    replace(a == b, 0, into)  # of equal infinities, too, there is no gap
    np.negative(np.abs(into, out=into), out=into)
    np.log1p(np.exp(into, out=into), out=into)
    into += np.maximum(a, b)


_log_of_sum = in_blocks(lambda a, b: np.logaddexp(a, b), _log_of_sum_of_block, "native_loops.logaddexp")


@operation(
    "log Σ exp",
    "log(exp {a} + exp {b})",
    a=derivative("σ({a} − {b})", lambda g, a, b: _of_logaddexp(g, a, b)),
    b=derivative("σ({b} − {a})", lambda g, a, b: _of_logaddexp(g, b, a)),
)
def logaddexp(a, b, /):
    """log(exp input + exp other), without leaving the range of the dtype."""
    require_floats("logaddexp_cpu", a)
    return log_of_sum(a, b)


def _of_logaddexp2(g: Any, mine: Any, other: Any) -> Any:
    return g / (1 + np.exp2(other - mine))


@operation(
    "log₂ Σ 2^",
    "log₂(2 ^ {a} + 2 ^ {b})",
    a=derivative("1 / (1 + 2 ^ ({b} − {a}))", lambda g, a, b: _of_logaddexp2(g, a, b)),
    b=derivative("1 / (1 + 2 ^ ({a} − {b}))", lambda g, a, b: _of_logaddexp2(g, b, a)),
)
def logaddexp2(a, b, /):
    """log₂(2^input + 2^other), without leaving the range of the dtype."""
    require_floats("logaddexp2_cpu", a)
    return np.logaddexp2(a, b)


def _product_name(node: Any, name: str) -> str:
    return f"{name}Backward{2 if _is_number(node, 1) else 1 if _is_number(node, 0) else 0}"


@operation(
    "x log y",
    "{a} · log {b}",
    a=derivative(
        "log {b}",
        lambda g, a, b: np.where((a == 0) & (b <= 0), 0.0, on(xlogy, g, b)),
    ),
    b=derivative("{a} / {b}", lambda g, a, b: g * a / b),
    floating=True,
    backward=lambda node: _product_name(node, "Xlogy"),
)
def xlogy(a, b, /):
    """input · log other, and 0 where ``input`` is 0 and ``other`` is any number."""
    return np.where((a == 0) & ~np.isnan(b), 0, a * np.log(b)).astype(a.dtype)


@operation(
    "x log(1 + y)",
    "{a} · log(1 + {b})",
    a=derivative(
        "log(1 + {b})",
        lambda g, a, b: np.where((a == 0) & (b <= -1), 0.0, on(xlog1py, g, b)),
    ),
    b=derivative("{a} / (1 + {b})", lambda g, a, b: g * a / (b + 1)),
    floating=True,
    backward=lambda node: _product_name(node, "SpecialXlog1Py"),
)
def xlog1py(a, b, /):
    """input · log(1 + other), and 0 where ``input`` is 0 and ``other`` is any number."""
    return np.where((a == 0) & ~np.isnan(b), 0, a * np.log1p(b)).astype(a.dtype)


def _of_logit(g: Any, a: Any, eps: float | None) -> Any:
    slope = g / (np.abs(a) * (1 - a))  # at −0, too, it is +∞
    if eps is None or eps < 0:
        return np.where((a < 0) | (a > 1), np.nan, slope)
    return np.where((a < eps) | (a > 1 - eps), 0.0, slope)


def _of_logit_of_block(g: Any, a: Any, into: Any, /, eps: float | None) -> None:
    np.subtract(1, a, out=into)
    into *= np.abs(a)
    np.divide(g, into, out=into)
    if eps is None or eps < 0:
        replace((a < 0) | (a > 1), np.nan, into)
    else:
        replace((a < eps) | (a > 1 - eps), 0.0, into)


@operation(
    "logit",
    "log({a} / (1 − {a}))",
    a=derivative(
        "1 / ({a} · (1 − {a}))",
        _of_logit,
        in_blocks(_of_logit, _of_logit_of_block, "native_arithmetic.logit_gradient"),
    ),
    floating=True,
    elementwise=True,
    own_precision=True,
)
def logit(a, /, eps=None):
    """log(x / (1 − x)), the inverse of :func:`sigmoid`; with ``eps``, of x held inside [eps, 1 − eps].

    The ends of that interval are rounded to the tensor's dtype: in half precision 1 − 1e-6 is 1.
    """
    if eps is not None and eps >= 0:
        least = like(np.full_like, a, eps, shape=())
        most = (1 - least).astype(a.dtype)
        a = np.where(a < least, least, np.where(a > most, most, a))
    wide = a.astype(np.float32) if a.dtype in HALVES else a
    return np.log(wide / (1 - wide)).astype(a.dtype, copy=False)


NAMES = Names(
    both="exp2 expm1 log10 log1p log2 logaddexp logaddexp2 logit reciprocal rsqrt xlogy",
    in_place="exp2 expm1 log10 log1p log2 logit reciprocal rsqrt xlogy",
    in_place_functions="exp exp2 expm1 log log10 log1p log2 logit neg reciprocal rsqrt sigmoid sqrt xlogy",
    numpy={
        np.exp2: exp2,
        np.expm1: expm1,
        np.log2: log2,
        np.log10: log10,
        np.log1p: log1p,
        np.reciprocal: reciprocal,
        np.logaddexp: taking_numbers(logaddexp),
        np.logaddexp2: taking_numbers(logaddexp2),
    },
)
