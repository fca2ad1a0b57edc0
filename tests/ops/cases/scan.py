"""Cases of running sums, products and extremes, of differences and areas."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, P, R, otherwise
from tests.ops.case import case as c

ZEROS = np.array([[2.0, 0.0, 3.0, 1.5], [0.0, 4.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
TIES = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 1.0])
NAN = np.array([1.0, np.nan, 3.0, np.nan, 0.0])

CASES = [
    *(
        c(name, lambda T, a, name=name, dim=dim: getattr(T, name)(a, dim), a)
        for name in ("cumsum", "cumprod", "cummax", "cummin")
        for dim, a in ((0, R(3, 4)), (-1, R(3, 4)), (1, R(2, 3, 2)), (0, R()), (0, R(0)), (0, R(5)))
    ),
    *(
        c(name, lambda T, a, name=name: getattr(a, name)(dim=0), a)
        for name in ("cumsum", "cumprod", "cummax", "cummin")
        for a in (I(4, 2), B(5), TIES, NAN)
    ),
    *(
        c(name, lambda T, a, name=name: getattr(a, name)(0, dtype=T.float64), I(4))
        for name in ("cumsum", "cumprod")
    ),
    *(
        c(f"{name}_", lambda T, a, name=name: getattr(a.clone(), f"{name}_")(0), R(4))
        for name in ("cumsum", "cumprod")
    ),
    c("cumprod", lambda T, a: T.cumprod(a, 1), ZEROS),
    c("cumprod", lambda T, a: T.cumprod(a, 0), ZEROS),
    c("diff", lambda T, a: T.diff(a), R(3, 4)),
    c("diff", lambda T, a: a.diff(n=2, dim=0), R(4, 2)),
    c("diff", lambda T, a: a.diff(5), R(3)),
    c("diff", lambda T, a: a.diff(), B(5)),
    c("diff", lambda T, a: a.diff(), I(5)),
    c("diff", lambda T, a, b: T.diff(a, prepend=b, append=b), R(3, 4), R(3, 1)),
    *(
        otherwise(name, lambda T, a, name=name: getattr(T, name)(a, dx=0.5), R(2, 4))
        for name in ("trapz", "trapezoid", "cumulative_trapezoid")
    ),
    *(
        otherwise(name, lambda T, y, x, name=name: getattr(T, name)(y, x, dim=0), R(4, 2), P(4))
        for name in ("trapezoid", "cumulative_trapezoid")
    ),
    otherwise("trapz", lambda T, y, x: T.trapz(y, x), R(2, 4), P(2, 4)),
    otherwise("trapezoid", lambda T, y: T.trapezoid(y), R(4)),
    *(
        c("logcumsumexp", lambda T, a, dim=dim: T.logcumsumexp(a, dim), a)
        for dim, a in ((0, R(3, 4)), (-1, R(3, 4)), (1, R(2, 3, 2)), (0, R()), (0, R(0)), (0, 80 * R(5)))
    ),
]
