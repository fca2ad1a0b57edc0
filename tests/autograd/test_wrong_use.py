"""Wrong use of ``backward``, ``grad`` and ``.grad``: refused as in PyTorch, and what is frozen on the way."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from typing import Any

import pytest

import autokit
from tests.libraries import on_each, pytorch
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


def _in_a_hook(T: Any, x: Any, fail: Any) -> Any:
    y = x * 2
    y.register_hook(lambda gradient: fail())
    return y


def _in_a_hook_of_a_leaf(T: Any, x: Any, fail: Any) -> Any:
    x.register_post_accumulate_grad_hook(lambda leaf: fail())
    return x * 2


def _in_a_function(T: Any, x: Any, fail: Any) -> Any:
    class Failing(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return fail()

    return Failing.apply(x)


def _of_a_generator() -> Any:
    def numbers() -> Any:
        yield next(iter(()))

    return list(numbers())


@on_each
@pytest.mark.parametrize("make", [_in_a_hook, _in_a_hook_of_a_leaf, _in_a_function])
@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        (lambda: next(iter(())), StopIteration),
        (_of_a_generator, RuntimeError),
        (lambda: {}["missing"], KeyError),
        (lambda: exec("raise GeneratorExit"), GeneratorExit),
    ],
    ids=["StopIteration", "of a generator", "KeyError", "GeneratorExit"],
)
def test_what_a_program_raises_on_the_way_back_arrives_as_it_is(T: Any, make: Any, fail: Any, kind: Any):
    x = _leaf(T)
    with pytest.raises(kind) as raised:
        make(T, x, fail).sum().backward()
    assert raised.type is kind
    assert T.is_grad_enabled()
    y = _leaf(T)
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 6.0]


def test_a_hook_after_accumulation_may_return_the_leaf_itself():
    import autokit

    def stepped(T: Any) -> list[float]:
        x = _leaf(T)
        x.register_post_accumulate_grad_hook(lambda leaf: leaf.add_(leaf.grad, alpha=-0.5))
        x.sum().backward()
        return [float(each) for each in x]

    assert stepped(autokit) == stepped(pytorch())


NAMED_INPUTS = {
    "all": lambda T, x, w: T.autograd.grad((x * w).sum(), {"a": x, "b": w}),
    "unused": lambda T, x, w: T.autograd.grad(x.sum(), {"a": x, "b": w}, allow_unused=True),
    "zeros": lambda T, x, w: T.autograd.grad(x.sum(), {"b": w}, materialize_grads=True),
    "many": lambda T, x, w: T.autograd.grad(x * w, {"a": x}, T.eye(2), is_grads_batched=True),
    "backward": lambda T, x, w: (x * w).sum().backward(inputs={"b": w}),
    "none at all": lambda T, x, w: T.autograd.grad(x.sum(), {}),
    "a missing one": lambda T, x, w: T.autograd.grad(x.sum(), {"b": w}),
    "a number among them": lambda T, x, w: T.autograd.grad(x.sum(), {"a": x, "b": 3}),
    "another mapping": lambda T, x, w: T.autograd.grad(x.sum(), OrderedDict(a=x)),
    "a word": lambda T, x, w: x.sum().backward(inputs="a"),
    "a number": lambda T, x, w: x.sum().backward(inputs=[1]),
    "nothing": lambda T, x, w: x.sum().backward(inputs=[None]),
    "a word to begin at": lambda T, x, w: T.autograd.grad("a", x),
    "a number to begin at": lambda T, x, w: T.autograd.backward([3]),
}


@pytest.mark.parametrize("name", NAMED_INPUTS)
def test_inputs_may_have_names(name: str):
    def told(T: Any) -> Any:
        x, w = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0], requires_grad=True)
        try:
            found = NAMED_INPUTS[name](T, x, w)
        except Exception as error:
            return type(error), str(error)[:36]
        return repr(found), repr(x.grad), repr(w.grad)

    assert told(autokit) == told(pytorch())
