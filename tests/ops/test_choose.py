"""Larger, smaller, chosen and bounded elements beside PyTorch; gradients at ties and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle import compare, refused

A = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 5.0]])
B = np.array([1.0, 3.0, 2.0])
WHOLE = np.array([-4, 0, 5])


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_the_larger_and_the_smaller_with_ties(name: str):
    compare(lambda torch, a, b: getattr(torch, name)(a, b), A, B)
    compare(lambda torch, a, b: getattr(torch, name)(a, b), A, WHOLE)
    odd = np.array([np.nan, 1.0, -np.inf])
    compare(lambda torch, a, b: getattr(torch, name)(a, b), odd, np.array([0.0, np.nan, 1.0]), second=False)


def test_where_chooses_and_promotes():
    compare(lambda torch, a, b: torch.where(a > b, a * 2, b), A, B)
    compare(lambda torch, a: (torch.where(a > 1, a, 0), torch.where(a > 1, 1.5, a), a.where(a > 1, -1.0)), A)
    compare(lambda torch, a, b: torch.where(a > 1, a, b), A, WHOLE)
    compare(lambda torch, a: (torch.where(a > 1, 1, 0), torch.where(a > 1, 1.0, 0)), A)
    compare(lambda torch, a: torch.where(a > 1), A)


def test_a_branch_that_was_not_chosen_gives_nan_where_its_slope_is_infinite():
    x = np.array([-1.0, 0.0, 4.0])
    compare(lambda torch, x: torch.where(x > 0, torch.sqrt(x), 0.0), x, second=False)
    compare(lambda torch, x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0), x)


@pytest.mark.parametrize("bounds", [(0.0, 2.0), (None, 2.0), (1, None), (2.0, 0.0), (-1, 1.5)])
def test_clamp_between_numbers(bounds: Any):
    compare(lambda torch, a: torch.clamp(a, *bounds), A)
    compare(lambda torch, a: torch.clip(a, min=bounds[0], max=bounds[1]), A.astype(np.float32))
    compare(lambda torch, a: a.clamp(*bounds), WHOLE)
    compare(lambda torch, a: (a * 1).clamp_(*bounds), A)


def test_clamp_between_tensors():
    low, high = np.array([0.0, 2.0, 4.0]), np.array([1.0, 3.0, 1.0])
    compare(lambda torch, a, low, high: torch.clamp(a, low, high), A, low, high)
    compare(lambda torch, a, low: torch.clamp(a, low), A, low)
    compare(lambda torch, a, high: a.clamp(max=high) + a.clamp_max(high), A, high)
    compare(lambda torch, a: (torch.clamp_min(a, 1), torch.clamp_max(a, 2.0)), A)


def test_the_maximum_with_zero_at_zero_depends_on_how_it_is_written():
    zero = np.zeros(1)
    compare(
        lambda torch, x: (
            torch.relu(x),
            x.clamp(min=0),
            torch.maximum(x, torch.zeros_like(x)),
            torch.where(x > 0, x, 0.0),
        ),
        zero,
        second=False,
    )


WRONG = [
    (lambda torch, a: torch.clamp(a), "At least one"),
    (lambda torch, a: torch.where(a, a, a), "compare first"),
    (lambda torch, a: torch.clamp(a, torch.zeros(2)), "must match the size"),
]

test_errors_say_what_to_do = refused(WRONG, A)
