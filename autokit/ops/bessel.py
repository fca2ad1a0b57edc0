"""Bessel functions of the orders 0 and 1, and Airy's function: one family, from one integral.

Macdonald's function K, scaled by eˣ, is an integral that falls off like a bell curve,

    eᶻ Kᵥ(z) = ∫ exp(−u²) cosh(v t) / √(2z + u²) du,  where sinh(t/2) = u / √(2z),

which is 10.32.9 of [1]_ with u for t.  Of such an integral the plain sum of equally spaced values, the
trapezoidal rule, is exact to all digits with a few dozen of them: its error falls exponentially with
the spacing [2]_.  Along the imaginary axis the same K is Hankel's function J + iY (10.27.8), and of
the orders 1/3 and 2/3 it is Airy's function and its slope (9.2.14, 9.6.2, 9.6.3).  Near 0, where the
integrand is sharp, the power series serve (9.4.1, 9.4.2, 10.2.2, 10.8.1, 10.31.1).

PyTorch gives the results no gradient.  Here they have one, each in one line: the derivative of each of
these functions is made of the others.

References
----------
.. [1] NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, chapters 9 and 10.
.. [2] L. N. Trefethen, J. A. C. Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56
   (2014), 385-458.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

NEAR = 2.0
"""Up to here the power series serve, and from here the integral."""

_STEP = 0.2
_POINTS = [
    (place * _STEP, math.exp(-((place * _STEP) ** 2)) * (2 * _STEP if place else _STEP))
    for place in range(32)
]
"""u and its weight, both signs of u in one; beyond the last the bell curve is below any digit that counts."""


def _of_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays of float64, for those of any floating point dtype."""

    @wraps(function)
    def apply(a: Any, *settings: Any) -> Any:
        return function(a.astype(np.float64), *settings).astype(a.dtype)

    return apply


def _scaled_k(order: float, z: Any) -> Any:
    """exp(z) · K of this order, for real and imaginary z from :data:`NEAR` on."""
    total = 0.0
    for u, weight in _POINTS:
        square = u * u
        if order == 0:
            spread = 1.0
        elif order == 1:
            spread = 1 + square / z
        else:
            spread = np.cosh(2 * order * np.arcsinh(u / np.sqrt(2 * z)))
        total = total + weight * spread / np.sqrt(2 * z + square)
    return total


def _series(order: int, x: Any, sign: int) -> tuple[Any, Any]:
    """I (for sign 1) or J (for −1) near 0, and the part of K or Y that has the logarithm.

    The second is log(x/2) · I less a power series, whose coefficients are those
    of the first with sums of 1/k, the ψ functions of 10.31.1.
    """
    quarter = sign * x * x / 4
    term = (x / 2) ** order
    sums = order - 2 * float(np.euler_gamma)
    first, second = term, term * sums
    for k in range(1, 14):
        term = term * quarter / (k * (k + order))
        sums += 1 / k + 1 / (k + order)
        first, second = first + term, second + term * sums
    return first, np.log(x / 2) * first - second / 2


def _hankel(order: int, x: Any) -> Any:
    """J + iY of this order, for x from :data:`NEAR` on."""
    return -2 / math.pi * 1j ** (1 - order) * np.exp(1j * x) * _scaled_k(order, -1j * x)


@_of_float64
def _j(x: Any, order: int) -> Any:
    size = np.abs(x)
    near = size <= NEAR
    sign = np.sign(x) if order else 1.0
    series, _ = _series(order, np.where(near, x, 1.0), -1)
    return np.where(near, series, sign * _hankel(order, np.where(near, NEAR, size)).real)


@_of_float64
def _y(x: Any, order: int) -> Any:
    near = x <= NEAR
    small = np.where(near, x, 1.0)
    _, series = _series(order, small, -1)
    series = 2 / math.pi * (series - order / small)
    return np.where(near, np.where(x == 0, -np.inf, series), _hankel(order, np.where(near, NEAR, x)).imag)


