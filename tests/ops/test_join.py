"""Joining and cutting: values and gradients as in PyTorch, errors that say which tensor does not fit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import agreeing, numbers, pytorch, refused

JOINS = [
    (lambda T, a, b: T.cat([a, b]), (2, 3), (1, 3)),
    (lambda T, a, b: T.cat((a, b), dim=1), (2, 3), (2, 1)),
    (lambda T, a, b: T.cat((a, b, a), -1), (2, 3), (2, 0)),
    (lambda T, a, b: T.concat((a.float(), b)), (2,), (3,)),
    (lambda T, a, b: T.cat((T.tensor([]), a, b)), (2, 3), (1, 3)),
    (lambda T, a, b: T.stack([a, b]), (2, 3), (2, 3)),
    (lambda T, a, b: T.stack((a, b), dim=-1), (2, 3), (2, 3)),
    (lambda T, a, b: T.stack((a, b)), (), ()),
    (lambda T, a, b: T.hstack((a, b)), (2, 3), (2, 1)),
    (lambda T, a, b: T.vstack((a, b)), (2, 3), (3,)),
    (lambda T, a, b: T.dstack((a, b)), (2, 3), (2, 3)),
    (lambda T, a, b: T.column_stack((a, b)), (3,), (3, 2)),
    (lambda T, a, b: (T.atleast_1d(a), T.atleast_2d(a, b), T.atleast_3d(a)), (), (3,)),
]

CUTS = [
    (lambda T, a: a.split(2), (5, 2)),
    (lambda T, a: T.split(a, [1, 0, 2], dim=1), (2, 3)),
    (lambda T, a: a.split(3, dim=-1), (2, 4)),
    (lambda T, a: a.split(2)[1], (5, 2)),
    (lambda T, a: a.chunk(2), (5,)),
    (lambda T, a: T.chunk(a, chunks=4, dim=1), (2, 6)),
    (lambda T, a: a.tensor_split(3), (4, 3)),
    (lambda T, a: T.tensor_split(a, (1, 5), dim=1), (2, 3)),
    (lambda T, a: a.tensor_split((2, 1, -1)), (4,)),
    (lambda T, a: a.unbind(), (3, 2)),
    (lambda T, a: T.unbind(a, dim=-1)[::2], (3, 3)),
    (lambda T, a: a.narrow(1, 1, 2), (2, 3)),
    (lambda T, a: a.select(1, -1), (2, 3)),
]


test_joins = agreeing(JOINS, tolerance=1e-6)


test_cuts = agreeing(CUTS)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 2), st.integers(1, 5))
def test_cutting_undoes_joining(sizes: list[int], dim: int, count: int):
    shapes = [[2, 3, 1][:dim] + [size] + [2, 3, 1][dim + 1 :] for size in sizes]
    parts = [autokit.tensor(numbers(*shape, seed=place)) for place, shape in enumerate(shapes)]
    whole = autokit.cat(parts, dim)
    for part, again in zip(parts, whole.split(sizes, dim)):
        np.testing.assert_array_equal(part.numpy(), again.numpy())
        assert not again.numel() or np.shares_memory(again.numpy(), whole.numpy())
    for cut in ("chunk", "tensor_split"):
        ours = [part.shape for part in getattr(whole, cut)(count, dim)]
        theirs = [part.shape for part in getattr(pytorch.tensor(whole.numpy()), cut)(count, dim)]
        assert ours == theirs


WRONG = [
    (
        lambda T, a: T.cat([a, T.zeros(2, 4)]),
        "Sizes of tensors must match except in dimension 0: a (float64, ",
    ),
    (lambda T, a: T.cat([T.tensor(1.0)]), "zero-dimensional tensor"),
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
