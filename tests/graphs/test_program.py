"""The picture of a static graph: each call is in one box, in an order that can run, with its operands."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as torch
from autokit import nn
from tests.static.programs import trained_step


@pytest.fixture(scope="module")
def step() -> Any:
    return trained_step()[0]


@pytest.mark.parametrize("fold", ["operation", None])
def test_the_edges_are_those_of_the_graph_and_go_forwards(step: Any, fold: str | None) -> None:
    for graph in [step.passes[0].before, *[each.after for each in step.passes]]:
        picture = graph.picture(fold)
        assert all(edge.source < edge.target for edge in picture.edges)
        assert len({(edge.source, edge.target) for edge in picture.edges}) == len(picture.edges)
        if fold is None:
            shown = [node for node in graph.nodes if node.kind != "const" or node.label]
            assert len(picture.nodes) == len(shown)
            assert len(picture.edges) == sum(len({*node.operands()} & {*shown}) for node in shown)
        assert {node.label for node in graph.states} <= {node.label for node in picture.nodes}


def test_a_training_step_is_read_operation_by_operation(step: Any) -> None:
    nodes = step.graph.picture().nodes
    told = [(node.operation, node.kind) for node in nodes]
    assert [name for name, kind in told if kind == "backward"] == (
        ["nll_loss", "log_softmax", "linear", "mul", "relu", "linear"]
    )
    assert told[:2] == [("input", "constant")] * 2
    linear = nodes[told.index(("linear", "operation"))]
    assert linear.source is not None and "model(x)" in linear.source.text
    assert told[-1] == ("Adam", "operation") and nodes[-1].label.endswith("new values")
    assert "linear" in step.graph._repr_mimebundle_()["text/html"]


def test_what_is_too_large_to_be_read_is_folded_by_modules() -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(12)])
    optimizer = torch.optim.Adam(model.parameters())

    @torch.static.compile
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    step(torch.ones(1, 2))
    step(torch.ones(1, 2))
    picture = step.graph.picture()
    labels = [node.label for node in picture.nodes]
    assert len(picture.nodes) < 80 and "model.3.0: weight, bias" in labels
    assert "72 arrays of the optimizer" in labels and labels[-1] == "96 new values"
    assert picture.nodes == step.graph.picture("module").nodes