@_of_float64
def _k(x: Any, order: int, scaled: bool) -> Any:
    near = x <= NEAR
    small, large = np.where(near, x, 1.0), np.where(near, NEAR, x)
    _, series = _series(order, small, 1)
    series = series + 1 / small if order else -series
    integral = _scaled_k(order, large)
    if scaled:
        series = series * np.exp(small)
    else:
        integral = integral * np.exp(-large)
    return np.where(near, np.where(x == 0, np.inf, series), integral)


_AIRY = 3 ** (-2 / 3) / math.gamma(2 / 3), 3 ** (-1 / 3) / math.gamma(1 / 3)
"""Ai and −Ai′ at 0."""


def _airy_series(x: Any, slope: bool) -> Any:
    """Two solutions of w″ = x w, one even in its start and one odd, put together; or their slopes."""
    even, odd = (x * x / 2, np.ones_like(x)) if slope else (np.ones_like(x), x)
    at_zero, falls = _AIRY
    total = at_zero * even - falls * odd
    for k in range(3, 48, 3):
        even = even * x**3 / (k * (k + 2) if slope else k * (k - 1))
        odd = odd * x**3 / (k * (k - 2) if slope else k * (k + 1))
        total = total + at_zero * even - falls * odd
    return total


@_of_float64
def _airy(x: Any, slope: bool) -> Any:
    near = np.abs(x) <= NEAR
    series = _airy_series(np.where(near, x, 0.0), slope)
    size = np.where(near, NEAR, np.abs(x))
    z = 2 / 3 * size * np.sqrt(size)
    order, factor = (2 / 3, -size / math.sqrt(3)) if slope else (1 / 3, np.sqrt(size / 3))
    factor = factor / math.pi
    turned = np.exp(-1j * z) * _scaled_k(order, 1j * z)
    left = 2 * factor * (turned.real if slope else -turned.imag)
    right = factor * np.exp(-z) * _scaled_k(order, z)
    return np.where(near, series, np.where(x < 0, left, right))


# ---------------------------------------------------------------- the rules


@operation("J₀", "J₀({a})", a=derivative("−J₁({a})", lambda g, a: g * -on(bessel_j1, a)), floating=True)
def bessel_j0(a, /):
    """The Bessel function of the first kind of order 0; NaN at infinity, as in PyTorch.

    It has a gradient here, and none in PyTorch.
    """
    return _j(a, 0)


def _of_j1(g: Any, a: Any, out: Any) -> Any:
    zero = a == 0
    return g * np.where(zero, 0.5, on(bessel_j0, a) - out / np.where(zero, 1.0, a))


@operation("J₁", "J₁({a})", a=derivative("J₀({a}) − {out} / {a}", _of_j1), floating=True)
def bessel_j1(a, /):
    """The Bessel function of the first kind of order 1; NaN at infinity, as in PyTorch.

    It has a gradient here, and none in PyTorch.
    """
    return _j(a, 1)


@operation("Y₀", "Y₀({a})", a=derivative("−Y₁({a})", lambda g, a: g * -on(bessel_y1, a)), floating=True)
def bessel_y0(a, /):
    """The Bessel function of the second kind of order 0; NaN below 0 and at infinity, as in PyTorch.

    It has a gradient here, and none in PyTorch.
    """
    return _y(a, 0)


@operation(
    "Y₁",
    "Y₁({a})",
    a=derivative("Y₀({a}) − {out} / {a}", lambda g, a, out: g * (on(bessel_y0, a) - out / a)),
    floating=True,
)
def bessel_y1(a, /):
    """The Bessel function of the second kind of order 1; NaN below 0 and at infinity, as in PyTorch.

    It has a gradient here, and none in PyTorch.
    """
    return _y(a, 1)


