"""The plain backward pass and the observed one are the same method: they agree on every graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.engine.backward import backward
from autokit.engine.node import Node
from autokit.engine.observed import Watch, kept, observed
from tests.beside import assert_same

UNARY = ["tanh", "sigmoid", "sin", "relu", "neg", "exp", "abs", "float", "half"]
BINARY = ["add", "mul", "sub", "maximum"]
OTHERS = ["sort", "max", "part", "cat", "change", "constant", "matmul", "detach"]
step = st.one_of(
    st.tuples(st.sampled_from(UNARY + OTHERS), st.integers(0, 99)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 99)),
)


def built(T: Any, steps: list[Any]) -> tuple[list[Any], Any]:
    """The leaves and the end of the graph that ``steps`` describe; each step reads earlier values."""
    random = np.random.RandomState(0)
    leaves = [T.tensor(random.randn(*shape), requires_grad=True) for shape in ((3,), (2, 3), (2, 1), ())]
    values: list[Any] = list(leaves)
    for name, *places in steps:
        operands = [values[-1 - place % len(values)] for place in places]
        values.append(_step(T, name, *operands).double().clamp(-3, 3))
    total = sum((value.sum() for value in values[len(leaves) :]), values[0].sum())
    return leaves, total


def _step(T: Any, name: str, x: Any, *others: Any) -> Any:
    if name == "sort":
        values, places = x.reshape(-1).sort(stable=True)
        return (values * places + values.flip(0).exp()).mean()
    if name == "max":
        return x.reshape(1, -1).max(1)[0]
    if name == "part":
        return x.reshape(-1)[:1] * 3
    if name == "cat":
        return T.cat([x.reshape(-1), x.reshape(-1) * 2])[1:].mean()
    if name == "change":
        y = x * 1
        y.reshape(-1)[:1].mul_(2)
        return y.add_(0.5)
    if name == "constant":
        return 2 - x * T.full(x.shape[-1:], 0.5, dtype=x.dtype)
    if name == "matmul":
        return (x.reshape(-1, 1) @ x.reshape(1, -1)).mean()
    return getattr(x, name)(*others)


def gradients(steps: list[Any], way: str) -> list[Any]:
    leaves, total = built(autokit, steps)
    seed = np.ones((), total.array.dtype)
    root = total.grad_fn
    if way == "plain":
        backward([root], [seed])
    else:
        events: list[Any] = []
        watch = Watch(
            [root],
            wanted=set(leaves) if way == "chosen" else None,
            listener=(lambda event, *facts: events.append(event)) if way == "listened" else None,
            rehearsal=way == "rehearsed",
        )
        passed = [node for node, _ in observed([root], [seed], watch)]
        orders = [node.order for node in passed]
        assert orders == sorted(orders, reverse=True) and len({*orders}) == len(orders)
        assert way != "listened" or events.count("ready") >= len(passed)
        if way == "rehearsed":
            assert all(leaf.grad is None for leaf in leaves)
            assert all(node.saved is not None for node in passed)
            return [None if leaf not in watch.found else watch.found[leaf].tolist() for leaf in leaves]
        assert all(node.saved is None for node in passed)
    return [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]


@settings(max_examples=120)
@given(st.lists(step, max_size=40))
def test_plain_and_observed_passes_agree_on_random_graphs(steps: list[Any]):
    plain = gradients(steps, "plain")
    for way in ("observed", "chosen", "listened", "rehearsed"):
        assert gradients(steps, way) == plain, way


@settings(max_examples=120)
@given(st.lists(step, max_size=40))
def test_random_graphs_have_pytorchs_gradients(steps: list[Any]):
    def run(T: Any) -> Any:
        leaves, total = built(T, steps)
        total.backward()
        return [leaf.grad for leaf in leaves]

    assert_same(run, 1e-2 if any(name == "half" for name, *_ in steps) else 1e-5)


def test_a_listener_hears_each_contribution():
    heard: list[Any] = []
    x = autokit.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x + x).sum()
    root = loss.grad_fn
    watch = Watch([root], listener=lambda event, *facts: heard.append((event, facts)))
    for _ in observed([root], [np.ones((), np.float32)], watch):
        pass
    told = [(event, facts[0].kind) for event, facts in heard if event != "leaf"]
    assert told == [
        *[("ready", "SumBackward0"), ("contribution", "SumBackward0"), ("ready", "AddBackward0")],
        *[("contribution", "AddBackward0"), ("contribution", "AddBackward0"), ("ready", "MulBackward0")],
        *[("contribution", "MulBackward0"), ("contribution", "MulBackward0")],
    ]
    totals = [
        facts[5].tolist() for event, facts in heard if event == "contribution" and facts[0].sources[0] is x
    ]
    assert totals == [[2.0, 3.0], [3.0, 5.0]]
    ((_, (leaf, gradient)),) = [each for each in heard if each[0] == "leaf"]
    assert leaf is x and gradient.tolist() == [3.0, 5.0]


def test_what_is_sent_into_a_pass_replaces_the_gradient():
    x = autokit.tensor(3.0, requires_grad=True)
    root = (x * x * 2).grad_fn
    passing = observed([root], [np.ones((), np.float32)], Watch([root]))
    node, g = next(passing)
    assert g.item() == 1.0
    node, g = passing.send(np.array(10.0, np.float32))
    assert (node.kind, g.item()) == ("MulBackward0", 20.0)
    assert list(passing) == [] and x.grad.item() == 120.0


def test_a_rehearsal_uses_what_stayed_of_a_freed_graph():
    x = autokit.tensor([1.0, 2.0], requires_grad=True)
    hidden = (x * 3).tanh()
    loss = (hidden * hidden).sum()
    root = loss.grad_fn
    loss.backward()
    first, x.grad = x.grad, None
    watch = Watch([root], rehearsal=True)
    for node, _ in observed([root], [np.ones((), np.float32)], watch):
        assert isinstance(node, Node) and node.saved is None
    assert watch.found[x].tolist() == first.tolist() and x.grad is None
    assert kept(hidden.grad_fn).tolist() == hidden.tolist() and kept(3.0) == 3.0 and kept(x) is x
