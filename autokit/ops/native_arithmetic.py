"""Loops for Numba to compile: the arithmetic of float32, sums and products, remainders, what lies between.

Written as those in ``native_loops.py`` are.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import inlined

f32, f64 = np.float32, np.float64
ZERO, HALF, ONE = map(f32, (0, 0.5, 1))
INFINITE, NO_NUMBER = f32(np.inf), f32(np.nan)

# ---------------------------------------------------------------- of one number


def sign(a, into):
    for i in range(into.size):
        above = ONE if a[i] > ZERO else ZERO
        into[i] = -ONE if a[i] < ZERO else above


def frac(a, into):
    for i in range(into.size):
        into[i] = a[i] - np.trunc(a[i])


def abs_gradient(g, a, into):
    for i in range(into.size):
        sign = ONE if a[i] > ZERO else ZERO
        into[i] = g[i] * (-ONE if a[i] < ZERO else sign)


def away(a, into, centre, factor):
    """(x − centre) · factor: the gradient of a variance."""
    for i in range(into.size):
        into[i] = (a[i] - centre) * factor


def exp2_gradient(g, out, into, log_2):
    for i in range(into.size):
        into[i] = g[i] * out[i] * log_2


def finite(a, into, most, least, nan):
    for i in range(into.size):
        held = most if a[i] == INFINITE else a[i]
        held = least if a[i] == -INFINITE else held
        into[i] = held if a[i] == a[i] else nan


def logit_gradient(g, a, into, eps):
    """Without bounds ``eps`` is NaN, or below 0."""
    for i in range(into.size):
        x = a[i]
        slope = g[i] / (abs(x) * (ONE - x))
        beyond = ZERO if eps >= ZERO else NO_NUMBER
        low = eps if eps >= ZERO else ZERO
        into[i] = beyond if (x < low) | (x > ONE - low) else slope


# ---------------------------------------------------------------- of two


def difference(a, b, into, factor):
    """(a − b) · factor: the gradient of a mean squared error."""
    for i in range(into.size):
        into[i] = (a[i] - b[i]) * factor


def add(a, b, into):
    for i in range(into.size):
        into[i] = a[i] + b[i]


def add_to(into, a):
    for i in range(into.size):
        into[i] += a[i]


def subtract(a, b, into):
    for i in range(into.size):
        into[i] = a[i] - b[i]


def multiply(a, b, into):
    for i in range(into.size):
        into[i] = a[i] * b[i]


def divide(a, b, into):
    for i in range(into.size):
        into[i] = a[i] / b[i]


def held_difference(a, b, into, bound, factor):
    """a − b, held between −bound and bound: the gradient of Huber's error."""
    for i in range(into.size):
        held = a[i] - b[i]
        held = -bound if held < -bound else held
        into[i] = (bound if held > bound else held) * factor


def hypot(a, b, into):
    """In float64, whose range holds the squares."""
    for i in range(into.size):
        x, y = f64(a[i]), f64(b[i])
        length = f32(np.sqrt(x * x + y * y))
        into[i] = INFINITE if (abs(a[i]) == INFINITE) | (abs(b[i]) == INFINITE) else length


@inlined
def rest(x, y):
    """What is left of x after y was taken out whole times, where these are below 2²⁹ and y is finite.

    In float64 the quotient of two float32 is then exact enough to be cut off, and the product exact.
    """
    wide, divisor = f64(x), f64(y)
    return np.copysign(f32(wide - np.trunc(wide / divisor) * divisor), x)


@inlined
def is_near(x, y):
    return (abs(x) < _OFTEN * abs(y)) & (abs(y) < INFINITE)


_OFTEN = f32(2**29)


def fmod(a, b, into):
    all_near = True
    for i in range(into.size):
        into[i] = rest(a[i], b[i])
        all_near &= is_near(a[i], b[i])
    if not all_near:
        for i in range(into.size):
            if not is_near(a[i], b[i]):
                into[i] = np.fmod(a[i], b[i])


@inlined
def turned(left, y):
    """What is left, with the sign of y."""
    return left + y if (left != ZERO) & ((left < ZERO) != (y < ZERO)) else left


def remainder(a, b, into):
    all_near = True
    for i in range(into.size):
        into[i] = turned(rest(a[i], b[i]), b[i])
        all_near &= is_near(a[i], b[i])
    if not all_near:
        for i in range(into.size):
            if not is_near(a[i], b[i]):
                into[i] = turned(f32(np.fmod(a[i], b[i])), b[i])


@inlined
def whole(x, y, left):
    """How often y fits into x, rounded down, where ``left`` is left over towards 0."""
    quotient = (x - left) / y - (ONE if (left != ZERO) & ((left < ZERO) != (y < ZERO)) else ZERO)
    down = np.floor(quotient)
    down = np.copysign(ZERO, x / y) if quotient == ZERO else down + (ONE if quotient - down > HALF else ZERO)
    return x / y if y == ZERO else down


def floor_divide(a, b, into):
    all_near = True
    for i in range(into.size):
        into[i] = whole(a[i], b[i], rest(a[i], b[i]))
        all_near &= is_near(a[i], b[i])
    if not all_near:
        for i in range(into.size):
            if not is_near(a[i], b[i]):
                into[i] = whole(a[i], b[i], f32(np.fmod(a[i], b[i])))


def lerp(a, end, weight, into):
    for i in range(into.size):
        way = end[i] - a[i]
        near = a[i] + weight[i] * way
        into[i] = near if abs(weight[i]) < HALF else end[i] - way * (ONE - weight[i])
