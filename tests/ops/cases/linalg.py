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
            ((2, 0), (0, 3)),
            ((0, 3), (3, 2)),
            ((1, 1), (1, 1)),
        )
    ),
    *(
        otherwise("matmul", lambda T, a, b: a @ b, R(*left), R(*right))
        for left, right in (
            ((3,), (3, 2)),
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
]
