"""Cases of sorting, and of the elements at a rank."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, R
from tests.ops.case import case as c

TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.5, 0.5, 0.5, 3.0]])
NAN = np.array([1.0, np.nan, 3.0, np.nan, 0.0])

CASES = [
    *(
        c(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, **keywords), a)
        for name in ("sort", "argsort")
        for keywords in ({}, {"dim": 0}, {"dim": -1, "descending": True}, {"axis": 0, "descending": True})
        for a in (R(3, 4), TIES, I(4, 3), B(2, 3), R(2, 3, 2), R(0, 2))
    ),
    c("sort", lambda T, a: a.sort(0, True), R(5)),
    c("sort", lambda T, a: a.sort(stable=True).values, R(5)),
    c("sort", lambda T, a: T.sort(a, dim=0, descending=True, stable=True), I(40) // 2),
    c("sort", lambda T, a: a.sort(0), R()),
    c("sort", lambda T, a: a.sort(descending=True), NAN),
    c("sort", lambda T, a: a.t().sort(), R(2, 3)),
    c("argsort", lambda T, a: a.argsort(stable=True, dim=0, descending=True), I(40) // 2),
    c("argsort", lambda T, a: a.argsort(), NAN),
    c("argsort", lambda T, a: a.argsort(), R()),
    c("msort", lambda T, a: T.msort(a), R(3, 2)),
    c("msort", lambda T, a: a.msort(), R()),
    c("topk", lambda T, a: T.topk(a, 2), R(3, 4)),
    c("topk", lambda T, a: a.topk(2, 0, False), R(3, 4)),
    c("topk", lambda T, a: a.topk(k=1, dim=1, largest=True, sorted=True), R(3, 4, 2)),
    c("topk", lambda T, a: a.topk(3), NAN),
    c("topk", lambda T, a: a.topk(0), R(3)),
    c("topk", lambda T, a: a.topk(1), R()),
    c("topk", lambda T, a: a.topk(2).values, np.arange(6)[::-1].copy()),
    *(
        c(name, lambda T, a, name=name, rest=rest: getattr(T, name)(a, *rest), a)
        for name in ("median", "nanmedian", "mode")
        for rest in ((0,), (1,), (-1, True))
        for a in (R(3, 4), TIES, I(4, 3), np.stack([NAN, np.arange(5.0), NAN[::-1]]))
        if name != "mode" or not np.isnan(a).any()
    ),
    *(
        c(name, lambda T, a, name=name: getattr(a, name)(), a)
        for name in ("median", "nanmedian", "mode")
        for a in (R(5), R(4), R(), np.array([1.0, 2.0, 2.0, 2.0, 3.0]), NAN, I(7))
    ),
    *(c(name, lambda T, a, name=name: getattr(a, name)(0), R()) for name in ("median", "nanmedian", "mode")),
    *(c(name, lambda T, a, name=name: getattr(a.detach(), name)(), R(0)) for name in ("median", "nanmedian")),
    c("kthvalue", lambda T, a: T.kthvalue(a, 2), R(3, 4)),
    c("kthvalue", lambda T, a: a.kthvalue(k=1, dim=0, keepdim=True), R(3, 4)),
    c("kthvalue", lambda T, a: a.kthvalue(4), NAN),
    c("kthvalue", lambda T, a: a.kthvalue(1), R()),
]
