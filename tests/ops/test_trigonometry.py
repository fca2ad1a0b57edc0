"""Trigonometric and hyperbolic functions beside PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle import compare, elementwise, numbers

INSIDE = numbers(2, 3, seed=1, low=-0.9, high=0.9)
NAMES = "sin cos tan asin acos atan sinh cosh tanh deg2rad rad2deg"


test_values_dtypes_and_gradients = elementwise(NAMES, INSIDE)


@pytest.mark.parametrize("name", [*NAMES.split(), "acosh", "asinh", "atanh"])
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
