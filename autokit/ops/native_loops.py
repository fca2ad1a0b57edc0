"""Loops for Numba to compile: elementwise functions and softmax of float32, and their gradients.

Each does for one element all that its rule says, and is named by the rule (``blocks.in_blocks``).
Arrays are lines in memory, ``into`` is what is written.  A loop branches at no
element: ``b if a > 0 else c`` is compiled to a choice between two known
values, so that sixteen elements are computed at once.

Constants are float32 by name, as Numba makes float64 of a float32 and a Python
number.  Loops take functions from this file alone: what is kept on disk is
compiled again when its own file changes, and no other is looked at.

References
----------
.. [1] W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980: how the exponential's
   argument is reduced.
.. [2] M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 1964.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import inlined, summing

f32, i32 = np.float32, np.int32
ZERO, HALF, ONE, TWO, THREE, SIX = map(f32, (0, 0.5, 1, 2, 3, 6))
THIRD, SIXTH = f32(1 / 3), f32(1 / 6)
ONE_BIT, EXPONENT = i32(1), i32(23)
LEAST, MOST = i32(-(2**31)), i32(2**31 - 1)

# ---------------------------------------------------------------- functions of one number

_LOWEST, _HIGHEST = f32(-105), f32(89)  # the exponential is 0 below, and infinite above
_OVERFLOW, INFINITE = f32(88.7228394), f32(np.inf)
_LOG2_E = f32(1.4426950408889634)
_LOG_2_HIGH, _LOG_2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # of few bits, and what it lacks
_TO_WHOLE = f32(1.5 * 2**23 + 2 * 127)  # a float32 of this size has no digit behind the point
_P = tuple(f32(1 / n) for n in (5040, 720, 120, 24, 6, 2))
_NEAR = f32(0.34)  # half of log 2, where n is 0


@inlined
def exp(x):
    """e to the power of x, within a unit in the last place: 2ⁿ · exp(r), where x = n · log 2 + r.

    The bits of x / log 2 + ``_TO_WHOLE`` end with n + 254.  Where 23 bits
    follow an exponent k + 127, they say 2ᵏ.  2ⁿ is multiplied in two halves, as
    it may itself be too large or too small to be written.
    """
    a = _LOWEST if x < _LOWEST else x  # a NaN stays one
    a = _HIGHEST if a > _HIGHEST else a
    shifted = f32(a * _LOG2_E + _TO_WHOLE)
    n = shifted - _TO_WHOLE
    r = (a - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    square = r * r
    p = (_P[0] * r + _P[1]) * square + (_P[2] * r + _P[3])
    p = p * square + (_P[4] * r + _P[5])
    p = p * square + r + ONE
    bits = shifted.view(i32)
    half = i32(bits >> ONE_BIT)
    return p * i32(half << EXPONENT).view(f32) * i32(i32(bits - half) << EXPONENT).view(f32)


@inlined
def exp_less_one(x):
    """exp(x) − 1: near 0 the series of :func:`exp` without its first term, of which all digits count."""
    square = x * x
    p = (_P[0] * x + _P[1]) * square + (_P[2] * x + _P[3])
    p = p * square + (_P[4] * x + _P[5])
    return p * square + x if abs(x) < _NEAR else exp(x) - ONE


@inlined
def logistic(x):
    """1 / (1 + exp(−x))."""
    return ONE / (ONE + exp(-x))


_PHI = f32(0.3989422804)  # the normal density at 0
_BEND = f32(0.55 * 0.5**0.5)
_T = tuple(map(f32, (0.0536624789, -0.259020060, 0.379858643, -0.0207141489, 0.195421442, 0.150791660)))


@inlined
def bell(x):
    """exp(−x²/2)."""
    return exp(x * x * -HALF)


@inlined
def normal(x, bell):
    """The normal distribution function of x, where exp(−x²/2) is known, to 6e-8.

    The tail beyond |x| is t · T(t) · exp(−x²/2), where t = 1 / (1 + 0.55 · |x|/√2): the form of [2]_, 7.1.26,
    with one coefficient more, fitted for the least largest error of the function by Lawson's iteration.
    """
    t = ONE / (ONE + _BEND * abs(x))
    square = t * t
    p = (_T[0] * t + _T[1]) * square + (_T[2] * t + _T[3])
    p = p * square + (_T[4] * t + _T[5])
    tail = p * (t * bell)
    return tail if x < ZERO else ONE - tail


_STEEP, _CUBIC = f32(2 * (2 / np.pi) ** 0.5), f32(0.044715)  # (1 + tanh y) / 2 = σ(2y)
_A = tuple(f32(2 / n) for n in (13, 11, 9, 7, 5, 3))


@inlined
def log_of_one_plus(x):
    """log(1 + x) for x from 0 to 1: 2 · atanh(x / (2 + x)), as a series."""
    s = x / (x + TWO)
    square = s * s
    p = _A[0]
    p = p * square + _A[1]
    p = p * square + _A[2]
    p = p * square + _A[3]
    p = p * square + _A[4]
    p = p * square + _A[5]
    return TWO * s + s * square * p


# ---------------------------------------------------------------- elementwise


def logaddexp(a, b, into):
    for i in range(into.size):
        top = a[i] if a[i] > b[i] else b[i]
        gap = ZERO if a[i] == b[i] else abs(a[i] - b[i])  # of equal infinities, too, there is none
        into[i] = top + log_of_one_plus(exp(-gap))


def relu(a, into):
    for i in range(into.size):
        into[i] = ZERO if a[i] <= ZERO else a[i]


def relu_gradient(g, out, into):
    for i in range(into.size):
        into[i] = ZERO if out[i] <= ZERO else g[i]


def leaky_relu(a, into, slope):
    for i in range(into.size):
        into[i] = a[i] if a[i] > ZERO else a[i] * slope


def leaky_relu_gradient(g, a, into, slope):
    for i in range(into.size):
        into[i] = g[i] if a[i] > ZERO else g[i] * slope


def elu(a, into, alpha, scale, input_scale):
    for i in range(into.size):
        below = ZERO if a[i] > ZERO else a[i]
        curve = exp_less_one(below * input_scale) * (alpha * scale)
        into[i] = a[i] * scale if a[i] >= ZERO else curve


def elu_gradient(g, a, into, alpha, scale, input_scale):
    for i in range(into.size):
        below = a[i] if a[i] < ZERO else ZERO
        curve = exp(below * input_scale) * (input_scale * alpha * scale)
        into[i] = g[i] * (curve if a[i] <= ZERO else scale)


def hardtanh(a, into, low, high):
    for i in range(into.size):
        held = low if a[i] < low else a[i]
        into[i] = high if held > high else held


def hardtanh_gradient(g, a, into, low, high):
    for i in range(into.size):
        into[i] = ZERO if (a[i] <= low) | (a[i] >= high) else g[i]


def hardsigmoid(a, into):
    for i in range(into.size):
        held = a[i] + THREE
        held = ZERO if held < ZERO else held
        into[i] = (SIX if held > SIX else held) * SIXTH


def hardsigmoid_gradient(g, a, into):
    for i in range(into.size):
        into[i] = g[i] * SIXTH if (a[i] > -THREE) & (a[i] < THREE) else ZERO


def hardshrink(a, into, bound):
    for i in range(into.size):
        into[i] = ZERO if (a[i] >= -bound) & (a[i] <= bound) else a[i]


def hardshrink_gradient(g, a, into, bound):
    for i in range(into.size):
        into[i] = ZERO if (a[i] >= -bound) & (a[i] <= bound) else g[i]


def softshrink(a, into, bound):
    for i in range(into.size):
        held = -bound if a[i] < -bound else a[i]
        into[i] = a[i] - (bound if held > bound else held)


def threshold(a, into, bound, value):
    for i in range(into.size):
        into[i] = value if a[i] <= bound else a[i]


def threshold_gradient(g, a, into, bound):
    for i in range(into.size):
        into[i] = ZERO if a[i] <= bound else g[i]


def hardswish(a, into):
    for i in range(into.size):
        held = a[i] + THREE
        held = ZERO if held < ZERO else held
        held = SIX if held > SIX else held
        into[i] = a[i] * held * SIXTH


def hardswish_gradient(g, a, into):
    for i in range(into.size):
        bent = g[i] * (a[i] * THIRD + HALF)
        bent = bent if a[i] < THREE else g[i]
        into[i] = ZERO if a[i] <= -THREE else bent


def sigmoid(a, into):
    for i in range(into.size):
        into[i] = logistic(a[i])


def sigmoid_gradient(g, out, into):
    for i in range(into.size):
        into[i] = g[i] * (out[i] * (ONE - out[i]))


def silu(a, into):
    for i in range(into.size):
        into[i] = a[i] / (ONE + exp(-a[i]))


def silu_gradient(g, a, into):
    for i in range(into.size):
        part = logistic(a[i])
        into[i] = g[i] * (part * (ONE + a[i] * (ONE - part)))


def gelu_none(a, into):
    for i in range(into.size):
        into[i] = a[i] * normal(a[i], bell(a[i]))


def gelu_gradient_none(g, a, into):
    for i in range(into.size):
        density = bell(a[i])
        into[i] = g[i] * (normal(a[i], density) + a[i] * (density * _PHI))


def gelu_tanh(a, into):
    for i in range(into.size):
        x = a[i]
        into[i] = x * logistic(x * (_STEEP + _STEEP * _CUBIC * x * x))


def gelu_gradient_tanh(g, a, into):
    for i in range(into.size):
        x = a[i]
        part = logistic(x * (_STEEP + _STEEP * _CUBIC * x * x))
        slope = _STEEP + THREE * _STEEP * _CUBIC * x * x
        into[i] = g[i] * (part + x * slope * (part * (ONE - part)))


def softplus(a, into, beta, threshold):
    for i in range(into.size):
        scaled = a[i] * beta
        soft = log_of_one_plus(exp(-abs(scaled))) + (scaled if scaled > ZERO else ZERO)
        soft = INFINITE if scaled > _OVERFLOW else soft  # as its exponential is
        into[i] = a[i] if scaled > threshold else soft / beta


def softplus_gradient(g, a, into, beta, threshold):
    for i in range(into.size):
        scaled = a[i] * beta
        into[i] = g[i] if scaled > threshold else g[i] * logistic(scaled)


def logsigmoid(a, into):
    for i in range(into.size):
        below = a[i] if a[i] < ZERO else ZERO
        into[i] = below - log_of_one_plus(exp(-abs(a[i])))


def logsigmoid_gradient(g, a, into):
    for i in range(into.size):
        into[i] = g[i] / (ONE + exp(a[i]))


def glu(a, into):
    width = into.shape[1]
    for i in range(len(a)):
        for k in range(width):
            into[i, k] = a[i, k] * logistic(a[i, k + width])


def glu_gradient(g, a, into):
    width = g.shape[1]
    for i in range(len(a)):
        for k in range(width):
            part = logistic(a[i, k + width])
            into[i, k] = g[i, k] * part
            into[i, k + width] = g[i, k] * part * a[i, k] * (ONE - part)


# ---------------------------------------------------------------- softmax, by rows and by columns


@inlined
def largest(row):
    """The largest number of a row.

    Its bits, read as an integer, order positive numbers as they are, and negative ones the other way round.
    Integers have a largest in whatever order they are looked at, NaN or not, so that many are at once.
    """
    best = LEAST
    for k in range(row.size):
        key = ordered(f32(row[k]).view(i32))
        best = max(best, key)
    return i32(ordered(best)).view(f32)


@inlined
def ordered(bits):
    """All bits of a negative number but its sign, turned; done twice it undoes itself."""
    return i32(bits ^ i32(i32(bits >> i32(31)) & MOST))


@summing
def exponentials(row, top, into):
    """Write exp(x − top) for each x of a row; their sum."""
    total = ZERO
    for k in range(row.size):
        into[k] = exp(row[k] - top)
        total += into[k]
    return total


@summing
def total_of_exponentials(row, top):
    total = ZERO
    for k in range(row.size):
        total += exp(row[k] - top)
    return total


@summing
def total(row):
    total = ZERO
    for k in range(row.size):
        total += row[k]
    return total


@summing
def dot(row, other):
    total = ZERO
    for k in range(row.size):
        total += row[k] * other[k]
    return total


def softmax(a, into):
    for i in range(len(a)):
        row = into[i]
        share = ONE / exponentials(a[i], largest(a[i]), row)
        for k in range(row.size):
            row[k] *= share


def softmax_gradient(g, out, into):
    for i in range(len(g)):
        row, share = g[i], out[i]
        along = dot(row, share)
        for k in range(row.size):
            into[i, k] = share[k] * (row[k] - along)


def log_softmax(a, into):
    for i in range(len(a)):
        row = a[i]
        top = largest(row)
        rest = f32(np.log(total_of_exponentials(row, top)))
        for k in range(row.size):
            into[i, k] = (row[k] - top) - rest


def log_softmax_gradient(g, out, into):
    for i in range(len(g)):
        row, logarithm = g[i], out[i]
        arrived = total(row)
        for k in range(row.size):
            into[i, k] = row[k] - exp(logarithm[k]) * arrived


def shifts(a, into_top, into_total):
    """The largest element of each row, and the sum of the exponentials beside it."""
    for i in range(len(a)):
        into_top[i, 0] = largest(a[i])
        into_total[i, 0] = total_of_exponentials(a[i], into_top[i, 0])


def shares(a, top, factors, into):
    """exp(x − top) · factor, with a top and a factor for each row."""
    for i in range(len(a)):
        for k in range(a.shape[1]):
            into[i, k] = exp(a[i, k] - top[i, 0]) * factors[i, 0]


def softmax_of_columns(a, into):
    """Along the middle dimension of three."""
    top, share = np.empty(a.shape[2], f32), np.empty(a.shape[2], f32)
    for i in range(len(a)):
        top[:] = -INFINITE
        share[:] = ZERO
        for k in range(a.shape[1]):
            for j in range(top.size):
                top[j] = a[i, k, j] if a[i, k, j] > top[j] else top[j]
        for k in range(a.shape[1]):
            for j in range(top.size):
                into[i, k, j] = exp(a[i, k, j] - top[j])
                share[j] += into[i, k, j]
        for j in range(top.size):
            share[j] = ONE / share[j]
        for k in range(a.shape[1]):
            for j in range(top.size):
                into[i, k, j] *= share[j]


def softmax_gradient_of_columns(g, out, into):
    along = np.empty(g.shape[2], f32)
    for i in range(len(g)):
        along[:] = ZERO
        for k in range(g.shape[1]):
            for j in range(along.size):
                along[j] += g[i, k, j] * out[i, k, j]
        for k in range(g.shape[1]):
            for j in range(along.size):
                into[i, k, j] = out[i, k, j] * (g[i, k, j] - along[j])


def log_softmax_of_columns(a, into):
    top, rest = np.empty(a.shape[2], f32), np.empty(a.shape[2], f32)
    for i in range(len(a)):
        top[:] = -INFINITE
        rest[:] = ZERO
        for k in range(a.shape[1]):
            for j in range(top.size):
                top[j] = a[i, k, j] if a[i, k, j] > top[j] else top[j]
        for k in range(a.shape[1]):
            for j in range(top.size):
                rest[j] += exp(a[i, k, j] - top[j])
        for j in range(top.size):
            rest[j] = f32(np.log(rest[j]))
        for k in range(a.shape[1]):
            for j in range(top.size):
                into[i, k, j] = (a[i, k, j] - top[j]) - rest[j]


def log_softmax_gradient_of_columns(g, out, into):
    arrived = np.empty(g.shape[2], f32)
    for i in range(len(g)):
        arrived[:] = ZERO
        for k in range(g.shape[1]):
            for j in range(arrived.size):
                arrived[j] += g[i, k, j]
        for k in range(g.shape[1]):
            for j in range(arrived.size):
                into[i, k, j] = g[i, k, j] - exp(out[i, k, j]) * arrived[j]
