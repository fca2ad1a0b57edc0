"""Wrong use of ``backward``, ``grad`` and ``.grad``: refused as in PyTorch, and what is frozen on the way."""

from __future__ import annotations

import importlib
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


def _after_a_hook_that_returns(value: Any) -> Any:
    def program(T: Any) -> None:
        x = _leaf(T)
        x.register_post_accumulate_grad_hook(lambda x: T.ones(2) if value is None else value)
        x.sum().backward()

    return program


def _with_two_ways_back(T: Any) -> None:
    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

        vjp = backward

    Both.apply(_leaf(T)).sum().backward()


@pytest.mark.parametrize(
    "wrong",
    [
        _after_a_hook_that_returns(3),
        _after_a_hook_that_returns(None),
        _with_two_ways_back,
        lambda T: importlib.import_module(f"{T.__name__}.func").jacrev(T.exp, chunk_size=0)(T.ones(2)),
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


@on_each
def test_modules_of_autograd_are_found_without_an_import(T: Any):
    with T.autograd.grad_mode.no_grad():
        assert not T.is_grad_enabled()
    assert T.autograd.variable.Variable is T.autograd.Variable
