"""Hooks of every kind see what PyTorch's see, in the same order, and may replace it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autokit
from autokit.engine.node import HOOKED
from tests.beside import assert_refused, assert_same
from tests.libraries import on_each

Seen = list[Any]


def tensor_hooks(T: Any, x: Any, seen: Seen) -> Any:
    y = x * 2
    y.register_hook(lambda g: seen.append(g))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g))
    x.register_hook(lambda g: g + 1)
    return y.sum()


def a_leaf_waits_for_all_contributions(T: Any, x: Any, seen: Seen) -> Any:
    x.register_hook(lambda g: seen.append(g))
    return (x * x + x).sum() * x[0]


def retained_gradients(T: Any, x: Any, seen: Seen) -> Any:
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda g: seen.append(y.grad is None))
    z = y * y
    z.retain_grad()
    total = z.sum()
    total.register_hook(lambda g: seen.append(z.grad is None))
    x.register_hook(lambda g: seen.extend([y.grad, z.grad, y.retains_grad, x.retains_grad]))
    return total


def post_accumulate(T: Any, x: Any, seen: Seen) -> Any:
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    x.register_hook(lambda g: g * 3)
    return (x * x).sum()


def post_accumulate_steps_while_gradients_flow(T: Any, x: Any, seen: Seen) -> Any:
    def step(leaf: Any) -> None:
        with T.no_grad():
            leaf.sub_(leaf.grad, alpha=0.5)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(step)
    y = x + 0.0
    y.register_hook(lambda g: seen.append(x))
    return y.sum()


def node_prehooks(T: Any, x: Any, seen: Seen) -> Any:
    y = x.exp()
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    return y.sum()


def node_hooks(T: Any, x: Any, seen: Seen) -> Any:
    y = x * x.detach()
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend([inputs, outputs]))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, None))
    return y.sum()


def hooks_of_both_kinds(T: Any, x: Any, seen: Seen) -> Any:
    y = x * 3
    y.grad_fn.register_prehook(lambda grads: seen.append("before the node"))
    y.register_hook(lambda g: seen.append("the tensor"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("after the node"))
    x.register_hook(lambda g: seen.append("the leaf"))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("added"))
    return y.sum()


def hooks_of_one_of_several_results(T: Any, x: Any, seen: Seen) -> Any:
    values, places = (x * 2).sort()
    values.register_hook(lambda g: g * places)
    first, second = values.unbind()
    first.register_hook(lambda g: seen.append(g))
    return (first * 5 + second).sum()


def a_hook_on_a_changed_tensor(T: Any, x: Any, seen: Seen) -> Any:
    y = x * 2
    y.mul_(3)
    y.register_hook(lambda g: g * 7)
    y.add_(1)
    return (y * y).sum()


def hooks_know_that_nothing_records(T: Any, x: Any, seen: Seen) -> Any:
    y = x * 2
    y.register_hook(lambda g: seen.extend([T.is_grad_enabled(), g.requires_grad]))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(T.is_grad_enabled()))
    return (y * y).sum()


PROGRAMS = [
    *(tensor_hooks, a_leaf_waits_for_all_contributions, retained_gradients, post_accumulate),
    *(post_accumulate_steps_while_gradients_flow, node_prehooks, node_hooks, hooks_of_both_kinds),
    *(hooks_of_one_of_several_results, a_hook_on_a_changed_tensor, hooks_know_that_nothing_records),
]


@pytest.mark.parametrize("how", ["backward", "create_graph", "inputs", "grad"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_hooks_see_what_pytorchs_see(program: Callable[..., Any], how: str):
    def run(T: Any) -> Any:
        seen: Seen = []
        x = T.tensor([2.0, -3.0], requires_grad=True)
        loss = program(T, x, seen)
        loss = loss.sum()
        if how == "grad":
            (found,) = T.autograd.grad(loss, x)
            return seen, found, x.grad
        loss.backward(create_graph=how == "create_graph", inputs=[x] if how == "inputs" else None)
        return seen, x.grad, x

    assert_same(run)


@on_each
def test_a_handle_takes_the_hook_away(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    seen: Seen = []
    handles = [
        y.register_hook(lambda g: g * 10),
        x.register_hook(lambda g: g * 10),
        x.register_post_accumulate_grad_hook(lambda leaf: seen.append(1)),
        y.grad_fn.register_prehook(lambda grads: seen.append(2)),
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(3)),
    ]
    for handle in handles:
        handle.remove()
        handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and seen == []


@on_each
def test_a_hook_may_take_itself_away(T: Any):
    x = T.ones(2, requires_grad=True)
    calls: Seen = []

    def once(g: Any) -> None:
        calls.append(1)
        handle.remove()

    handle = x.register_hook(once)
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert calls == [1]


def _returns(value: Any) -> Any:
    def program(T: Any) -> None:
        x = T.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: value(T))
        y.sum().backward()

    return program


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda T: T.ones(2).register_hook(print), "doesn't require gradient"),
        (lambda T: T.ones(2).retain_grad(), "requires_grad=False"),
        (lambda T: T.ones(2).register_post_accumulate_grad_hook(print), "doesn't require gradient"),
        (
            lambda T: (T.ones(2, requires_grad=True) * 2).register_post_accumulate_grad_hook(print),
            "non-leaf",
        ),
        (_returns(lambda T: T.ones(3)), "changed the size"),
        (_returns(lambda T: 3), "must return a tensor or None, not int"),
    ],
)
def test_wrong_hooks_are_refused(program: Any, message: str):
    assert_refused(program, message)


def test_a_pass_is_observed_only_while_something_is_hooked():
    x = autokit.ones(2, requires_grad=True)
    x.register_hook(lambda g: g)
    place = id(x)
    assert place in HOOKED
    del x
    assert place not in HOOKED
