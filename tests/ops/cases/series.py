"""Cases of numbers in a row."""

from __future__ import annotations

import numpy as np

from tests.ops.case import P, otherwise
from tests.ops.case import case as c

CASES = [
    c("arange", lambda T: T.arange(5)),
    c("arange", lambda T: T.arange(1, 5)),
    c("arange", lambda T: T.arange(5, 1, -2)),
    c("arange", lambda T: T.arange(0, 1, 0.1)),
    c("arange", lambda T: T.arange(3.0)),
    c("arange", lambda T: T.arange(0)),
    c("arange", lambda T: T.arange(start=1, end=4, step=2)),
    c("arange", lambda T: T.arange(end=4)),
    c("arange", lambda T: T.arange(1, 2, 0.3, dtype=T.float64)),
    c("linspace", lambda T: T.linspace(0, 1, 5)),
    c("linspace", lambda T: T.linspace(-1, 1, 7)),
    c("linspace", lambda T: T.linspace(0, 1, steps=1)),
    c("linspace", lambda T: T.linspace(0, 1, 0)),
    c("linspace", lambda T: T.linspace(0, 10, 5, dtype=T.int64)),
    c("arange", lambda T: T.arange(True)),
    c("arange", lambda T: T.arange(T.tensor(3))),
    c("arange", lambda T: T.arange(1, T.tensor(2.5))),
    c("arange", lambda T: T.arange(3, dtype=T.float16)),
    c("linspace", lambda T: T.linspace(T.tensor(0.0), T.tensor(1.0), 3)),
    c("logspace", lambda T: T.logspace(0, 2, 3)),
    c("logspace", lambda T: T.logspace(0, 3, steps=4, base=2, dtype=T.float64)),
    c("range", lambda T: T.range(0, 3)),
    c("range", lambda T: T.range(1, 2, 0.5)),
    c("range", lambda T: T.range(0, 3, dtype=T.int64)),
    otherwise("vander", lambda T, x: T.vander(x.detach()), P(3)),
    otherwise("vander", lambda T, x: T.vander(x.detach(), N=2, increasing=True), P(3)),
    c("vander", lambda T, x: T.vander(x), np.array([1, 2, 3])),
    otherwise("linalg.vander", lambda T, x: T.linalg.vander(x.detach()), P(2, 3)),
    otherwise("linalg.vander", lambda T, x: T.linalg.vander(x.detach(), N=2), P(3)),
    *(
        otherwise("gradient", lambda T, x, e=edge, s=spacing: T.gradient(x, spacing=s, edge_order=e), P(4, 5))
        for edge in (1, 2)
        for spacing in (1, 0.5, [2.0, 3.0])
    ),
    *(
        otherwise(
            "gradient",
            lambda T, x, e=edge: T.gradient(
                x,
                spacing=[T.tensor([0, 1, 3], dtype=x.dtype), T.tensor([0, 0.5, 2, 2.25], dtype=x.dtype)],
                edge_order=e,
            ),
            P(3, 4),
        )
        for edge in (1, 2)
    ),
    otherwise("gradient", lambda T, x: T.gradient(x, dim=-1), P(2, 2, 3)),
    otherwise("gradient", lambda T, x: T.gradient(x, dim=(2, 0)), P(2, 2, 3)),
    c("gradient", lambda T, x: T.gradient(x), np.array([1, 4, 9, 17])),
    *(
        c(name, lambda T, name=name, length=length: getattr(T, name)(length, periodic=length % 2 == 0))
        for name in ("hann_window", "hamming_window", "bartlett_window", "blackman_window")
        for length in (0, 1, 6, 7)
    ),
    *(
        c("kaiser_window", lambda T, n=length: T.kaiser_window(n, n % 2 == 0, 3.0, dtype=T.float64))
        for length in (0, 1, 6, 7)
    ),
    c("kaiser_window", lambda T: T.kaiser_window(5)),
]
