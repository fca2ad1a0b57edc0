"""Graphs of what a ``vmap`` computes for all samples at once: they are drawn, played and looked into."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import autokit as ak
from autokit.graphs.capture import graph
from autokit.graphs.story import tell

Program = Callable[[ak.Tensor, ak.Tensor], ak.Tensor]

PROGRAMS: dict[str, Program] = {
    "a weight for all": lambda x, w: ak.vmap(lambda row: (row * 2 * w).sum())(x).sum(),
    "one in another": lambda x, w: ak.vmap(lambda a: ak.vmap(lambda b: (a * b).sum())(x))(x).sum() + w.sum(),
    "slopes": lambda x, w: ak.vmap(ak.func.grad(lambda row: (row**3 * w).sum()))(x).sum(),
    "a layer": lambda x, w: ak.vmap(lambda row: ak.nn.functional.linear(row, w[None]).relu())(x).exp().sum(),
    "one element": lambda x, w: ak.vmap(lambda row: row[0] * w[0])(x).sum(),
    "a hessian": lambda x, w: ak.func.hessian(lambda v: (v**3).sum())(w).sum() + x.sum(),
}


@pytest.fixture(params=PROGRAMS)
def leaves_and_result(request: pytest.FixtureRequest) -> tuple[ak.Tensor, ak.Tensor, ak.Tensor]:
    x = ak.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], requires_grad=True)
    w = ak.tensor([1.0, -2.0, 0.5], requires_grad=True)
    return x, w, PROGRAMS[request.param](x, w)


def test_its_story_ends_with_the_gradients(leaves_and_result: tuple[ak.Tensor, ak.Tensor, ak.Tensor]):
    *leaves, result = leaves_and_result
    story, cells = tell(result, None)
    gradients = ak.autograd.grad(result, leaves, retain_graph=True)
    told = {
        tuple(array.shape): array
        for node in cells.nodes
        if node.kind == "leaf" and (array := cells.array(node, "gradient")) is not None
    }
    for gradient in gradients:
        np.testing.assert_allclose(told[tuple(gradient.shape)], gradient, rtol=1e-6)
    for node in cells.nodes:
        for field in ("value", "gradient"):
            array = cells.array(node, field)
            for place in range(0 if array is None else array.size):
                assert cells.explain(node, field, place)
    assert len(story) > len(cells.nodes)


def test_it_is_drawn(leaves_and_result: tuple[ak.Tensor, ak.Tensor, ak.Tensor], tmp_path):
    *_, result = leaves_and_result
    assert graph(result).nodes[-1].value.text
    for name in ("flow.svg", "flow.html"):
        ak.record(result).save(tmp_path / name)
        assert (tmp_path / name).stat().st_size
    assert result._repr_mimebundle_() and ak.animate(result)


def test_values_are_those_of_all_samples():
    x = ak.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    doubled = next(node for node in graph(ak.vmap(lambda row: row * 2)(x)).nodes if node.symbol == "×")
    assert doubled.value.values == (2.0, 4.0, 6.0, 8.0)


def test_a_playground_runs_it():
    def loss(a: ak.Tensor) -> ak.Tensor:
        return ak.vmap(lambda one: one * 2)(ak.stack([a, a])).sum()

    assert ak.playground(loss, a=(-1, 1))
