"""Diagonals and triangles: errors and views; ``tests.fuzz`` has values and gradients."""

from __future__ import annotations

import numpy as np

import autokit
from tests.oracle import refused

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
