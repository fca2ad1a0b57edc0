"""Cases of reading parts of a tensor."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, R
from tests.ops.case import case as c

CASES = [
    c("unravel_index", lambda T, i: T.unravel_index(i, (2, 3)), np.array([[3, 5]])),
    c("getitem", lambda T, a: a[0], R(2, 3)),
    c("getitem", lambda T, a: a[-1], R(3)),
    c("getitem", lambda T, a: a[:, 1], R(2, 3)),
    c("getitem", lambda T, a: a[1:, ::2], R(2, 3)),
    c("getitem", lambda T, a: a[..., 0], R(2, 3, 2)),
    c("getitem", lambda T, a: a[None], R(2)),
    c("getitem", lambda T, a: a[:, None], R(2)),
    c("getitem", lambda T, a: a[...], R(2)),
    c("getitem", lambda T, a: a[[0, 0, 1]], R(2, 3)),
    c("getitem", lambda T, a: a[[0, 1], [2, 2]], R(2, 3)),
    c("getitem", lambda T, a, i: a[i], R(2, 3), np.array([[0, 1], [1, 1]])),
    c("getitem", lambda T, a, m: a[m], R(2, 3), B(2, 3)),
    c("getitem", lambda T, a, m: a[m], R(2, 3), B(2)),
    c("getitem", lambda T, a: a[a > 0], R(2, 3)),
    c("getitem", lambda T, a, i: a[:, i], R(2, 3), np.array([2, 0])),
    c("getitem", lambda T, a, i: a[i, 1:], R(2, 3), np.array([1, 1])),
    c("getitem", lambda T, a, i: a[i, :, i], R(2, 3, 2), np.array([1, 1])),
    c("getitem", lambda T, a, i: a[i], R(3), np.array(1)),
    c("getitem", lambda T, a: a[True], R(3)),
    c("getitem", lambda T, a: a[[]], R(3)),
    c("getitem", lambda T, a: a[5:], R(3)),
    c("getitem", lambda T, a: a[()], R()),
    c("getitem", lambda T, a: a[None], R()),
]
