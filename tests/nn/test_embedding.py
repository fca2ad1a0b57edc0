"""Embeddings: gradients by frequency, and wrong use."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as ak
from autokit.nn import functional as F

W = ak.ones(4, 3)
LEARNING = ak.ones(4, 3, requires_grad=True)


def test_gradients_by_frequency():
    w = ak.ones(4, 3, requires_grad=True)
    F.embedding(ak.tensor([1, 1, 2]), w, scale_grad_by_freq=True, padding_idx=2).sum().backward()
    assert w.grad.tolist() == [[0] * 3, [1] * 3, [0] * 3, [0] * 3]


def test_no_index():
    w = ak.ones(4, 3, requires_grad=True)
    F.embedding(ak.zeros(0, dtype=ak.int64), w).sum().backward()
    assert not w.grad.numpy().any()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.embedding(ak.tensor([4]), W), IndexError, "index out of range in self"),
        (lambda: F.embedding(ak.tensor([-1]), W), IndexError, "index out of range in self"),
        (lambda: F.embedding(ak.tensor([1.0]), W), RuntimeError, "Long, Int; but got float32"),
        (lambda: F.embedding(W, ak.tensor([1])), RuntimeError, "'weight' must be 2-D"),
        (lambda: F.embedding(ak.tensor([1]), W, 4), AssertionError, "Padding_idx must be within"),
        (
            lambda: (
                F.embedding(ak.tensor([1]), LEARNING, scale_grad_by_freq=True, sparse=True).sum().backward()
            ),
            RuntimeError,
            "leave one out",
        ),
        (
            lambda: (
                F.embedding_bag(ak.tensor([[1]]), LEARNING, None, None, 2, True, "sum", True).sum().backward()
            ),
            RuntimeError,
            "leave one out",
        ),
    ],
)
def test_wrong_use(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()
