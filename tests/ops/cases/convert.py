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
    c("to", lambda T, a: a.to(T.float64, copy=True), R(3)),
    c("to", lambda T, a: a.to(T.float64, memory_format=T.contiguous_format), R(3, 2)),
    c("clone", lambda T, a: a.t().clone(memory_format=T.contiguous_format).view(-1), R(3, 2)),
    c("is_pinned", lambda T, a: a.is_pinned(), R(3)),
    c("contiguous", lambda T, a: a.transpose(1, 2).contiguous().view(2, -1), R(2, 3, 2)),
    c("contiguous", lambda T, a: a.contiguous(memory_format=T.channels_last).stride(), R(2, 3, 2, 2)),
    c(
        "is_contiguous",
        lambda T, a: a.contiguous(memory_format=T.channels_last).is_contiguous(),
        R(2, 3, 2, 2),
    ),
    c("to", lambda T, a: a.to(T.float32, True, True), R(3)),
    c("to", lambda T, a: a.to(memory_format=T.channels_last) * 2, R(2, 3, 2, 2)),
    c("type", lambda T, a: a.type(), R(3)),
    c("type", lambda T, a: a.type("torch.FloatTensor"), R(3)),
    c("type", lambda T, a: a.type(T.float32), R(3)),
    c("is_complex", lambda T, a: T.is_complex(a), R(3)),
    c("is_conj", lambda T, a: T.is_conj(a), R(3)),
    c("is_floating_point", lambda T, a, b: (T.is_floating_point(a), b.is_floating_point()), R(3), I(3)),
    c("is_neg", lambda T, a: a.is_neg(), R(3)),
    c("is_nonzero", lambda T, a: T.is_nonzero(a), R(1)),
    c("is_signed", lambda T, a, b: (T.is_signed(a), b.byte().is_signed()), R(3), I(3)),
    c("result_type", lambda T, a, b: repr(T.result_type(a, b)), R(3), I(3)),
    c("in_format", lambda T, a: a.to(memory_format=T.channels_last), R(2, 3, 2, 2)),
    c("cpu", lambda T, a: a.cpu(), R(3)),
    c("type_as", lambda T, a, b: a.type_as(b), I(3), R(3)),
]