@operation(
    "K₀", "K₀({a})", a=derivative("−K₁({a})", lambda g, a: g * -on(modified_bessel_k1, a)), floating=True
)
def modified_bessel_k0(a, /):
    """The modified Bessel function of the second kind of order 0, Macdonald's function; NaN below 0.

    It has a gradient here, and none in PyTorch.
    """
    return _k(a, 0, False)


@operation(
    "K₁",
    "K₁({a})",
    a=derivative("−K₀({a}) − {out} / {a}", lambda g, a, out: g * (-on(modified_bessel_k0, a) - out / a)),
    floating=True,
)
def modified_bessel_k1(a, /):
    """The modified Bessel function of the second kind of order 1; NaN below 0.

    It has a gradient here, and none in PyTorch.
    """
    return _k(a, 1, False)


@operation(
    "K₀ₑ",
    "K₀({a}) · exp {a}",
    a=derivative("{out} − K₁ₑ({a})", lambda g, a, out: g * (out - on(scaled_modified_bessel_k1, a))),
    floating=True,
)
def scaled_modified_bessel_k0(a, /):
    """:func:`modified_bessel_k0`, scaled by exp(x): it stays a number where that one is 0 already.

    It has a gradient here, and none in PyTorch.
    """
    return _k(a, 0, True)


@operation(
    "K₁ₑ",
    "K₁({a}) · exp {a}",
    a=derivative(
        "{out} − K₀ₑ({a}) − {out} / {a}",
        lambda g, a, out: g * (out - on(scaled_modified_bessel_k0, a) - out / a),
    ),
    floating=True,
)
def scaled_modified_bessel_k1(a, /):
    """:func:`modified_bessel_k1`, scaled by exp(x).

    It has a gradient here, and none in PyTorch.
    """
    return _k(a, 1, True)


def _of_spherical_j0(g: Any, a: Any, out: Any) -> Any:
    # Near 0 the difference of cosine and quotient loses its digits: there the series of −j₁ stands for it.
    near = np.abs(a) < 0.5
    x = np.where(near, 1.0, a)
    square = np.where(near, a * a, 0.0)
    series = np.ones_like(a)
    for k in range(6, 0, -1):
        series = 1 - series * square / (2 * k * (2 * k + 3))
    return g * np.where(near, series * a / -3, (np.cos(x) - out) / x)


@operation("j₀", "sin {a} / {a}", a=derivative("(cos {a} − {out}) / {a}", _of_spherical_j0), floating=True)
def spherical_bessel_j0(a, /):
    """The spherical Bessel function of order 0, sin(x) / x: 1 at 0, and 0 at infinity.

    It has a gradient here, and none in PyTorch.
    """
    none = (a == 0) | np.isinf(a)
    return np.where(none, a == 0, np.sin(np.where(none, 0, a)) / np.where(none, 1, a)).astype(a.dtype)


def _of_airy(g: Any, a: Any, slope: bool) -> Any:
    return g * (a * on(plain_airy, a) if slope else on(plain_airy, a, slope=True))


@operation(
    "Ai",
    "Ai({a})",
    a=derivative("Ai′({a}), whose own derivative is {a} · Ai({a})", _of_airy),
    floating=True,
    name="airy_ai",
    elementwise=True,
)
def plain_airy(a, /, slope=False):
    """See :func:`airy_ai`; with ``slope`` its derivative."""
    return _airy(a, slope)


def airy_ai(x: Tensor) -> Tensor:
    """Airy's function Ai of each element, the solution of w″ = x w that falls off to the right.

    To the left it turns at the angle 2/3 · x√x, whose rounding leaves 13 digits of 16 at x = −100 and one
    at −10¹⁰.  At infinity it is NaN, as in PyTorch.  It has a gradient here, and none in PyTorch.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    >>> torch.special.airy_ai(x)
    tensor([0.5356, 0.3550, 0.1353], grad_fn=<AiryAiBackward0>)
    """
    return plain_airy(x)
