"""Repeating and turning: values, gradients and errors as in PyTorch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import agreeing, numbers, refused

CASES = [
    (lambda T, a: a.repeat(2, 1), (2, 3)),
    (lambda T, a: a.repeat(2, 0), (2, 3)),
    (lambda T, a: T.tile(a, dims=(2,)), (2, 3)),
    (lambda T, a: a.tile(2, 1, 2), (2, 3)),
    (lambda T, a: a.repeat_interleave(2), (2, 3)),
    (lambda T, a: T.repeat_interleave(a, 3, dim=1), (2, 3)),
    (lambda T, a: T.repeat_interleave(a, T.tensor([2, 0, 1]), dim=0), (3, 2)),
    (lambda T, a: T.repeat_interleave(T.tensor([1, 0, 2])) + a, ()),
    (lambda T, a: T.flip(a, dims=(0,)), (2, 3)),
    (lambda T, a: a.flip(0, -1), (2, 3)),
    (lambda T, a: (T.fliplr(a), a.flipud()), (2, 3)),
    (lambda T, a: a.roll(1), (2, 3)),
    (lambda T, a: T.roll(a, (1, -2), (0, 1)), (3, 4)),
    (lambda T, a: T.roll(a, shifts=5, dims=-1), (3, 4)),
    (lambda T, a: T.rot90(a), (2, 3)),
    (lambda T, a: a.rot90(-1, (1, 2)), (2, 3, 4)),
    (lambda T, a: a.rot90(k=2, dims=[0, 1]), (2, 3)),
]


test_values_and_gradients = agreeing(CASES)


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
