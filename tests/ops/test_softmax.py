"""Softmax, its logarithm and log-sum-exp beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from autokit.engine.operation import OPERATIONS
from tests.oracle import compare, numbers, refused

INF = float("inf")

TABLE: list[tuple[Callable[..., Any], Any]] = [
    *[
        (lambda torch, x, name=name, dim=dim: getattr(torch, name)(x, dim), a)
        for name in ("softmax", "log_softmax", "logsumexp")
        for dim, a in (
            (0, numbers(3, 4)),
            (-1, numbers(2, 3, 2)),
            (1, numbers(2, 3, 2) * 400),
            (0, numbers()),
            (1, np.zeros((2, 0, 3))),
            (1, np.array([[1.0, -INF, 0.0], [-INF, 2.0, -INF]])),
            (1, numbers(2, 3).astype("float32")),
        )
    ],
    (lambda torch, x: x.softmax(dim=0, dtype=torch.float64), np.array([1, 2, 4])),
    (lambda torch, x: x.logsumexp((0, 2), keepdim=True), numbers(2, 3, 4)),
    (lambda torch, x: torch.logsumexp(x, 0), np.array([1, 2, 4])),
    (lambda torch, x: torch.logsumexp(x, 0), np.array([-INF, -INF])),
    (lambda torch, x: torch.logsumexp(x, 0), np.array([INF, 1.0])),
    (lambda torch, x: torch.nn.functional.softmin(x, 1), numbers(2, 3)),
]


@pytest.mark.parametrize(("program", "array"), TABLE, ids=map(str, range(len(TABLE))))
def test_smooth_maxima_are_pytorchs(program: Callable[..., Any], array: Any):
    is_finite = bool(np.isfinite(array).all())
    compare(program, array, gradients=is_finite, second=is_finite and array.dtype != np.float32)


@given(st.integers(0, 1000), st.floats(0.1, 1e4), st.integers(0, 1))
def test_shares_are_positive_and_add_up_to_one(seed: int, scale: float, dim: int):
    x = autokit.tensor(np.random.RandomState(seed).standard_normal((4, 5)) * scale)
    shares = x.softmax(dim)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(dim).numpy(), 1, rtol=1e-12)
    np.testing.assert_allclose(x.log_softmax(dim).exp().numpy(), shares.numpy(), rtol=1e-9, atol=1e-12)


def test_without_dim_it_is_chosen_with_a_warning():
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        shares = autokit.nn.functional.softmax(autokit.tensor([[1.0, 2.0]]))
    assert shares.sum().item() == pytest.approx(1)


WRONG = [
    (lambda torch, x: x.softmax(2), "Dimension out of range"),
    (lambda torch, x: x.int().softmax(0), "convert with .float()"),
    (lambda torch, x: x.int().log_softmax(0), "convert with .float()"),
    (lambda torch, x: torch.logsumexp(x, 3), "Dimension out of range"),
]

test_errors_say_what_is_wrong = refused(WRONG, numbers(2, 3))


@pytest.mark.parametrize("shape", [(), (3, 4), (2, 3, 2), (0,), (2, 0)])
def test_the_faster_derivative_of_softmax_is_the_plain_one(shape: tuple[int, ...]):
    rule = OPERATIONS["softmax"].derivatives["a"]
    assert rule.fast is not None
    for dim in range(len(shape)) if shape else [None]:
        out = OPERATIONS["softmax"].forward(numbers(*shape), dim=dim)
        g = numbers(*shape, seed=1)
        np.testing.assert_allclose(rule.fast(g, out, dim), rule.vjp(g, out, dim), rtol=1e-12, atol=1e-14)
