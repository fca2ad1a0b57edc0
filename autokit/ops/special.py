"""Special functions such as the error function and the gamma function, with their derivatives.

SciPy computes them, or CuPy on a GPU; SciPy is imported when the first of them is called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.base.devices import on_a_gpu
from autokit.engine.inplace import in_place
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.gpu.lacking import special_functions
from autokit.ops.names import Names

_BELL = 2 / math.sqrt(math.pi)
_NORMAL = 1 / math.sqrt(2 * math.pi)


# ---------------------------------------------------------------- error functions


_ATANH_OF_ERF = (1.41852875e-7, -5.66848769e-6, 8.76374063e-5, -6.19784884e-4,
                 -1.91830521e-4, 1.02769056e-1, 1.12837927)  # fmt: skip
"""The polynomial of x² near atanh(erf x) / x, the highest power first: erf is right to a share of 3e-7."""


def _erf_of_float32(a: Any) -> Any:
    """For the row of the transformer, whose gelu calls it: SciPy takes seven times as long."""
    if a.dtype != np.float32 or on_a_gpu(a):
        return special_functions(a).erf(a)
    square = a * a
    inner = square * _ATANH_OF_ERF[0]
    for coefficient in _ATANH_OF_ERF[1:-1]:
        inner += coefficient
        inner *= square
    inner += _ATANH_OF_ERF[-1]
    inner *= a
    return np.tanh(inner)


@operation(
    "erf",
    "erf {a}",
    a=derivative("2/√π · exp(−{a}²)", lambda g, a: g * (_BELL * np.exp(-a * a))),
    floating=True,
    fast=_erf_of_float32,
)
def erf(a, /):
    """The error function 2/√π · ∫ exp(−t²) dt from 0 to each element."""
    return special_functions(a).erf(a)


@operation(
    "erfc",
    "1 − erf {a}",
    a=derivative("−2/√π · exp(−{a}²)", lambda g, a: g * (-_BELL * np.exp(-a * a))),
    floating=True,
)
def erfc(a, /):
    """1 − erf(x) of each element x, exact where that is small."""
    return special_functions(a).erfc(a)


@operation(
    "erf⁻¹",
    "erf⁻¹ {a}",
    a=derivative("√π/2 · exp({out}²)", lambda g, out: g * (np.exp(out * out) / _BELL)),
    floating=True,
)
def erfinv(a, /):
    """The inverse of the error function at each element; NaN outside [−1, 1]."""
    return special_functions(a).erfinv(a)


@operation(
    "Φ",
    "Φ({a})",
    a=derivative("exp(−{a}²/2) / √(2π)", lambda g, a: g * (_NORMAL * np.exp(a * a * -0.5))),
    floating=True,
)
def ndtr(a, /):
    """The distribution function of the standard normal distribution."""
    return special_functions(a).ndtr(a)


@operation(
    "Φ⁻¹",
    "Φ⁻¹({a})",
    a=derivative("√(2π) · exp({out}²/2)", lambda g, out: g * (np.exp(out * out * 0.5) / _NORMAL)),
    floating=True,
)
def ndtri(a, /):
    """The inverse of the standard normal distribution function at each element."""
    return special_functions(a).ndtri(a)


# ---------------------------------------------------------------- gamma functions


@operation("log Γ", "log |Γ({a})|", a=derivative("ψ({a})", lambda g, a: g * on(digamma, a)), floating=True)
def lgamma(a, /):
    """The logarithm of |Γ|, the factorial's continuation: Γ(n) = (n − 1)!."""
    return special_functions(a).gammaln(a)


@operation(
    "ψ", "ψ({a})", a=derivative("ψ′({a})", lambda g, a: g * on(gamma_derivative, a, n=1)), floating=True
)
def digamma(a, /):
    """ψ, the derivative of log Γ."""
    return special_functions(a).digamma(a)


