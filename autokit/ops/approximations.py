"""Error functions, gamma functions and Bessel functions of arrays, which NumPy does not have.

Each is computed in float64 from a published approximation and rounded to the
array's own dtype at the end.  The rules with their derivatives are in
``autokit.ops.special``.

References
----------
.. [1] W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation
   23 (1969), 631-637; the coefficients are those of his program CALERF.
.. [2] M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964): 6.1.33 and 6.1.41 for
   log Γ, 6.3.18 for ψ, 6.4.12 for ψ′, 9.6.10 and 9.7.1 for I₀ and I₁, 23.2.3 for ζ.
.. [3] P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function" (2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from autokit.batches import Batch
from autokit.ops.blocks import in_blocks
from autokit.ops.gpu.arrays import is_on_cpu, special


def _of_samples_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of each element by itself, for samples too: they are but more; on a GPU CuPy's own."""

    @wraps(function)
    def apply(a: Any) -> Any:
        if a.__class__ is Batch:
            return Batch(apply(a.full), a.level)
        if not is_on_cpu(a):
            return special(function.__name__, a.astype(np.float64)).astype(a.dtype)
        return function(a)

    return apply


def in_float64(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """``function`` of float64 arrays, for arrays of any floating point dtype; on a GPU CuPy's own."""
    name = name or function.__name__.removeprefix("_")

    @wraps(function)
    def apply(a: Any, *settings: Any) -> Any:
        if a.__class__ is Batch:  # each element by itself: all samples are but more of them
            return Batch(apply(a.full, *settings), a.level)
        if not is_on_cpu(a):
            return special(name, a.astype(np.float64), *settings).astype(a.dtype)
        return np.asarray(function(a.astype(np.float64), *settings)).astype(a.dtype)

    return apply


def in_pieces(native: str, name: str = "") -> Callable[..., Any]:
    """As :func:`in_float64`, for functions of one operand: large arrays go by ``native``, or in pieces."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def of_block(a: Any, into: Any, /) -> None:
            into[...] = function(a.astype(np.float64))

        return in_blocks(in_float64(function, name), of_block, native)

    return decorate


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """By Horner's rule, the coefficient of the highest power first."""
    total = x * coefficients[0]
    total += coefficients[1]
    for coefficient in coefficients[2:]:
        total *= x
        total += coefficient
    return total


def by_range(x: Any, *parts: tuple[Any, Callable[[Any], Any]]) -> Any:
    """Each function where its mask holds, NaN elsewhere; a function sees the elements of its mask alone."""
    result = np.full_like(x, np.nan)
    for mask, function in parts:
        if mask.all():
            return function(x)
        if mask.any():
            result[mask] = function(x[mask])
    return result


# ---------------------------------------------------------------- error functions, after Cody [1]

_SMALL = 0.46875
"""Below it the error function is computed itself, above it what it lacks to 1."""

_ERF = (
    (
        0.185777706184603153,
        3.16112374387056560,
        113.864154151050156,
        377.485237685302021,
        3209.37758913846947,
    ),
    (1.0, 23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062),
)
_ERFCX_TO_4 = (
    (
        2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295,
        298.635138197400131, 881.952221241769090, 1712.04761263407058, 2051.07837782607147,
        1230.33935479799725,
    ),
    (
        1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
        3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942,
    ),
)  # fmt: skip
_ERFCX_FROM_4 = (
    (
        1.63153871373020978e-2, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip


def _ratio(pair: Sequence[Sequence[float]], x: Any) -> Any:
    return polynomial(pair[0], x) / polynomial(pair[1], x)


def _small_erf(x: Any) -> Any:
    return x * _ratio(_ERF, x * x)


def _scaled_from_4(x: Any) -> Any:
    inverse = 1 / x
    square = inverse * inverse
    return inverse * (1 / math.sqrt(math.pi) - square * _ratio(_ERFCX_FROM_4, square))


def _scaled(x: Any) -> Any:
    """``exp(x²) · erfc(x)`` for x from 0.46875 on."""
    return by_range(x, (x <= 4, lambda x: _ratio(_ERFCX_TO_4, x)), (x > 4, _scaled_from_4))


def _exp_of_minus_square(x: Any) -> Any:
    """``exp(−x²)`` without the rounding error of x²: x is split at a sixteenth, whose square is exact."""
    coarse = np.trunc(x * 16) / 16
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _upper_erfc(x: Any) -> Any:
    """The complement for x from 0.46875 on; from 27 on it is 0."""
    x = np.minimum(x, 30)
    return _exp_of_minus_square(x) * _scaled(x)


_ATANH_ERF = (
    1.41852875e-07, -5.66848769e-06, 8.76374063e-05, -6.19784884e-04, -1.91830521e-04, 1.02769056e-01,
    1.12837927,
)  # fmt: skip
"""atanh(erf x) / x as a polynomial of x², whose error moves erf by less than 1e-7 of itself."""


def erf(x: Any) -> Any:
    """2/√π · ∫ exp(−t²) dt from 0 to x.

    Of float64 after Cody.  Of float32 tanh(x · P(x²)), where the coefficients
    of P are fitted for the least largest relative error up to 4 by Lawson's
    iteration: 4 units in the last place in all.  It takes the same few steps
    at every x, and tanh is among NumPy's fastest functions.
    """
    if x.dtype == np.float64:
        return _erf(x)
    if x.dtype != np.float32:
        return erf(x.astype(np.float32)).astype(x.dtype)
    inner = polynomial(_ATANH_ERF, x * x)
    inner *= x
    return np.tanh(inner, out=inner) if isinstance(inner, np.ndarray) else np.tanh(inner)


_OF_NORMAL = tuple(
    coefficient * 0.5 ** (len(_ATANH_ERF) - place - 0.5) for place, coefficient in enumerate(_ATANH_ERF)
)
"""The same by the powers of 2x²."""


def erf_of_normal(a: Any, square: Any, into: Any) -> None:
    """Write erf(a/√2), of which the normal distribution function is made; ``square`` is a²."""
    if a.dtype != np.float32:
        into[...] = erf(a * math.sqrt(0.5))
        return
    inner = polynomial(_OF_NORMAL, square)
    inner *= a
    np.tanh(inner, out=into)


@in_float64
def _erf(x: Any) -> Any:
    return by_range(
        x,
        (np.abs(x) <= _SMALL, _small_erf),
        (x > _SMALL, lambda x: 1 - _upper_erfc(x)),
        (x < -_SMALL, lambda x: _upper_erfc(-x) - 1),
    )


@in_pieces("native_special.erfc")
def erfc(x: Any) -> Any:
    """1 − erf(x), to full accuracy where that is small."""
    return by_range(
        x,
        (np.abs(x) <= _SMALL, lambda x: 1 - _small_erf(x)),
        (x > _SMALL, _upper_erfc),
        (x < -_SMALL, lambda x: 2 - _upper_erfc(-x)),
    )


@in_pieces("native_special.erfcx")
def erfcx(x: Any) -> Any:
    """exp(x²) · erfc(x), which falls off as 1/x where erfc itself is 0 already."""
    return by_range(
        x,
        (np.abs(x) <= _SMALL, lambda x: np.exp(x * x) * (1 - _small_erf(x))),
        (x > _SMALL, _scaled),
        (x < -_SMALL, lambda x: 2 * np.exp(np.minimum(x * x, 1e3)) - _scaled(np.minimum(-x, 1e9))),
    )


@in_pieces("native_special.log_ndtr")
def log_ndtr(x: Any) -> Any:
    """The logarithm of the normal distribution function, to full accuracy far to the left."""
    t = x * math.sqrt(0.5)
    return by_range(
        t,
        (t < -1, lambda t: np.log(erfcx(-t) / 2) - t * t),
        (t >= -1, lambda t: np.log1p(-erfc(t) / 2)),
    )


_QUANTILE_MIDDLE = (
    (
        -3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02, 1.383577518672690e02,
        -3.066479806614716e01, 2.506628277459239e00,
    ),
    (
        -5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02, 6.680131188771972e01,
        -1.328068155288572e01, 1.0,
    ),
)  # fmt: skip
_QUANTILE_TAIL = (
    (
        -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00, -2.549732539343734e00,
        4.374664141464968e00, 2.938163982698783e00,
    ),
    (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0),
)  # fmt: skip


def _tail_quantile(p: Any) -> Any:
    """Where the normal distribution function is ``p``, for small ``p``, by Acklam [3] and two Newton steps.

    The steps are taken on the logarithm of the distribution function, which
    near 0 is as smooth as the function itself is flat.
    """
    x = _ratio(_QUANTILE_TAIL, np.sqrt(-2 * np.log(p)))
    for _ in range(2):
        scaled = erfcx(-x * math.sqrt(0.5)) / 2  # the distribution function, over exp(−x²/2)
        x = x - (np.log(scaled / p) - x * x / 2) * scaled * math.sqrt(2 * math.pi)
    return x


def _middle_quantile(q: Any) -> Any:
    """Where the normal distribution function is ``q + ½``, in the middle; there erf solves for it."""
    x = q * _ratio(_QUANTILE_MIDDLE, q * q)
    for _ in range(2):
        error = erf(x * math.sqrt(0.5)) / 2 - q
        x = x - error * math.sqrt(2 * math.pi) * np.exp(x * x / 2)
    return x


_TAIL = 0.02425


@in_float64
def ndtri(p: Any) -> Any:
    """The normal quantile: where the normal distribution function is ``p``."""
    return by_range(
        p,
        (p == 0, lambda p: p - np.inf),
        (p == 1, lambda p: p + np.inf),
        ((p > 0) & (p < _TAIL), _tail_quantile),
        ((p >= _TAIL) & (p <= 1 - _TAIL), lambda p: _middle_quantile(p - 0.5)),
        ((p > 1 - _TAIL) & (p < 1), lambda p: -_tail_quantile(1 - p)),
    )


@in_pieces("native_special.erfinv")
def erfinv(y: Any) -> Any:
    """Where the error function is ``y``."""
    size = np.abs(y)
    upper = 1 - 2 * _TAIL
    found = by_range(
        size,
        (size == 1, lambda y: y * np.inf),
        (size <= upper, lambda y: _middle_quantile(y / 2) * math.sqrt(0.5)),
        ((size > upper) & (size < 1), lambda y: -_tail_quantile((1 - y) / 2) * math.sqrt(0.5)),
    )
    return np.copysign(found, y)


# ---------------------------------------------------------------- gamma functions, after [2]

_EULER = 0.577215664901532860606512
_ZETA_LESS_1 = tuple(
    # ζ(k) − 1: the first terms, and by Euler and Maclaurin the rest from 64 on.
    math.fsum([n**-k for n in range(2, 64)])
    + 64.0 ** (1 - k) / (k - 1)
    + 64.0**-k / 2
    + k * 64.0 ** (-k - 1) / 12
    - k * (k + 1) * (k + 2) * 64.0 ** (-k - 3) / 720
    + k * (k + 1) * (k + 2) * (k + 3) * (k + 4) * 64.0 ** (-k - 5) / 30240
    for k in range(2, 40)
)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""B₂, B₄, …: the numbers of the asymptotic series."""

_NEAR_1 = (*reversed([(-1) ** k * rest / k for k, rest in enumerate(_ZETA_LESS_1, 2)]), 1 - _EULER, 0.0)
_STIRLING = tuple(reversed([b / (2 * n * (2 * n - 1)) for n, b in enumerate(BERNOULLI, 1)]))
_DIGAMMA = tuple(reversed([-b / (2 * n) for n, b in enumerate(BERNOULLI, 1)]))
FAR = 10.0
"""From here on the asymptotic series give all the digits of a float64."""


def _lgamma_of_1_plus(z: Any) -> Any:
    """6.1.33 of [2], for ``|z| ≤ ½``: it is exact at its zero z = 0, and with one step back at z = 1."""
    return polynomial(_NEAR_1, z) - np.log1p(z)


def _lgamma_far(x: Any) -> Any:
    """Stirling's series, 6.1.41 of [2]."""
    inverse = 1 / x
    rest = inverse * polynomial(_STIRLING, inverse * inverse)
    return np.where(np.isinf(x), x, (x - 0.5) * (np.log(x) - 1) + (math.log(2 * math.pi) - 1) / 2 + rest)


def _lgamma_between(x: Any) -> Any:
    """Stirling's series at x + n, and back by Γ(x + 1) = x · Γ(x)."""
    product = np.ones_like(x)
    while (near := x < FAR).any():
        product = np.where(near, product * x, product)
        x = np.where(near, x + 1, x)
    return _lgamma_far(x) - np.log(product)


def _sin_of_pi_times(x: Any) -> Any:
    """``sin(πx)``, with the whole turns taken out before they can cost digits."""
    return np.sin(math.pi * (x - 2 * np.round(x / 2)))


def _lgamma_reflected(x: Any) -> Any:
    return np.log(math.pi / np.abs(_sin_of_pi_times(x))) - _lgamma(1 - x)


def _lgamma(x: Any) -> Any:
    whole = x == np.floor(x)
    return by_range(
        x,
        ((x <= 0) & whole, lambda x: np.full_like(x, np.inf)),
        ((x < 0.5) & (x > 0), lambda x: _lgamma_of_1_plus(x) - np.log(x)),
        ((x >= 0.5) & (x <= 1.5), lambda x: _lgamma_of_1_plus(x - 1)),
        ((x > 1.5) & (x <= 2.5), lambda x: _lgamma_of_1_plus(x - 2) + np.log1p(x - 2)),
        ((x > 2.5) & (x < FAR), _lgamma_between),
        (x >= FAR, _lgamma_far),
        ((x < 0) & ~whole, _lgamma_reflected),
    )


@in_pieces("native_special.lgamma")
def lgamma(x: Any) -> Any:
    """log |Γ(x)|."""
    return _lgamma(x)


def _digamma_positive(x: Any) -> Any:
    """The series 6.3.18 of [2] at x + n, and back by ψ(x + 1) = ψ(x) + 1/x."""
    less = np.zeros_like(x)
    while (near := x < FAR).any():
        less = np.where(near, less + 1 / x, less)
        x = np.where(near, x + 1, x)
    inverse = 1 / x
    square = inverse * inverse
    return np.log(x) - inverse / 2 + square * polynomial(_DIGAMMA, square) - less


def _digamma_reflected(x: Any) -> Any:
    part = x - np.round(x)
    return _digamma_positive(1 - x) - math.pi / np.tan(math.pi * part)


@in_pieces("native_special.digamma")
def digamma(x: Any) -> Any:
    """ψ(x), the derivative of log Γ; NaN at the negative whole numbers, and infinite at 0."""
    whole = x == np.floor(x)
    return by_range(
        x,
        (x == 0, lambda x: np.copysign(np.inf, -x)),
        (x == np.inf, lambda x: x),
        ((x > 0) & (x < np.inf), _digamma_positive),
        ((x < 0) & ~whole, _digamma_reflected),
    )


@_of_samples_too
def trigamma(x: Any) -> Any:
    """ψ′(x) by six steps up and three terms of 6.4.12 of [2], as PyTorch takes it: good to nine digits.

    At a pole it is as large as the sine's rounding, in the precision of ``x``, lets it be.
    """
    left = x < 0.5
    pi = x.dtype.type(math.pi)
    sine = np.sin(pi * x)
    mirror = np.where(left, pi * pi / (sine * sine), 0)
    x = np.where(left, 1 - x, x)
    total = np.zeros_like(x)
    for _ in range(6):
        total = total + 1 / (x * x)
        x = x + 1
    square = 1 / (x * x)
    total = total + (1 + 1 / (2 * x) + square * (1 / 6 - square * (1 / 30 - square / 42))) / x
    return np.where(left, mirror - total, total)


# ---------------------------------------------------------------- Bessel functions, after [2]

_BESSEL_FAR = 30.0


def _bessel_scaled(order: int, native: str) -> Callable[[Any], Any]:
    """``exp(−|x|) · I_order(x)`` by the power series near 0, by the asymptotic series far from it."""

    def near(x: Any) -> Any:
        quarter = x * x / 4
        term = (x / 2) ** order
        total = term
        for k in range(1, 70):
            term = term * quarter / (k * (k + order))
            total = total + term
        return total * np.exp(-np.abs(x))

    def far(x: Any) -> Any:
        size = np.abs(x)
        term = np.ones_like(x)
        total = term
        for k in range(1, 25):
            term = term * -(4 * order * order - (2 * k - 1) ** 2) / (8 * k * size)
            total = total + term
        total = total / np.sqrt(2 * math.pi * size)
        return total * np.sign(x) if order else total

    def scaled(x: Any) -> Any:
        x = x + 0.0  # of −0, too, PyTorch makes 0
        size = np.abs(x)
        return by_range(x, (size <= _BESSEL_FAR, near), (size > _BESSEL_FAR, far))

    return in_pieces(native, f"i{order}e")(scaled)


i0e = _bessel_scaled(0, "native_special.i0e")
i1e = _bessel_scaled(1, "native_special.i1e")


@in_pieces("native_special.i0")
def i0(x: Any) -> Any:
    """The modified Bessel function of order 0."""
    return _unscaled(i0e, x)


@in_pieces("native_special.i1")
def i1(x: Any) -> Any:
    """The modified Bessel function of order 1."""
    return _unscaled(i1e, x)


def _unscaled(scaled: Callable[[Any], Any], x: Any) -> Any:
    half = np.exp(np.abs(x) / 2)  # in two steps, so that what fits a float64 does not overflow on the way
    return scaled(x) * half * half
