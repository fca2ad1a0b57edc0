"""Cases of products of matrices."""

from __future__ import annotations

from tests.ops.case import I, R, otherwise
from tests.ops.case import case as c

CASES = [
    *(
        c("matmul", lambda T, a, b: a @ b, R(*left), R(*right))
        for left, right in (
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 0), (0, 3)),
            ((0, 3), (3, 2)),
            ((1, 1), (1, 1)),
        )
    ),
    *(
        otherwise("matmul", lambda T, a, b: a @ b, R(*left), R(*right))
        for left, right in (
            ((2, 2, 3), (2, 3, 2)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (4, 3, 2)),
            ((2, 1, 2, 3), (3, 3, 2)),
            ((3,), (2, 3, 2)),
            ((2, 2, 3), (3,)),
        )
    ),
    c("matmul", lambda T, a, b: T.matmul(a, b), I(2, 3), I(3, 2)),
    c("matmul", lambda T, a, b: T.matmul(a, b.t()), R(2, 3), R(2, 3)),
    c("matmul", lambda T, a: a @ a, R(3, 3)),
    c("mm", lambda T, a, b: T.mm(a, b), R(2, 3), R(3, 2)),
    c("mm", lambda T, a, b: a.mm(b), R(2, 1), R(1, 2)),
    c("mv", lambda T, a, b: T.mv(a, b), R(2, 3), R(3)),
    c("dot", lambda T, a, b: T.dot(a, b), R(3), R(3)),
    c("dot", lambda T, a, b: a.dot(b), R(0), R(0)),
    c("bmm", lambda T, a, b: T.bmm(a, b), R(2, 2, 3), R(2, 3, 1)),
    otherwise("matmul", lambda T, a, b: a.transpose(1, 2) @ b, R(2, 3, 2), R(3, 2)),
    otherwise("matmul", lambda T, a, b: a @ b, R(2, 0, 3), R(3, 2)),
    otherwise("matmul", lambda T, a, b: a @ b, R(2, 3, 0), R(0, 2)),
    c("matmul", lambda T, a, b: a @ b, R(2, 2, 3), R(3, 2)),
    otherwise("vdot", lambda T, a, b: T.vdot(a, b), R(3), R(3)),
    c("outer", lambda T, a, b: T.outer(a, b), R(3), R(2)),
    c("outer", lambda T, a, b: a.outer(vec2=b), I(3), R(2)),
    c("outer", lambda T, a, b: T.outer(a, b), R(0), R(2)),
    c("ger", lambda T, a, b: T.ger(a, b), R(3), R(2)),
    *(
        otherwise("inner", lambda T, a, b: T.inner(a, b), R(*left), R(*right))
        for left, right in (
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (2, 3)),
            ((2, 3), (4, 3)),
            ((2, 2, 3), (2, 1, 3)),
            ((), (2,)),
            ((2,), ()),
        )
    ),
    *(
        otherwise("kron", lambda T, a, b: T.kron(a, b), R(*left), R(*right))
        for left, right in (((2, 3), (2, 2)), ((2,), (3,)), ((2,), (2, 3)), ((2, 1, 2), (2, 2)), ((), (2,)))
    ),
    c("kron", lambda T, a, b: T.kron(a, b), I(2, 2), I(2, 1)),
    c("cross", lambda T, a, b: T.cross(a, b), R(3), R(3)),
    c("cross", lambda T, a, b: T.cross(a, b), R(3, 2), R(3, 2)),
    c("cross", lambda T, a, b: a.cross(b, dim=-1), R(2, 3), R(1, 3)),
    c("cross", lambda T, a, b: a.cross(b, 1), I(2, 3), I(2, 3)),
    c("trace", lambda T, a: T.trace(a), R(3, 3)),
    c("trace", lambda T, a: a.trace(), R(2, 3)),
    c("trace", lambda T, a: a.trace(), I(2, 3)),
    c("trace", lambda T, a: a.trace(), R(0, 0)),
    *(c("matrix_power", lambda T, a, n=n: T.matrix_power(a, n), R(3, 3)) for n in (1, 2, 3, 5)),
    otherwise("matrix_power", lambda T, a: a.matrix_power(0), R(3, 3)),
    otherwise("matrix_power", lambda T, a: a.matrix_power(3), R(2, 3, 3)),
    c("matrix_power", lambda T, a: a.matrix_power(2), I(2, 2)),
    otherwise("chain_matmul", lambda T, a, b, c: T.chain_matmul(a, b, c), R(2, 3), R(3, 1), R(1, 3)),
    otherwise("chain_matmul", lambda T, *m: T.chain_matmul(*m), R(5, 1), R(1, 4), R(4, 1), R(1, 2)),
    c("inverse", lambda T, a: T.inverse(a), R(3, 3)),
    c("inverse", lambda T, a: a.inverse(), R(2, 2, 2)),
    c("matrix_power", lambda T, a: a.matrix_power(-1), R(3, 3)),
    c("matrix_power", lambda T, a: a.matrix_power(-2), R(3, 3)),
]
