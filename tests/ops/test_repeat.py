"""Repeating and turning: what undoes it, and errors; ``tests.fuzz`` has values and gradients."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import numbers, refused

WRONG = [
    (lambda T, a: a.repeat(2), "Number of dimensions of repeat dims can not be smaller"),
    (lambda T, a: T.repeat_interleave(a, -1), "non-negative"),
    (lambda T, a: T.repeat_interleave(a, T.tensor([1, 2, 3]), dim=0), "same size as input along dim"),
    (lambda T, a: a.flip(0, 0), "appears multiple times"),
    (lambda T, a: a.roll((1, 2), 0), "must align"),
]


test_errors = refused(WRONG, np.arange(6.0).reshape(2, 3))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.integers(-5, 5), st.integers(0, 2))
def test_turning_back_gives_the_same(shape: list[int], shift: int, dim: int):
    x, dim = autokit.tensor(numbers(*shape)), dim % len(shape)
    for again in (x.roll(shift, dim).roll(-shift, dim), x.flip(dim).flip(dim)):
        assert again.tolist() == x.tolist()
    counts = autokit.arange(x.shape[dim])
    assert x.repeat_interleave(counts, dim).tolist() == np.repeat(x.numpy(), counts.numpy(), dim).tolist()
