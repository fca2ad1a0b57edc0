"""Cases of sums, means and extremes."""

from __future__ import annotations

from tests.ops.case import B, I, P, R
from tests.ops.case import case as c

CASES = [
    *(
        c(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, **keywords), P(*shape))
        for name in ("sum", "mean", "amax", "amin", "var", "std", "logsumexp")
        for shape, keywords in (
            ((2, 3), {"dim": 0}),
            ((2, 3), {"dim": -1, "keepdim": True}),
            ((2, 3), {"axis": 1, "keepdims": True}),
            ((2, 3, 2), {"dim": (0, 2)}),
            ((2, 3, 2), {"dim": [-1, 1], "keepdim": True}),
            ((4,), {"dim": 0}),
            ((3, 1, 2), {"dim": (1, 2)}),
        )
    ),
    *(
        c(name, lambda T, a, name=name: getattr(a, name)(), R(*shape))
        for name in ("sum", "mean", "var", "std", "max", "min", "amax", "amin", "argmax", "argmin")
        for shape in ((2, 3), (5,))
    ),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a), R())
        for name in ("sum", "mean", "max", "min", "amax")
    ),
    *(c(name, lambda T, a, name=name: getattr(T, name)(a), R(0)) for name in ("sum", "mean")),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a, 0), R(0, 2))
        for name in ("sum", "mean", "logsumexp")
    ),
    *(
        c(name, lambda T, a, name=name: getattr(T, name)(a, 1), R(0, 2))
        for name in ("sum", "mean", "amax", "var")
    ),
    c("sum", lambda T, a: a.sum(), I(3)),
    c("sum", lambda T, a: a.sum(0), B(2, 3)),
    c("sum", lambda T, a: a.sum(dtype=T.float64), I(3)),
    c("sum", lambda T, a: T.sum(a, (), True), R(2, 3)),
    c("mean", lambda T, a: a.mean(dtype=T.float64), I(3)),
    c("var", lambda T, a: a.var(correction=0), R(5)),
    c("var", lambda T, a: a.var(unbiased=False), R(5)),
    c("var", lambda T, a: T.var(a, 0, False), R(5, 2)),
    c("var", lambda T, a: a.var(False), R(5)),
    c("var", lambda T, a: a.var(0, correction=2), R(5, 2)),
    c("std", lambda T, a: a.std(1, unbiased=False, keepdim=True), R(2, 5)),
    c("std", lambda T, a: T.std(a, dim=1, correction=0), R(2, 5)),
    c("max", lambda T, a: a.max(0), R(2, 3)),
    c("max", lambda T, a: T.max(a, dim=-1, keepdim=True), R(2, 3)),
    c("max", lambda T, a: a.max(dim=1).values, R(2, 3)),
    c("max", lambda T, a: a.max(dim=1)[1], I(2, 3)),
    c("max", lambda T, a: a.max(0), R()),
    c("max", lambda T, a, b: T.max(a, b), R(2, 3), R(3)),
    c("max", lambda T, a, b: T.max(a, other=b), R(3), R(3)),
    c("min", lambda T, a: a.min(1, True), R(2, 3)),
    c("min", lambda T, a: T.min(a, 0), I(4, 3)),
    c("min", lambda T, a, b: a.min(b), R(3), R(3)),
    c("argmax", lambda T, a: T.argmax(a, dim=1), R(2, 3)),
    c("argmax", lambda T, a: a.argmax(0, keepdim=True), I(3, 3)),
    c("argmin", lambda T, a: a.argmin(dim=-1), R(2, 3)),
    c("logsumexp", lambda T, a: T.logsumexp(a, 0), I(3)),
    c("softmax", lambda T, a: T.softmax(a, 1), R(2, 3)),
    c("softmax", lambda T, a: a.softmax(dim=0), R(3)),
    c("softmax", lambda T, a: a.softmax(-1), R()),
    c("softmax", lambda T, a: T.softmax(a, dim=1), R(2, 0)),
    c("softmax", lambda T, a: a.softmax(0, dtype=T.float64), I(3)),
    c("log_softmax", lambda T, a: T.log_softmax(a, 0), R(2, 3)),
    c("log_softmax", lambda T, a: a.log_softmax(dim=-1), R(2, 3, 2)),
    c("log_softmax", lambda T, a: a.log_softmax(0), R()),
]
