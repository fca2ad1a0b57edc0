"""Loops for Numba to compile: an LSTM through all its times, and back.

Sequences do not see each other, so each thread takes some of them through all
times.  Four rows of a time go together: each number of the weights that is
read serves four products.

``starts`` and ``sizes`` say of each time, in the order in which they are gone
through, with which row it begins and how many it has.

References
----------
.. [1] W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980: how the exponential's
   argument is reduced.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import inlined

f32, i32 = np.float32, np.int32
ZERO, ONE, TWO = f32(0), f32(1), f32(2)
EXPONENT = i32(23)
_LOWEST, _HIGHEST, _FLAT = f32(-87), f32(87), f32(20)
_LOG2_E = f32(1.4426950408889634)
_LOG_2_HIGH, _LOG_2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # of few bits, and what it lacks
_TO_WHOLE = f32(1.5 * 2**23 + 127)  # a float32 of this size has no digit behind the point
_P = tuple(f32(1 / n) for n in (5040, 720, 120, 24, 6, 2))


@inlined
def _reduced(x):
    """2ⁿ and exp(r) - 1, where x = n · log 2 + r: the bits of x / log 2 + ``_TO_WHOLE`` end with n + 127."""
    shifted = f32(x * _LOG2_E + _TO_WHOLE)
    n = shifted - _TO_WHOLE
    r = (x - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    square = r * r
    p = (_P[0] * r + _P[1]) * square + (_P[2] * r + _P[3])
    p = p * square + (_P[4] * r + _P[5])
    return i32(shifted.view(i32) << EXPONENT).view(f32), p * square + r


@inlined
def sigmoid(x):
    """1 / (1 + exp(−x)); of numbers beyond ±87 as if they were that."""
    a = _LOWEST if x < _LOWEST else x  # a NaN stays one
    a = _HIGHEST if a > _HIGHEST else a
    power, rest = _reduced(-a)
    return ONE / (ONE + (power * rest + power))


@inlined
def tanh(x):
    """(exp(2x) − 1) / (exp(2x) + 1), with what exceeds 1 known to all its digits."""
    a = TWO * x
    a = -_FLAT if a < -_FLAT else a
    a = _FLAT if a > _FLAT else a
    power, rest = _reduced(a)
    above = power * rest + (power - ONE)
    return above / (above + TWO)


@inlined
def _add_products(rows, matrix, into):
    """Add ``rows · matrix`` to ``into``, of four rows."""
    places, width = matrix.shape
    a, b, c, d = rows[0], rows[1], rows[2], rows[3]
    into_a, into_b, into_c, into_d = into[0], into[1], into[2], into[3]
    in_fours = places - places % 4
    for k in range(0, in_fours, 4):
        run_0, run_1, run_2, run_3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
        a0, a1, a2, a3 = a[k], a[k + 1], a[k + 2], a[k + 3]
        b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
        c0, c1, c2, c3 = c[k], c[k + 1], c[k + 2], c[k + 3]
        d0, d1, d2, d3 = d[k], d[k + 1], d[k + 2], d[k + 3]
        for p in range(width):
            x, y, z, u = run_0[p], run_1[p], run_2[p], run_3[p]
            into_a[p] += a0 * x + a1 * y + a2 * z + a3 * u
            into_b[p] += b0 * x + b1 * y + b2 * z + b3 * u
            into_c[p] += c0 * x + c1 * y + c2 * z + c3 * u
            into_d[p] += d0 * x + d1 * y + d2 * z + d3 * u
    for k in range(in_fours, places):
        run = matrix[k]
        a0, b0, c0, d0 = a[k], b[k], c[k], d[k]
        for p in range(width):
            into_a[p] += a0 * run[p]
            into_b[p] += b0 * run[p]
            into_c[p] += c0 * run[p]
            into_d[p] += d0 * run[p]


@inlined
def _copy(row, into):
    for j in range(len(row)):
        into[j] = row[j]


def lstm(given, h, c, turned, bias, starts, sizes, first, last, keeps, into_out, into_gates, into_cells):
    """The states of the sequences from ``first`` to ``last``, and behind all states the last ones and cells.

    If ``keeps`` is 1 the gates and cells of all times have a place, else only those of one time.
    """
    batch, width = h.shape
    count, rows = len(given), last - first
    sums = np.empty((4, 4 * width), f32)
    state, cells = np.zeros((rows + 3, width), f32), np.zeros((rows + 3, width), f32)
    for r in range(rows):
        _copy(h[first + r], state[r])
        _copy(c[first + r], cells[r])
    for t in range(len(starts)):
        row, place = starts[t] + first, keeps * starts[t] + first
        live = min(rows, sizes[t] - first)
        for begin in range(0, live, 4):
            end = min(begin + 4, live)
            for r in range(begin, end):
                for p in range(4 * width):
                    sums[r - begin, p] = given[row + r, p] + bias[p]
            _add_products(state[begin : begin + 4], turned, sums)
            for r in range(begin, end):
                _step(
                    *(sums[r - begin], cells[r], state[r], into_gates[0, place + r]),
                    *(into_gates[1, place + r], into_gates[2, place + r], into_gates[3, place + r]),
                    *(into_cells[place + r], into_out[row + r]),
                )
    for r in range(rows):
        _copy(state[r], into_out[count + first + r])
        _copy(cells[r], into_out[count + batch + first + r])


@inlined
def _step(sums, cells, state, into_enter, into_keep, into_new, into_leave, into_cells, into_out):
    width = len(state)
    to_enter, to_keep = sums[:width], sums[width : 2 * width]
    to_new, to_leave = sums[2 * width : 3 * width], sums[3 * width :]
    for j in range(width):
        enter, keep = sigmoid(to_enter[j]), sigmoid(to_keep[j])
        new, leave = tanh(to_new[j]), sigmoid(to_leave[j])
        cell = keep * cells[j] + enter * new
        shown = leave * tanh(cell)
        into_enter[j], into_keep[j], into_new[j], into_leave[j] = enter, keep, new, leave
        cells[j], into_cells[j] = cell, cell
        state[j], into_out[j] = shown, shown


def lstm_back(
    arriving, gates, cells, c, weight, starts, sizes, first, last, into_by_state, into_by_cells, into_by_gates
):
    """What arrives at the gates of all times, and then at the first states and cells."""
    width = c.shape[1]
    by_state, by_gates = np.empty((4, width), f32), np.zeros((4, 4 * width), f32)
    for t in range(len(starts) - 1, -1, -1):
        for begin in range(first, min(last, sizes[t]), 4):
            live, row = min(4, min(last, sizes[t]) - begin), starts[t] + begin
            for r in range(live):
                before = c[begin + r]
                if t > 0 and sizes[t - 1] > begin + r:
                    before = cells[starts[t - 1] + begin + r]
                _step_back(
                    *(arriving[row + r], gates[0, row + r], gates[1, row + r], gates[2, row + r]),
                    *(gates[3, row + r], cells[row + r], before),
                    *(into_by_state[begin + r], into_by_cells[begin + r], by_gates[r]),
                )
                _copy(by_gates[r], into_by_gates[row + r])
            for r in range(4):
                for j in range(width):
                    by_state[r, j] = ZERO
            _add_products(by_gates, weight, by_state)
            for r in range(live):
                _copy(by_state[r], into_by_state[begin + r])


@inlined
def _step_back(arriving, enters, keeps, news, leaves, cells, before, by_state, by_cells, by_gates):
    width = len(cells)
    by_enter, by_keep = by_gates[:width], by_gates[width : 2 * width]
    by_new, by_leave = by_gates[2 * width : 3 * width], by_gates[3 * width :]
    for j in range(width):
        enter, keep, new, leave, shown = enters[j], keeps[j], news[j], leaves[j], tanh(cells[j])
        at_state = by_state[j] + arriving[j]
        at_cells = by_cells[j] + at_state * leave * (ONE - shown * shown)
        by_enter[j] = at_cells * new * (enter * (ONE - enter))
        by_keep[j] = at_cells * before[j] * (keep * (ONE - keep))
        by_new[j] = at_cells * enter * (ONE - new * new)
        by_leave[j] = at_state * shown * (leave * (ONE - leave))
        by_cells[j] = at_cells * keep
