"""Norms and distances where PyTorch's table of cases ends: kinks, ties, second derivatives, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.autograd import gradcheck, gradgradcheck
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402

ROWS = np.array([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [0.0, 2.0, -1.0], [0.3, -0.7, 1.5]])
OTHERS = np.array([[0.0, 1.0, 1.5], [1.0, 2.0, 0.5]])
FAR = np.random.RandomState(0).standard_normal((30, 4)) + 100


def first_derivatives(T: Any, call: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    tensors = [T.tensor(array, requires_grad=True) for array in arrays]
    out = call(T, *tensors)
    weights = np.random.RandomState(0).standard_normal(tuple(out.shape))
    out.backward(T.tensor(weights))
    return [out.detach().numpy(), *(tensor.grad.numpy() for tensor in tensors)]


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_distances_and_their_gradients_are_pytorchs_also_of_equal_rows(p: float):
    for call, arrays in (
        (lambda T, a, b: T.cdist(a, b, p), (ROWS, OTHERS)),
        (lambda T, a, b: T.cdist(a, b, p), (np.stack([ROWS, ROWS[::-1]]), OTHERS)),
        (lambda T, a: T.pdist(a, p), (ROWS,)),
        (lambda T, a: T.cdist(a, a, p), (ROWS,)),
    ):
        ours, theirs = (first_derivatives(T, call, arrays) for T in (autokit, torch))
        for mine, other in zip(ours, theirs):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_distances_of_many_rows_go_through_a_product_and_lose_little():
    arrays = FAR, FAR[:7] + 0.1
    exact = first_derivatives(
        torch, lambda T, a, b: T.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist"), arrays
    )
    for mode in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist"):
        ours = first_derivatives(autokit, lambda T, a, b, mode=mode: T.cdist(a, b, 2.0, mode), arrays)
        for mine, other in zip(ours, exact):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_distances_can_be_differentiated_twice():
    a, b = (autokit.tensor(x, requires_grad=True) for x in (FAR[:3], FAR[3:4] / 7))
    for call in (
        lambda a, b: autokit.cdist(a, b),
        lambda a, b: autokit.cdist(a, b, compute_mode="use_mm_for_euclid_dist"),
        lambda a, b: autokit.cdist(a, b, 3.0),
        lambda a, b: autokit.pdist(a * b, 1.5),
        lambda a, b: autokit.renorm(a * b, 2, 0, 1.0),
    ):
        assert gradcheck(call, (a, b)) and gradgradcheck(call, (a, b))


def test_at_the_kink_the_gradient_is_zero():
    for p in (1, 1.5, 2, 3):
        for call in (
            lambda T, x, p=p: T.norm(x, p, 0),
            lambda T, x, p=p: T.dist(x, x.detach(), p),
            lambda T, x, p=p: T.nn.functional.normalize(x, p, 0),
            lambda T, x: T.cosine_similarity(x, T.ones_like(x), 0),
        ):
            ours, theirs = (first_derivatives(T, call, (np.zeros(3),)) for T in (autokit, torch))
            for mine, other in zip(ours, theirs):
                np.testing.assert_allclose(mine, other)
    x = autokit.zeros(3, requires_grad=True)
    assert x.norm(0).item() == 0
    x.norm(0).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_squares_of_half_precision_do_not_overflow():
    ours, theirs = (T.norm(T.tensor([300.0, 300.0], dtype=T.float16)) for T in (autokit, torch))
    assert ours.dtype == autokit.float16 and ours.item() == theirs.item()


def test_a_norm_may_be_written_into_a_tensor():
    out = autokit.empty(3)
    assert autokit.norm(autokit.ones(4, 3), 2, 0, out=out) is out and out.tolist() == [2, 2, 2]


WRONG = [
    lambda T: T.norm(T.ones(2), "x"),
    lambda T: T.norm(T.ones(2, 2), "nuc", 0),
    lambda T: T.norm(T.tensor([1, 2])),
    lambda T: T.norm(T.ones(2, 2), 2, 2),
    lambda T: T.norm(T.ones(2, 2), 2, (0, 0)),
    lambda T: T.norm(T.ones(2, 2), 2, 0, 1),
    lambda T: T.norm(T.ones(0), math.inf),
    lambda T: T.dist(T.ones(2), T.ones(3)),
    lambda T: T.dist(T.tensor([1]), T.tensor([1])),
    lambda T: T.renorm(T.ones(2), 2, 0, 1.0),
    lambda T: T.renorm(T.ones(2, 2), 0, 0, 1.0),
    lambda T: T.renorm(T.ones(2, 2), 2, 0, -1.0),
    lambda T: T.renorm(T.ones(2, 2), 2, 2, 1.0),
    lambda T: T.cdist(T.ones(2), T.ones(2, 2)),
    lambda T: T.cdist(T.ones(2, 3), T.ones(2, 2)),
    lambda T: T.cdist(T.ones(2, 2, 3), T.ones(3, 3, 3)),
    lambda T: T.cdist(T.ones(2, 2), T.ones(2, 2), -1.0),
    lambda T: T.cdist(T.ones(2, 2), T.ones(2, 2), compute_mode="bad"),
    lambda T: T.cdist(T.ones(2, 2).int(), T.ones(2, 2).int()),
    lambda T: T.cdist(T.ones(2, 2).double(), T.ones(2, 2)),
    lambda T: T.pdist(T.ones(2)),
    lambda T: T.pdist(T.ones(2, 2), -1.0),
    lambda T: T.cosine_similarity(T.ones(2), T.ones(2)),
    lambda T: T.cosine_similarity(T.ones(2).int(), T.ones(2).int(), 0),
    lambda T: T.cosine_similarity(T.ones(2, 3), T.ones(2, 2)),
    lambda T: T.nn.functional.normalize(T.ones(2)),
    lambda T: T.nn.functional.normalize(T.ones(2).int(), dim=0),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_pytorchs(wrong: Callable[[Any], Any]):
    ours, theirs = refusals(wrong)
    beginning = theirs.split("\n")[0].split(" (position")[0].rstrip(".")[:60]
    assert beginning in ours


@pytest.mark.parametrize("rows", [2, 30])
def test_rows_that_are_equal_pull_at_each_other_with_nothing(rows: int):
    x = autokit.tensor(np.arange(rows * 2.0).reshape(rows, 2) // 8, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    autokit.cdist(x, y).sum().backward()
    differences = x.detach().numpy()[:, None] - y.detach().numpy()
    sizes = np.sqrt((differences**2).sum(-1, keepdims=True))
    pulls = np.divide(differences, sizes, out=np.zeros_like(differences), where=sizes > 0)
    np.testing.assert_allclose(x.grad.numpy(), pulls.sum(1), atol=1e-12)
    np.testing.assert_allclose(y.grad.numpy(), -pulls.sum(0), atol=1e-12)
