"""The picture of a static graph: each call is in one box, in an order that can run, with its operands."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as torch
from autokit import nn
from autokit.static.step import compile


@pytest.fixture(scope="module")
def step() -> Any:
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @compile
    def step(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        return loss

    step(torch.ones(5, 4), torch.tensor([0, 1, 0, 1, 0]))
    return step


@pytest.mark.parametrize("fold", ["operation", None])
def test_the_edges_are_those_of_the_graph_and_go_forwards(step: Any, fold: str | None) -> None:
    for graph in [step.passes[0].before, *[each.after for each in step.passes]]:
        picture = graph.picture(fold)
        assert all(edge.source < edge.target for edge in picture.edges)
        assert len({(edge.source, edge.target) for edge in picture.edges}) == len(picture.edges)
        shown = [node for node in graph.nodes if node.kind != "const"]
        if fold is None:
            assert len(picture.nodes) == len(shown)
            reads = [{each for each in node.operands() if each.kind != "const"} for node in shown]
            assert len(picture.edges) == sum(map(len, reads))
        assert {node.label for node in graph.states} <= {node.label for node in picture.nodes}


def test_a_training_step_is_read_operation_by_operation(step: Any) -> None:
    picture = step.graph.picture()
    told = [(node.kind, node.operation) for node in picture.nodes if node.operation]
    forward = [operation for kind, operation in told if kind == "operation"]
    assert [each for each in forward if each in ("linear", "tanh", "nll_loss", "SGD")] == [
        *("linear", "tanh", "linear", "nll_loss", "SGD"),
    ]
    backward = [operation for kind, operation in told if kind == "backward"]
    assert backward == ["nll_loss", "log_softmax", "linear", "tanh", "linear"]
    linear = next(node for node in picture.nodes if node.operation == "linear")
    assert linear.source is not None and "model(x)" in linear.source.text
    assert picture.nodes[-1].label == "4 new values"
    assert "linear" in step.graph._repr_mimebundle_()["text/html"]
    with pytest.raises(ValueError, match="fold is 'operation' or None"):
        step.graph.picture("line")
