"""Embeddings, bags of them, and one-hot vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, functional, numbers, refused

WORDS = np.array([[1, 4, 1], [0, 2, 1]])
TABLE = numbers(5, 3)


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"max_norm": 1.0}]
)
@pytest.mark.parametrize("words", [WORDS, WORDS.astype(np.int32), WORDS[:, :0], np.array(3)])
def test_rows_of_a_table(options: Any, words: Any):
    def program(torch: Any, words: Any, table: Any) -> Any:
        if "max_norm" in options:  # it changes the table
            table = table.detach().clone()
        return torch.nn.functional.embedding(words, table * 1, **options), table

    compare(program, words, TABLE)


def test_the_gradient_of_a_gradient():
    program = functional("embedding", padding_idx=1)
    compare(lambda torch, words, table: program(torch, words, table**3), WORDS, TABLE)


def test_long_rows_are_shortened_in_the_table():
    table = autokit.tensor([[3.0, 4.0], [0.3, 0.4]], requires_grad=True)
    autokit.nn.functional.embedding(autokit.tensor([0, 1]), table, max_norm=1.0).sum().backward()
    np.testing.assert_allclose(table.detach().numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    assert table.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_one_hot():
    compare(functional("one_hot"), WORDS)
    compare(functional("one_hot", 7), WORDS)
    compare(functional("one_hot", num_classes=2), WORDS[:0])


ERRORS = [
    (lambda torch, w, t: torch.nn.functional.embedding(w + 1, t), "out of range"),
    (lambda torch, w, t: torch.nn.functional.embedding(w - 1, t), "out of range"),
    (lambda torch, w, t: torch.nn.functional.embedding(t, t), ".long()"),
    (lambda torch, w, t: torch.nn.functional.one_hot(w, 3), "num_classes"),
    (lambda torch, w, t: torch.nn.functional.one_hot(w - 1), "non-negative"),
]


test_what_errors_say = refused(ERRORS, WORDS, TABLE)
