"""Rounding, sizes and signs beside PyTorch."""

from __future__ import annotations

import numpy as np

from tests.oracle import compare, elementwise

HALVES = np.array([[-2.5, -1.5, -0.5, 0.0], [0.5, 1.5, 2.345, 3.7]])
NAMES = "abs sign floor ceil trunc round nan_to_num"


test_values_dtypes_and_gradients = elementwise(NAMES, HALVES, second=False)


def test_places_after_the_point():
    compare(lambda torch, a: (torch.round(a, decimals=2), a.round(decimals=1)), HALVES)


def test_signs_of_another_tensor():
    other = np.array([1.0, -1.0, -0.0, 2.0])
    compare(lambda torch, a, b: torch.copysign(a, b), HALVES, other, second=False)
    compare(lambda torch, a: torch.copysign(a, -1.0), HALVES, second=False)


def test_a_step_takes_the_given_value_at_zero():
    compare(lambda torch, a, b: torch.heaviside(a, b), HALVES, np.full(4, 0.25), gradients=False)


def test_nan_and_infinities_become_numbers():
    odd = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    compare(lambda torch, a: torch.nan_to_num(a), odd)
    compare(lambda torch, a: torch.nan_to_num(a, nan=1.0, posinf=2.0, neginf=3.0), odd)
    compare(lambda torch, a: a.nan_to_num(0.5), odd.astype(np.float64))
