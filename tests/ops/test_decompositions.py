"""Solving and decomposing: PyTorch's errors, results under names, and what the cases cannot compare."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.libraries import on_each
from tests.ops.cases import CASES
from tests.support import require


def o(T: Any, *shape: int) -> Any:
    return T.ones(*shape)


def i(T: Any, *shape: int) -> Any:
    return T.ones(*shape).int()


SQUARE = "A must be batches of square matrices, but they are 2 by 3 matrices"
SINGULAR = "zero, the inversion could not be completed because the input matrix is singular."
MINOR = "could not be completed because the input is not positive-definite (the leading minor of"
INF = float("inf")

WRONG = [
    (
        lambda T: T.linalg.eigvals(T.tensor(np.eye(3, k=1), requires_grad=True)).real.sum().backward(),
        "LinAlgError",
        "torch.linalg.solve: The solver failed because the input matrix is singular.",
    ),
    (lambda T: T.linalg.ldl_factor(o(T, 2, 3)), RuntimeError, SQUARE),
    (lambda T: T.linalg.ldl_factor(o(T, 2)), RuntimeError, "at least 2 dimensions"),
    (lambda T: T.linalg.ldl_factor(i(T, 2, 2)), RuntimeError, "Expected a floating point or complex tensor"),
    (lambda T: T.linalg.ldl_factor(o(T, 2, 2).half()), NotImplementedError, "not implemented for 'Half'"),
    (lambda T: T.linalg.ldl_factor(T.zeros(2, 2)), RuntimeError, "torch.linalg.ldl_factor: "),
    (
        lambda T: T.linalg.ldl_factor_ex(T.zeros(2, 2), check_errors=True),
        RuntimeError,
        "torch.linalg.ldl_factor_ex: ",
    ),
    *(
        (lambda T, p=pivots, b=b: T.linalg.ldl_solve(T.eye(2), T.tensor(p), b(T)), kind, words)
        for pivots, b, kind, words in (
            ([1, 0], lambda T: o(T, 2, 1), RuntimeError, "must all satisfy |pivot| >= 1"),
            ([1, 3], lambda T: o(T, 2, 1), RuntimeError, "must all satisfy |pivot| <= LD.size(-2)"),
            (
                [1],
                lambda T: o(T, 2, 1),
                RuntimeError,
                "Expected LD.shape[:-1] and pivots.shape to be the same",
            ),
            ([1.0, 2.0], lambda T: o(T, 2, 1), RuntimeError, "Expected pivots to be integers"),
            (
                [1, 2],
                lambda T: o(T, 3, 1),
                RuntimeError,
                "each A matrix is 2 by 2 but each b matrix is 3 by 1",
            ),
            ([1, 2], lambda T: o(T, 2), IndexError, "imension"),
            ([1, 2], lambda T: o(T, 2, 1).double(), RuntimeError, "to have the same dtype"),
        )
    ),
    *(
        (lambda T, f=function: getattr(T.linalg, f)(o(T, 2, 3)), RuntimeError, f"linalg.{name}: {SQUARE}")
        for function, name in (
            ("inv", "inv"),
            ("det", "det"),
            ("slogdet", "slogdet"),
            ("cholesky", "cholesky"),
            ("eigh", "eigh"),
            ("eigvalsh", "eigh"),
            ("eig", "eig"),
            ("matrix_exp", "matrix_exp"),
        )
    ),
    *(
        (lambda T, f=function: getattr(T.linalg, f)(o(T, 2)), RuntimeError, "at least 2 dimensions")
        for function in (
            "inv",
            "det",
            "slogdet",
            "cholesky",
            "eigh",
            "eig",
            "matrix_exp",
            "qr",
            "svd",
            "svdvals",
            "matrix_rank",
            "matrix_norm",
            "cond",
        )
    ),
    *(
        (lambda T, f=function: getattr(T.linalg, f)(i(T, 2, 2)), RuntimeError, "Got Int")
        for function in (
            "inv",
            "det",
            "slogdet",
            "cholesky",
            "matrix_exp",
            "qr",
            "svd",
            "norm",
            "matrix_norm",
        )
    ),
    (lambda T: T.inverse(o(T, 2, 3)), RuntimeError, f"linalg.inv: {SQUARE}"),
    (lambda T: T.logdet(o(T, 2, 3)), RuntimeError, f"logdet: {SQUARE}"),
    (
        lambda T: T.linalg.inv(o(T, 2, 2).half()),
        RuntimeError,
        "linalg.inv: Low precision dtypes not supported. Got Half",
    ),
    (lambda T: T.linalg.inv(o(T, 2, 2)), "LinAlgError", f"linalg.inv: The diagonal element 2 is {SINGULAR}"),
    (
        lambda T: T.linalg.inv(T.zeros(3, 2, 2)),
        "LinAlgError",
        f"linalg.inv: (Batch element 0): The diagonal element 1 is {SINGULAR}",
    ),
    (lambda T: T.linalg.inv_ex(o(T, 2, 2), check_errors=True), "LinAlgError", "linalg.inv_ex: The diagonal"),
    (
        lambda T: T.matrix_power(o(T, 2, 2), -1),
        "LinAlgError",
        f"linalg.inv: The diagonal element 2 is {SINGULAR}",
    ),
    (lambda T: T.linalg.solve(o(T, 2, 3), o(T, 2)), RuntimeError, f"linalg.solve: {SQUARE}"),
    (
        lambda T: T.linalg.solve(o(T, 2, 2), o(T, 2)),
        "LinAlgError",
        "torch.linalg.solve: The solver failed because the input matrix is singular.",
    ),
    (
        lambda T: T.linalg.solve(o(T, 3, 2, 2), o(T, 3, 2)),
        "LinAlgError",
        "torch.linalg.solve: (Batch element 0): The solver failed",
    ),
    (
        lambda T: T.linalg.solve(T.eye(2), o(T, 3)),
        RuntimeError,
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
    ),
    (
        lambda T: T.linalg.solve(T.eye(2), o(T, 2).double()),
        RuntimeError,
        "linalg.solve: Expected A and B to have "
        "the same dtype, but found A of type Float and B of type Double instead",
    ),
    (
        lambda T: T.linalg.solve(T.eye(2).expand(3, 2, 2), o(T, 2, 2, 1)),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    (
        lambda T: T.linalg.solve_triangular(o(T, 2, 2), o(T, 2), upper=True),
        RuntimeError,
        "linalg.solve_triangular: The input tensor B must have at least 2 dimensions.",
    ),
    (lambda T: T.linalg.solve_triangular(o(T, 2, 2), o(T, 3, 2), upper=True), RuntimeError, "(2x2 and 3x2)"),
    (lambda T: T.linalg.solve_triangular(o(T, 2, 2), o(T, 2, 2)), TypeError, "upper"),
    (
        lambda T: T.linalg.cholesky(-T.eye(3)),
        "LinAlgError",
        f"linalg.cholesky: The factorization {MINOR} order 1",
    ),
    (lambda T: T.linalg.cholesky(T.tensor([[1.0, 0], [0, -1]])), "LinAlgError", f"{MINOR} order 2"),
    (lambda T: T.linalg.cholesky(-o(T, 2, 2, 2)), "LinAlgError", "linalg.cholesky: (Batch element 0): "),
    (lambda T: T.cholesky(-o(T, 2, 2)), "LinAlgError", f"cholesky: The factorization {MINOR} order 1"),
    (
        lambda T: T.cholesky_solve(o(T, 2), o(T, 2, 2)),
        RuntimeError,
        "b should have at least 2 dimensions, but has 1 dimensions instead",
    ),
    (
        lambda T: T.cholesky_solve(o(T, 3, 2), o(T, 2, 2)),
        RuntimeError,
        "each A matrix is 2 by 2 but each b matrix is 3 by 2",
    ),
    (lambda T: T.cholesky_inverse(o(T, 2, 3)), RuntimeError, f"cholesky_inverse: {SQUARE}"),
    (lambda T: T.cholesky_inverse(T.zeros(2, 2)), "LinAlgError", "cholesky_inverse: The diagonal element 1"),
    (
        lambda T: T.linalg.qr(o(T, 2, 2), "foo"),
        RuntimeError,
        "qr received unrecognized mode 'foo' but expected one of 'reduced' (default), 'r', or 'complete'",
    ),
    (
        lambda T: T.linalg.qr(o(T, 3, 2).requires_grad_(), "complete")[0].sum().backward(),
        RuntimeError,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols",
    ),
    (
        lambda T: T.linalg.qr(o(T, 3, 2).requires_grad_(), "r")[1].sum().backward(),
        RuntimeError,
        "depends on Q, which is not computed when mode='r'",
    ),
    (
        lambda T: T.linalg.svd(o(T, 2, 2) * float("nan")),
        "LinAlgError",
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
    ),
    (
        lambda T: T.linalg.eigh(o(T, 2, 2), "X"),
        RuntimeError,
        "Expected UPLO argument to be 'L' or 'U', but got X",
    ),
    (
        lambda T: T.linalg.eigh(i(T, 2, 2)),
        NotImplementedError,
        "\"linalg_eigh_cpu\" not implemented for 'Int'",
    ),
    (
        lambda T: T.linalg.eig(o(T, 2, 2) * float("nan")),
        RuntimeError,
        "input tensor should not contain infs or NaNs.",
    ),
    (
        lambda T: T.linalg.lstsq(o(T, 2), o(T, 2)),
        RuntimeError,
        "torch.linalg.lstsq: input must have at least 2 dimensions.",
    ),
    (
        lambda T: T.linalg.lstsq(o(T, 3, 2), o(T, 2, 2)),
        RuntimeError,
        "torch.linalg.lstsq: input.size(-2) should match other.size(-2)",
    ),
    (
        lambda T: T.linalg.lstsq(o(T, 3, 2), o(T, 3, 2), driver="foo"),
        RuntimeError,
        "parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
    ),
    (
        lambda T: T.linalg.lstsq(o(T, 2, 2), o(T, 2, 2), driver="gels"),
        "LinAlgError",
        "does not have full rank (error code: 2).",
    ),
    (
        lambda T: T.linalg.pinv(o(T, 2)),
        RuntimeError,
        "linalg.pinv(Float{[2]}): expected a tensor with 2 or more dimensions",
    ),
    (
        lambda T: T.linalg.matrix_rank(i(T, 2, 2)),
        RuntimeError,
        "This function doesn't handle types other than float and double",
    ),
    (lambda T: T.linalg.cond(o(T, 2, 3), 1), RuntimeError, f"linalg.cond(ord=1): {SQUARE}"),
    (lambda T: T.linalg.cond(o(T, 2, 2), 3), RuntimeError, "linalg.cond got an invalid norm type: 3"),
    (
        lambda T: T.linalg.lu(o(T, 2)),
        RuntimeError,
        "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [2] instead",
    ),
    (lambda T: T.linalg.lu(i(T, 2, 2)), NotImplementedError, "\"lu_cpu\" not implemented for 'Int'"),
    (
        lambda T: T.linalg.lu_factor(o(T, 2, 2)),
        RuntimeError,
        "torch.linalg.lu_factor: U[2,2] is zero and using it on lu_solve would result in a division by zero.",
    ),
    (
        lambda T: T.linalg.lu_factor(o(T, 2, 2), pivot=False),
        RuntimeError,
        "linalg.lu_factor: LU without pivoting is not implemented on the CPU",
    ),
    (
        lambda T: T.linalg.lu_solve(o(T, 2, 2), o(T, 2), o(T, 2, 2)),
        RuntimeError,
        "pivots should be a Tensor of scalar type torch.int32",
    ),
    (
        lambda T: T.linalg.norm(o(T, 2, 2, 2), "fro"),
        RuntimeError,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D",
    ),
    (lambda T: T.linalg.norm(o(T, 2, 2), 3), RuntimeError, "linalg.matrix_norm: Order 3 not supported."),
    (
        lambda T: T.linalg.norm(o(T, 2, 2), "foo"),
        RuntimeError,
        "linalg.matrix_norm: Order foo not supported.",
    ),
    (
        lambda T: T.linalg.norm(o(T, 2, 2), dim=3),
        IndexError,
        "(expected to be in range of [-2, 1], but got 3)",
    ),
    (
        lambda T: T.linalg.norm(o(T, 2, 2), dim=(0, 0)),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (lambda T: T.linalg.vector_norm(o(T, 2), ord="fro"), TypeError, "argument 'ord' must be Number, not str"),
    (
        lambda T: T.linalg.vector_norm(o(T, 0), ord=INF),
        RuntimeError,
        "linalg.vector_norm cannot compute the inf "
        "norm on an empty tensor because the operation does not have an identity",
    ),
    (
        lambda T: T.linalg.vector_norm(o(T, 2), dtype=T.int32),
        RuntimeError,
        "dtype should be floating point or complex",
    ),
    (
        lambda T: T.linalg.vector_norm(o(T, 2).double(), dtype=T.float32),
        RuntimeError,
        "should be convertible without narrowing to the specified dtype",
    ),
    (
        lambda T: T.linalg.matrix_norm(o(T, 2, 2), dim=(0,)),
        RuntimeError,
        "linalg.matrix_norm: dim must be a 2-tuple. Got 0",
    ),
    (
        lambda T: T.linalg.matrix_norm(o(T, 2, 2), dim=(0, 0)),
        RuntimeError,
        "linalg.matrix_norm: dims must be different. Got (0, 0)",
    ),
    (
        lambda T: T.linalg.multi_dot([o(T, 2, 2)]),
        RuntimeError,
        "multi_dot(): expected at least 2 tensors but got 1",
    ),
    (
        lambda T: T.linalg.multi_dot([o(T, 2, 2), o(T, 3, 2)]),
        RuntimeError,
        "multi_dot(): tensors 0 and 1 with shapes [2, 2] and [3, 2] cannot be multiplied",
    ),
    (
        lambda T: T.linalg.multi_dot([o(T, 2, 2), o(T, 2, 2, 2), o(T, 2, 2)]),
        RuntimeError,
        "multi_dot(): tensor 1 must be 2D but got 3D",
    ),
    (
        lambda T: T.linalg.multi_dot([o(T, 2, 2), o(T, 2, 2).double()]),
        RuntimeError,
        "multi_dot(): all tensors must have be the same dtype but tensor 0 is float and tensor 1 double",
    ),
    (
        lambda T: T.linalg.vecdot(i(T, 2), i(T, 2)),
        RuntimeError,
        "linalg.vecdot: Expected a floating point or complex tensor as input. Got Int",
    ),
]


@on_each
@pytest.mark.parametrize(("wrong", "kind", "message"), WRONG)
def test_the_type_and_the_words(T: Any, wrong: Callable[..., Any], kind: Any, message: str):
    with pytest.raises(T.linalg.LinAlgError if kind == "LinAlgError" else kind, match=re.escape(message)):
        wrong(T)


def test_every_function_of_linalg_has_a_case():
    assert {f"linalg.{name}" for name in autokit.linalg.__all__} - {case.name for case in CASES} == {
        "linalg.LinAlgError"
    }


def test_results_have_names_and_print_as_pytorchs():
    found = autokit.linalg.eigh(autokit.tensor([[2.0, 0.0], [0.0, 1.0]]))
    assert repr(found).startswith(
        "torch.return_types.linalg_eigh(\neigenvalues=tensor([1., 2.]),\neigenvectors=tensor([["
    )
    values, vectors = found
    assert found.eigenvalues is values and found[1] is vectors
    assert repr(autokit.slogdet(autokit.eye(2))) == (
        "torch.return_types.slogdet(\nsign=tensor(1.),\nlogabsdet=tensor(0.))"
    )


def test_a_turn_has_complex_eigenvalues_and_the_angles_of_its_eigenvectors_no_gradient():
    turn = autokit.tensor([[0.0, 1.0], [-1.0, 0.0]], requires_grad=True)
    values, vectors = autokit.linalg.eig(turn)
    assert sorted(each.imag for each in values.tolist()) == [-1, 1]
    with pytest.raises(RuntimeError, match="up to multiplication by e"):
        vectors.angle().sum().backward()


def test_a_singular_matrix_has_the_cofactors_as_the_gradient_of_its_determinant():
    a = autokit.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    autokit.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-5)


def test_gradients_that_pytorch_cannot_give_agree_with_differences():
    random = np.random.RandomState(0)
    start = random.normal(size=(3, 3)) + 3 * np.eye(3)
    for p in (1, "fro", "nuc", INF):
        a = autokit.tensor(start, requires_grad=True)
        autokit.linalg.cond(a, p).backward()
        step, direction = 1e-6, random.normal(size=(3, 3))
        ends = [autokit.linalg.cond(autokit.tensor(start + s * direction), p).item() for s in (step, -step)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx((a.grad.numpy() * direction).sum(), rel=1e-5)


@pytest.mark.parametrize("p", [2, 3, 1.5])
def test_a_norm_at_its_kink_has_the_gradient_zero(p: float):
    x = autokit.zeros(3, requires_grad=True)
    autokit.linalg.vector_norm(x, p).backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_infos_name_the_first_failure():
    assert autokit.linalg.inv_ex(autokit.ones(2, 2)).info.item() == 2
    assert autokit.linalg.solve_ex(autokit.ones(2, 2), autokit.ones(2, 1)).info.item() == 2
    assert autokit.linalg.cholesky_ex(-autokit.ones(2, 2)).info.item() == 1
    assert autokit.linalg.lu_factor_ex(autokit.ones(2, 2)).info.item() == 2


def test_factors_multiply_to_the_matrix():
    a = autokit.tensor(np.random.RandomState(1).normal(size=(2, 4, 3)))
    p, lower, upper = autokit.linalg.lu(a)
    assert autokit.allclose(p @ lower @ upper, a)
    q, r = autokit.linalg.qr(a)
    assert autokit.allclose(q @ r, a)
    u, s, vh = autokit.linalg.svd(a, full_matrices=False)
    assert autokit.allclose((u * s.unsqueeze(-2)) @ vh, a)


# ---------------------------------------------------------------- elimination that keeps a matrix symmetric


def _symmetric(seed: int, kind: str) -> np.ndarray:
    random = np.random.RandomState(seed)
    size = random.randint(1, 9)
    a = random.normal(size=(3, size, size)) + (
        1j * random.normal(size=(3, size, size)) if kind[0] == "c" else 0
    )
    if kind == "whole":
        a = random.randint(-3, 4, (3, size, size)).astype(float)
    return a + np.swapaxes(a, -1, -2).conj() if kind == "conjugated" else a + np.swapaxes(a, -1, -2)


@pytest.mark.parametrize("kind", ["real", "complex", "conjugated"])
def test_symmetric_elimination_takes_the_pivots_of_lapack(kind: str):
    require("torch")
    import torch

    for seed in range(60):
        a = _symmetric(seed, kind)
        ours, theirs = (
            T.linalg.ldl_factor_ex(T.tensor(a), hermitian=kind == "conjugated") for T in (autokit, torch)
        )
        assert ours.pivots.tolist() == theirs.pivots.tolist()
        assert ours.info.tolist() == theirs.info.tolist()
        np.testing.assert_allclose(ours.LD.numpy(), theirs.LD.numpy(), 1e-8, 1e-10)


@pytest.mark.parametrize("kind", ["real", "complex", "conjugated", "whole"])
def test_symmetric_elimination_solves_and_gives_the_matrix_back(kind: str):
    for seed in range(30):
        a = autokit.tensor(_symmetric(seed, kind))
        hermitian = kind == "conjugated"
        LD, pivots, info = autokit.linalg.ldl_factor_ex(a, hermitian=hermitian)
        regular = autokit.linalg.cond(a) < 1e6
        assert not info[regular].any()
        inverse = autokit.linalg.ldl_solve(
            LD, pivots, autokit.eye(a.shape[-1], dtype=a.dtype), hermitian=hermitian
        )
        np.testing.assert_allclose(
            (inverse @ a)[regular].numpy(), np.broadcast_to(np.eye(a.shape[-1]), a[regular].shape), atol=1e-8
        )


@pytest.mark.parametrize(
    "nowhere", [[[1.0, math.nan], [math.nan, 2]], [[math.nan, 1], [1, 2]], [[1, INF], [INF, 2]]]
)
def test_symmetric_elimination_meets_no_numbers_as_lapack_does(nowhere: list[list[float]]):
    require("torch")
    import torch

    ours, theirs = (T.linalg.ldl_factor_ex(T.tensor(nowhere)) for T in (autokit, torch))
    for mine, other in zip(ours, theirs):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_symmetric_elimination_solves_with_a_gradient_and_factors_without():
    a = autokit.tensor(_symmetric(5, "real")[0], requires_grad=True)
    LD, pivots = autokit.linalg.ldl_factor(a)
    assert (pivots < 0).any()
    b = autokit.ones(a.shape[0], 2, dtype=autokit.float64, requires_grad=True)
    factor = LD.detach().requires_grad_()
    assert autokit.autograd.gradcheck(lambda f, b: autokit.linalg.ldl_solve(f, pivots, b), (factor, b))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        LD.sum().backward()


@pytest.mark.parametrize("pivots", [[1, -2], [-2, 2], [-2, -1], [1, 1], [-1, -1]])
def test_pivots_that_no_elimination_makes_are_refused(pivots: list[int]):
    with pytest.raises(RuntimeError, match="those of an elimination"):
        autokit.linalg.ldl_solve(autokit.eye(2), autokit.tensor(pivots), autokit.ones(2, 1))


def test_reflections_have_no_derivative_and_say_so():
    require("torch")
    for library in (autokit, importlib.import_module("torch")):
        x = library.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
        for result in library.geqrf(x):
            assert result.requires_grad and result.grad_fn.name() == "GeqrfBackward0"
            with pytest.raises(NotImplementedError, match="the derivative for 'geqrf"):
                (result.sum() + x.sum()).backward()


def test_a_matrix_that_fails_takes_no_gradient_from_the_others():
    """The loss leaves out what failed: on the way back it gets 0, and the others what each gets alone."""
    matrices = np.array([[[2.0, 0.5], [0.5, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[3.0, 1.0], [1.0, 2.0]]])
    a = autokit.tensor(matrices, requires_grad=True)
    L, info = autokit.linalg.cholesky_ex(a)
    assert info.tolist() == [0, 1, 0] and L[1].isnan().all()
    (L[info == 0].sum() + a.sum()).backward()
    for place in (0, 2):
        alone = autokit.tensor(matrices[place], requires_grad=True)
        (autokit.linalg.cholesky(alone).sum() + alone.sum()).backward()
        np.testing.assert_allclose(a.grad[place].numpy(), alone.grad.numpy())
    np.testing.assert_array_equal(a.grad[1].numpy(), np.ones((2, 2)))
