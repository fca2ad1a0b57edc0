"""Medians, modes and counts in bins beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, numbers, refused

TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.5, 0.5, 0.5, 3.0]])
NAN = np.array([[1.0, np.nan, 3.0, np.nan, 0.0], [4.0, 5.0, 1.0, 2.0, 3.0]])
INTS = np.array([[3, -1, 0], [2, 2, 5], [0, -4, 5]])
EDGES = np.array([-1.0, 0.0, 0.5, 2.0])

TABLE: list[tuple[Callable[..., Any], Any]] = [
    *[
        (lambda torch, x, name=name, rest=rest: getattr(torch, name)(x, *rest), a)
        for name in ("median", "mode")
        for rest in ((0,), (1,), (-1, True))
        for a in (numbers(3, 4), TIES, INTS, NAN)
        if name != "mode" or not np.isnan(a).any()
    ],
    *[
        (lambda torch, x: (x.median(), *x.median(0), *x.mode(0)), a)
        for a in (numbers(5), numbers(4), numbers(), np.array([1.0, 2.0, 2.0, 2.0, 3.0]), INTS[0])
    ],
    (lambda torch, x: x.median(), NAN),
    (lambda torch, x: x.median(), np.zeros(0)),
    (lambda torch, x: (torch.bincount(x), x.bincount(minlength=12)), np.array([3, 1, 1, 5])),
    (lambda torch, x: torch.bincount(x), np.zeros(0, int)),
    (lambda torch, x: torch.bincount(x, torch.tensor([0.5, 1.0, 2.0])), np.array([2, 0, 2])),
    (lambda torch, x: torch.histogram(x, 2), np.ones(3, np.float32)),
    *[
        (lambda torch, x, more=more: torch.histogram(x.detach(), **more), numbers(3, 5))
        for more in ({"bins": 3}, {"bins": 4, "range": (-1.0, 1.5)}, {"bins": 5, "density": True})
    ],
    (lambda torch, x: x.detach().histogram(3, weight=(x * x).detach()), numbers(5)),
    (lambda torch, x: torch.histogram(x.detach(), torch.tensor(EDGES)), numbers(9)),
]


@pytest.mark.parametrize(("program", "array"), TABLE, ids=map(str, range(len(TABLE))))
def test_statistics_are_pytorchs(program: Callable[..., Any], array: Any):
    is_finite = not np.isnan(array).any() and array.dtype != np.float32
    compare(program, array, gradients=is_finite and bool(array.size), tolerance=1e-6)


@given(st.lists(st.floats(-5, 5, width=16), min_size=1, max_size=30), st.integers(1, 8))
def test_every_element_falls_into_one_bin(values: list[float], bins: int):
    x = autokit.tensor(values)
    assert x.histogram(bins).hist.sum().item() == len(values)


WRONG = [
    (lambda torch, x: x[:0].median(0), "non-zero size"),
    (lambda torch, x: torch.bincount(x[0].long() - 9), "1-d non-negative"),
    (lambda torch, x: x.histogram(0), "bins must be > 0"),
    (lambda torch, x: x.int().histogram(4), "convert with .float()"),
]

test_errors_say_what_is_wrong = refused(WRONG, numbers(2, 3))
