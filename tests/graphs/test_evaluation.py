"""A function evaluated at a point, along a line and over a grid: the numbers are those of the engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as ak
from autokit.graphs.evaluation import Evaluation

number = st.floats(-3, 3, width=32)


def mixed(a: Any, b: Any) -> Any:
    c = a * b + a.sin()
    return (c * c + b).exp() / (1 + a * a)


@given(number, number)
def test_a_moment_is_what_backward_gives(a: float, b: float) -> None:
    moment = Evaluation(mixed, ["a", "b"]).at({"a": a, "b": b})
    x, y = (ak.tensor(each, requires_grad=True) for each in (a, b))
    value = mixed(x, y)
    value.backward()
    assert moment.value == value.item() or math.isnan(moment.value)
    np.testing.assert_array_equal(
        [moment.gradients["a"], moment.gradients["b"]], [x.grad.item(), y.grad.item()]
    )
    # What comes back along the edges of a value adds up to its gradient.
    for node in moment.graph.nodes[:2]:
        sent = [moment.flows[edge.id].minimum for edge in moment.graph.outgoing(node.id)]
        if None not in sent:
            np.testing.assert_allclose(np.sum(sent), node.gradient.minimum, rtol=1e-4, atol=1e-6)


def test_values_have_the_names_of_the_functions_own_variables() -> None:
    graph = Evaluation(mixed, ["a", "b"]).at({"a": 1.0, "b": 2.0}).graph
    assert [node.label for node in graph.nodes if node.kind == "leaf"] == ["a", "b"]
    assert "c" in [node.label for node in graph.nodes]


@pytest.mark.parametrize("function", [mixed, lambda a, b: mixed(a, b) if a > -1 else a * b])
def test_lines_and_grids_are_the_same_points(function: Any) -> None:
    evaluation = Evaluation(function, ["a", "b"])
    across, up = [-2.0, -0.5, 1.0], [0.0, 0.75]
    grid = evaluation.over(across, up)
    assert grid.shape == (2, 3)
    for row, b in zip(grid, up):
        points = [evaluation.at({"a": a, "b": b}).value for a in across]
        np.testing.assert_allclose(row, points, rtol=1e-6)
        np.testing.assert_allclose(evaluation.along("a", across, {"b": b}), row, rtol=1e-6)


def test_a_function_of_our_own_takes_its_input_by_place() -> None:
    moment = Evaluation(ak.tanh, ["x"]).at({"x": 0.0})
    assert moment.gradients == {"x": 1.0}
