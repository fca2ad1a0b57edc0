"""The picture of a static graph: each call is in one box, in an order that can run, with its operands."""

from __future__ import annotations

from typing import Any

import pytest

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
        shown = [node for node in graph.nodes if node.kind != "const"]
        if fold is None:
            assert len(picture.nodes) == len(shown)
            reads = [{each for each in node.operands() if each.kind != "const"} for node in shown]
            assert len(picture.edges) == sum(map(len, reads))
        assert {node.label for node in graph.states} <= {node.label for node in picture.nodes}


def test_a_training_step_is_read_operation_by_operation(step: Any) -> None:
    picture = step.graph.picture()
    told = {
        kind: [node.operation for node in picture.nodes if node.kind == kind]
        for kind in ("operation", "backward")
    }
    forward = [each for each in told["operation"] if each in ("linear", "relu", "nll_loss", "Adam")]
    assert forward == ["linear", "relu", "linear", "nll_loss", "Adam"]
    assert told["backward"] == ["nll_loss", "log_softmax", "linear", "mul", "relu", "linear"]
    linear = next(node for node in picture.nodes if node.operation == "linear")
    assert linear.source is not None and "model(x)" in linear.source.text
    assert picture.nodes[-1].label == "12 new values"
    assert "linear" in step.graph._repr_mimebundle_()["text/html"]
    with pytest.raises(ValueError, match="fold is 'operation' or None"):
        step.graph.picture("line")
