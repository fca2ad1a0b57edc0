"""Exponentials, logarithms and roots beside PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle import compare, elementwise, numbers

POSITIVE = numbers(2, 3, seed=1, low=0.2, high=3.0)
NAMES = "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal"


test_values_dtypes_and_gradients = elementwise(NAMES, POSITIVE)


@pytest.mark.parametrize("name", NAMES.split())
def test_gradients_at_the_ends_of_the_range(name: str):
    ends = np.array([0.0, -1.0, -2.0, 1e-300, 1e300, np.inf, -np.inf, np.nan])
    compare(lambda torch, a: getattr(torch, name)(a), ends, second=False)


def test_the_logarithm_of_two_exponentials_does_not_overflow():
    compare(lambda torch, a, b: torch.logaddexp(a, b), numbers(2, 3), numbers(3, seed=1))
    compare(lambda torch, a: torch.logaddexp(a, a + 1), np.array([-1e4, 0.0, 1e4]))
