"""Cases of conversions to another dtype."""

from __future__ import annotations

from autokit import ops
from tests.ops.case import I, P, R
from tests.ops.case import case as c

CASES = [
    *(c(name, lambda T, a, name=name: getattr(a, name)(), P(3) * 3) for name in ops.convert.CONVERSIONS),
    c("to", lambda T, a: a.to(T.float32), R(3)),
    c("to", lambda T, a: a.to(dtype=T.int64), R(3)),
    c("to", lambda T, a: a.to("cpu"), R(3)),
    c("to", lambda T, a: a.to("cpu", T.float32), R(3)),
    c("to", lambda T, a, b: a.to(b), R(3), I(3)),
    c("cpu", lambda T, a: a.cpu(), R(3)),
    c("type_as", lambda T, a, b: a.type_as(b), I(3), R(3)),
]
