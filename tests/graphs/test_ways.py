"""What comes back along each way: with the others it is the gradient that backward() gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.graphs import ways
from autokit.graphs.model import Timeline
from autokit.graphs.summary import summarize
from tests.support import read_number


def shared() -> tuple[ak.Tensor, ak.Tensor, ak.Tensor]:
    x = ak.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True)
    w = ak.tensor([0.5, -1.0], requires_grad=True)
    loss = ((x * w).tanh() @ w + x.sum(1)).pow(2).sum()
    return x, w, loss


def told(made: Timeline, name: str) -> ways.Ways:
    return next(each for each in made.ways if made.graph.nodes[each.node].name == name)


def test_the_ways_of_a_tensor_are_those_of_the_graph_with_the_others_cut():
    x, w, loss = shared()
    found = told(ak.record(loss), "w")
    edges = ak.record(loss).graph.edges
    assert all(edges[a].source == edges[b].target for path in found.paths for a, b in pairwise(path))
    first, last = ak.tensor(w.data, requires_grad=True), ak.tensor(w.data, requires_grad=True)
    ((x.data * first).tanh() @ last + x.data.sum(1)).pow(2).sum().backward()
    expected = {summarize(part.grad.array).text for part in (first, last)}
    assert set(found.contributions) == expected
    assert read_number(found.total) == pytest.approx(float((first.grad + last.grad).sum()), abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["tanh", "add", "mul", "sum", "matmul"]), min_size=1, max_size=5))
def test_sums_over_the_ways_are_the_sum_of_the_gradient(steps: list[str]):
    x = ak.tensor(np.linspace(-1.0, 1.2, 9).reshape(3, 3), dtype=ak.float64, requires_grad=True)
    y = x
    for step in steps:
        y = {
            "tanh": lambda y: y.tanh(),
            "add": lambda y: y + x,
            "mul": lambda y: y * x,
            "sum": lambda y: y + x.sum(0),
            "matmul": lambda y: y @ x,
        }[step](y)
    loss = y.sum()
    made = ak.record(loss)
    loss.backward()
    for each in made.ways:
        if made.graph.nodes[each.node].name == "x":
            assert 1 < len(each.paths) == len(set(each.paths)) <= ways.MOST
            assert read_number(each.total) == pytest.approx(float(x.grad.sum()), rel=1e-3, abs=1e-3)
            assert sum(map(read_number, each.sums)) == pytest.approx(
                read_number(each.total), rel=1e-3, abs=1e-2
            )


def test_numbers_tell_their_products_and_one_way_is_the_gradient():
    a = ak.tensor(2.0, requires_grad=True)
    assert ak.record(a * a + a).ways == ()
    x = ak.ones(3, requires_grad=True)
    assert ak.record(x.exp().sum()).ways == ()
