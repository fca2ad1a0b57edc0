"""Cases of diagonals and triangles."""

from __future__ import annotations

from tests.ops.case import B, I, R
from tests.ops.case import case as c

CASES = [
    c("diagonal", lambda T, a: a.diagonal(), R(3, 3)),
    c("diagonal", lambda T, a: T.diagonal(a, 1), R(3, 4)),
    c("diagonal", lambda T, a: a.diagonal(-1, 2, 0), R(3, 2, 4)),
    c("diagonal", lambda T, a: a.diagonal(5), R(3, 3)),
    c("diagonal", lambda T, a: a.diagonal(offset=0, dim1=-2, dim2=-1), R(2, 3, 3)),
    c("diag", lambda T, a: T.diag(a), R(3, 4)),
    c("diag", lambda T, a: a.diag(-1), R(3)),
    c("diag", lambda T, a: a.diag(diagonal=1), R(3, 3)),
    c("diag_embed", lambda T, a: T.diag_embed(a), R(2, 3)),
    c("diag_embed", lambda T, a: a.diag_embed(1, 0, 2), R(2, 3)),
    c("diagflat", lambda T, a: T.diagflat(a), R(2, 2)),
    c("diagflat", lambda T, a: T.diagflat(a, -1), R()),
    c("diagonal_scatter", lambda T, a, b: T.diagonal_scatter(a, b, 1), R(3, 3), R(2)),
    c("diagonal_scatter", lambda T, a, b: T.diagonal_scatter(a.to(T.bfloat16), b.float()), R(3, 3), R(3)),
    c("diagonal_scatter", lambda T, a, b: T.diagonal_scatter(a.float(), b.double(), -1), R(3, 2), R(2)),
    c("tril", lambda T, a: a.tril(), R(3, 3)),
    c("tril", lambda T, a: T.tril(a, -1), R(2, 3, 4)),
    c("tril", lambda T, a: T.tril(a, diagonal=1), B(3, 3)),
    c("triu", lambda T, a: T.triu(a, diagonal=1), R(3, 3)),
    c("triu", lambda T, a: a.triu(), I(3, 2)),
    c("tril_indices", lambda T: T.tril_indices(3, 4, -1)),
    c("tril_indices", lambda T: T.tril_indices(3, 3, dtype=T.int32)),
    c("triu_indices", lambda T: T.triu_indices(3, 3, offset=1)),
]
