"""The sums behind single elements: they add up to what they explain, at the places that they name."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings

import autokit as ak
from autokit.graphs.cells import cell_name
from autokit.graphs.story import tell
from tests.graphs.programs import programs

NUMBER = r"\(?(-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan))\)?"


def terms(told: str) -> list[float]:
    """The numbers that are added, each product multiplied out."""
    found = []
    for line in told.split("\n")[1:]:
        words = line[2:].split("  (")[0]
        factors = [float(re.fullmatch(NUMBER, factor).group(1)) for factor in words.split(" · ")]
        found.append(math.prod(factors))
    return found


@settings(max_examples=30, deadline=None)
@given(programs())
def test_the_terms_of_a_gradient_add_up_to_it(end):
    timeline, cells = tell(end)
    for node in timeline.graph.nodes:
        if not node.requires_grad or node.gradient is None:
            continue
        for place, value in enumerate(node.gradient.values):
            told = cells.explain(node, "gradient", place)
            if "\n=" in told:
                assert sum(terms(told)) == pytest.approx(value, rel=2e-2, abs=2e-2)
            else:
                assert told.endswith("the seed") or (value == 0 and "no element" in told)


def product() -> tuple:
    x, w = ak.tensor([[1.0, 2.0], [3.0, 4.0]]), ak.tensor([[5.0, 6.0], [7.0, 8.0]], requires_grad=True)
    x.name, w.name = "x", "w"
    h = x @ w
    h.name = "h"
    loss = h.sum()
    loss.name = "loss"
    return tell(loss)


def test_a_matrix_product_is_told_as_its_sum():
    timeline, cells = product()
    nodes = {node.name: node for node in timeline.graph.nodes}
    assert cells.explain(nodes["h"], "value", 1) == (
        "h[0, 1] = 22.0\n= 6.0 · 1.0  (w[0, 1])\n+ 8.0 · 2.0  (w[1, 1])"
    )
    assert cells.explain(nodes["w"], "gradient", 0) == (
        "∂loss/∂w[0, 0] = 4.0\n= 1.0 · 1.0  (h[0, 0])\n+ 1.0 · 3.0  (h[1, 0])"
    )
    assert cells.explain(nodes["x"], "value", 3) == "x[1, 1] = 4.0, given"
    assert "not told" in cells.explain(nodes["x"], "gradient", 0)


def test_an_elementwise_operation_is_told_by_its_formula():
    a, b = ak.tensor([[1.0], [2.0]], requires_grad=True), ak.tensor([3.0, -4.0])
    timeline, cells = tell((a * b).sum())
    node = next(node for node in timeline.graph.nodes if node.operation == "mul")
    assert cells.explain(node, "value", 3) == "v2[1, 1] = -8.0\n= 2.0 · (-4.0)"


def test_what_is_neither_is_told_by_what_it_changes_with():
    x = ak.tensor([0.0, 1.0], requires_grad=True)
    x.name = "x"
    p = x.softmax(0)
    timeline, cells = tell(p[0] * 1.0)
    node = next(node for node in timeline.graph.nodes if node.operation == "softmax")
    assert "changes with x[0] by 0.1966 and x[1] by -0.1966" in cells.explain(node, "value", 0)


def test_a_story_tells_its_small_tensors_and_keeps_to_its_room():
    timeline, cells = product()
    told = {(each.element, each.field): each.sums for each in timeline.cells}
    assert told["n2", "value"][1] == cells.explain(timeline.graph.nodes[2], "value", 1)
    assert all(len(sums) == 4 for sums in told.values())
    assert sum(len(s) for sums in told.values() for s in sums) <= 250 * len(timeline)
    with ak.recording():
        large = ak.ones(100, 100, requires_grad=True)
        end = (large * 2).sum()
    timeline, cells = tell(end)
    assert timeline.cells == ()
    assert cells.array(timeline.graph.nodes[0], "gradient").shape == (100, 100)
    assert "not told" in cells.explain(timeline.graph.nodes[0], "gradient", 0)


def test_a_learners_own_function_is_not_run_again():
    class Loud(ak.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            Loud.calls += 1
            return g * 2

    x = ak.ones(2, requires_grad=True)
    timeline, cells = tell(Loud.apply(x).sum())
    assert Loud.calls == 1
    assert "not told" in cells.explain(timeline.graph.nodes[0], "gradient", 0)


def test_names_of_elements():
    timeline, _ = product()
    assert cell_name(timeline.graph.nodes[1], 2) == "w[1, 0]"
    assert cell_name(timeline.graph.nodes[-1], 0) == "loss"
