"""Overwriting whole tensors: what is left, gradients and errors as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import agreeing, compare, numbers, refused

CASES = [
    (lambda T, a, b: (a * 1).fill_(2) * b, (3,), (3,)),
    (lambda T, a, b: (a * 1).fill_(b), (2, 3), ()),
    (lambda T, a, b: (a * 1).zero_() + b, (3,), (3,)),
    (lambda T, a, b: (a * 1).copy_(b), (2, 3), (3,)),
    (lambda T, a, b: (a * 1).copy_(b), (2, 3), (2, 1)),
    (lambda T, a, b: (a * 1).float().copy_(b), (2, 3), (2, 3)),
    (lambda T, a, b: ((a * 1)[0].copy_(b), a), (2, 3), (3,)),
    (lambda T, a, b: (a * b).fill_diagonal_(0), (3, 3), ()),
]


test_values_and_gradients = agreeing(CASES, tolerance=1e-6)


def test_filling_a_view_fills_the_whole_and_ends_its_gradient():
    def program(T: Any, a: Any) -> Any:
        y = a * 2
        y[0].zero_()
        y[:, 1].fill_(5)
        y.diagonal().copy_(a[0])
        return y

    compare(program, numbers(3, 3))


WRONG = [
    (lambda T, a: a.fill_(T.zeros(2)), "0-dimension value tensor"),
    (lambda T, a: a.copy_(T.zeros(4)), "shape mismatch"),
    (lambda T, a: a.requires_grad_().zero_(), "a leaf Variable that requires grad"),
    (lambda T, a: a.requires_grad_()[0].fill_(1), "a view of a leaf Variable"),
]

test_errors = refused(WRONG, np.arange(6.0).reshape(2, 3))


def test_a_number_is_filled_in_and_not_copied():
    with pytest.raises(TypeError, match="must be Tensor"):
        autokit.zeros(2).copy_(1)
