"""Diagonals and triangles: values, gradients and errors as in PyTorch."""

from __future__ import annotations

import numpy as np

import autokit
from tests.oracle import agreeing, refused

CASES = [
    (lambda T, a: a.diagonal(), (3, 3)),
    (lambda T, a: T.diagonal(a, 1), (3, 4)),
    (lambda T, a: a.diagonal(-1, 2, 0), (3, 2, 4)),
    (lambda T, a: T.diag(a), (3, 4)),
    (lambda T, a: a.diag(-1), (3,)),
    (lambda T, a: T.diag_embed(a), (2, 3)),
    (lambda T, a: a.diag_embed(1, 0, 2), (2, 3)),
    (lambda T, a: T.diagflat(a, -1), (2, 2)),
    (lambda T, a: (T.trace(a), a.trace() ** 2), (3, 3)),
    (lambda T, a: T.block_diag(a, a[0], a[0, 0]), (2, 3)),
    (lambda T, a: a.tril(), (3, 3)),
    (lambda T, a: T.tril(a, -1), (2, 3, 4)),
    (lambda T, a: T.triu(a, diagonal=1), (3, 3)),
    (lambda T, a: (a * 1).triu_() * (a * 1).tril_(), (3, 3)),
    (lambda T, a: T.tril(a > 0, diagonal=1), (3, 3)),
    (lambda T, a: a[T.tril_indices(3, 4, -1).unbind()], (3, 4)),
    (lambda T, a: T.tril_indices(3, 3, dtype=T.int32), ()),
    (lambda T, a: T.triu_indices(3, 3, offset=1), ()),
]


test_values_and_gradients = agreeing(CASES)


WRONG = [
    (lambda T, a: a.diagonal(0, 0, 0), "appears multiple times"),
    (lambda T, a: T.diag(T.zeros(2, 2, 2)), "1D or 2D"),
    (lambda T, a: T.tril(T.zeros(3)), "at least 2 dimensions"),
    (lambda T, a: T.trace(T.zeros(3)), "expected a matrix"),
]


test_errors = refused(WRONG, np.zeros((2, 2)))


def test_a_diagonal_may_be_written_to():
    x = autokit.zeros(2, 2)
    x.diagonal().fill_(1)
    assert x.tolist() == [[1, 0], [0, 1]]
    assert x.fill_diagonal_(3).tolist() == [[3, 0], [0, 3]]
