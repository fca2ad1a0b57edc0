"""Rounding, sizes and signs beside PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle import compare

HALVES = np.array([[-2.5, -1.5, -0.5, 0.0], [0.5, 1.5, 2.345, 3.7]])
NAMES = "abs sign floor ceil trunc frac round nan_to_num"


@pytest.mark.parametrize("name", NAMES.split())
def test_values_dtypes_and_gradients(name: str):
    compare(lambda torch, a: getattr(torch, name)(a), HALVES, second=False)
    compare(lambda torch, a: getattr(a, name)(), HALVES.astype(np.float32), second=False)
    compare(lambda torch, a: getattr(a * 1, name + "_")(), HALVES, second=False)
    if name != "frac":
        compare(lambda torch, a: getattr(torch, name)(a), np.array([-3, 0, 2]))


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
