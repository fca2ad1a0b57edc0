"""Trigonometric and hyperbolic functions beside PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle import compare, numbers

INSIDE = numbers(2, 3, seed=1, low=-0.9, high=0.9)
NAMES = "sin cos tan asin acos atan sinh cosh tanh asinh atanh deg2rad rad2deg"


@pytest.mark.parametrize("name", NAMES.split())
def test_values_dtypes_and_gradients(name: str):
    compare(lambda torch, a: getattr(torch, name)(a), INSIDE)
    compare(lambda torch, a: getattr(a, name)(), INSIDE.astype(np.float32), tolerance=1e-4)
    compare(lambda torch, a: getattr(torch, name)(a), np.array([0, 1, -1]), tolerance=1e-6)
    compare(lambda torch, a: getattr(a * 1, name + "_")(), INSIDE, gradients=name not in ("asinh", "atanh"))


@pytest.mark.parametrize("name", [*NAMES.split(), "acosh"])
def test_gradients_at_the_ends_of_the_range(name: str):
    ends = np.array([0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan])
    compare(lambda torch, a: getattr(torch, name)(a), ends, second=False)


def test_acosh_and_the_second_names():
    compare(lambda torch, a: torch.acosh(a) + torch.arccosh(a), numbers(4, low=1.1, high=4.0))
    for name in ("arcsin", "arccos", "arctan", "arcsinh", "arctanh"):
        compare(lambda torch, a: getattr(torch, name)(a), INSIDE)


def test_angles_and_lengths_of_points():
    a, b = numbers(2, 3, seed=2), numbers(2, 3, seed=3)
    compare(lambda torch, a, b: torch.atan2(a, b), a, b)
    compare(lambda torch, a, b: torch.hypot(a, b), a, b)
    zero = np.array([0.0, 0.0, 1.0, -1.0])
    compare(lambda torch, a, b: torch.atan2(a, b), zero, np.array([0.0, -1.0, 0.0, 0.0]), second=False)
