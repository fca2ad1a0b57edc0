"""The ways of optimizers are those that the optimizers take in a loop of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import optim
from autokit.graphs.descents import descend


def valley(x: Any, y: Any) -> Any:
    return (1 - x) ** 2 + 10 * (y - x * x) ** 2


@pytest.mark.parametrize(
    ("method", "settings"),
    [(optim.SGD, {"lr": 0.01, "momentum": 0.9}), (optim.Adam, {"lr": 0.1}), (optim.LBFGS, {"lr": 0.5})],
)
def test_a_way_is_that_of_a_loop(method: Any, settings: dict[str, float]) -> None:
    made = descend(valley, [(method, settings)], (-1.0, 1.5), 5, ("x", "y"))
    x, y = (ak.tensor(each, requires_grad=True) for each in (-1.0, 1.5))
    optimizer = method([x, y], **settings)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = valley(x, y)
        loss.backward()
        return loss

    points = [(x.item(), y.item())]
    for _ in range(5):
        optimizer.step(closure)
        points.append((x.item(), y.item()))
    (way,) = made.paths
    np.testing.assert_allclose(way.points, points, rtol=1e-6)
    np.testing.assert_allclose(way.losses, [valley(*map(ak.tensor, p)).item() for p in points], rtol=1e-5)
    assert made.steps == 5


def test_the_picture_holds_the_ways_and_the_grid_the_loss() -> None:
    made = descend(valley, [optim.SGD], (-1.0, 1.5), 5, ("x", "y"), grid=5)
    (x0, x1), (y0, y1) = made.ends
    for x, y in made.paths[0].points:
        assert x0 <= x <= x1 and y0 <= y <= y1
    across, up = np.linspace(x0, x1, 5), np.linspace(y0, y1, 5)
    expected = [[valley(a, b) for a in across] for b in up]
    np.testing.assert_allclose(made.values, expected, rtol=1e-4)
