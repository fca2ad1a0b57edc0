"""A loop for Numba to compile: where the largest of each 2×2 elements of images is.

A choice by ``if`` guesses wrong at every other maximum.  So the largest number
is found first, and then its place by counting: as many places are passed as
hold another number.
"""

from __future__ import annotations

import numpy as np

from autokit.ops.native import inlined


def places_of_maxima(a, into):
    """The place of the first largest of each 2×2 elements of (images, height, width), or the last NaN's."""
    width = a.shape[2]
    for n in range(len(a)):
        for y in range(into.shape[1]):
            if not _of_row(a[n, 2 * y], a[n, 2 * y + 1], 2 * y * width, width, into[n, y]):
                _of_odd_row(a[n, 2 * y], a[n, 2 * y + 1], 2 * y * width, width, into[n, y])


@inlined
def _of_row(upper, lower, first, width, into):
    """Whether there was no NaN, nor infinities of both signs, in these two rows; else ``into`` is wrong."""
    odd = 0
    for x in range(len(into)):
        a, b, c, d = upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1]
        total = a + b + c + d
        odd += total != total
        left, right = a if a > c else c, b if b > d else d
        largest = left if left > right else right
        passed = np.int64(a != largest), np.int64(b != largest), np.int64(c != largest)
        into[x] = first + 2 * x + passed[0] * (1 + passed[1] * (width - 1 + passed[2]))
    return odd == 0


@inlined
def _of_odd_row(upper, lower, first, width, into):
    for x in range(len(into)):
        largest, place = upper[2 * x], 0
        for value, other in ((upper[2 * x + 1], 1), (lower[2 * x], width), (lower[2 * x + 1], width + 1)):
            if value > largest or value != value:
                largest, place = value, other
        into[x] = first + 2 * x + place
