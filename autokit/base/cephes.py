"""Logarithm, sine and cosine of float32, rounded as PyTorch rounds them when it draws normal numbers.

They evaluate the polynomials of the Cephes library, in which each multiply-add is rounded once, as by the
vector instructions of processors.  NumPy's functions differ from them in the last bit one time in ten.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)  # fmt: skip
_LOG_2 = (-2.12194440e-4, 0.693359375)  # their sum is log(2)
_QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)  # their sum is pi / 4
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def multiply_add(a: Array, b: Any, c: Any) -> Array:
    """``a * b + c`` of float32 or float64, rounded once, as a processor's fused multiply-add does."""
    if a.dtype == np.float32:
        exact = np.multiply(a, b, dtype=np.float64)
        exact += c
        return exact.astype(np.float32)
    # The product and the sum, both with their rounding errors (Dekker 1971, Knuth 1969).
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    left = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    part = total - product
    return total + (left + ((product - (total - part)) + (c - part)))


def _halves(x: Any) -> tuple[Any, Any]:
    """A float64 as the sum of two numbers with half the digits."""
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = multiply_add(result, x, np.float32(coefficient))
    return result


def log(x: Array) -> Array:
    """The natural logarithm: that of a fraction from √½ to √2, and log 2 times its exponent."""
    fraction, exponent = np.frexp(x)
    small = fraction < np.float32(math.sqrt(0.5))
    exponent = (exponent - small).astype(np.float32)
    x = np.where(small, fraction + fraction, fraction) - np.float32(1)
    square = x * x
    tail = multiply_add(_polynomial(_LOG, x) * x, square, exponent * np.float32(_LOG_2[0]))
    tail = multiply_add(square, np.float32(-0.5), tail)
    return multiply_add(exponent, np.float32(_LOG_2[1]), x + tail)


def sin_cos(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine: polynomials around multiples of π/2, at every second of which they change places."""
    octant = (angle * np.float32(4 / math.pi)).astype(np.int32)
    octant = (octant + 1) & ~1  # the nearest even octant: the remainder lies within pi / 4 of zero
    turns = octant.astype(np.float32)
    for part in _QUARTER_PI:
        angle = multiply_add(turns, np.float32(-part), angle)
    square = angle * angle
    sine = multiply_add(_polynomial(_SIN, square) * square, angle, angle)
    cosine = multiply_add(_polynomial(_COS, square) * square, square, square * np.float32(-0.5))
    cosine += np.float32(1)
    crossed = (octant & 2) != 0
    sine, cosine = np.where(crossed, cosine, sine), np.where(crossed, sine, cosine)
    return np.where(octant & 4, -sine, sine), np.where((octant + 2) & 4, -cosine, cosine)
