"""Cases of pooling."""

from __future__ import annotations

import numpy as np

from tests.ops.case import I, R
from tests.ops.case import case as c
from tests.ops.case import otherwise as o

TIES = np.array([[[1.0, 1, 0, 2], [1, 1, 2, 2], [0, 0, 0, 0], [-1, 0, 0, 0]]])
LOW = np.full((1, 3, 4), -np.inf)

CASES = [
    *(
        c("max_pool1d", lambda T, a, k=keywords: T.max_pool1d(a, **k), R(2, 3, 7))
        for keywords in (
            {"kernel_size": 2},
            {"kernel_size": 3, "stride": 1, "padding": 1},
            {"kernel_size": (3,), "stride": (2,), "ceil_mode": True},
            {"kernel_size": 2, "dilation": 3},
        )
    ),
    c("max_pool1d", lambda T, a: T.nn.functional.max_pool1d(a, 2, return_indices=True), R(3, 7)),
    *(
        c(
            "max_pool2d",
            lambda T, a, k=keywords: T.nn.functional.max_pool2d(a, return_indices=True, **k),
            R(2, 3, 6, 7),
        )
        for keywords in (
            {"kernel_size": 2},
            {"kernel_size": (2, 3)},
            {"kernel_size": 3, "stride": 2, "padding": 1},
            {"kernel_size": 3, "stride": (1, 2), "padding": (1, 0), "ceil_mode": True},
            {"kernel_size": 2, "stride": 3, "ceil_mode": True},
            {"kernel_size": 2, "stride": 1, "dilation": (2, 3)},
            {"kernel_size": 3, "dilation": 2, "padding": 1},
            {"kernel_size": 1},
        )
    ),
    c("max_pool2d", lambda T, a: T.max_pool2d(a, 2), R(1, 4, 4)),
    c("max_pool2d", lambda T, a: T.max_pool2d(a, 2), R(0, 1, 4, 4)),
    c("max_pool2d", lambda T, a: T.max_pool2d(a, 2, 1), I(1, 3, 4)),
    c("max_pool2d", lambda T, a: T.max_pool2d(a.transpose(2, 3), 2), R(1, 2, 4, 5)),
    *(
        c(
            "max_pool2d",
            lambda T, a, k=keywords: T.nn.functional.max_pool2d(a, 2, return_indices=True, **k),
            array,
        )
        for keywords in ({}, {"stride": 1}, {"padding": 1})
        for array in (TIES, LOW, np.where(TIES == 2, np.nan, TIES))
    ),
    c(
        "fractional_max_pool2d",
        lambda T, a: T.nn.functional.fractional_max_pool2d(
            a, (2, 1), output_size=(3, 4), _random_samples=T.full((2, 2, 2), 0.625, dtype=a.dtype)
        ),
        R(2, 2, 6, 5),
    ),
    c(
        "fractional_max_pool3d",
        lambda T, a: T.nn.functional.fractional_max_pool3d(
            a, 2, output_ratio=0.5, _random_samples=T.full((1, 2, 3), 0.375, dtype=a.dtype)
        ),
        R(2, 5, 6, 7),
    ),
    c("max_pool3d", lambda T, a: T.max_pool3d(a, 2), R(2, 2, 4, 3, 4)),
    c(
        "max_pool3d",
        lambda T, a: T.nn.functional.max_pool3d(a, (1, 3, 2), 1, (0, 1, 1), return_indices=True),
        R(2, 3, 3, 4),
    ),
    *(
        c("avg_pool1d", lambda T, a, k=keywords: T.avg_pool1d(a, **k), R(2, 3, 7))
        for keywords in (
            {"kernel_size": 2},
            {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
            {"kernel_size": 3, "stride": [1], "padding": (1,), "count_include_pad": False},
        )
    ),
    c("avg_pool1d", lambda T, a: T.avg_pool1d(a, 3), R(2, 7)),
    *(
        c("avg_pool2d", lambda T, a, k=keywords: T.nn.functional.avg_pool2d(a, **k), R(2, 3, 6, 7))
        for keywords in (
            {"kernel_size": 2},
            {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)},
            {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
            {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
            {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
            {"kernel_size": 2, "divisor_override": 3},
        )
    ),
    c("avg_pool2d", lambda T, a: T.nn.functional.avg_pool2d(a, 2), R(1, 4, 4)),
    c("avg_pool3d", lambda T, a: T.nn.functional.avg_pool3d(a, 2, 1, 1), R(1, 2, 3, 3, 2)),
    c("avg_pool3d", lambda T, a: T.nn.functional.avg_pool3d(a, (1, 2, 2)), R(2, 3, 4, 2)),
    *(
        c(
            f"{kind}{ndim}d",
            lambda T, a, name=f"{kind}{ndim}d", s=size: getattr(T.nn.functional, name)(a, s),
            R(*shape, *(5, 6, 4)[:ndim]),
        )
        for kind in ("adaptive_avg_pool", "adaptive_max_pool")
        for ndim in (1, 2, 3)
        for size in (1, 2, 3, 7)
        for shape in ((2, 3), (2,))
    ),
    c("adaptive_avg_pool1d", lambda T, a: T.adaptive_avg_pool1d(a, 4), R(2, 3, 8)),
    c("adaptive_avg_pool2d", lambda T, a: T.nn.functional.adaptive_avg_pool2d(a, (None, 2)), R(2, 3, 4, 5)),
    c("adaptive_avg_pool2d", lambda T, a: T.nn.functional.adaptive_avg_pool2d(a, 1), R(2, 3, 20, 18)),
    c("adaptive_avg_pool2d", lambda T, a: T.nn.functional.adaptive_avg_pool2d(a, 2), R(1, 1, 40, 36)),
    c(
        "adaptive_max_pool2d",
        lambda T, a: T.nn.functional.adaptive_max_pool2d(a, (2, None), return_indices=True),
        R(2, 3, 5, 3),
    ),
    *(
        c("lp_pool", lambda T, a, p=p: T.nn.functional.lp_pool2d(a, p, 2), np.abs(R(2, 3, 4, 5)))
        for p in (1, 2, 3)
    ),
    c("lp_pool", lambda T, a: T.nn.functional.lp_pool1d(a, 2, 3, 2), R(3, 8)),
    c("lp_pool", lambda T, a: T.nn.functional.lp_pool3d(a, 2, (1, 2, 2)), R(1, 2, 2, 4, 4)),
    *(
        o(
            f"max_unpool{ndim}d",
            lambda T, a, n=ndim, s=size: getattr(T.nn.functional, f"max_unpool{n}d")(
                *getattr(T.nn.functional, f"max_pool{n}d")(a, 2, return_indices=True), 2, output_size=s
            ),
            R(2, 3, *(5, 4, 5)[:ndim]),
        )
        for ndim, size in ((1, None), (2, None), (2, (2, 3, 5, 4)), (3, (5, 4, 5)))
    ),
]
