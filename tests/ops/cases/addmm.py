"""Cases of the sums of a tensor and a product."""

from __future__ import annotations

from tests.ops.case import I, R
from tests.ops.case import case as c

SHAPES = {
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "addbmm": ((2, 3), (2, 2, 1), (2, 1, 3)),
    "baddbmm": ((2, 2, 3), (2, 2, 1), (2, 1, 3)),
}

CASES = [
    *(
        case
        for name, (s, a, b) in SHAPES.items()
        for case in (
            c(name, lambda T, s, a, b, n=name: getattr(T, n)(s, a, b), R(*s), R(*a), R(*b)),
            c(name, lambda T, s, a, b, n=name: getattr(T, n)(s, a, b, beta=0.5), R(1), R(*a), R(*b)),
            c(name, lambda T, s, a, b, n=name: getattr(s, n)(a, b, alpha=-2), R(*s), R(*a), R(*b)),
            c(name, lambda T, s, a, b, n=name: getattr(T, n)(s, a, b, beta=2, alpha=3), R(), R(*a), R(*b)),
            c(name, lambda T, s, a, b, n=name: getattr(T, n)(s, a, b, beta=2), I(*s), I(*a), I(*b)),
            c(name, lambda T, s, a, b, n=name: getattr(T, n)(s / 0, a, b, beta=0), R(*s), R(*a), R(*b)),
            c(name + "_", lambda T, s, a, b, n=name: getattr(s * 1, n + "_")(a, b), R(*s), R(*a), R(*b)),
            c(
                name + "_",
                lambda T, s, a, b, n=name: getattr(s * 1, n + "_")(a, b, beta=3, alpha=0.5),
                R(*s),
                R(*a),
                R(*b),
            ),
        )
    ),
    c("addmm", lambda T, s, a, b: T.addmm(s, a, b), R(3), R(2, 0), R(0, 3)),
]
