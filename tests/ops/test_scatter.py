"""Writing at many places: repeats add up as in the plain rule; wrong places get PyTorch's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops.index import add_at
from tests.support import require

require("torch")
import torch  # noqa: E402


@given(
    st.sampled_from([(5,), (5, 3), (4, 5, 2), (3, 4, 0), (300, 700)]),
    st.integers(1, 2),
    st.sampled_from([(), (7,), (2, 3), (400,)]),
    st.sampled_from(["float32", "float64", "float16", "int64", "uint8"]),
    st.integers(0, 9),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_rows_are_added_as_by_the_plain_rule(
    shape: tuple[int, ...], dims: int, count: tuple[int, ...], dtype: str, seed: int, turned: bool
):
    random = np.random.RandomState(seed)
    start = random.randint(0, 5, shape).astype(dtype)
    start = np.asfortranarray(start) if turned else start
    index = tuple([random.randint(-size, size, count) for size in shape[:dims]])
    values = random.randint(0, 5, (*count, *shape[len(index) :])).astype(dtype)
    plain, fast = start.copy(order="K"), start.copy(order="K")
    np.add.at(plain, index, values)
    add_at(fast, index, values)
    np.testing.assert_array_equal(fast, plain)


WRONG: list[Callable[[Any, Any, Any], Any]] = [
    lambda T, a, i: T.index_select(a, 0, i([5])),
    lambda T, a, i: T.index_select(a, 0, i([-1])),
    lambda T, a, i: T.index_select(a, 0, i([0.5])),
    lambda T, a, i: T.index_select(a, 0, i([[0]])),
    lambda T, a, i: a.index_add(0, i([5]), a[:1]),
    lambda T, a, i: a.index_add(0, i([0]), a),
    lambda T, a, i: a.index_add(0, i([0, 1]), T.zeros(2, 4)),
    lambda T, a, i: a.index_add(0, i([0.0]), a[:1]),
    lambda T, a, i: a.index_add(0, i([0, 1]), a.long()),
    lambda T, a, i: a.index_copy(0, i([5]), a[:1]),
    lambda T, a, i: a.index_copy(0, i([0]), a),
    lambda T, a, i: a.index_fill(0, i([5]), 1),
    lambda T, a, i: a.index_fill(0, i([0]), T.zeros(2)),
    lambda T, a, i: a.index_put((i([5]),), i(1.0)),
    lambda T, a, i: a.index_put((i([0]),), i([1.0, 2.0])),
    lambda T, a, i: a.index_put((i([0]),), i([1])),
    lambda T, a, i: a.index_put([i([0])], 1.0),
    lambda T, a, i: a.gather(0, i([5])),
    lambda T, a, i: a.gather(0, i([[5]])),
    lambda T, a, i: a.gather(0, i([[-1]])),
    lambda T, a, i: a.gather(0, i([[0.0]])),
    lambda T, a, i: a.gather(0, T.zeros(2, 5).long()),
    lambda T, a, i: a.scatter(0, i([[5]]), 1.0),
    lambda T, a, i: a.scatter(0, i([0]), 1.0),
    lambda T, a, i: a.scatter(0, T.zeros(3, 3).long(), T.zeros(2, 3)),
    lambda T, a, i: a.scatter(0, i([[0]]), T.zeros(1, 1).long()),
    lambda T, a, i: a.scatter(0, i([[0]]), 1.0, reduce="mean"),
    lambda T, a, i: a.scatter_add(0, i([[5]]), a),
    lambda T, a, i: a.scatter_add(0, i([[0]]), 1.0),
    lambda T, a, i: a.scatter_reduce(0, i([[0]]), a, "foo"),
    lambda T, a, i: T.take(a, i([6])),
    lambda T, a, i: T.take(a, i([-7])),
    lambda T, a, i: T.take(a, i([0.0])),
    lambda T, a, i: T.take_along_dim(a, i([5]), 0),
    lambda T, a, i: a.put_(i([6]), i([1.0])),
    lambda T, a, i: a.put_(i([0, 1]), i([1.0])),
    lambda T, a, i: a.put_(i([0]), i([1])),
    lambda T, a, i: a.masked_fill(a, 1.0),
    lambda T, a, i: a.masked_fill(i([True, False]), 1.0),
    lambda T, a, i: a.masked_fill(a > 0, i([1.0, 2.0])),
    lambda T, a, i: a.clone().masked_fill_(T.ones(4, 2, 3) > 0, 1.5),
    lambda T, a, i: a.masked_scatter(a > 0, i([1.0])),
    lambda T, a, i: a.masked_select(a),
    lambda T, a, i: a.masked_select(T.zeros(5) > 0),
    lambda T, a, i: a[i([5])],
    lambda T, a, i: a[i([True])],
    lambda T, a, i: a[0.5],
    lambda T, a, i: a[i([0, 1]), i([0, 1, 2])],
    lambda T, a, i: T.zeros("a"),
    lambda T, a, i: T.zeros(-1),
    lambda T, a, i: T.zeros(True),
    lambda T, a, i: T.zeros(),
    lambda T, a, i: T.arange(0, 1, 0),
    lambda T, a, i: T.arange("a"),
    lambda T, a, i: T.arange(float("inf")),
    lambda T, a, i: T.arange(0, 1, 0.1, dtype=T.int64),
    lambda T, a, i: T.eye(-1),
    lambda T, a, i: T.linspace(0, 1, -1),
    lambda T, a, i: T.full((2,), "a"),
    lambda T, a, i: T.full(2, 1),
    lambda T, a, i: T.tensor([[1, 2], 3]),
    lambda T, a, i: T.tensor(["a"]),
    lambda T, a, i: T.tensor([1, None]),
    lambda T, a, i: T.tensor([a[0], a[1]]),
    lambda T, a, i: T.tensor([300], dtype=T.uint8),
    lambda T, a, i: T.tensor(2**63),
    lambda T, a, i: T.tensor(float("nan"), dtype=T.int64),
    lambda T, a, i: T.tensor([1], requires_grad=True),
    lambda T, a, i: T.zeros_like([1]),
    lambda T, a, i: T.Tensor(True),
    lambda T, a, i: T.vander(a),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_begin_with_pytorchs_words(wrong: Callable[[Any, Any, Any], Any]):
    said = []
    for T in (torch, autokit):
        with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as caught:
            wrong(T, T.arange(6.0).reshape(2, 3), T.tensor)
        said.append((caught.type, str(caught.value)))
    (theirs, their_words), (ours, our_words) = said
    assert ours is theirs and our_words.startswith(their_words.split(" - got")[0][:24])


def test_a_source_may_be_larger_than_its_index():
    """Where PyTorch has no derivative, each element that was not used gets 0."""
    source = autokit.ones(2, 4, requires_grad=True)
    index = autokit.tensor([[0, 1, 1]])
    autokit.zeros(2, 3).scatter_add(0, index, source).sum().backward()
    assert source.grad is not None and source.grad.tolist() == [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


def test_a_place_outside_is_refused_where_pytorch_wraps_around():
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 2"):
        autokit.take_along_dim(autokit.ones(2, 3), autokit.tensor([[5]]), 0)


def test_a_tensor_from_a_tensor_warns():
    for T in (torch, autokit):
        with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended"):
            T.tensor(T.ones(2))
