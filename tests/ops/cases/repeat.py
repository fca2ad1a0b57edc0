"""Cases of repeating and turning."""

from __future__ import annotations

import numpy as np

from tests.ops.case import I, R
from tests.ops.case import case as c

CASES = [
    c("repeat", lambda T, a: a.repeat(2, 1), R(2, 3)),
    c("repeat", lambda T, a: a.repeat((2, 3, 1)), R(2, 3)),
    c("repeat", lambda T, a: a.repeat(2, 0), R(2, 3)),
    c("repeat", lambda T, a: a.repeat(3), R()),
    c("tile", lambda T, a: T.tile(a, (2,)), R(2, 3)),
    c("tile", lambda T, a: a.tile(2, 1, 2), R(2, 3)),
    c("repeat_interleave", lambda T, a: a.repeat_interleave(2), R(2, 3)),
    c("repeat_interleave", lambda T, a: T.repeat_interleave(a, 3, dim=1), R(2, 3)),
    c("repeat_interleave", lambda T, a, n: T.repeat_interleave(a, n, dim=0), R(3, 2), np.array([2, 0, 1])),
    c("repeat_interleave", lambda T, n: T.repeat_interleave(n), np.array([1, 0, 2])),
    c("repeat_interleave", lambda T, a, n: a.repeat_interleave(n), R(2), np.array([3])),
    c("flip", lambda T, a: T.flip(a, (0,)), R(2, 3)),
    c("flip", lambda T, a: a.flip(0, -1), R(2, 3)),
    c("flip", lambda T, a: a.flip([1]), I(2, 3)),
    c("fliplr", lambda T, a: T.fliplr(a), R(2, 3)),
    c("flipud", lambda T, a: a.flipud(), R(2, 3)),
    c("roll", lambda T, a: a.roll(1), R(2, 3)),
    c("roll", lambda T, a: T.roll(a, (1, -2), (0, 1)), R(3, 4)),
    c("roll", lambda T, a: T.roll(a, shifts=5, dims=-1), R(3, 4)),
    c("roll", lambda T, a: a.roll(2, 0), R(0, 2)),
    c("rot90", lambda T, a: T.rot90(a), R(2, 3)),
    c("rot90", lambda T, a: a.rot90(-1, (1, 2)), R(2, 3, 4)),
    c("rot90", lambda T, a: a.rot90(k=2, dims=[0, 1]), R(2, 3)),
]
