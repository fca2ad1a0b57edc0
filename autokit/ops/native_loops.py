"""Loops for Numba to compile: elementwise functions of large arrays of float32, and their gradients.

Each does for one element all that its rule says, and is named by the rule (``blocks.in_blocks``).
Arrays are lines in memory, ``into`` is what is written.  A loop branches at no
element: ``b if a > 0 else c`` is compiled to a choice between two known
values, so that sixteen elements are computed at once.

Constants are float32 by name, as Numba makes float64 of a float32 and a Python
number.  Loops take functions from this file alone: what is kept on disk is
compiled again when its own file changes, and no other is looked at.

References
----------
W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", Prentice-Hall, 1980: how the
exponential's argument is reduced.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import inlined

f32, i32 = np.float32, np.int32
ZERO, ONE = f32(0), f32(1)

# ---------------------------------------------------------------- functions of one number

_LOWEST, _HIGHEST = f32(-105), f32(89)  # the exponential is 0 below, and infinite above
_LOG2_E = f32(1.4426950408889634)
_LOG_2_HIGH, _LOG_2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # of few bits, and what it lacks
_ROUNDING = f32(1.5 * 2**23)  # added to a small number it leaves no digit behind the point
_ROUNDING_BITS = i32(0x4B400000)
_P = tuple(f32(1 / n) for n in (5040, 720, 120, 24, 6, 2))


@inlined
def exp(x):
    """e to the power of x, within a unit in the last place: 2ⁿ · exp(r), where x = n · log 2 + r."""
    a = x if x > _LOWEST else _LOWEST
    a = a if a < _HIGHEST else _HIGHEST
    rounded = f32(a * _LOG2_E + _ROUNDING)
    n = rounded - _ROUNDING
    r = (a - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    p = _P[0]
    p = p * r + _P[1]
    p = p * r + _P[2]
    p = p * r + _P[3]
    p = p * r + _P[4]
    p = p * r + _P[5]
    p = p * r * r + r + ONE
    whole = i32(rounded.view(i32) - _ROUNDING_BITS)
    half = i32(whole >> i32(1))  # twice the half power, as 2ⁿ itself may be too large or too small
    y = p * _power_of_two(half) * _power_of_two(i32(whole - half))
    return y if x == x else x


@inlined
def _power_of_two(n):
    """2ⁿ, by its bits: the exponent is n + 127."""
    return i32((n + i32(127)) << i32(23)).view(f32)


# ---------------------------------------------------------------- elementwise


def relu(a, into):
    for i in range(into.size):
        into[i] = ZERO if a[i] <= ZERO else a[i]


def relu_gradient(g, out, into):
    for i in range(into.size):
        into[i] = ZERO if out[i] <= ZERO else g[i]


def sigmoid(a, into):
    for i in range(into.size):
        into[i] = ONE / (ONE + exp(-a[i]))


def sigmoid_gradient(g, out, into):
    for i in range(into.size):
        into[i] = g[i] * (out[i] * (ONE - out[i]))