@operation(
    "ψ⁽ⁿ⁾",
    "ψ⁽ⁿ⁾({a})",
    a=derivative("ψ⁽ⁿ⁺¹⁾({a})", lambda g, a, n: g * on(gamma_derivative, a, n=n + 1)),
    floating=True,
    name="polygamma",
)
def gamma_derivative(a, /, n):
    """The ``n``-th derivative of :func:`digamma`."""
    return special_functions(a).polygamma(n, a).astype(a.dtype)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The ``n``-th derivative of :func:`digamma`."""
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n: got {n}")
    return gamma_derivative(input, n)


def _polygamma_method(self: Tensor, n: int) -> Tensor:
    """The ``n``-th derivative of :func:`digamma`."""
    return polygamma(n, self)


# ---------------------------------------------------------------- Bessel functions


@operation("I₀", "I₀({a})", a=derivative("I₁({a})", lambda g, a: g * on(i1, a)), floating=True)
def i0(a, /):
    """The modified Bessel function of order 0."""
    return special_functions(a).i0(a)


def _slope_of_i1(g: Any, a: Any, out: Any) -> Any:
    zero = a == 0
    return g * np.where(zero, 0.5, on(i0, a) - out / np.where(zero, 1, a))


@operation("I₁", "I₁({a})", a=derivative("I₀({a}) − {out} / {a}", _slope_of_i1), floating=True)
def i1(a, /):
    """The modified Bessel function of order 1."""
    return special_functions(a).i1(a)


# ---------------------------------------------------------------- logarithms and quotients


@operation(
    "x log y",
    "{a} · log {b}",
    a=derivative("log {b}", lambda g, a, b: np.where((a == 0) & (b <= 0), 0, on(xlogy, g, b))),
    b=derivative("{a} / {b}", lambda g, a, b: g * a / b),
    floating=True,
)
def xlogy(a, b, /):
    """input · log other, and 0 where ``input`` is 0, whatever the logarithm is there."""
    return special_functions(a).xlogy(a, b)


def _slope_of_logit(g: Any, a: Any, eps: float | None) -> Any:
    slope = g / (a * (1 - a))
    return slope if eps is None else np.where((a < eps) | (a > 1 - eps), 0, slope)


@operation(
    "logit",
    "log({a} / (1 − {a}))",
    a=derivative("1 / ({a} · (1 − {a}))", _slope_of_logit),
    floating=True,
)
def logit(a, /, eps=None):
    """log(x / (1 − x)), the inverse of the sigmoid; with ``eps``, of x clamped to [eps, 1 − eps]."""
    if eps is not None:
        a = np.clip(a, eps, 1 - eps)
    return special_functions(a).logit(a)


def _slope_of_sinc(g: Any, a: Any) -> Any:
    # Near 0 the quotient loses its digits, and its derivative more of them: there the series stands for it.
    near = np.abs(a) < 0.01
    x = math.pi * np.where(near, 1, a)
    small = math.pi * np.where(near, a, 0)
    square = small * small
    series = g * math.pi * small * (square * (1 / 30 - square / 840) - 1 / 3)
    return np.where(near, series, g * (x * np.cos(x) - np.sin(x)) / (x * x / math.pi))


@operation(
    "sinc",
    "sin(π{a}) / (π{a})",
    a=derivative("(cos(π{a}) − {out}) / {a}", _slope_of_sinc),
    floating=True,
)
def sinc(a, /):
    """sin(πx) / (πx) of each element x, and 1 at 0."""
    return np.sinc(a)


_OF_ONE = "digamma erf erfc erfinv i0 lgamma logit sinc"

NAMES = Names(
    both=_OF_ONE + " xlogy",
    functions="polygamma",
    other_methods={"polygamma": _polygamma_method, "polygamma_": in_place(_polygamma_method)},
    in_place=_OF_ONE + " xlogy",
    in_place_functions="erf erfc i0 logit sinc xlogy",
    numpy={np.i0: i0, np.sinc: sinc},
)
