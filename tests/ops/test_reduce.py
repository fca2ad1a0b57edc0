"""Sums, means, products, extremes and variances beside PyTorch's: values, dtypes, two orders of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, numbers, refused

NAN = np.array([[1.0, np.nan, 3.0], [np.nan, 0.5, -2.0]])
TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.5, 0.5, 0.5, 3.0]])
ZEROS = np.array([[2.0, 0.0, 3.0, 1.5], [0.0, 4.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
INTS = np.array([[3, -1, 0], [2, 2, 5]])
BOOLS = np.array([[True, False], [True, True]])


TABLE: list[tuple[Callable[..., Any], Any]] = [
    *[
        (lambda torch, x, dim=dim: x.sum(dim), a)
        for dim in (0, None)
        for a in (INTS, BOOLS, INTS.astype("uint8"))
    ],
    (lambda torch, x: x.sum(dtype=torch.float64), INTS),
    (lambda torch, x: x.sum(dtype=torch.int32), INTS),
    (lambda torch, x: x.sum(0, True), numbers(2, 3)),
    (lambda torch, x: x.sum(()), numbers(2, 3)),
    (lambda torch, x: x.mean(dtype=torch.float64), INTS),
    (lambda torch, x: (x.sum(0), x.mean(0)), np.zeros((0, 2))),
    (lambda torch, x: (x.sum(1), x.mean(1), x.amax(1)), np.zeros((0, 2))),
    (lambda torch, x: (x.sum(), x.mean()), np.zeros(0)),
    *[(lambda torch, x, dim=dim: (x.nansum(dim), x.nanmean(dim)), NAN) for dim in (0, 1, (0, 1), None)],
    (lambda torch, x: x.nansum(1, keepdim=True, dtype=torch.float64), NAN),
    (lambda torch, x: x.nansum(), INTS),
    *[(lambda torch, x, dim=dim: x.count_nonzero(dim), ZEROS) for dim in (None, 0, (0, 1))],
    *[
        (lambda torch, x, settings=settings: torch.prod(x, **settings), a)
        for settings in ({}, {"dim": 0}, {"dim": -1, "keepdim": True})
        for a in (numbers(3, 4), ZEROS, INTS, BOOLS)
    ],
    (lambda torch, x: x.prod(), np.array([3.0, 0.0, 2.0])),
    (lambda torch, x: x.prod(), np.array([0.0, 3.0, 0.0])),
    (lambda torch, x: (x.prod(1), x.prod()), np.zeros((2, 0))),
    (lambda torch, x: x.prod(1), numbers(2, 3, 2)),
    (lambda torch, x: (torch.all(x), x.all(0), x.any(1, keepdim=True), x.any((0, 1))), BOOLS),
    (lambda torch, x: (torch.any(x, 0), x.all(1)), ZEROS),
    (lambda torch, x: (x.max(), x.min()), TIES),
    (lambda torch, x: (x.amax(1), x.amin((0, 1)), *torch.aminmax(x, dim=0)), TIES),
    (lambda torch, x: x.aminmax(), BOOLS),
    (lambda torch, x: (*x.max(0), *torch.min(x, dim=-1, keepdim=True)), numbers(3, 4)),
    (lambda torch, x: (x.max(1).values, x.min(0)[1]), INTS),
    (lambda torch, x: (*x.max(0), *x.min(-1)), numbers()),
    (lambda torch, x: (*x.max(1), *x.min(1)), TIES),
    (lambda torch, x: (x.max(0).indices, x.argmax(1)), NAN),
    (lambda torch, x: (x.argmax(), x.argmin(1), torch.argmax(x, dim=0, keepdim=True)), numbers(3, 4)),
    (lambda torch, x: (torch.max(x, x.flip(0)), torch.min(x, other=x.flip(1))), numbers(2, 3)),
    (lambda torch, x: x.std(), np.ones(4)),
    (lambda torch, x: (x.sum(0), x.mean(), x.var(1), x.max(1).values), numbers(3, 4).astype("float16")),
    (lambda torch, x: (x.sum(0), x.prod(1), x.std(), *x.min(0)), numbers(3, 4).astype("float32")),
]


@pytest.mark.parametrize(("program", "array"), TABLE, ids=map(str, range(len(TABLE))))
def test_reductions_are_pytorchs(program: Callable[..., Any], array: Any):
    compare(program, array, second=not np.isnan(array).any() and array.dtype != np.float16)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_the_variance_of_one_element_is_nan():
    compare(lambda torch, x: (x.var(), x.std(1), x.var(0)), np.ones((3, 1))[:1])
    with pytest.warns(UserWarning, match="degrees of freedom"):
        autokit.tensor([1.0]).std()


def test_a_deviation_of_large_numbers_does_not_overflow():
    compare(lambda torch, x: x.std(), np.array([1e30, 1, 2], np.float32), second=False)


def test_a_product_with_two_zeros_is_curved_between_them():
    x = autokit.tensor([0.0, 3.0, 0.0], requires_grad=True)
    (first,) = autokit.autograd.grad(x.prod(), [x], create_graph=True)
    (second,) = autokit.autograd.grad(first[0], [x])
    assert first.tolist() == [0, 0, 0] and second.tolist() == [0, 0, 3]


@given(seed=st.integers(0, 1000), ties=st.booleans(), keepdim=st.booleans(), dim=st.integers(-2, 1))
def test_the_gradient_of_an_extreme_adds_up_to_one_for_each_result(
    seed: int, ties: bool, keepdim: bool, dim: int
):
    random = np.random.RandomState(seed)
    a = random.randint(0, 3, (4, 5)).astype(np.float32) if ties else random.standard_normal((4, 5))
    for name in ("amax", "amin", "max", "min", "median"):
        x = autokit.tensor(a, requires_grad=True)
        found = getattr(x, name)(dim, keepdim=keepdim)
        (found if isinstance(found, autokit.Tensor) else found.values).sum().backward()
        np.testing.assert_allclose(x.grad.sum(dim).numpy(), 1, rtol=1e-6)


def test_half_precision_is_added_up_in_float32():
    compare(
        lambda torch, x: (x.sum(), x.mean(), x.sum(0)), np.full((3000, 2), 7.0, np.float16), gradients=False
    )


def test_a_million_tenths_lose_little_to_rounding():
    assert abs(autokit.tensor(np.full(1_000_000, 0.1, np.float32)).sum().item() - 100_000) < 0.1


WRONG: list[tuple[Callable[..., Any], str]] = [
    (lambda torch, x: x.sum((0, 0)), "appears multiple times"),
    (lambda torch, x: x.sum(5), "Dimension out of range"),
    (lambda torch, x: x.int().mean(), "convert with .float()"),
    (lambda torch, x: x.bool().argmax(), "convert with .int()"),
    (lambda torch, x: x[:0].max(), "the tensor is of shape"),
    (lambda torch, x: x[:0].argmax(), "the tensor is of shape"),
    (lambda torch, x: torch.sum([1.0]), "must be Tensor, not list"),
    (lambda torch, x: x.sum(dimension=0), "unexpected keyword argument 'dimension'"),
]


test_errors_say_what_is_wrong = refused(WRONG, numbers(2, 3))
