"""Loops for Numba to compile: sums of float32, what is made of them, and places of extremes.

Written as those in ``native_loops.py`` are.  What adds up is marked ``summing``: then many terms are added at
once, each to a sum of its own, as NumPy and PyTorch do it too.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import summing

f32 = np.float32
ZERO, HALF, ONE = f32(0), f32(0.5), f32(1)


@summing
def total(row):
    total = ZERO
    for k in range(row.size):
        total += row[k]
    return total


def sums_of_runs(starts, into, a):
    """The sum over the run of 1024 neighbours from each of ``starts``."""
    for i in range(into.size):
        into[i] = total(a[starts[i] : starts[i] + 1024])


def sums_of_rows(a, into):
    for i in range(into.size):
        into[i] = total(a[i])


def sums_of_columns(starts, into, a, together):
    """The sums of columns, of so many rows ``together`` from each of ``starts``; four rows at a time."""
    for part in range(starts.size):
        sums, last = into[part], min(starts[part] + together, len(a))
        in_fours = last - (last - starts[part]) % 4
        for i in range(starts[part], in_fours, 4):
            b, c, d, e = a[i], a[i + 1], a[i + 2], a[i + 3]
            for k in range(sums.size):
                sums[k] += (b[k] + c[k]) + (d[k] + e[k])
        for i in range(in_fours, last):
            for k in range(sums.size):
                sums[k] += a[i, k]


def squares_of_runs(starts, into, a, mean):
    """The sum of (x − mean)² over the run of 1024 neighbours from each of ``starts``."""
    for i in range(into.size):
        into[i] = squares(a[starts[i] : starts[i] + 1024], mean)


@summing
def squared_distance(row, other):
    total = ZERO
    for k in range(row.size):
        total += (row[k] - other[k]) * (row[k] - other[k])
    return total


def squared_distances_of_runs(starts, into, a, b):
    """The sum of (x − y)² over the run from each of ``starts``."""
    for i in range(into.size):
        run = slice(starts[i], starts[i] + 1024)
        into[i] = squared_distance(a[run], b[run])


@summing
def bent_distance(row, other, knee):
    total = ZERO
    for k in range(row.size):
        distance = abs(row[k] - other[k])
        smaller = knee if distance > knee else distance
        total += smaller * (distance - smaller * HALF)
    return total


def bent_distances_of_runs(starts, into, a, b, knee):
    """The sum of (x − y)²/2 up to the knee, and of lines from there, over the run from each of ``starts``."""
    for i in range(into.size):
        run = slice(starts[i], starts[i] + 1024)
        into[i] = bent_distance(a[run], b[run], knee)


# ---------------------------------------------------------------- copies, and what goes back from sums


def copy(a, into):
    for i in range(into.size):
        into[i] = a[i]


def repeat(into, number):
    for i in range(into.size):
        into[i] = number


def repeat_in_rows(into, a):
    """Each number of ``a`` along its row."""
    for i in range(len(into)):
        for k in range(into.shape[1]):
            into[i, k] = a[i]


def repeat_row(into, a):
    """``a`` as every row."""
    for i in range(len(into)):
        for k in range(into.shape[1]):
            into[i, k] = a[k]


# ---------------------------------------------------------------- normalized rows


@summing
def squares(row, mean):
    total = ZERO
    for k in range(row.size):
        total += (row[k] - mean) * (row[k] - mean)
    return total


def row_statistics(a, into_mean, into_scale, eps, centred):
    for i in range(len(a)):
        row = a[i]
        count = f32(row.size)
        mean = total(row) / count if centred else ZERO
        into_mean[i, 0] = mean
        into_scale[i, 0] = ONE / f32(np.sqrt(squares(row, mean) / count + eps))


def normalized_rows(a, mean, scale, into, weight, bias):
    for i in range(len(a)):
        for k in range(a.shape[1]):
            into[i, k] = (a[i, k] - mean[i, 0]) * scale[i, 0] * weight[k] + bias[k]


@summing
def moments(g, row, mean, weight):
    """The sums of ĝ · (x − mean) and of ĝ, where ĝ is the gradient that arrives times the weights."""
    along, together = ZERO, ZERO
    for k in range(row.size):
        arrived = g[k] * weight[k]
        along += arrived * (row[k] - mean)
        together += arrived
    return along, together


def normalized_rows_gradient(
    starts, into_by_weight, into_by_bias, g, a, mean, scale, into, weight, together, centred
):
    """What goes to the weights is added up over so many rows ``together``, from each of ``starts``."""
    for part in range(starts.size):
        by_weight, by_bias = into_by_weight[part], into_by_bias[part]
        for i in range(starts[part], min(starts[part] + together, len(a))):
            row, arrived, top, factor = a[i], g[i], mean[i, 0], scale[i, 0]
            along, arrived_in_all = moments(arrived, row, top, weight)
            slope = along * factor * factor / f32(row.size)
            shift = arrived_in_all / f32(row.size) if centred else ZERO
            for k in range(row.size):
                away = row[k] - top
                into[i, k] = (arrived[k] * weight[k] - away * slope - shift) * factor
                by_weight[k] += arrived[k] * away * factor
                by_bias[k] += arrived[k]


# ---------------------------------------------------------------- running sums, in float64


def running_sums(a, into, backwards):
    """Along each row."""
    last = a.shape[1] - 1
    for i in range(len(a)):
        state = 0.0
        for k in range(last + 1):
            place = last - k if backwards else k
            state += a[i, place]
            into[i, place] = state


def running_sums_of_columns(a, into, backwards):
    """Along the middle dimension of three."""
    state = np.empty(a.shape[2])
    last = a.shape[1] - 1
    for i in range(len(a)):
        state[:] = 0.0
        for k in range(last + 1):
            place = last - k if backwards else k
            for j in range(state.size):
                state[j] += a[i, place, j]
                into[i, place, j] = state[j]


# ---------------------------------------------------------------- places of extremes


def places_of_largest(a, into, sign):
    """Along the middle dimension of three, the first of equals or of NaN; of the smallest by the sign −1."""
    best, place = np.empty(a.shape[2], f32), np.empty(a.shape[2], np.int32)
    for i in range(len(a)):
        for j in range(best.size):
            best[j] = a[i, 0, j] * sign
            place[j] = 0
        for k in range(1, a.shape[1]):
            for j in range(best.size):
                x = a[i, k, j] * sign
                better = (x > best[j]) | ((x != x) & (best[j] == best[j]))
                best[j] = x if better else best[j]
                place[j] = np.int32(k) if better else place[j]
        for j in range(best.size):
            into[i, j] = place[j]


def places_so_far(a, into, sign):
    """Where the largest so far is, the last of equals or of NaN, along the middle dimension of three."""
    best, place = np.empty(a.shape[2], f32), np.empty(a.shape[2], np.int64)
    for i in range(len(a)):
        best[:] = -np.inf
        for k in range(a.shape[1]):
            for j in range(best.size):
                x = a[i, k, j] * sign
                better = (x >= best[j]) | (x != x)
                best[j] = x if better else best[j]
                place[j] = k if better else place[j]
                into[i, k, j] = place[j]


# ---------------------------------------------------------------- given places, along the middle of three


def read_at(places, a, into):
    for i in range(len(a)):
        for k in range(into.shape[1]):
            for j in range(into.shape[2]):
                into[i, k, j] = a[i, places[i, k, j], j]


def add_at(places, a, into):
    for i in range(len(a)):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                into[i, places[i, k, j], j] += a[i, k, j]
