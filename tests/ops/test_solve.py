"""Systems of equations, inverses, determinants and least squares beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, numbers, refused


def positive(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    a = numbers(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def triangle(*shape: int) -> np.ndarray:
    """Lower triangles, far from singular."""
    return np.tril(numbers(*shape)) / 2 + 2 * np.eye(shape[-1])


SIZES = [(3, 3), (2, 2, 2), (1, 1)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "program",
    [
        lambda T, a: T.linalg.inv(a),
        lambda T, a: a.inverse(),
        lambda T, a: T.linalg.slogdet(a),
        lambda T, a: a.slogdet().logabsdet,
        lambda T, a: T.matrix_power(a, 3),
        lambda T, a: (T.matrix_power(a, 1), T.matrix_power(a, 6)),
        lambda T, a: a.matrix_power(-2),
        lambda T, a: T.linalg.pinv(a),
        lambda T, a: T.linalg.pinv(a + a.mT, hermitian=True),
    ],
)
def test_functions_of_square_matrices(program: Any, size: tuple[int, ...]):
    compare(program, numbers(*size) + 2 * np.eye(size[-1]), tolerance=1e-7)


def test_powers_zero_and_one_are_results_of_their_own():
    compare(lambda T, a: T.matrix_power(a, 0), np.array([[np.nan, np.inf], [0, 1]]), gradients=False)
    x = autokit.eye(2)
    autokit.matrix_power(x, 1).mul_(2)
    assert x.tolist() == [[1, 0], [0, 1]]


def test_the_logarithm_of_a_determinant():
    compare(lambda T, a: T.logdet(a), positive(2, 3, 3), tolerance=1e-7)
    compare(lambda T, a: a.logdet(), -np.eye(3), gradients=False)
    assert autokit.slogdet(autokit.eye(2))._fields == ("sign", "logabsdet")


def test_determinants():
    for size in ((3, 3), (2, 2, 2)):
        compare(lambda T, a: T.det(a), numbers(*size), tolerance=1e-7)
    singular = autokit.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    singular.det().backward()
    np.testing.assert_allclose(singular.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-5)  # the cofactors


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3, 2)),
        ((3, 3), (3,)),
        ((2, 3, 3), (2, 3)),
        ((2, 3, 3), (2, 3, 1)),
        ((2, 1, 2, 2), (3, 2, 2)),
        ((0, 0), (0, 2)),
    ],
)
def test_solving(left: tuple[int, ...], right: tuple[int, ...]):
    matrices = numbers(*left) + 3 * np.eye(left[-1])
    compare(lambda T, a, b: T.linalg.solve(a, b), matrices, numbers(*right, seed=1), tolerance=1e-7)


def test_solving_from_the_right():
    compare(lambda T, a, b: T.linalg.solve(a, b, left=False), numbers(3, 3) + 3 * np.eye(3), numbers(2, 3))


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_solving_with_a_triangle(upper: bool, left: bool, unit: bool):
    compare(
        lambda T, a, b: T.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit),
        triangle(2, 3, 3) + np.swapaxes(triangle(2, 3, 3), -1, -2),
        numbers(2, 3, 3, seed=1),
        tolerance=1e-7,
    )


@pytest.mark.parametrize(
    "program",
    [
        lambda T, a, b: T.linalg.solve_triangular(a, b[None], upper=False),
        lambda T, a, b: T.cholesky_solve(b, a.tril()),
        lambda T, a, b: b.cholesky_solve(a.tril().mT, upper=True),
    ],
)
def test_other_ways_to_solve(program: Any):
    compare(program, triangle(3, 3), numbers(3, 2, seed=1), tolerance=1e-7)


@pytest.mark.parametrize("size", [(3, 2), (2, 3), (2, 3, 2)])
def test_pseudoinverses(size: tuple[int, ...]):
    compare(lambda T, a: T.linalg.pinv(a), numbers(*size), tolerance=1e-7)


def test_what_counts_as_zero():
    spread = np.diag([3.0, 2.0, 0.5])
    compare(lambda T, a: T.linalg.pinv(a, rtol=0.3), spread, second=False)
    for program in (
        lambda T, a: T.linalg.matrix_rank(a),
        lambda T, a: T.linalg.matrix_rank(a, tol=1.0),
        lambda T, a: T.linalg.matrix_rank(a, rtol=0.7),
        lambda T, a: (
            T.linalg.matrix_rank(a, atol=0.6, rtol=0.1),
            T.linalg.matrix_rank(a, atol=0.1, rtol=0.7),
        ),
        lambda T, a: T.linalg.matrix_rank(a, hermitian=True),
    ):
        for array in (spread, np.ones((3, 3)), np.zeros((2, 2)), numbers(2, 3, 3)):
            compare(program, array, gradients=False)


@pytest.mark.parametrize(
    ("left", "right"),
    [((4, 2), (4, 3)), ((2, 2), (2, 1)), ((2, 3), (2, 1)), ((2, 3, 2), (2, 3)), ((4, 2), (4,))],
)
def test_least_squares(left: tuple[int, ...], right: tuple[int, ...]):
    arrays = numbers(*left) + np.eye(*left[-2:]), numbers(*right, seed=1)
    compare(lambda T, a, b: T.linalg.lstsq(a, b).solution, *arrays, tolerance=1e-7)
    compare(lambda T, a, b: T.linalg.lstsq(a, b), *arrays, gradients=False)
    compare(lambda T, a, b: T.linalg.lstsq(a, b, driver="gelsd"), *arrays, gradients=False)


@pytest.mark.parametrize(("left", "right"), [((0, 2, 2), (0, 2, 1)), ((2, 2), (2, 0))])
def test_where_there_is_nothing_to_solve(left: tuple[int, ...], right: tuple[int, ...]):
    arrays = np.zeros(left), np.zeros(right)
    compare(lambda T, a, b: T.linalg.solve_triangular(a, b, upper=True), *arrays)
    compare(lambda T, a, b: T.linalg.lstsq(a, b).solution, *arrays)


def test_least_squares_of_matrices_of_different_ranks():
    arrays = np.stack([np.eye(3, 2), np.ones((3, 2))]), numbers(2, 3, 1)
    compare(lambda T, a, b: T.linalg.lstsq(a, b)[::2], *arrays, gradients=False)


def o(T: Any, *shape: int) -> Any:
    return T.ones(*shape)


WRONG = [
    (lambda T: T.linalg.inv(o(T, 2, 3)), "2 by 3 matrices"),
    (lambda T: T.linalg.solve(T.eye(2), o(T, 3)), "must have 2 rows"),
    (lambda T: T.linalg.matrix_rank(o(T, 3)), "at least 2 dimensions"),
    (lambda T: T.linalg.lstsq(o(T, 3, 2), o(T, 2, 2)), "input.size(-2) should match"),
]

test_errors_say_what_does_not_fit = refused(WRONG)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda T: T.linalg.inv(o(T, 2, 2)),
        lambda T: T.linalg.solve(o(T, 2, 2), o(T, 2)),
        lambda T: T.linalg.cholesky(-T.eye(3)),
        lambda T: T.linalg.svd(o(T, 2, 2) * float("nan")),
    ],
)
def test_a_matrix_without_an_answer_says_so(wrong: Any):
    import torch

    for T in (autokit, torch):
        with pytest.raises(T.linalg.LinAlgError):
            wrong(T)
    assert issubclass(autokit.linalg.LinAlgError, RuntimeError)


def test_integers_are_refused_with_the_way_out():
    for name in ("inv", "det", "slogdet", "cholesky", "qr", "svd", "eigh", "pinv", "matrix_rank"):
        with pytest.raises((RuntimeError, NotImplementedError), match=r"convert with \.float\(\)"):
            getattr(autokit.linalg, name)(autokit.ones(2, 2).int())
