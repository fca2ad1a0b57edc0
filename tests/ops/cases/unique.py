"""Cases of different elements and of counting in bins."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, P, R
from tests.ops.case import case as c

ROWS = np.array([[1, 2], [1, 2], [0, 3], [1, 2]])
NAN = np.array([np.nan, 1.0, np.nan, 0.0])
EDGES = np.array([-1.0, 0.0, 0.5, 2.0])
MIXED = np.append(R(5), EDGES)

CASES = [
    *(
        c(name, lambda T, a, name=name, more=more: getattr(T, name)(a.detach(), **more), a)
        for name in ("unique", "unique_consecutive")
        for a in (I(7), ROWS, R(2, 3), NAN, B(5), np.zeros(0), np.array(2.0))
        for more in ({}, {"return_inverse": True}, {"return_inverse": True, "return_counts": True})
    ),
    *(
        c(name, lambda T, a, name=name, dim=dim: getattr(a, name)(dim=dim, return_counts=True), a)
        for name in ("unique", "unique_consecutive")
        for a, dim in ((ROWS, 0), (ROWS, -1), (ROWS.reshape(2, 2, 2), 1), (np.zeros((0, 2), int), 0))
    ),
    c("unique", lambda T, a: T.unique(a.detach(), False, True), R(4)),
    c("bincount", lambda T, a: T.bincount(a + 4), I(9)),
    c("bincount", lambda T, a: (a + 4).bincount(minlength=12), I(3)),
    c("bincount", lambda T, a: T.bincount(a), np.zeros(0, int)),
    c("bincount", lambda T, a, w: T.bincount(a + 4, w.detach(), 2), I(6), R(6)),
    c("bincount", lambda T, a, w: T.bincount(a + 4, weights=w), I(6), I(6)),
    *(
        c("histc", lambda T, a, more=more: T.histc(a.detach(), **more), R(3, 5))
        for more in ({}, {"bins": 3}, {"bins": 4, "min": -1, "max": 1.5}, {"bins": 2, "min": 1, "max": 1})
    ),
    c("histc", lambda T, a: a.detach().histc(2), np.ones(3)),
    c("histc", lambda T, a: a.detach().histc(2), np.zeros(0)),
    *(
        c("histogram", lambda T, a, more=more: T.histogram(a.detach(), **more), R(3, 5))
        for more in (
            {"bins": 3},
            {"bins": 4, "range": (-1.0, 1.5)},
            {"bins": 5, "density": True},
        )
    ),
    c("histogram", lambda T, a, w: a.detach().histogram(3, weight=w.detach()), R(5), R(5)),
    c("histogram", lambda T, a, e: T.histogram(a.detach(), e.detach()), R(9), EDGES),
    c("histogram", lambda T, a: T.histogram(a.detach(), density=True), R(5)),
    c("histogram", lambda T, a: T.histogram(a.detach(), 2), np.ones(3)),
    c("histogram", lambda T, a: T.histogram(a.detach(), 2), np.zeros(0)),
    *(
        c("histogramdd", lambda T, a, more=more: T.histogramdd(a.detach(), **more), R(4, 5, 2))
        for more in (
            {"bins": 3},
            {"bins": (2, 3)},
            {"bins": [2, 3], "range": (-1.0, 1.5, 0.0, 1.0)},
            {"bins": [2, 1], "density": True},
        )
    ),
    c(
        "histogramdd",
        lambda T, a, w, e: T.histogramdd(a.detach(), [e.detach()] * 3, weight=w.detach(), density=True),
        *(R(9, 3), P(9), EDGES),
    ),
    c("histogramdd", lambda T, a: T.histogramdd(a.detach(), [2, 2]), np.ones((3, 2))),
    c("histogramdd", lambda T, a: T.histogramdd(a.detach(), 2), np.zeros((0, 2))),
    c("histogramdd", lambda T, a: T.histogramdd(a.detach(), 2), np.zeros((3, 0))),
    *(
        c("searchsorted", lambda T, e, a, more=more: T.searchsorted(e, a, **more), EDGES, MIXED)
        for more in ({}, {"right": True}, {"side": "right"}, {"out_int32": True}, {"side": "left"})
    ),
    c("searchsorted", lambda T, e, a: T.searchsorted(e, a), EDGES, NAN),
    c("searchsorted", lambda T, e: T.searchsorted(e, 0.5, right=True), EDGES),
    c("searchsorted", lambda T, e, a: T.searchsorted(e, a), np.stack([EDGES, EDGES + 1]), R(2, 3)),
    c(
        "searchsorted",
        lambda T, e, a: T.searchsorted(e.flip(0), a, sorter=T.tensor([3, 2, 1, 0])),
        EDGES,
        R(4),
    ),
    c("bucketize", lambda T, a, e: T.bucketize(a, e), R(2, 3), EDGES),
    c("bucketize", lambda T, a: T.bucketize(a, T.tensor([-2, 0, 2]), right=True), I(5)),
    c("bucketize", lambda T, e: T.bucketize(0.5, e, out_int32=True), EDGES),
    *(
        c(f"{name}_along", lambda T, a, name=name: getattr(T, name)(a.detach(), dim=0), R(3, 2))
        for name in ("unique", "unique_consecutive")
    ),
]
