"""Loops for Numba to compile: sums of shifted runs of numbers, and products of one run with shifted ones.

A convolution's output is a sum of runs of its padded input, each shifted and
weighed (:mod:`autokit.ops.correlate`).  Matrix products want these runs side
by side in a matrix first; a loop can take them from where they lie.

Four rows of the result and three runs are taken at a time: so every number
that is read is used four times, each that is written is the sum of three
products, and all twelve weights stay in registers.  Whoever calls fills rows
up to whole fours.  What is left of three runs is added one by one: with weights
of 0 for the rest an infinity or a NaN would get into sums that do not see it.
"""

from __future__ import annotations

from autokit.ops.native import summing

COLUMNS = 1024
"""How much of the runs is taken at a time: what four rows and three runs then hold stays in the L1 cache."""


def shifted_sums(source, weight, starts, added, length, into):
    """``into[n, g, r, p]`` = ``added[g, r]`` + Σₖ ``weight[g, r, k] · source[n, starts[g, k] + p]``."""
    groups, rows, places = weight.shape
    in_threes = places - places % 3
    for n in range(len(source)):
        line = source[n]
        for g in range(groups):
            for first in range(0, length, COLUMNS):
                last = min(first + COLUMNS, length)
                for r in range(0, rows, 4):
                    a, b, c, d = weight[g, r], weight[g, r + 1], weight[g, r + 2], weight[g, r + 3]
                    into_a, into_b = into[n, g, r, first:last], into[n, g, r + 1, first:last]
                    into_c, into_d = into[n, g, r + 2, first:last], into[n, g, r + 3, first:last]
                    into_a[:] = added[g, r]
                    into_b[:] = added[g, r + 1]
                    into_c[:] = added[g, r + 2]
                    into_d[:] = added[g, r + 3]
                    for k in range(0, in_threes, 3):
                        run_0 = line[starts[g, k] + first : starts[g, k] + last]
                        run_1 = line[starts[g, k + 1] + first : starts[g, k + 1] + last]
                        run_2 = line[starts[g, k + 2] + first : starts[g, k + 2] + last]
                        a0, a1, a2 = a[k], a[k + 1], a[k + 2]
                        b0, b1, b2 = b[k], b[k + 1], b[k + 2]
                        c0, c1, c2 = c[k], c[k + 1], c[k + 2]
                        d0, d1, d2 = d[k], d[k + 1], d[k + 2]
                        for p in range(last - first):
                            x, y, z = run_0[p], run_1[p], run_2[p]
                            into_a[p] += a0 * x + a1 * y + a2 * z
                            into_b[p] += b0 * x + b1 * y + b2 * z
                            into_c[p] += c0 * x + c1 * y + c2 * z
                            into_d[p] += d0 * x + d1 * y + d2 * z
                    for k in range(in_threes, places):
                        run = line[starts[g, k] + first : starts[g, k] + last]
                        a0, b0, c0, d0 = a[k], b[k], c[k], d[k]
                        for p in range(last - first):
                            into_a[p] += a0 * run[p]
                            into_b[p] += b0 * run[p]
                            into_c[p] += c0 * run[p]
                            into_d[p] += d0 * run[p]


def shifted_products(source, rows, starts, length, into):
    """Add Σₚ ``rows[g, r, p] · source[starts[g, k] + p]``, over p < ``length``, to ``into[g, r, k]``.

    Here the runs are filled up to whole threes too.
    """
    groups, count, _ = rows.shape
    for g in range(groups):
        for first in range(0, length, COLUMNS):
            last = min(first + COLUMNS, length)
            for k in range(0, starts.shape[1], 3):
                run_0 = source[starts[g, k] + first : starts[g, k] + last]
                run_1 = source[starts[g, k + 1] + first : starts[g, k + 1] + last]
                run_2 = source[starts[g, k + 2] + first : starts[g, k + 2] + last]
                for r in range(0, count, 4):
                    a, b = rows[g, r, first:last], rows[g, r + 1, first:last]
                    c, d = rows[g, r + 2, first:last], rows[g, r + 3, first:last]
                    _products(a, b, c, d, run_0, run_1, run_2, into[g, r : r + 4], k)


@summing
def _products(a, b, c, d, x, y, z, into, k):
    """Add the products of each of ``a`` to ``d`` with each of ``x`` to ``z``, added up, to ``into``."""
    zero = into.dtype.type(0)
    ax, ay, az = zero, zero, zero
    bx, by, bz = zero, zero, zero
    cx, cy, cz = zero, zero, zero
    dx, dy, dz = zero, zero, zero
    for p in range(len(x)):
        ax += a[p] * x[p]
        ay += a[p] * y[p]
        az += a[p] * z[p]
        bx += b[p] * x[p]
        by += b[p] * y[p]
        bz += b[p] * z[p]
        cx += c[p] * x[p]
        cy += c[p] * y[p]
        cz += c[p] * z[p]
        dx += d[p] * x[p]
        dy += d[p] * y[p]
        dz += d[p] * z[p]
    into[0, k] += ax
    into[0, k + 1] += ay
    into[0, k + 2] += az
    into[1, k] += bx
    into[1, k + 1] += by
    into[1, k + 2] += bz
    into[2, k] += cx
    into[2, k + 1] += cy
    into[2, k + 2] += cz
    into[3, k] += dx
    into[3, k + 1] += dy
    into[3, k + 2] += dz
