"""Cholesky, QR, singular values and eigenvalues beside PyTorch's; signs of vectors do not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.ops.test_solve import SIZES, positive
from tests.oracle import compare, compare_errors, numbers


def signless(results: Any) -> Any:
    return tuple(each.abs() for each in results)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "program",
    [
        lambda T, a: T.linalg.cholesky(a),
        lambda T, a: T.linalg.cholesky(a, upper=True),
        lambda T, a: T.linalg.cholesky(a.triu(), upper=True),
        lambda T, a: signless(T.linalg.eigh(a)),
        lambda T, a: signless(T.linalg.eigh(a, UPLO="U")),
        lambda T, a: T.linalg.eigvalsh(a),
    ],
)
def test_symmetric_matrices(program: Any, size: tuple[int, ...]):
    compare(program, positive(*size), tolerance=1e-6)


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 1)])
@pytest.mark.parametrize(
    "program",
    [
        lambda T, a: T.linalg.qr(a),
        lambda T, a: T.linalg.qr(a).Q,
        lambda T, a: a.qr()[1],
        lambda T, a: T.linalg.svdvals(a),
        lambda T, a: signless(T.linalg.svd(a, full_matrices=False)),
        lambda T, a: signless(a.svd()),
    ],
)
def test_rectangular_matrices(program: Any, size: tuple[int, ...]):
    compare(program, numbers(*size) + np.eye(*size[-2:]) * [1, 3, 6, 9][: size[-1]], tolerance=1e-6)


def test_modes_of_qr():
    compare(lambda T, a: T.linalg.qr(a, mode="complete"), numbers(2, 4), tolerance=1e-7)
    compare(lambda T, a: T.linalg.qr(a, mode="complete"), numbers(4, 2), gradients=False)
    compare(lambda T, a: T.linalg.qr(a, mode="r"), numbers(4, 2), gradients=False)
    assert "mode 'foo'" in compare_errors(lambda T: T.linalg.qr(T.eye(2), "foo"))
    for mode, part in (("complete", 0), ("r", 1)):
        q_or_r = autokit.linalg.qr(autokit.ones(3, 2, requires_grad=True), mode)[part]
        with pytest.raises(RuntimeError, match="use mode='reduced'"):
            q_or_r.sum().backward()


def test_losses_that_no_sign_changes():
    spread = numbers(3, 4) + np.eye(3, 4) * [1, 3, 6, 0]

    def low_rank(T: Any, a: Any) -> Any:
        u, s, vh = T.linalg.svd(a, full_matrices=False)
        return (u[:, :1] * s[:1]) @ vh[:1]

    def logarithm(T: Any, a: Any) -> Any:
        values, vectors = T.linalg.eigh(a)
        return (vectors * values.log()) @ vectors.mT

    compare(low_rank, spread, tolerance=1e-6)
    compare(logarithm, positive(3, 3), tolerance=1e-6)


def test_full_matrices_have_the_shapes_of_pytorchs():
    for size in ((3, 2), (2, 3)):
        found = [each.shape for each in autokit.linalg.svd(autokit.tensor(numbers(*size)))]
        assert found == [(size[0], size[0]), (2,), (size[1], size[1])]


# ---------------------------------------------------------------- eigenvalues that may be complex


def test_real_eigenvalues_of_any_matrix_and_their_gradients():
    start = np.triu(numbers(3, 3)) + np.diag([1, 4, 9.0])

    def real(x: Any) -> Any:
        return x.real if "complex" in str(x.dtype) else x

    compare(lambda T, a: real(T.linalg.eigvals(a)), start, tolerance=1e-7)
    compare(lambda T, a: signless(map(real, T.linalg.eig(a))), start, tolerance=1e-7)
    values, vectors = autokit.linalg.eig(autokit.tensor(start))
    np.testing.assert_allclose((vectors * values).numpy(), start @ vectors.numpy(), atol=1e-12)


def test_complex_eigenvalues_are_refused_with_the_way_out():
    turn = autokit.tensor([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(NotImplementedError, match=r"numpy\.linalg\.eigvals"):
        autokit.linalg.eigvals(turn)
    with pytest.raises(RuntimeError, match="infs or NaNs"):
        autokit.linalg.eig(turn * float("nan"))
