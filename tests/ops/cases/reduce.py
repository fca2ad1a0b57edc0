"""Cases of sums, means and extremes."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, P, R, otherwise
from tests.ops.case import case as c

ZEROS = np.array([[2.0, 0.0, 3.0, 1.5], [0.0, 4.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
NAN = np.array([[1.0, np.nan, 3.0], [np.nan, 0.5, -2.0]])
TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.5, 0.5, 0.5, 3.0]])

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
    *(
        c("prod", lambda T, a, keywords=keywords: T.prod(a, **keywords), a)
        for a in (R(3, 4), ZEROS, I(2, 3), B(2, 2))
        for keywords in ({}, {"dim": 0}, {"dim": -1, "keepdim": True}, {"keepdim": True, "dim": 1})
    ),
    c("prod", lambda T, a: a.prod(), R()),
    c("prod", lambda T, a: a.prod(0), R()),
    c("prod", lambda T, a: a.prod(), R(0)),
    c("prod", lambda T, a: a.prod(1), R(2, 0)),
    c("prod", lambda T, a: a.prod(1), R(2, 3, 2)),
    c("prod", lambda T, a: a.prod(), np.array([3.0, 0.0, 2.0])),
    *(
        c(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, **keywords), NAN)
        for name in ("nansum", "count_nonzero")
        for keywords in ({}, {"dim": 0}, {"dim": (0, 1)}, {"dim": ()})
    ),
    c("nansum", lambda T, a: a.nansum(1, keepdim=True, dtype=T.float64), NAN),
    c("nansum", lambda T, a: a.nansum(), I(3)),
    *(
        c("nanmean", lambda T, a, keywords=keywords: T.nanmean(a, **keywords), NAN)
        for keywords in ({}, {"dim": 1}, {"dim": (0, 1), "keepdim": True})
    ),
    c("count_nonzero", lambda T, a: a.count_nonzero(dim=(0, 2)), I(2, 3, 2)),
    c("aminmax", lambda T, a: T.aminmax(a), TIES),
    c("aminmax", lambda T, a: a.aminmax(dim=1, keepdim=True), TIES),
    c("aminmax", lambda T, a: a.aminmax(dim=0), R()),
    c("aminmax", lambda T, a: a.aminmax(), B(3)),
    *(
        c(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, **keywords), R(4, 3))
        for name in ("var_mean", "std_mean")
        for keywords in (
            {},
            {"dim": 0},
            {"dim": (0, 1), "keepdim": True},
            {"dim": 1, "unbiased": False},
            {"correction": 2},
        )
    ),
    *(
        otherwise(name, lambda T, a, name=name, keywords=keywords: getattr(T, name)(a, 0.3, **keywords), a)
        for name in ("quantile", "nanquantile")
        for a in (R(3, 5), NAN)
        for keywords in (
            {},
            {"keepdim": True},
            {"dim": 0},
            {"dim": -1, "keepdim": True},
            *({"dim": 1, "interpolation": how} for how in ("lower", "higher", "midpoint", "nearest")),
        )
    ),
    *(
        otherwise(
            "quantile", lambda T, a, dim=dim: a.quantile(T.tensor([0.0, 0.4, 1.0]).to(a.dtype), dim), R(4, 3)
        )
        for dim in (None, 0, 1)
    ),
    otherwise("quantile", lambda T, a: a.quantile(0.5, dim=1, keepdim=True), R(2, 3, 2)),
    otherwise("quantile", lambda T, a: a.quantile(0.5, 0), R()),
    c("cov", lambda T, a: T.cov(a), R(3, 4)),
    c("cov", lambda T, a: a.cov(correction=0), R(3, 4)),
    c("cov", lambda T, a: a.cov(), R(4)),
    c("cov", lambda T, a: a.cov(), I(2, 4)),
    c(
        "cov",
        lambda T, a, w: T.cov(a, fweights=T.tensor([1, 2, 1, 3]), aweights=w.detach()),
        R(3, 4),
        P(4),
    ),
    c("cov", lambda T, a, w: T.cov(a, aweights=w.detach()), R(3, 4), P(4)),
    otherwise("corrcoef", lambda T, a: a.corrcoef(), R(3, 5)),
    otherwise("corrcoef", lambda T, a: T.corrcoef(a), R(4)),
    c("any", lambda T, a: T.any(a, dim=()), B(2, 3)),
    c("all", lambda T, a: T.all(a, dim=(0, 1), keepdim=True), B(2, 3)),
    c("any", lambda T, a: T.any(a, 0), R(2, 3)),
    c("sum", lambda T, a: a.sum(dtype=T.int32), I(3)),
    c("sum", lambda T, a: a.sum((0,)), R()),
    c("mean", lambda T, a: a.mean(()), R(2, 3)),
    c("mean", lambda T, a: a.mean((-1,), True), R()),
    c("logsumexp", lambda T, a: T.logsumexp(a, (0, 1), True), R(2, 3)),
]
