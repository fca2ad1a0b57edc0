"""Bessel functions of the orders 0 and 1, and Airy's function: one family, from one integral.

Macdonald's function K, scaled by √(2z) eᶻ, is an integral that falls off like a bell curve,

    √(2z) eᶻ Kᵥ(z) = ∫ exp(−u²) cosh(v t) / √(1 + u²/2z) du,  where sinh(t/2) = u / √(2z),

which is 10.32.9 of [1]_ with u for t.  Of such an integral the plain sum of equally spaced values, the
trapezoidal rule, is exact to all digits with a few dozen of them: its error falls exponentially with
the spacing [2]_.  It changes little and smoothly with 1/z, so a polynomial through its values at
28 places stands for it everywhere, exact to all digits, too, where the places are Chebyshev's [3]_.
Along the imaginary axis the same K is Hankel's function J + iY (10.27.8), and of the orders 1/3 and
2/3 it is Airy's function and its slope (9.2.14, 9.6.2, 9.6.3).  Near 0 the power series serve (9.4.1,
9.4.2, 10.2.2, 10.8.1, 10.31.1).

PyTorch gives the results no gradient.  Here they have one, each in one line: the derivative of each of
these functions is made of the others.

References
----------
.. [1] NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, chapters 9 and 10.
.. [2] L. N. Trefethen, J. A. C. Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56
   (2014), 385-458.
.. [3] L. N. Trefethen, "Approximation Theory and Approximation Practice", 2013, chapters 3 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from autokit.batches import Batch
from autokit.ops.approximations import by_range, polynomial
from autokit.ops.blocks import in_blocks
from autokit.ops.gpu.arrays import is_on_cpu
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor

NEAR = 2.0
"""Up to here the power series serve, and from here the integral."""

_LEAST = 1.8
"""The integral is wanted for z from here on: at −2 and 2, Airy's function asks for K at 1.89."""

_STEP = 0.2
_POINTS = _STEP * np.arange(32)
_WEIGHTS = np.exp(-(_POINTS**2)) * np.where(_POINTS > 0, 2 * _STEP, _STEP)
"""u and its weight, both signs of u in one; beyond the last the bell curve is below any digit that counts."""

_PLACES = 28
"""As many as tell all digits."""


