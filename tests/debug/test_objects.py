"""A learner's own engine, drawn and played: beside the same program on tensors."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as ak
from autokit.graphs.model import Graph


class Value:
    """micrograd's, as in A. Karpathy's lecture."""

    def __init__(self, data, children=(), op=""):
        self.data, self.grad, self._backward = data, 0.0, lambda: None
        self._prev, self._op = set(children), op

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, n):
        out = Value(self.data**n, (self,), f"**{n}")

        def _backward():
            self.grad += n * self.data ** (n - 1) * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        out = Value(np.tanh(self.data), (self,), "tanh")

        def _backward():
            self.grad += (1 - out.data**2) * out.grad

        out._backward = _backward
        return out


class Plain:
    """Numbers that know their parents and gradients, and nothing more."""

    def __init__(self, number, made_from=None, slope=None):
        self.number, self.made_from, self.slope = number, made_from, slope


def program(make):
    a, b = make(0.5), make(-0.75)
    d = a * b
    e = d * d + a
    loss = (e**2 + b).tanh()
    return {"a": a, "b": b, "d": d, "e": e, "loss": loss}


def test_it_is_drawn_and_played_as_the_same_program_on_tensors():
    mine = program(Value)
    wanted = program(lambda x: ak.tensor(x, dtype=ak.float64, requires_grad=True))
    for values in (mine, wanted):
        for name, each in values.items():
            each.label = each.name = name
    graph, theirs = ak.graph_of(mine["loss"]), ak.graph(wanted["loss"])
    assert isinstance(graph, Graph) and all(node.gradient is None for node in graph.nodes)

    def named(nodes):
        return {(n.name, n.symbol, n.value.text) for n in nodes if n.label in wanted}

    assert named(graph.nodes) == named(theirs.nodes)
    formulas = {node.name: node.formula for node in graph.nodes if node.kind == "operation"}
    assert (formulas["d"], formulas["loss"][:4]) == ("a · b", "tanh")
    state, nodes = ak.record(graph).state(-1), graph.nodes
    told = {node.name: state[node.element]["gradient"] for node in nodes}
    account = {nodes[each.node].name: each for each in ak.record(graph).accounts}
    wanted["loss"].backward()
    for name in ("a", "b"):
        assert float(told[name].replace("−", "-")) == pytest.approx(wanted[name].grad.item(), rel=1e-2)
        assert account[name].gradient == told[name] and len(account[name].edges) == 2
    assert {state[node.element]["status"] for node in nodes} == {"final"}


def test_telling_changes_nothing_and_shows_what_the_learners_rules_do():
    a, b = Value(2.0), Value(-3.0)
    out = a * b
    a.grad = kept = np.array(7.0)

    def _backward():
        a.grad = b.data * out.grad  # a mistake: = for +=
        b.grad = 100.0

    out._backward = _backward
    timeline = ak.animate(ak.graph_of(out)).timeline
    assert a.grad is kept and b.grad == 0.0 and out.grad == 0.0
    found = {timeline.graph.nodes[each.node].name: each.gradient for each in timeline.accounts}
    assert {name: float(text.replace("−", "-")) for name, text in found.items()} == {"a": -3.0, "b": 100.0}
    flows = [c.value for s in timeline.steps for c in s.changes if c.field == "flow" and s.kind == "travel"]
    assert [float(flow.replace("−", "-")) for flow in flows] == [-3.0, 100.0]


def test_attributes_are_named_or_found_by_functions_and_a_gradient_alone_is_told_as_far_as_it_goes():
    x = Plain(np.array([1.0, 2.0]), slope=np.array([8.0, 16.0]))
    y = Plain(x.number * 2, [x], np.array([4.0, 8.0]))
    z = Plain((y.number**2).sum() + x.number.sum(), (y, x), 1.0)
    graph = ak.graph_of(z, parents="made_from", data=lambda each: each.number, grad="slope")
    assert [(n.name, n.kind, n.formula) for n in graph.nodes] == [
        ("x", "leaf", ""), ("y", "operation", "?(x)"), ("z", "operation", "?(y, x)"),
    ]  # fmt: skip
    assert [node.gradient.text for node in graph.nodes] == ["[8.0, 16.0]", "[4.0, 8.0]", "1.0"]
    assert {step.phase for step in ak.record(graph)} == {"forward"}


def test_a_long_chain_and_objects_without_gradients():
    x = Plain(1.0)
    for _ in range(5000):
        x = Plain(x.number, (x,))
    graph = ak.graph_of(x, parents="made_from", data="number")
    assert len(graph) == 5001 and "fold" in repr(ak.draw.svg(graph))
    short = ak.graph_of(x.made_from[0], parents=lambda each: (), data="number")
    assert [step.kind for step in ak.record(short)] == ["input"]


@pytest.mark.parametrize("wrong", [3.0, ak.tensor(1.0), Plain(1.0)])
def test_what_has_no_parents_is_refused(wrong):
    with pytest.raises(TypeError, match="say what it comes from by parents="):
        ak.graph_of(wrong)
