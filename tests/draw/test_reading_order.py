"""Operands are drawn in their order where that costs no crossing, and leaves from top to bottom."""

from __future__ import annotations

import pytest

import autokit as ak
from autokit.draw import scene
from autokit.draw.layout import Arrow, Plan, place
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
