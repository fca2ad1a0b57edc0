"""Norms and distances beside PyTorch's: values, gradients, kinks, ties and errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.autograd import gradcheck, gradgradcheck
from tests.oracle import agreeing, compare, numbers, refused

INF = math.inf
ROWS = np.array([[1.0, 2.0, 0.5], [0.0, 1.8, -1.0], [0.3, -0.6, 1.5], [0.9, 1.7, 0.2]])
OTHERS = np.array([[0.2, 1.1, 1.5], [1.0, 2.2, 0.6]])


@pytest.mark.parametrize("p", [2, 1, 3, 1.5, 0.5, -1, -2.5, INF, -INF, "fro", None])
@pytest.mark.parametrize(
    ("rest", "shape"),
    [({}, (2, 3)), ({"dim": 1}, (2, 3)), ({"dim": (0, -1), "keepdim": True}, (2, 3, 2)), ({"dim": 0}, ())],
)
def test_norms_of_vectors(p: Any, rest: dict[str, Any], shape: tuple[int, ...]):
    compare(lambda T, a: T.norm(a, p, **rest), numbers(*shape))


NORMS = [
    lambda T, a: a.norm(),
    lambda T, a: a.norm(p=1, dim=0, keepdim=True, dtype=T.float64),
    lambda T, a: a.norm("nuc"),
    lambda T, a: T.linalg.norm(a),
    lambda T, a: T.linalg.norm(a, 1, dim=1, keepdim=True),
    lambda T, a: T.linalg.norm(a[0], 3),
    lambda T, a: T.linalg.norm(a, 2),
    lambda T, a: T.linalg.cond(a),
    lambda T, a: T.dist(a, a.detach() + 1, 3),
    lambda T, a: a.dist(a.detach().flip(0)),
    lambda T, a: T.nn.functional.normalize(a),
]

test_norms_of_a_matrix = agreeing([(program, (3, 4)) for program in NORMS], tolerance=1e-7)


def test_zeros_are_counted_and_ties_share_the_gradient():
    array = np.array([[0.0, 1, 2], [3, 0, 0]])
    compare(lambda T, a: a.norm(0, 1), array, gradients=False)
    for p in (2, 1, 3, INF, -INF):
        compare(lambda T, a, p=p: T.linalg.vector_norm(a, p), np.array([0.0, -2, 2, 0]), second=False)
    compare(lambda T, a: a.norm(), np.zeros(0), second=False)
    compare(lambda T, a: T.linalg.vector_norm(a, dim=[]), numbers(2, 3))
    compare(lambda T, a: T.norm(a), np.array([300.0, 300.0], np.float16), second=False)


@pytest.mark.parametrize("p", ["fro", "nuc", 1, -1, 2, -2, INF, -INF])
@pytest.mark.parametrize("dim", [(-2, -1), (0, 2), (1, 0)])
def test_norms_of_matrices(p: Any, dim: tuple[int, int]):
    compare(lambda T, a: T.linalg.matrix_norm(a, p, dim=dim), numbers(2, 3, 4), tolerance=1e-6)
    compare(lambda T, a: T.linalg.matrix_norm(a, p, dim=dim, keepdim=True), numbers(2, 3, 4), gradients=False)


def test_condition_numbers():
    regular = numbers(2, 3, 3) + 3 * np.eye(3)
    for p in (None, 2, 1, "fro", "nuc", INF):
        compare(lambda T, a, p=p: T.linalg.cond(a, p), regular, gradients=False, tolerance=1e-7)
        assert gradcheck(
            lambda a, p=p: autokit.linalg.cond(a, p), autokit.tensor(regular[0], requires_grad=True)
        )
    batch = np.stack([np.ones((2, 2)), np.diag([1.0, 2.0])])  # a singular matrix beside another
    compare(lambda T, a: (T.linalg.cond(a, "fro"), T.linalg.cond(a, 1)), batch, gradients=False)


def test_at_the_kink_the_gradient_is_zero():
    for p in (1, 1.5, 2, 3):
        for program in (
            lambda T, x, p=p: T.norm(x, p, 0),
            lambda T, x, p=p: T.dist(x, x.detach(), p),
            lambda T, x, p=p: T.nn.functional.normalize(x, p, 0),
            lambda T, x: T.cosine_similarity(x, T.ones_like(x), 0),
        ):
            compare(program, np.zeros(3), second=False)


# ---------------------------------------------------------------- distances


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0, INF])
def test_distances_and_their_gradients(p: float):
    compare(lambda T, a, b: T.cdist(a, b, p), ROWS, OTHERS, second=False)
    compare(lambda T, a, b: T.cdist(a, b, p), np.stack([ROWS, ROWS[::-1]]), OTHERS, second=False)
    compare(lambda T, a: T.cdist(a, a, p), ROWS, second=False)


def test_distances_of_many_rows_go_through_a_product_and_lose_little():
    far = numbers(30, 4) + 100
    exact = autokit.linalg.vector_norm(autokit.tensor(far[:, None] - (far[:7] + 0.1)), dim=-1)
    np.testing.assert_allclose(
        autokit.cdist(autokit.tensor(far), autokit.tensor(far[:7] + 0.1)).numpy(), exact.numpy(), rtol=1e-9
    )
    compare(lambda T, a, b: T.cdist(a, b), far, far[:7] + 0.1, second=False)


def test_distances_can_be_differentiated_twice():
    a = autokit.tensor(ROWS, requires_grad=True)
    b = autokit.tensor(numbers(30, 3), requires_grad=True)
    for program in (
        lambda a, b: autokit.cdist(a, b[:2], 3.0),
        lambda a, b: autokit.cdist(a, b)[:, :3],
    ):
        assert gradcheck(program, (a, b)) and gradgradcheck(program, (a, b))


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


PAIRS = [
    (lambda T, a, b: T.pairwise_distance(a, b, 1, keepdim=True), (4, 3), (4, 3)),
    (lambda T, a, b: T.nn.functional.pairwise_distance(a, b, 3), (4, 3), (3,)),
    (lambda T, a, b: T.cosine_similarity(a, b), (3, 4), (3, 4)),
    (lambda T, a, b: T.cosine_similarity(a, b, dim=-1), (2, 3, 4), (4,)),
    (lambda T, a, b: T.nn.functional.cosine_similarity(a, b, dim=0), (4,), (4,)),
]

test_distances_and_cosines_of_pairs = agreeing(PAIRS)


def o(T: Any, *shape: int) -> Any:
    return T.ones(*shape)


WRONG = [
    (lambda T: T.norm(o(T, 2), "x"), "there are numbers, 'fro' and 'nuc'"),
    (lambda T: T.norm(T.tensor([1, 2])), "needs floating point numbers"),
    (lambda T: T.linalg.norm(o(T, 2, 2), 3), "Order 3 not supported"),
    (lambda T: T.dist(o(T, 2), o(T, 3)), "must match"),
    (lambda T: T.cdist(o(T, 2, 3), o(T, 2, 2)), "same number of columns"),
    (lambda T: T.cdist(o(T, 30, 2).int(), o(T, 30, 2)), "floating point"),
    (lambda T: T.cdist(o(T, 2, 2), o(T, 2, 2), -1.0), "non-negative p"),
]

test_errors_say_what_does_not_fit = refused(WRONG)
