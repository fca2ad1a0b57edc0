"""Loops for Numba to compile: error, gamma and Bessel functions of float32, computed in float64.

Written as those in ``native_loops.py`` are.  Where ``approximations.py`` takes another series for each range,
a loop, which may not branch, takes one polynomial for all numbers: not of x but of t = 1 / (1 + b · |x|),
which goes from 1 to 0 as x goes to infinity, and of what is left of the function when its behaviour there is
divided out.  The coefficients are fitted for the least largest relative error, below 1e-8, by Lawson's
iteration.

References
----------
.. [1] M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 1964: 6.1.17 and 6.1.41 for
   log Γ, 6.3.7 and 6.3.18 for ψ.
"""

from __future__ import annotations

import math

import numpy as np

from autokit.ops.native import inlined, polynomial

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64
NO_NUMBER, INFINITE = np.nan, np.inf
PI = np.pi

# ---------------------------------------------------------------- functions of one float64


_LOG2_E = 1 / np.log(2)
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_TO_WHOLE = 1.5 * 2.0**52  # a float64 of this size has no digit behind the point
_exp_series = polynomial(*(1 / n for n in (362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1)))


@inlined
def exp(x):
    """As that of float32 in ``native_loops.py``: 2ⁿ · exp(r), where x = n · log 2 + r; of −700 to 700."""
    a = -700.0 if x < -700 else x
    a = 700.0 if a > 700 else a
    shifted = f64(a * _LOG2_E + _TO_WHOLE)
    n = shifted - _TO_WHOLE
    r = (a - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    power = i64(i64(shifted.view(i64)) << i64(52)) + i64(1023 << 52)
    return _exp_series(r) * i64(power).view(f64)


_log_series = polynomial(*(2 / n for n in (21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1)))
_MANTISSA, _ONE = i64(2**52 - 1), i64(1023 << 52)


@inlined
def log(x):
    """Of a positive number: n · log 2 + 2 · atanh((m − 1) / (m + 1)), where x = 2ⁿ · m."""
    bits = f64(x).view(i64)
    m = i64((bits & _MANTISSA) | _ONE).view(f64)
    n = f64(i32(bits >> i64(52)) - i32(1023))
    half = m > 1.4142135623730951
    m = m * 0.5 if half else m
    n = n + 1 if half else n
    s = (m - 1) / (m + 1)
    return n * _LOG_2_HIGH + (n * _LOG_2_LOW + s * _log_series(s * s))


_sine_series = polynomial(
    *((-1) ** (n // 2) * PI**n / math.factorial(n) for n in (21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1))
)
_cosine_series = polynomial(
    *((-1) ** (n // 2) * PI**n / math.factorial(n) for n in (20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0))
)


@inlined
def from_whole(x):
    """x less the whole number that is nearest."""
    return x - np.floor(x + 0.5)


@inlined
def sine(x):
    """sin(πx) for x from −½ to ½."""
    return x * _sine_series(x * x)


@inlined
def cosine(x):
    """cos(πx) there."""
    return _cosine_series(x * x)


# ---------------------------------------------------------------- error functions

_BEND = 0.4
_tail = polynomial(
    4.6126424422e-06, 2.7145644559e-06, -4.1893078148e-05, -1.8268210725e-05, 2.7926234371e-04,
    1.7303560255e-04, -1.9269983352e-03, -3.3565189323e-03, 1.1344556093e-02, 6.8500378011e-02,
    1.8156564889e-01, 3.2186074242e-01, 4.2161272844e-01,
)  # fmt: skip


@inlined
def scaled(z):
    """exp(z²) · erfc(z) for z from 0 on."""
    t = 1 / (1 + _BEND * z)
    return t * _tail(2 * t - 1)


def erfc(a, into):
    for i in range(into.size):
        x = f64(a[i])
        z = abs(x)
        tail = scaled(z) * exp(-z * z)
        into[i] = 2 - tail if x < 0 else tail


def erfcx(a, into):
    for i in range(into.size):
        x = f64(a[i])
        left = 2 * exp(x * x) - scaled(abs(x))
        into[i] = left if x < 0 else scaled(x)


def log_ndtr(a, into):
    for i in range(into.size):
        x = f64(a[i])
        z = abs(x) * 0.7071067811865476
        outside = scaled(z) / 2
        # 1 − p for what lies to the right: log(1 − p) = −2 · atanh(p / (2 − p)).
        p = outside * exp(-z * z)
        s = p / (2 - p)
        right = -s * _log_series(s * s)
        into[i] = log(outside) - z * z if x < 0 else right


_FARTHEST = 4.21  # √(1 + w) for the float32 next to 1, in the place of t
_inverse = polynomial(
    8.4431985860e-04, -4.3812285790e-03, -3.8334507377e-03, 2.4399482973e-02, 2.3007337184e-03,
    -6.0228830275e-02, 2.2722104753e-02, 8.1926319606e-02, -7.8695460160e-02, -4.6242239928e-02,
    1.2861894445e-01, -6.0839796331e-02, -9.1910209365e-02, 1.8419105819e-01, -1.5230416127e-01,
    4.5985145599e-02, 1.6942207076e+00, 2.2433805347e+00,
)  # fmt: skip


def erfinv(a, into):
    """y · P(√(1 + w)), where w = −log(1 − y²)."""
    for i in range(into.size):
        y = f64(a[i])
        inside = (1 - y) * (1 + y)
        root = np.sqrt(1 - log(inside if inside > 0 else 1.0))
        found = y * _inverse((2 * root - (_FARTHEST + 1)) / (_FARTHEST - 1))
        found = y * INFINITE if inside == 0 else found
        into[i] = NO_NUMBER if not inside >= 0 else found


# ---------------------------------------------------------------- gamma functions [1]

_FAR = 10.0
_stirling = polynomial(
    *(
        b / (2 * n * (2 * n - 1))
        for n, b in ((5, 5 / 66), (4, -1 / 30), (3, 1 / 42), (2, -1 / 30), (1, 1 / 6))
    )
)
_digamma_series = polynomial(
    *(-b / (2 * n) for n, b in ((5, 5 / 66), (4, -1 / 30), (3, 1 / 42), (2, -1 / 30), (1, 1 / 6)))
)
_HALF_LOG_2_PI = 0.5 * np.log(2 * PI)


def lgamma(a, into):
    """Stirling's series ten steps up, and back by Γ(y + 1) = y · Γ(y).

    Left of ½ by Γ(x) · Γ(1 − x) = π / sin(πx).
    """
    for i in range(into.size):
        x = f64(a[i])
        y = x if x >= 0.5 else 1 - x
        product = y * (y + 1) * (y + 2) * (y + 3) * (y + 4) * (y + 5) * (y + 6) * (y + 7) * (y + 8) * (y + 9)
        back = product if y < _FAR else f64(1)
        high = y + _FAR if y < _FAR else y
        inverse = 1 / high
        series = (high - 0.5) * log(high) - high + _HALF_LOG_2_PI
        series = series + inverse * _stirling(inverse * inverse)
        wave = abs(sine(from_whole(x)))
        reflected = log(back * PI / (wave if wave > 0 else 1.0)) - series
        found = series - log(back) if x >= 0.5 else reflected
        pole = (x <= 0) & (wave == 0)
        into[i] = INFINITE if pole | (abs(x) == INFINITE) else found


def digamma(a, into):
    """The series ten steps up, and back by ψ(y + 1) = ψ(y) + 1/y.

    Left of 0 by ψ(x) = ψ(1 − x) − π / tan(πx).
    """
    for i in range(into.size):
        x = f64(a[i])
        y = x if x > 0 else 1 - x
        steps = 1 / y + 1 / (y + 1) + 1 / (y + 2) + 1 / (y + 3) + 1 / (y + 4)
        steps = steps + (1 / (y + 5) + 1 / (y + 6) + 1 / (y + 7) + 1 / (y + 8) + 1 / (y + 9))
        high = y + _FAR if y < _FAR else y
        inverse = 1 / high
        square = inverse * inverse
        series = log(high) - inverse / 2 + square * _digamma_series(square) - (steps if y < _FAR else 0.0)
        part = from_whole(x)
        wave = sine(part)
        found = series if x > 0 else series - PI * cosine(part) / (wave if wave != 0 else 1.0)
        found = NO_NUMBER if (x < 0) & (wave == 0) else found
        found = INFINITE if x == INFINITE else found
        into[i] = np.copysign(INFINITE, -x) if x == 0 else found


# ---------------------------------------------------------------- Bessel functions

_SLOW = 0.2
_i0_series = polynomial(
    1.0379669836e-03, -3.9053142774e-04, -6.2590656516e-03, 2.3931679033e-03, 1.7411281195e-02,
    -6.9811808742e-03, -3.1319005660e-02, 1.2741321003e-02, 4.5805290646e-02, -1.3251222292e-02,
    -6.7008081147e-02, -1.5206309118e-02, 8.7336962117e-02, 1.4745680905e-01, 1.5191738381e-01,
    1.3707368573e-01, 1.3071756237e-01, 1.4695804977e-01, 2.5956590812e-01,
)  # fmt: skip
_i1_series = polynomial(
    -3.4749141322e-05, 3.7908299146e-04, 3.6728313789e-04, -2.0926230652e-03, -1.3009832176e-03,
    5.4622439037e-03, 2.4768036143e-03, -9.5698768186e-03, -3.5253945388e-03, 1.3999015978e-02,
    6.6327635950e-03, -1.9347990026e-02, -2.1139401674e-02, 1.5632942359e-02, 6.6920819226e-02,
    1.0650056903e-01, 1.2468738162e-01, 1.2119539699e-01, 9.2756720743e-02,
)  # fmt: skip


@inlined
def of_order_0(size):
    """exp(−x) · I₀(x) for x from 0 on."""
    t = 1 / (1 + _SLOW * size)
    return np.sqrt(t) * _i0_series(2 * t - 1)


@inlined
def of_order_1(size):
    """exp(−x) · I₁(x) for x from 0 on."""
    t = 1 / (1 + _SLOW * size)
    found = size * t * np.sqrt(t) * _i1_series(2 * t - 1)
    return 0.0 if size == INFINITE else found


@inlined
def unscaled(scaled, size):
    """Times exp(x), and of infinity no number, as in PyTorch."""
    return NO_NUMBER if size == INFINITE else scaled * exp(size)


def i0e(a, into):
    for i in range(into.size):
        into[i] = of_order_0(abs(f64(a[i])))


def i0(a, into):
    for i in range(into.size):
        size = abs(f64(a[i]))
        into[i] = unscaled(of_order_0(size), size)


def i1e(a, into):
    for i in range(into.size):
        x = f64(a[i])
        scaled = of_order_1(abs(x))
        into[i] = -scaled if x < 0 else scaled


def i1(a, into):
    for i in range(into.size):
        x = f64(a[i])
        whole = unscaled(of_order_1(abs(x)), abs(x))
        into[i] = -whole if x < 0 else whole
