"""Reductions where PyTorch's table of cases ends: large arrays, half precision, zeros, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.autograd import gradcheck, gradgradcheck
from autokit.ops import reduce as family
from autokit.ops.operation import OPERATIONS
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from([(5000,), (4099,), (3, 1701), (70, 80), (2, 50, 60), (2, 4200)]),
    axis=st.sampled_from([None, -1, 0, (0, 1)]),
    keepdims=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_fast_sum_is_the_sum(seed: int, shape: Any, axis: Any, keepdims: bool, dtype: str):
    a = np.random.RandomState(seed).standard_normal(shape).astype(dtype)
    if axis == (0, 1) and len(shape) == 1:
        axis = None
    exact = a.astype(np.float64).sum(axis=axis, keepdims=keepdims)
    fast = family.added(a, axis, keepdims)
    assert fast.dtype == a.dtype and fast.shape == exact.shape
    np.testing.assert_allclose(fast, exact, rtol=1e-6, atol=1e-4 if dtype == "float32" else 1e-11)


def test_a_million_tenths_lose_little_to_rounding():
    assert abs(autokit.full((1_000_000,), 0.1).sum().item() - 100_000) < 0.1
    assert abs(autokit.full((10_000_000,), 0.1).mean().item() - 0.1) < 1e-6


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logcumsumexp", "prod", "cumprod"])
@pytest.mark.parametrize("shape", [(), (3, 4), (2, 3, 2), (0,), (2, 0)])
def test_faster_derivatives_are_those_of_the_plain_rules(name: str, shape: tuple[int, ...]):
    operation = OPERATIONS[name]
    random = np.random.RandomState(1)
    a = np.where(random.uniform(size=shape) < 0.8, random.standard_normal(shape), 0.0)
    for dim in range(max(len(shape), 1)):
        chosen = {**operation.defaults, "dim": dim}
        out = np.asarray(operation.plain(a, **chosen))
        g = random.standard_normal(out.shape)
        values = {0: a, **chosen, "out": out, "shape": a.shape}
        (fast,), (plain,) = operation.rules, operation.plain_rules
        needs = [values[need] for need in plain.fetch]
        np.testing.assert_allclose(fast.vjp(g, *needs), plain.vjp(g, *needs), rtol=1e-10, atol=1e-12)


def test_second_derivatives_are_those_by_differences():
    x = autokit.tensor(np.random.RandomState(0).standard_normal((3, 4)), requires_grad=True)
    zeros = autokit.tensor([[2.0, 0.0, 3.0], [0.0, 4.0, 0.0]], dtype=autokit.float64, requires_grad=True)
    for call, at in (
        (lambda x: x.logcumsumexp(1), x),
        (lambda x: x.prod(0), zeros),
        (lambda x: x.prod(), zeros),
        (lambda x: x.prod(), zeros[0, 1:].detach().requires_grad_()),
        (lambda x: x[[0, 0, 1, 1]].prod(), zeros[0, 1:].detach().requires_grad_()),
        (lambda x: x.var((), correction=0), x),
        (lambda x: autokit.cov(x), x),
        (lambda x: x.quantile(0.3, 1), x),
    ):
        assert gradcheck(call, (at,)) and gradgradcheck(call, (at,))


def test_a_product_with_two_zeros_is_curved_between_them():
    x = autokit.tensor([0.0, 3.0, 0.0], requires_grad=True)
    assert autokit.autograd.functional.hessian(lambda x: x.prod(), x).tolist() == [
        [0, 0, 3],
        [0] * 3,
        [3, 0, 0],
    ]


def test_the_gradient_of_a_variance_over_an_empty_list_counts_all_elements():
    # PyTorch counts one element there, against its own value: 6 times too much.
    x = autokit.tensor([[1.0, 2.0, 4.0], [0.0, 1.0, 3.0]], requires_grad=True)
    over_list, over_all = (autokit.autograd.grad(value, x)[0] for value in (x.var(()), x.var()))
    assert over_list.tolist() == over_all.tolist()


@pytest.mark.parametrize("half", ["float16"])
def test_half_precision_is_added_up_in_float32(half: str):
    for call in (
        lambda T, x: x.sum(),
        lambda T, x: x.mean(),
        lambda T, x: x.sum(0),
        lambda T, x: x.var(),
        lambda T, x: x.softmax(0).sum(),
        lambda T, x: x.logsumexp(0),
    ):
        ours, theirs = (
            call(T, T.tensor(np.full((3000, 2), 7.0), dtype=getattr(T, half))) for T in (autokit, torch)
        )
        assert repr(ours.dtype) == repr(theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-3)


@pytest.mark.parametrize(
    "name",
    ["sum", "mean", "amax", "amin", "var", "std", "logsumexp", "nansum", "all", "any", "count_nonzero"],
)
def test_one_number_is_a_tensor_of_one_element_in_each_dimension(name: str):
    for dim in (0, -1, (0,), [-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = (getattr(T, name)(T.tensor(2.0), dim) for T in (autokit, torch))
        assert tuple(ours.shape) == tuple(theirs.shape) == ()
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    for dim in (1, -2, (1,), (0, 0)):
        with pytest.raises((IndexError, RuntimeError)) as theirs:
            getattr(torch, name)(torch.tensor(2.0), dim)
        with pytest.raises(type(theirs.value)):
            getattr(autokit, name)(autokit.tensor(2.0), dim)


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "float16"])
def test_the_dtype_asked_for_is_the_dtype_given(name: str, dtype: str):
    further = (0,) if name == "cumsum" else ()
    for values in ([1.6, 2.4], [1, 2], [True, True]):
        results = []
        for T in (autokit, torch):
            try:
                results.append(getattr(T.tensor(values), name)(*further, dtype=getattr(T, dtype)))
            except RuntimeError as error:
                results.append(error)
        ours, theirs = results
        if isinstance(theirs, Exception):
            continue
        assert repr(ours.dtype) == repr(theirs.dtype) and ours.tolist() == theirs.tolist()


def test_results_may_be_written_into_tensors():
    x, out = autokit.ones(2, 3), autokit.empty(3)
    assert autokit.sum(x, 0, out=out) is out and out.tolist() == [2, 2, 2]
    low, high = autokit.empty(()), autokit.empty(())
    assert autokit.aminmax(x, out=(low, high)).min is low and high.item() == 1


def test_named_extremes_print_as_pytorchs():
    ours, theirs = (T.aminmax(T.tensor([[1.0, 3.0], [2.0, 0.0]]), dim=1) for T in (autokit, torch))
    assert repr(ours) == repr(theirs)


WRONG = [
    lambda T: T.zeros(2, 3).sum(0, 1),
    lambda T: T.zeros(2, 3).sum((0, 0)),
    lambda T: T.zeros(2, 3).mean((0, -2)),
    lambda T: T.zeros(2, 3).amax((0, 0)),
    lambda T: T.zeros(2, 3).var((0, 0)),
    lambda T: T.zeros(2, 3).all((0, 0)),
    lambda T: T.zeros(2, 3).logsumexp((0, 0)),
    lambda T: T.zeros(2, 3).count_nonzero((0, 0)),
    lambda T: T.zeros(2, 3).prod((0, 1)),
    lambda T: T.zeros(2, 3).argmax((0, 1)),
    lambda T: T.zeros(2, 3).sum(1.0),
    lambda T: T.zeros(2, 3).sum(True),
    lambda T: T.zeros(2, 3).sum(5),
    lambda T: T.zeros(2, 3).var(0, 1, True),
    lambda T: T.zeros(2, 3).softmax(),
    lambda T: T.zeros(2, 3).softmax(2),
    lambda T: T.zeros(2, 3).int().softmax(0),
    lambda T: T.zeros(2, 3).int().log_softmax(0),
    lambda T: T.zeros(2, 3).logsumexp(),
    lambda T: T.zeros(2, 3).int().mean(),
    lambda T: T.zeros(2, 3).int().mean(0),
    lambda T: T.zeros(2, 3).int().var(),
    lambda T: T.zeros(2, 3).int().nanmean(),
    lambda T: T.zeros(3).bool().argmax(),
    lambda T: T.zeros(0).max(),
    lambda T: T.zeros(0, 2).max(0),
    lambda T: T.zeros(0).amax(),
    lambda T: T.zeros(0, 2).amax(0),
    lambda T: T.zeros(0).argmax(),
    lambda T: T.zeros(0, 2).argmin(0),
    lambda T: T.zeros(0).aminmax(),
    lambda T: T.zeros(0, 2).aminmax(dim=0),
    lambda T: T.aminmax(T.zeros(2), 0),
    lambda T: T.aminmax(T.zeros(2, 2), dim=(0, 1)),
    lambda T: T.zeros(0).quantile(0.5),
    lambda T: T.zeros(3).quantile(1.5),
    lambda T: T.zeros(3).int().quantile(0.5),
    lambda T: T.zeros(3).quantile(T.tensor([0.5], dtype=T.float64)),
    lambda T: T.zeros(3).quantile(T.zeros(2, 2)),
    lambda T: T.zeros(3).quantile(0.5, interpolation="x"),
    lambda T: T.cov(T.zeros(2, 2, 2)),
    lambda T: T.cov(T.zeros(2, 2).bool()),
    lambda T: T.cov(T.zeros(2, 2), fweights=T.ones(2)),
    lambda T: T.cov(T.zeros(2, 2), aweights=T.ones(3)),
    lambda T: T.cov(T.zeros(2, 2), fweights=T.tensor([1, -1])),
    lambda T: T.corrcoef(T.zeros(2, 2, 2)),
    lambda T: T.sum([1.0]),
    lambda T: T.zeros(2).std_mean(),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_pytorchs(wrong: Callable[[Any], Any]):
    ours, theirs = refusals(wrong)
    words = theirs.split("\n")[0]
    if "invalid combination" not in words and "positional argument" not in words and "attribute" not in words:
        assert words.split(" (position")[0].rstrip(".")[:40] in ours
