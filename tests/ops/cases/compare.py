"""Cases of comparisons and logic."""

from __future__ import annotations

import numpy as np

from tests.ops.case import B, I, R, otherwise
from tests.ops.case import case as c

ALIASES = ("greater", "greater_equal", "less", "less_equal", "not_equal")

CASES = [
    c("eq", lambda T, a, b: a == b, I(2, 3), I(3)),
    c("ne", lambda T, a: a != 1, I(5)),
    c("lt", lambda T, a, b: T.lt(a, b), R(3), R(3)),
    c("le", lambda T, a: a <= 0, R(3)),
    c("gt", lambda T, a: T.gt(a, 0), R(3)),
    c("ge", lambda T, a, b: a.ge(b), I(3), R(3)),
    c("logical_and", lambda T, a, b: T.logical_and(a, b), I(5), B(5)),
    c("logical_or", lambda T, a, b: a.logical_or(b), R(3), B(3)),
    c("logical_not", lambda T, a: T.logical_not(a), I(5)),
    c("bitwise_and", lambda T, a, b: a & b, I(5), I(5)),
    c("bitwise_and", lambda T, a, b: T.bitwise_and(a, b), B(5), B(5)),
    c("bitwise_and", lambda T, a: 3 & a, I(5)),
    c("bitwise_or", lambda T, a, b: a | b, B(5), B(5)),
    c("bitwise_or", lambda T, a: a.bitwise_or(4), I(5)),
    c("bitwise_xor", lambda T, a, b: a ^ b, I(5), B(5)),
    c("bitwise_not", lambda T, a: ~a, B(5)),
    c("bitwise_not", lambda T, a: T.bitwise_not(a), I(5)),
    c("isnan", lambda T, a: T.isnan(a), np.array([1.0, np.nan, np.inf])),
    c("isfinite", lambda T, a: a.isfinite(), np.array([1.0, np.nan, -np.inf])),
    c("isfinite", lambda T, a: a.isfinite(), I(3)),
    c("all", lambda T, a: a.all(), B(3)),
    c("all", lambda T, a: T.all(a, 1), B(2, 3)),
    c("all", lambda T, a: T.all(a, dim=0, keepdim=True), I(2, 3)),
    c("any", lambda T, a: a.any(), R(3)),
    c("any", lambda T, a: a.any(-1), B(2, 0)),
    c("allclose", lambda T, a: T.allclose(a, a + 1e-9), R(3)),
    c("allclose", lambda T, a: a.allclose(a + 1), R(3)),
    c("equal", lambda T, a: T.equal(a, a), R(3)),
    c("equal", lambda T, a, b: a.equal(b), R(3), R(2)),
    c("is_tensor", lambda T, a: T.is_tensor(a), R(1)),
    c("is_tensor", lambda T: T.is_tensor(3)),
    c("numel", lambda T, a: T.numel(a), R(2, 3)),
]

CASES += [
    c("logical_xor", lambda T, a, b: T.logical_xor(a, b), I(5), B(5)),
    c("logical_xor", lambda T, a, b: a.logical_xor(b), R(3), B(3)),
    c("bitwise_left_shift", lambda T, a, b: T.bitwise_left_shift(a, b), I(4), np.array([0, 1, 2, 3])),
    c("bitwise_right_shift", lambda T, a: a.bitwise_right_shift(1), I(4)),
    c("isclose", lambda T, a: T.isclose(a, a + 1e-9), R(3)),
    c("isclose", lambda T, a, b: a.isclose(b, atol=1), I(4), I(4)),
    c("isclose", lambda T, a: T.isclose(a, a, equal_nan=True), np.array([np.nan, np.inf, 1.0])),
    c("isin", lambda T, a, b: T.isin(a, b), I(2, 3), I(2)),
    c("isin", lambda T, a: T.isin(a, 1, invert=True), I(5)),
    *[
        c(name, lambda T, a, name=name: getattr(T, name)(a), array)
        for name in ("isinf", "isposinf", "isneginf", "isreal")
        for array in (np.array([1.0, np.nan, np.inf, -np.inf]), I(3), B(2))
    ],
    *[
        c(name, lambda T, a, b, name=name: getattr(T, name)(a, b), I(4), I(4))
        for name in ("greater", "greater_equal", "less", "less_equal", "not_equal")
    ],
    *[
        otherwise(f"{name}_", lambda T, a, b, name=name: getattr(a * 1, f"{name}_")(b), R(4), R(4))
        for name in ("eq", "ge", "gt", "le", "lt", "ne", *ALIASES)
    ],
    c("lt_", lambda T, a: a.lt_(1), I(4)),
]
