"""The sums behind single elements: they add up to what they explain, at the places that they name."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings

import autokit as ak
from autokit.graphs.story import tell
from tests.graphs.programs import programs
from tests.libraries import function

NUMBER = r"\(?(-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan))\)?"


def terms(told: str) -> list[float]:
    """The numbers that are added, each product multiplied out."""
    found = []
    for line in told.split("\n")[1:]:
        words = line[2:].split("  (")[0]
        factors = [
            float(re.fullmatch(NUMBER, factor.replace("−", "-")).group(1)) for factor in words.split(" · ")
        ]
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


def test_a_learners_own_function_is_not_run_again():
    calls: list[int] = []
    loud = function(ak, lambda ctx, x: x * 2, lambda ctx, g: calls.append(1) or g * 2)
    x = ak.ones(2, requires_grad=True)
    timeline, cells = tell(loud.apply(x).sum())
    assert calls == [1]
    assert "not told" in cells.explain(timeline.graph.nodes[0], "gradient", 0)


def test_the_elements_behind_one_are_those_of_its_row_and_column():
    ak.manual_seed(0)
    x, w, b = ak.randn(2, 3), ak.randn(3, 4, requires_grad=True), ak.zeros(4, requires_grad=True)
    product = x @ w
    shifted = product + b
    timeline = ak.record((shifted.relu() ** 2).sum())
    names = {node.name: node.element for node in timeline.graph.nodes}
    told = {(each.element, each.field): each.made_of for each in timeline.cells}
    for row in range(2):
        for column in range(4):
            place = 4 * row + column
            across, down = (
                " ".join(map(str, each)) for each in (range(3 * row, 3 * row + 3), range(column, 12, 4))
            )
            made = told[names["product"], "value"][place]
            assert made == f"{names['x']} value {across}; {names['w']} value {down}"
            made = told[names["shifted"], "value"][place]
            assert made == f"{names['product']} value {place}; {names['b']} value {column}"
    assert told[names["b"], "gradient"][1] == f"{names['shifted']} gradient 1 5"
    assert told[names["w"], "gradient"][6] == f"{names['product']} gradient 2 6"
