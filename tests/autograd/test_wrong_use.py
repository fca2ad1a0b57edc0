"""Wrong use of ``backward``, ``grad`` and ``.grad``: refused as in PyTorch, and what is frozen on the way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.libraries import on_each
from tests.ops.beside import refusals


def _leaf(T: Any) -> Any:
    return T.tensor([2.0, 3.0], requires_grad=True)


def _of_itself(T: Any) -> None:
    x = _leaf(T)
    x.grad = x


def _of_an_expanded_gradient(T: Any) -> None:
    x = _leaf(T)
    x.grad = T.zeros(1).expand(2)
    (x * x).sum().backward()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda T: T.autograd.backward([_leaf(T).sum(), _leaf(T).sum()], T.tensor(1.0)),
        lambda T: _leaf(T).sum().backward(inputs=[T.ones(2)]),
        lambda T: T.autograd.grad(_leaf(T).sum(), [_leaf(T), _leaf(T)]),
        lambda T: T.autograd.grad(_leaf(T).sum(), "x"),
        lambda T: T.autograd.grad(_leaf(T).sum(), 3),
        _of_itself,
        _of_an_expanded_gradient,
    ],
)
def test_it_is_refused_in_pytorchs_words(wrong: Any):
    ours, theirs = refusals(wrong)
    assert ours[:50] == theirs[:50]


@on_each
def test_what_was_frozen_since_gets_no_gradient(T: Any):
    x, w = _leaf(T), _leaf(T)
    y = x * w
    w.requires_grad_(False)
    y.sum().backward()
    assert w.grad is None and x.grad.tolist() == [2.0, 3.0]


@on_each
def test_also_where_hooks_run(T: Any):
    x, w = _leaf(T), _leaf(T)
    x.register_hook(lambda g: g * 2)
    y = x * w
    w.requires_grad_(False)
    y.sum().backward()
    assert w.grad is None and x.grad.tolist() == [4.0, 6.0]
