"""Running sums, products and extremes, differences, areas and slopes beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, numbers, refused

ZEROS = np.array([[2.0, 0.0, 3.0, 1.5], [0.0, 4.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
TIES = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 1.0])
NAN = np.array([1.0, np.nan, 3.0, np.nan, 0.0])
INTS = np.array([[3, -1], [2, 2], [0, 5]])

TABLE: list[tuple[Callable[..., Any], Any]] = [
    (lambda torch, x: (x.cumsum(0), x.cumprod(0), *x.cummax(0), *x.cummin(0), x.logcumsumexp(0)), numbers(0)),
    *[
        (lambda torch, x, name=name: getattr(x, name)(dim=0), a)
        for name in ("cumsum", "cumprod", "cummax", "cummin")
        for a in (INTS, INTS > 1, TIES)
    ],
    (lambda torch, x: (*x.cummax(0), *x.cummin(0)), NAN),
    (lambda torch, x: x.cumsum(0, dtype=torch.float64), INTS),
    (lambda torch, x: x.clone().cumsum_(0), numbers(2, 3)),
    (lambda torch, x: (torch.cumprod(x, 0), torch.cumprod(x, 1)), ZEROS),
    (lambda torch, x: x.logcumsumexp(0), 300 * numbers(6)),
    (lambda torch, x: torch.diff(x), numbers(3, 4)),
    (lambda torch, x: x.diff(n=2, dim=0), numbers(4, 2)),
    (lambda torch, x: (x.diff(), torch.diff(x, 0)), INTS),
    (lambda torch, x: x.diff(dim=0), INTS > 1),
    (lambda torch, x: torch.diff(x, prepend=x[:, :1], append=x[:, 1:2]), numbers(3, 4)),
    (lambda torch, x: torch.diff(x, 0, prepend=x), numbers(3, 4)),
]


@pytest.mark.parametrize(("program", "array"), TABLE, ids=map(str, range(len(TABLE))))
def test_scans_are_pytorchs(program: Callable[..., Any], array: Any):
    compare(program, array, gradients=not np.isnan(array).any(), second=array.size > 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_infinity_alone_along_a_dimension_passes_the_gradient_of_its_running_product(dtype: str):
    compare(lambda torch, x: x.cumprod(1), np.array([[np.inf], [2.0]], dtype))
    x = autokit.tensor(np.array([np.inf, 2.0], dtype), requires_grad=True)
    x.cumprod(0).sum().backward()
    assert x.grad.tolist() == [3, np.inf]


def test_the_running_product_of_many_factors_and_a_zero_is_differentiated_without_division():
    a = numbers(2, 30, low=0.5, high=1.5)
    a[0, 7] = a[1, 3] = a[1, 20] = 0
    compare(lambda torch, x: x.cumprod(1), a, second=False)


def test_a_long_running_sum_keeps_its_digits():
    run = autokit.tensor(np.full(1_000_000, 0.1, np.float32)).cumsum(0)
    assert abs(run[-1].item() - 100_000) < 0.1


WRONG = [
    (lambda torch, x: x.cumsum(2), "Dimension out of range"),
    (lambda torch, x: x.int().logcumsumexp(0), "convert with .float()"),
]

test_errors_say_what_is_wrong = refused(WRONG, numbers(2, 3))
