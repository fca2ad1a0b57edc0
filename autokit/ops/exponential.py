"""Exponentials, logarithms, roots and reciprocals of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.engine.operation import derivative, operation
from autokit.ops.names import Names

_LOG_2, _LOG_10 = math.log(2), math.log(10)


@operation("exp", "exp {a}", a=derivative("{out}", lambda g, out: g * out), floating=True)
def exp(a, /):
    """e to the power of each element."""
    return np.exp(a)


@operation("2 ^", "2 ^ {a}", a=derivative("{out} · log 2", lambda g, out: g * out * _LOG_2), floating=True)
def exp2(a, /):
    """2 to the power of each element."""
    return np.exp2(a)


@operation("exp − 1", "exp {a} − 1", a=derivative("{out} + 1", lambda g, out: g * (out + 1)), floating=True)
def expm1(a, /):
    """exp(x) − 1 of each element x, exact where x is small."""
    return np.expm1(a)


@operation("log", "log {a}", a=derivative("1 / {a}", lambda g, a: g / a), floating=True)
def log(a, /):
    """The natural logarithm of each element; −∞ at 0, NaN below."""
    return np.log(a)


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


@operation("log(1 +)", "log(1 + {a})", a=derivative("1 / (1 + {a})", lambda g, a: g / (a + 1)), floating=True)
def log1p(a, /):
    """log(1 + x) of each element x, exact where x is small."""
    return np.log1p(a)


@operation("√", "√{a}", a=derivative("1 / (2 · {out})", lambda g, out: g / (2 * out)), floating=True)
def sqrt(a, /):
    """The square root of each element; NaN below 0."""
    return np.sqrt(a)


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


def _share_of_exponential(g: Any, a: Any, b: Any) -> Any:
    """``g`` times exp a / (exp a + exp b), which does not overflow in this form."""
    return g / (1 + np.exp(b - a))


@operation(
    "log Σ exp",
    "log(exp {a} + exp {b})",
    a=derivative("σ({a} − {b})", lambda g, a, b: _share_of_exponential(g, a, b)),
    b=derivative("σ({b} − {a})", lambda g, a, b: _share_of_exponential(g, b, a)),
    floating=True,
)
def logaddexp(a, b, /):
    """log(exp input + exp other), computed without overflow."""
    return np.logaddexp(a, b)


_ALL = "exp exp2 expm1 log log10 log1p log2 reciprocal rsqrt sqrt"

NAMES = Names(
    both=_ALL + " logaddexp",
    in_place=_ALL,
    in_place_functions=_ALL,
    numpy={
        np.exp: exp,
        np.exp2: exp2,
        np.expm1: expm1,
        np.log: log,
        np.log2: log2,
        np.log10: log10,
        np.log1p: log1p,
        np.sqrt: sqrt,
        np.reciprocal: reciprocal,
        np.logaddexp: logaddexp,
    },
)
