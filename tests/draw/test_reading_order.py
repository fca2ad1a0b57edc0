"""Operands are drawn in their order where that costs no crossing, and leaves from top to bottom."""

from __future__ import annotations

import pytest

import autokit as ak
from autokit import nn
from autokit.draw import scene
from autokit.draw.layout import Arrow, Placement, Plan, place
from autokit.draw.reading_order import _crossings, in_reading_order
from autokit.graphs.model import Graph
from tests.draw.graphs import layers
from tests.draw.standard import STANDARD


def beside(graph: Graph, direction: str) -> dict[int, float]:
    """Where each box stands across the way of the arrows."""
    boxes = scene(graph, direction=direction).boxes
    return {box.node.id: box.y if direction == "LR" else box.x for box in boxes if box.node}


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_a_stands_before_b(direction: str) -> None:
    a = ak.tensor(2.0, requires_grad=True)
    b = ak.tensor(-3.0, requires_grad=True)
    for loss in ((a * b + a) ** 2, a * b, a + b, (a + b).tanh() * 2):
        graph = ak.graph(loss)
        at, place_of = beside(graph, direction), {node.name: node.id for node in graph.nodes}
        assert at[place_of["a"]] < at[place_of["b"]]


def test_no_order_costs_a_crossing() -> None:
    for graph in (*(make() for make in STANDARD.values()), layers(40)):
        arrows = tuple(Arrow(edge.source, edge.target) for edge in graph.edges)
        plan = Plan(((100.0, 60.0),) * len(graph), arrows)
        assert _crossings(plan, in_reading_order(plan, place)) <= _crossings(plan, place(plan))


def test_crossings_are_counted() -> None:
    plan = Plan(((10.0, 10.0),) * 4, (Arrow(0, 3), Arrow(1, 2)))
    corners = ((0.0, 0.0), (0.0, 50.0), (100.0, 0.0), (100.0, 50.0))
    assert _crossings(plan, Placement(corners, ((), ()), True)) == 1
    assert _crossings(plan, Placement((corners[1], corners[0], *corners[2:]), ((), ()), True)) == 0
    to_one = Plan(((10.0, 10.0),) * 3, (Arrow(0, 2), Arrow(1, 2)))
    assert _crossings(to_one, Placement(corners[:3], ((), ()), True)) == 0


def test_what_is_computed_on_runs_straight() -> None:
    graph = STANDARD["matmul_mlp"]()
    boxes = {box.node.name: box for box in scene(graph, direction="TB").boxes if box.node}
    chain = [boxes[name] for name in ("v2", "v4", "hidden", "logits", "v8", "loss")]
    assert max(box.x + box.width / 2 for box in chain) - min(box.x + box.width / 2 for box in chain) < 2


def test_a_model_of_many_layers_does_not_run_off_to_the_side() -> None:
    layers = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(12)]
    net = nn.Sequential(*layers)
    picture = scene(ak.graph(net(ak.ones(2, 4)).sum()), direction="TB", limit=500)
    widest = max(frame.width for frame in picture.frames)
    assert picture.width < 6 * widest and picture.width < picture.height / 2
    # What comes into a layer stands above its parameters, not beside them.
    boxes = {box.node.name: box for box in picture.boxes if box.node}
    for layer in range(1, 12):
        before = [box for box in boxes.values() if box.node.operation == "tanh"][layer - 1]
        assert before.y + before.height < boxes[f"{layer}.0.weight"].y
