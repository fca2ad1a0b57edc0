"""Reading and writing by tensors of indices and masks: values, gradients and errors as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, compare_errors, numbers

ROWS, COLUMNS, TWICE = [[0, 1, 1]], [[0, 0], [2, 1]], [1, 0, 1]
WRITING = [
    ("scatter", lambda T, b: (1, T.tensor(COLUMNS), b), (2, 3), (2, 2)),
    ("scatter", lambda T, b: (0, T.tensor(ROWS), b), (2, 3), (1, 3)),
    ("scatter", lambda T, b: (1, T.tensor(COLUMNS), 2.5), (2, 3), ()),
    ("scatter_add", lambda T, b: (0, T.tensor(ROWS), b), (2, 3), (1, 3)),
    ("scatter_add", lambda T, b: (-1, T.tensor([[2, 2, 0, 2]]), b), (2, 3), (1, 4)),
    ("scatter_add", lambda T, b: (1, T.tensor([[1, 1], [0, 2]]), b), (4, 3), (2, 2)),
    ("index_add", lambda T, b: (0, T.tensor(TWICE), b), (2, 3), (3, 3)),
    ("index_fill", lambda T, b: (1, T.tensor([2, -3]), 2.5), (2, 3), ()),
    ("index_fill", lambda T, b: (0, T.tensor([1]), b), (2, 3), ()),
    ("index_put", lambda T, b: ((T.tensor([2, 0]),), b), (3, 2), (2, 2)),
    ("index_put", lambda T, b: ((T.tensor([2, 2]),), b, True), (3, 2), (2, 2)),
    ("index_put", lambda T, b: ((T.tensor([0]), T.tensor([1, 2])), b), (2, 3), (2,)),
    ("masked_fill", lambda T, b: (T.tensor([True, False, True]), b), (2, 3), ()),
    ("masked_fill", lambda T, b: (T.tensor([[True], [False]]), -np.inf), (2, 3), ()),
]


@pytest.mark.parametrize("underscore", ["", "_"])
@pytest.mark.parametrize(("name", "arguments", "shape", "source"), WRITING)
def test_writing(name: str, arguments: Any, shape: Any, source: Any, underscore: str):
    def program(T: Any, a: Any, b: Any) -> Any:
        return getattr(a * 1, name + underscore)(*arguments(T, b))

    compare(program, numbers(*shape), numbers(*source, seed=1))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_reductions(reduce: str, include_self: bool):
    index = np.array([[0, 1], [0, 0], [2, 1]])

    def program(T: Any, a: Any, b: Any) -> Any:
        return a.scatter_reduce(0, T.tensor(index), b, reduce, include_self=include_self)

    zeros, ties = numbers(3, 2, seed=1), numbers(3, 2, seed=1)
    zeros[0, 0] = zeros[2, 1] = 0
    ties[0, 0] = ties[1, 0] = 5
    compare(program, numbers(3, 2), numbers(3, 2, seed=1), second=reduce != "prod")
    compare(program, numbers(3, 2), zeros, second=False)
    compare(program, numbers(3, 2), ties, second=reduce != "prod")
    whole = np.array([[3, 1], [4, 1], [5, 9]])
    compare(program, whole, whole[::-1].copy())


def test_forms_without_gradients():
    compare(
        lambda T, a, b: a.scatter(0, T.tensor(ROWS), b, reduce="add"),
        numbers(2, 3),
        numbers(2, 3),
        gradients=False,
    )
    compare(lambda T, a: a.scatter(0, T.tensor(ROWS), 3, reduce="multiply"), numbers(2, 3), gradients=False)
    compare(
        lambda T, a, b: a.index_add(1, T.tensor(TWICE), b, alpha=2),
        np.ones((2, 3), int),
        np.ones((2, 3), int),
    )
    compare(lambda T, a: a.masked_fill(a > 2, 7), np.arange(5))


def test_a_source_may_be_larger_than_its_index():
    """Where PyTorch has no derivative, each element that was not used gets 0."""
    source = autokit.ones(2, 4, requires_grad=True)
    autokit.zeros(2, 3).scatter_add(0, autokit.tensor(ROWS), source).sum().backward()
    assert source.grad.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]


WRONG = [
    (lambda T, a, i: a.index_add(0, i([5]), a[:1]), "index 5 is out of bounds for dimension 0 with size 2"),
    (lambda T, a, i: a.index_add(0, i([0, 1]), T.zeros(2, 4)), "shape [2, 3]. Got a tensor (float32"),
    (lambda T, a, i: a.gather(0, i([5])), "as many dimensions"),
    (lambda T, a, i: a.gather(0, i([[5]])), "index 5 is out of bounds for dimension 0 with size 2"),
    (lambda T, a, i: a.gather(0, i([[-1]])), "index -1"),
    (lambda T, a, i: a.gather(0, T.zeros(2, 5).long()), "nowhere longer"),
    (lambda T, a, i: a.gather(0, i([[0.0]])), "use .long()"),
    (lambda T, a, i: a.scatter(0, T.zeros(3, 3).long(), T.zeros(2, 3)), "an element for each index"),
    (lambda T, a, i: a.scatter(0, i([[0]]), T.zeros(1, 1).long()), "to be equal to src.dtype"),
    (lambda T, a, i: a.scatter_reduce(0, i([[0]]), a, "foo"), "got foo"),
    (lambda T, a, i: a.masked_fill(a, 1.0), "boolean masks"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_errors(wrong: Any, words: str):
    found = {}

    def program(T: Any, a: Any) -> Any:
        try:
            return wrong(T, a, T.tensor)
        except (IndexError, RuntimeError) as error:  # PyTorch is of two minds about places outside
            found[T] = error
            raise RuntimeError(str(error)) from None

    assert words in compare_errors(program, np.arange(6.0).reshape(2, 3))
    assert "index" not in words or isinstance(found.get(autokit, IndexError()), IndexError | RuntimeError)
