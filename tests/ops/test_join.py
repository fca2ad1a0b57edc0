"""Joining and cutting undo each other, errors say which tensor does not fit; ``tests.fuzz`` has the rest."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import numbers, pytorch, refused


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 2), st.integers(1, 5))
def test_cutting_undoes_joining(sizes: list[int], dim: int, count: int):
    shapes = [[2, 3, 1][:dim] + [size] + [2, 3, 1][dim + 1 :] for size in sizes]
    parts = [autokit.tensor(numbers(*shape, seed=place)) for place, shape in enumerate(shapes)]
    whole = autokit.cat(parts, dim)
    for part, again in zip(parts, whole.split(sizes, dim)):
        np.testing.assert_array_equal(part.numpy(), again.numpy())
        assert not again.numel() or np.shares_memory(again.numpy(), whole.numpy())
    ours = [part.shape for part in whole.chunk(count, dim)]
    assert ours == [part.shape for part in pytorch.tensor(whole.numpy()).chunk(count, dim)]


WRONG = [
    (
        lambda T, a: T.cat([a, T.zeros(2, 4)]),
        "Sizes of tensors must match except in dimension 0: a (float64, ",
    ),
    (lambda T, a: T.cat([T.tensor(1.0)]), "zero-dimensional tensor"),
    (lambda T, a: T.cat([T.tensor([]), T.tensor(1.0), a]), "zero-dimensional tensor"),
    (lambda T, a: T.cat([a, 1.0]), "expected Tensor as element 1"),
    (lambda T, a: T.stack([a, a.t()]), "equal size, but got [2, 3] at entry 0 and [3, 2] at entry 1"),
    (lambda T, a: T.stack([]), "non-empty"),
    (lambda T, a: a.split(0), "split_size"),
    (lambda T, a: a.split([1, 2]), "sum exactly to 2"),
    (lambda T, a: a.narrow(0, 1, 2), "exceeds dimension size (2)"),
    (lambda T, a: a.select(0, 5), "index 5 is out of bounds for dimension 0 with size 2"),
]


test_errors_name_what_does_not_fit = refused(WRONG, np.arange(6.0).reshape(2, 3))


def test_changing_a_part_in_place_changes_the_whole_and_its_gradient():
    x = autokit.ones(4, requires_grad=True)
    y = x * 1
    first, second = y.split(2)
    first.mul_(3)
    (y.sum() + second.sum()).backward()
    assert y.tolist() == [3, 3, 1, 1] and x.grad.tolist() == [3, 3, 2, 2]
