"""The graph of a computation that failed: whatever failed, its operands and their shapes are in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import autokit as ak
from autokit import draw, nn
from autokit.nn import functional as F


def matmul():
    x = ak.ones(2, 3, requires_grad=True)
    h = x * 2
    return h @ ak.ones(4, 5)


def layer():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 2))
    return net(ak.ones(2, 3))


def broadcast():
    return ak.ones(2, 3) + ak.ones(4, requires_grad=True)


def target():
    return F.cross_entropy(ak.zeros(4, 3, requires_grad=True), ak.tensor([0, 1, 5, 2]))


FAILURES = [
    (matmul, "matmul", [(2, 3), (4, 5)]),
    (layer, "linear", [(2, 4), (2, 5), (2,)]),
    (broadcast, "add", [(2, 3), (4,)]),
    (target, "cross_entropy", [(4, 3), (4,)]),
]


@pytest.mark.parametrize(
    ("program", "name", "shapes"), FAILURES, ids=lambda case: getattr(case, "__name__", "")
)
def test_the_operands_are_drawn_with_their_shapes_marked(program, name: str, shapes: list):
    with pytest.raises(Exception) as caught:
        program()
    graph = ak.graph_of_error(caught.value)
    failed = graph.nodes[-1]
    assert (failed.kind, failed.operation) == ("failed", name)
    operands = [graph.nodes[edge.source] for edge in graph.incoming(failed.id)]
    assert [node.shape for node in operands] == shapes
    for node in operands:
        assert f"shape [{', '.join(map(str, node.shape))}]" in node.marks
    said = " ".join(failed.marks)
    assert said.startswith(type(caught.value).__name__)
    assert program.__name__ == "layer" or failed.source.text in Path(__file__).read_text("utf-8")
    drawn = draw.svg(graph)
    assert f"! shape [{', '.join(map(str, shapes[0]))}]" in drawn and "#b42318" in drawn
    assert f"{name} of " in draw.scene(graph).title and "failed: " in draw.scene(graph).title
    assert drawn == draw.svg(ak.graph_of_error(caught.value))


def test_the_error_at_hand_and_the_last_one_are_found(monkeypatch: pytest.MonkeyPatch):
    try:
        broadcast()
    except RuntimeError as error:
        assert ak.graph_of_error().nodes[-1].operation == "add"
        kept = error
    monkeypatch.setattr(sys, "last_value", kept, raising=False)
    monkeypatch.setattr(sys, "last_exc", kept, raising=False)
    assert ak.graph_of_error(show="shape", direction="TB").view.show == ("shape",)


def test_an_error_of_the_way_back_marks_the_node_that_it_came_to():
    x = ak.ones(3, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    (failed,) = (node for node in ak.graph_of_error(caught.value).nodes if node.kind == "failed")
    assert failed.operation == "exp" and "modified by an inplace operation" in " ".join(failed.marks)


def test_the_line_is_the_one_that_failed_where_the_function_went_on():
    h = ak.ones(2, 3)
    try:
        h @ h
    except RuntimeError as error:
        found = ak.graph_of_error(error)
    assert found.nodes[-1].source.text == "h @ h"