def _of_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of each element, in float64, for arrays of any floating point dtype."""

    @wraps(function)
    def plain(a: Any, *settings: Any) -> Any:
        if a.__class__ is Batch:  # each element by itself: all samples are but more of them
            return Batch(apply(a.full, *settings), a.level)
        return function(a.astype(np.float64), *settings).astype(a.dtype)

    def of_block(a: Any, into: Any, /, *settings: Any) -> None:
        into[...] = function(a.astype(np.float64), *settings)

    apply = in_blocks(plain, of_block)
    return apply


def _by_range(x: Any, is_near: Any, near: Callable[[Any], Any], far: Callable[[Any], Any]) -> Any:
    """``near`` of those elements, and ``far`` of the others."""
    if is_on_cpu(x):
        return by_range(x, (is_near, near), (~is_near, far))
    return np.where(is_near, near(x), far(x))  # a GPU is not asked where which is


# ---------------------------------------------------------------- far from 0


def _integral(order: float, inverse: Any) -> Any:
    """√(2z) exp(z) · K of this order, where 1/z is ``inverse``."""
    square = _POINTS**2 * inverse[..., None] / 2
    spread = np.cosh(2 * order * np.arcsinh(np.sqrt(square)))
    return (_WEIGHTS * spread / np.sqrt(1 + square)).sum(-1)


@lru_cache
def _fitted(order: float, direction: complex) -> Any:
    """The coefficients, highest first, of the polynomial through the integral at Chebyshev's places.

    It is one of a number from −1 to 1, as 1/|z| goes from 0 to its largest; z has this ``direction``.
    """
    from numpy.polynomial.chebyshev import cheb2poly

    angles = math.pi * (np.arange(_PLACES) + 0.5) / _PLACES
    values = _integral(order, (np.cos(angles) + 1) / (2 * _LEAST * direction))
    waves = np.cos(np.arange(_PLACES)[:, None] * angles)  # Chebyshev's polynomials there
    waves[0] /= 2
    return cheb2poly(2 / _PLACES * waves @ values)[::-1]


def _place(size: Any) -> Any:
    """The number from −1 to 1 that stands for a z of this ``size``."""
    return 2 * _LEAST / size - 1


def _falling(order: float, z: Any) -> Any:
    """exp(z) · K of this order, for real z."""
    return polynomial(_fitted(order, 1).tolist(), _place(z)) / np.sqrt(2 * z)


def _swinging(order: float, size: Any, factor: complex) -> tuple[Any, Any]:
    """The real and the imaginary part of ``factor`` · K of this order, for z = −i · ``size``."""
    coefficients = _fitted(order, -1j) * factor / np.sqrt(-2j)
    place, root = _place(size), np.sqrt(size)
    real, imaginary = (polynomial(each.tolist(), place) for each in (coefficients.real, coefficients.imag))
    cosine, sine = np.cos(size) / root, np.sin(size) / root
    return real * cosine - imaginary * sine, real * sine + imaginary * cosine


def _hankel(order: int, x: Any) -> tuple[Any, Any]:
    """J and Y of this order, far from 0."""
    return _swinging(order, x, -2 / math.pi * 1j ** (1 - order))


# ---------------------------------------------------------------- near 0


@lru_cache
def _terms(order: int, sign: int) -> tuple[list[float], list[float]]:
    """The coefficients of I (for sign 1) or J (for −1) as polynomials in x²/4, highest first.

    Both are divided by (x/2) to the order.  The second ones have sums of 1/k
    as factors, the ψ functions of 10.31.1.
    """
    term, sums = 1.0, order - 2 * float(np.euler_gamma)
    first, second = [term], [term * sums]
    for k in range(1, 14):
        term *= sign / (k * (k + order))
        sums += 1 / k + 1 / (k + order)
        first.append(term)
        second.append(term * sums)
    return first[::-1], second[::-1]


def _series(order: int, x: Any, sign: int) -> Any:
    """I (for sign 1) or J (for −1) near 0."""
    total = polynomial(_terms(order, sign)[0], x * x / 4)
    return total * x / 2 if order else total


def _logarithmic(order: int, x: Any, sign: int) -> Any:
    """The part of K or Y near 0 that has the logarithm: log(x/2) · I or J, less the second series."""
    second = polynomial(_terms(order, sign)[1], x * x / 4)
    return np.log(x / 2) * _series(order, x, sign) - second * (x / 4 if order else 0.5)


# ---------------------------------------------------------------- the functions


@_of_float64
def _j(x: Any, order: int) -> Any:
    def far(x: Any) -> Any:
        found = _hankel(order, np.abs(x))[0]
        return np.sign(x) * found if order else found

    return _by_range(x, np.abs(x) <= NEAR, lambda x: _series(order, x, -1), far)


@_of_float64
def _y(x: Any, order: int) -> Any:
    def near(x: Any) -> Any:
        found = 2 / math.pi * (_logarithmic(order, x, -1) - order / x)
        return np.where(x == 0, -np.inf, found)

    return _by_range(x, x <= NEAR, near, lambda x: _hankel(order, x)[1])


@_of_float64
def _k(x: Any, order: int, scaled: bool) -> Any:
    def near(x: Any) -> Any:
        found = _logarithmic(order, x, 1)
        found = np.where(x == 0, np.inf, found + 1 / x if order else -found)
        return found * np.exp(x) if scaled else found

    def far(x: Any) -> Any:
        found = _falling(order, x)
        return found if scaled else found * np.exp(-x)

    return _by_range(x, x <= NEAR, near, far)


_AIRY = 3 ** (-2 / 3) / math.gamma(2 / 3), 3 ** (-1 / 3) / math.gamma(1 / 3)
"""Ai and −Ai′ at 0."""


@lru_cache
def _airy_terms(slope: bool) -> tuple[list[float], list[float]]:
    """The coefficients, highest first, of two solutions of w″ = x w as polynomials in x³, or of their slopes.

    Ai is the sum of both.  Each is divided by its lowest power of x: the first by 1, or x², and the second by
    x, or 1.
    """
    even, odd = (_AIRY[0] / 2, -_AIRY[1]) if slope else (_AIRY[0], -_AIRY[1])
    first, second = [even], [odd]
    for k in range(3, 48, 3):
        even /= k * (k + 2) if slope else k * (k - 1)
        odd /= k * (k - 2) if slope else k * (k + 1)
        first.append(even)
        second.append(odd)
    return first[::-1], second[::-1]


@_of_float64
def _airy(x: Any, slope: bool) -> Any:
    order = 2 / 3 if slope else 1 / 3

    def near(x: Any) -> Any:
        cube = x * x * x
        even, odd = (polynomial(terms, cube) for terms in _airy_terms(slope))
        return even * x * x + odd if slope else even + odd * x

    def far(x: Any) -> Any:
        return _by_range(x, x < 0, left, right)

    def left(x: Any) -> Any:
        size, root, z = _sizes(x)
        real, imaginary = _swinging(order, z, 1)
        return 2 / math.pi * (-size / math.sqrt(3) * real if slope else root / math.sqrt(3) * imaginary)

    def right(x: Any) -> Any:
        size, root, z = _sizes(x)
        return (-size if slope else root) / (math.pi * math.sqrt(3)) * np.exp(-z) * _falling(order, z)

    return _by_range(x, np.abs(x) <= NEAR, near, far)


def _sizes(x: Any) -> tuple[Any, Any, Any]:
    """|x|, its root, and 2/3 · |x|√|x|."""
    size = np.abs(x)
    root = np.sqrt(size)
    return size, root, 2 / 3 * size * root


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
