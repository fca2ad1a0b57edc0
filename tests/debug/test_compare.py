"""Two graphs side by side: what differs is lit, and the words say what differs first."""

from __future__ import annotations

import pytest

import autokit as ak
from autokit.draw.text import text


def network(bend=ak.relu, scale=1.0):
    ak.manual_seed(0)
    x, w, b = ak.randn(4, 3), ak.randn(3, 2, requires_grad=True), ak.zeros(2, requires_grad=True)
    hidden = x @ (w * scale) + b
    return (bend(hidden) * hidden).mean()


def lit(together):
    return [node.operation or node.kind for node in together.nodes if node.id in together.view.lit]


def test_what_is_the_same_is_said_to_be_the_same():
    together = ak.compare(network(), network())
    assert together.left_out.startswith("Nothing differs") and not together.view.lit
    assert len(together) == 2 * len(ak.graph(network()))


def test_another_operation_and_all_that_follows_from_it_are_lit():
    first, second = network(), network(ak.tanh)
    together = ak.compare(first, second)
    assert lit(together) == ["relu", "mul", "mean", "tanh", "mul", "mean"]
    assert "is relu in first and tanh in second. 3 values of" in together.left_out
    marks = {node.operation: node.marks for node in together.nodes if node.id in together.view.lit}
    assert marks["relu"] == ("there tanh",) and marks["tanh"] == ("there relu",)
    ends = [together.nodes[id] for id in together.outputs]
    assert [end.marks for end in ends] == [(f"there {end.value.text}",) for end in reversed(ends)]


def test_the_first_other_value_is_named_and_gradients_count_too():
    first, second = network(), network(scale=2.0)
    assert {"mul", "mm", "add", "relu", "mean"} <= set(lit(ak.compare(first, second)))
    assert "leaf" not in lit(ak.compare(first, second))
    one, two = network(), network()
    one.backward()
    together = ak.compare(one, two)
    assert {node.kind for node in together.nodes if node.id in together.view.lit} == {"leaf"}
    assert "with gradient" in together.left_out and "with gradient unknown" in together.left_out


def test_an_operation_that_only_one_side_has_is_lit_alone():
    x = ak.tensor([1.0, -2.0], requires_grad=True)
    plain, bent = (x * x).sum(), (x * x).abs().sum()
    together = ak.compare(plain, bent)
    assert lit(together) == ["abs"] and "abs, is only in bent" in together.left_out
    assert [group.path for group in together.groups] == ["plain", "bent"]
    state = {b.node.operation: together.view.lit for b in ak.draw.scene(together).boxes if b.node}
    assert "abs" in state and "only here" in ak.draw.svg(together)


def test_both_sides_keep_their_modules_and_edges_and_are_read_in_a_table():
    models = [ak.nn.Sequential(ak.nn.Linear(3, size), ak.nn.ReLU()) for size in (2, 5)]
    ends = [model(ak.ones(4, 3)).sum() for model in models]
    sides = list(map(ak.graph, ends))
    together = ak.compare(*sides)
    assert (
        len(together.edges) == len({edge.id for edge in together.edges}) == sum(len(s.edges) for s in sides)
    )
    assert [node.id for node in together.nodes] == list(range(len(together)))
    kept = [(together.nodes[e.source].name, together.nodes[e.target].formula) for e in together.edges]
    assert kept == [(s.nodes[e.source].name, s.nodes[e.target].formula) for s in sides for e in s.edges]
    assert "of shape (2×3) in" in together.left_out and "and of shape (5×3) in" in together.left_out
    assert text(together).splitlines()[-1] == repr(together).splitlines()[-1] == together.left_out
    assert together.left_out.split(".")[0] in together._repr_mimebundle_()["text/html"]


def test_what_is_no_computation_is_refused():
    with pytest.raises(TypeError, match="shows the history of a Tensor"):
        ak.compare(ak.tensor(1.0), 2.0)
