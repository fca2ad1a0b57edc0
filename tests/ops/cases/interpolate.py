"""Cases of resizing."""

from __future__ import annotations

from tests.ops.case import R
from tests.ops.case import case as c

SHAPES = {1: (2, 3, 5), 2: (2, 3, 4, 5), 3: (1, 2, 3, 4, 2)}
SIZES = {1: (8,), 2: (7, 3), 3: (2, 6, 5)}
LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}

CASES = [
    *(
        c(
            "interpolate",
            lambda T, a, k=keywords, m=mode: T.nn.functional.interpolate(a, mode=m, **k),
            R(*SHAPES[n]),
        )
        for n in (1, 2, 3)
        for mode in ("nearest", "nearest-exact", "area", LINEAR[n], *(["bicubic"] if n == 2 else []))
        for keywords in (
            {"size": SIZES[n]},
            {"size": 1},
            {"scale_factor": 2},
            {"scale_factor": (1.5,) * n},
            {"scale_factor": 1.7, "recompute_scale_factor": True},
            {"scale_factor": 0.6},
        )
    ),
    *(
        c(
            "interpolate",
            lambda T, a, k=keywords, m=mode: T.nn.functional.interpolate(a, mode=m, align_corners=True, **k),
            R(*SHAPES[n]),
        )
        for n, mode in ((1, "linear"), (2, "bilinear"), (2, "bicubic"), (3, "trilinear"))
        for keywords in ({"size": SIZES[n]}, {"size": 1}, {"scale_factor": 2})
    ),
    *(
        c(
            "interpolate",
            lambda T, a, k=keywords, m=mode: T.nn.functional.interpolate(a, mode=m, antialias=True, **k),
            R(1, 2, 9, 7),
        )
        for mode in ("bilinear", "bicubic")
        for keywords in ({"size": (4, 3)}, {"size": (12, 5), "align_corners": True}, {"scale_factor": 0.5})
    ),
    c("interpolate", lambda T, a: T.nn.functional.interpolate((a * 10).to(T.uint8), 3), R(1, 1, 2, 2)),
    c("interpolate", lambda T, a: T.nn.functional.interpolate(a, 40, mode="area"), R(1, 1, 7, 90)),
    c("upsample", lambda T, a: T.nn.functional.upsample(a, scale_factor=2), R(1, 1, 2, 2)),
]
