"""Complex numbers in every case of every operation, beside PyTorch: the same values and gradients, or none.

What PyTorch refuses to compute with complex numbers is refused.  What it computes has its values, and its
first and second derivatives: or a refusal, never another number.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.nn import functional as F
from tests.ops.beside import assert_same, refusals
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES
from tests.support import require

require("torch")
import torch  # noqa: E402

OTHER_NUMBERS = {
    "cholesky_inverse": "the factor's diagonal is not real, which PyTorch does not look at",
}
"""Where complex numbers make no sense in a case's own settings."""

REFUSED_HERE = {
    *("amax", "cummax", "cummin", "kthvalue", "median", "mode", "nanmedian", "softmax"),
}
"""What PyTorch computes, in some of the cases, and autokit refuses."""

WRONG_IN_PYTORCH = {"silu": "in place its way back takes no conjugates"}
"""Of these the gradients are held to differences, below."""

MORE_THAN_PYTORCH = {
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *(
        "bilinear",
        "index_reduce",
        "index_reduce_",
        "interpolate",
        "nan_to_num",
        "normal",
        "scatter",
        "scatter_reduce",
    ),
    *("scatter_reduce_", "select_scatter", "silu", "slice_scatter"),
}
"""What is computed here, or has a gradient here, and not in PyTorch."""


def complex_arrays(case: Case, seed: int) -> list[np.ndarray]:
    random = np.random.RandomState(seed)

    def imaginary(shape: tuple[int, ...]) -> np.ndarray:
        return np.where(random.uniform(size=shape) < 0.5, -1j, 1j) * random.uniform(0.2, 2, shape)

    return [each + imaginary(each.shape) if each.dtype.kind == "f" else each for each in case.arrays]


def gradients(library: Any, results: list[Any], leaves: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """The gradients by the leaves of all results, each with weights that are complex where it is."""
    ends = [each for each in results if isinstance(each, library.Tensor) and each.requires_grad]
    if not ends or not leaves:
        return [None] * len(leaves), []
    weights = []
    for place, end in enumerate(results):
        if not (isinstance(end, library.Tensor) and end.requires_grad):
            continue
        random = np.random.RandomState(100 * seed + place)
        real, imaginary = (random.uniform(-1, 1, tuple(end.shape)) for _ in range(2))
        own = real + 1j * imaginary if end.is_complex() else real
        weights.append(library.tensor(own).to(end.dtype).requires_grad_())
    return list(library.autograd.grad(ends, leaves, weights, create_graph=True, allow_unused=True)), weights


def run(library: Any, case: Case, arrays: list[np.ndarray], orders: int) -> list[list[Any]]:
    """The results, and the derivatives up to that order."""
    library.manual_seed(0)
    tensors = [library.tensor(each, requires_grad=bool(orders) and each.dtype.kind == "c") for each in arrays]
    leaves = [each for each in tensors if each.requires_grad]
    found = [flat(call(library, case, tensors))]
    for order in range(orders):
        made, weights = gradients(library, found[-1], leaves, order)
        found.append(made)
        leaves = leaves + weights
    return found


def attempt(library: Any, case: Case, arrays: list[np.ndarray], orders: int) -> list[list[Any]] | Exception:
    try:
        return run(library, case, arrays, orders)
    except Exception as error:
        return error


def same(ours: list[list[Any]], theirs: list[list[Any]]) -> None:
    for mine, other in zip(chain(*ours), chain(*theirs), strict=True):
        if isinstance(mine, autokit.Tensor) and isinstance(other, torch.Tensor):
            assert_same(mine, other.resolve_conj())
        elif isinstance(mine, autokit.Tensor) or isinstance(other, torch.Tensor):  # None for zeros
            given = mine if other is None else other
            assert not given.detach().numpy().any()
        else:
            assert type(mine).__name__ == type(other).__name__


CHOSEN = [
    (number, case)
    for number, case in enumerate(CASES)
    if case.name not in OTHER_NUMBERS
    and any(each.dtype.kind == "f" for each in case.arrays)
    and all(np.isfinite(each).all() for each in case.arrays if each.dtype.kind == "f")
]


@pytest.mark.parametrize(
    ("number", "case"), CHOSEN, ids=lambda each: each.name if isinstance(each, Case) else ""
)
def test_complex_numbers_give_pytorchs_results_and_gradients_or_are_refused(number: int, case: Case):
    arrays = complex_arrays(case, number)
    for orders in (2, 0):
        ours, theirs = (attempt(library, case, arrays, orders) for library in (autokit, torch))
        if isinstance(theirs, Exception):
            allowed = case.name in MORE_THAN_PYTORCH
            assert allowed or isinstance(ours, type(theirs) | NotImplementedError | RuntimeError), theirs
        elif isinstance(ours, Exception):
            assert case.name in REFUSED_HERE, ours
        elif orders and case.name in WRONG_IN_PYTORCH:
            continue
        else:
            same(ours, theirs)
            return


def test_nothing_is_refused_without_a_reason_any_more():
    refused = set()
    for number, case in CHOSEN:
        if case.name in REFUSED_HERE - refused:
            arrays = complex_arrays(case, number)
            for orders in (0, 2):
                ours, theirs = (attempt(library, case, arrays, orders) for library in (autokit, torch))
                if isinstance(ours, Exception) and not isinstance(theirs, Exception):
                    refused.add(case.name)
    assert refused == REFUSED_HERE


CHECKED: dict[str, Any] = {
    "silu": lambda a, b: F.silu(a),
    "silu in place": lambda a, b: F.silu(a * 1, inplace=True),
    "nan_to_num": lambda a, b: autokit.nan_to_num(a),
    "logaddexp": lambda a, b: autokit.logaddexp(a, b),
    "logcumsumexp": lambda a, b: autokit.logcumsumexp(a, 1),
    "renorm": lambda a, b: autokit.renorm(a, 2, 0, 1.0),
    "renorm to the largest": lambda a, b: autokit.renorm(a, float("inf"), 0, 0.5),
    "rms_norm": lambda a, b: F.rms_norm(a, (3,), b[0]),
    "scatter_reduce by sum": lambda a, b: autokit.scatter_reduce(a, 0, PLACES, b, "sum"),
    "scatter_reduce by mean": lambda a, b: autokit.scatter_reduce(a, 0, PLACES, b, "mean"),
    "scatter_reduce by prod": lambda a, b: autokit.scatter_reduce(a, 0, PLACES, b, "prod"),
    "index_reduce": lambda a, b: autokit.index_reduce(a, 0, PLACES[:, 0], b, "mean"),
    "sparse values": lambda a, b: autokit.sparse_coo_tensor([[0, 1]], a, (3, 3)).coalesce().values(),
    "a sparse matrix made dense": lambda a, b: autokit.sparse_coo_tensor([[0, 2]], a, (3, 3)).to_dense(),
    "a product with a sparse matrix": lambda a, b: (
        autokit.sparse_coo_tensor([[0, 1, 1], [1, 0, 2]], a[0], (2, 3)) @ b.T
    ),
    "RNN": lambda a, b: _recurrent("RNN", a, b),
    "GRU": lambda a, b: _recurrent("GRU", a, b),
    "LSTM": lambda a, b: _recurrent("LSTM", a, b),
}
"""Functions of two matrices, 2×3, some of which PyTorch gives no gradient, or a wrong one."""

PLACES = autokit.tensor([[0, 1, 1], [1, 1, 0]])


def _recurrent(kind: str, a: Any, b: Any) -> Any:
    autokit.manual_seed(0)
    layer = getattr(autokit.nn, kind)(3, 3, dtype=autokit.complex128)
    return layer(a[:, None], b[None, :1])[0] if kind != "LSTM" else layer(a[:, None], (b[None, :1],) * 2)[0]


@pytest.mark.parametrize("name", CHECKED)
def test_gradients_are_the_slopes_that_differences_show(name: str):
    a, b = (autokit.tensor(_complex_normal(seed, (2, 3)), requires_grad=True) for seed in (1, 2))
    assert autokit.autograd.gradcheck(CHECKED[name], (a, b))
    assert autokit.autograd.gradgradcheck(CHECKED[name], (a, b))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers_of_complex_numbers_are_pytorchs(kind: str):
    found, weights = [], None
    for T in (torch, autokit):
        layer = getattr(T.nn, kind)(2, 3, 2, bidirectional=True, dtype=T.complex128)
        weights = weights or {name: each.detach().numpy() for name, each in layer.named_parameters()}
        layer.load_state_dict({name: T.tensor(each) for name, each in weights.items()})
        x = T.tensor(_complex_normal(4, (5, 2, 2)), requires_grad=True)
        made = layer(x)[0]
        (made.abs() ** 2).sum().backward()
        found.append([made.detach(), x.grad, *(each.grad for each in layer.parameters())])
    for other, mine in zip(*found):
        assert_same(mine, other)


# ---------------------------------------------------------------- what is particular to them


def _scale_the_imaginary_parts(T: Any, z: Any) -> Any:
    w = z * 2
    w.imag.mul_(3)
    return w


def _set_a_row_of_real_parts(T: Any, z: Any) -> Any:
    w = z * 2
    w.real[0] = 5.0
    return w * w


def _change_the_base_of_a_view(T: Any, z: Any) -> Any:
    w = z * 2
    imaginary = w.imag
    w.mul_(1j)
    return imaginary**2


def _change_a_complex_view_of_pairs(T: Any, z: Any) -> Any:
    pairs = T.view_as_real(z * 1).clone()
    T.view_as_complex(pairs).mul_(1j)
    return pairs**3


def _change_the_pairs_of_a_complex_view(T: Any, z: Any) -> Any:
    pairs = T.view_as_real(z * 1).clone()
    whole = T.view_as_complex(pairs)
    pairs.mul_(2)
    return whole * whole.conj()


def _change_views_of_views(T: Any, z: Any) -> Any:
    w = z * 2
    T.view_as_real(w)[..., 0].add_(1)
    w.t().imag.mul_(2)
    return w


def _change_what_lies_otherwise(T: Any, z: Any) -> Any:
    w = (z * 2).t()
    w.imag.mul_(2)
    w.real = w.imag
    return w


CHANGES = [value for name, value in list(globals().items()) if name.startswith(("_change", "_set", "_scale"))]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changes_through_the_parts_of_a_tensor_reach_it_and_its_gradient(change: Any):
    found = []
    for T in (autokit, torch):
        z = T.tensor([[1 + 2j, 3 - 1j], [0.5j, -2 + 0j]], requires_grad=True)
        made = change(T, z)
        (made.abs() ** 2).sum().backward()
        found.append((made.detach(), z.grad))
    for mine, other in zip(*found):
        assert_same(mine, other)


PROGRAMS = [
    "T.tensor([1 + 2j, -0.5]), T.tensor([[1e10 + 1j, 2e-5j]]), T.zeros(2, 0, dtype=T.cfloat)",
    "z.real, z.imag, z.conj(), z.mH, z.abs(), z[0].angle(), z.sgn(), z.detach().numpy().dtype.name",
    "[T.tensor(1 + 2j).item(), complex(T.tensor(2j)), T.tensor([1j, 2]).tolist(), f'{T.tensor(1 + 2j):.2f}']",
    "z == z, z != 1j, T.equal(z, z), T.allclose(z, z + 1e-9), z.isfinite(), T.tensor([0j]).bool()",
    "T.ones(2, dtype=T.float64) * 1j, T.arange(3) * 1j, 2 * z, 1 / z, z**2, z**0.5, 2 - z, z / 2j, x + z",
    "T.result_type(x.double(), 1j), T.promote_types(T.float64, T.complex64), T.finfo(T.complex64).eps",
    "z.to(T.complex128), z.cdouble().dtype, z.type(), T.full((2,), 1j), T.eye(2, dtype=T.cfloat), z.float()",
    "T.view_as_real(z)._is_view(), z.real.grad_fn.name(), z.abs().grad_fn.name(), z.conj().grad_fn.name()",
    "z.std(), z.var(0), z.norm(), z.sum(dtype=T.cdouble), x.sum(dtype=T.cfloat), z.cumsum(0)",
    "T.randn(3, dtype=T.cfloat), T.randn(4, 5, dtype=T.cdouble)[2], T.randn_like(z)",
    "T.empty(3, dtype=T.cfloat).normal_(1, 2), T.rand_like(z), T.rand(2, dtype=T.cdouble)",
    "T.nn.Parameter(T.randn(2, dtype=T.cfloat)), T.nn.Linear(2, 1, dtype=T.cfloat)(z)",
    "T.nan_to_num(T.tensor([complex('nan+infj'), complex('-inf+1j')]), 1.0), T.nan_to_num(z.detach() / 0)",
    "T.linspace(0j, 1, 3), T.linspace(0, 1 + 1j, 3), T.logspace(0j, 1, 3), T.normal(z.detach(), 1.0)",
    "T.normal(0.0, 1.0, (2,), dtype=T.cfloat), T.normal(z.detach(), x)",
    "T.bincount(T.tensor([0, 1]), z[0].detach())",
    "T.logaddexp(T.tensor(complex('-inf+1j')), T.tensor(complex('-inf+2j')))",
    "z.detach().to_sparse(), z.detach().to_sparse() * 2j, T.sparse.sum(z.detach().to_sparse(), 0)",
    "T.nn.functional.l1_loss(z, z * 2), T.linalg.eigvals(T.tensor([[2.0, 0.0], [0.0, 3.0]]))",
]

REFUSED = [
    "z < 1",
    "z.max()",
    "z.sort()",
    "z.relu()",
    "float(z[0, 0])",
    "z.sum().backward()",
    "z.backward(T.ones(2, 2))",
    "x.imag",
    "T.complex(x, x.double())",
    "T.polar(x.int(), x.int())",
    "T.view_as_complex(x)",
    "T.view_as_complex(x.int())",
    "T.view_as_real(x)",
    "x.add_(1j)",
    "z.floor()",
    "z // 2",
    "z % 2",
    "z.scatter_reduce(0, T.tensor([[0, 1]]), z, 'amax')",
    "T.normal(0.0, z)",
    "T.func.jacrev(T.square)(z)",
    "T.func.jacfwd(T.square)(z)",
    "T.func.jacrev(lambda x: x * 1j)(x)",
    "T.autograd.functional.jacobian(T.square, z)",
    "T.nn.functional.huber_loss(z, z)",
    "T.nn.functional.binary_cross_entropy(z, z)",
    "T.nn.functional.binary_cross_entropy_with_logits(z, z)",
    "T.nn.functional.scaled_dot_product_attention(z, z, z)",
]


@pytest.mark.parametrize("line", PROGRAMS)
def test_lines_of_programs_print_as_in_pytorch(line: str):
    told = []
    for T in (autokit, torch):
        T.manual_seed(0)
        z, x = T.tensor([[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]], requires_grad=True), T.tensor([1.0, 2.0])
        told.append(repr(eval(line, {"T": T, "z": z, "x": x})))
    assert told[0] == told[1]


@pytest.mark.parametrize("line", REFUSED)
def test_what_has_no_sense_is_refused_with_pytorchs_error(line: str):
    def wrong(T: Any) -> Any:
        z, x = T.tensor([[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]], requires_grad=True), T.tensor([1.0, 2.0, 3.0])
        return eval(line, {"T": T, "z": z, "x": x})

    refusals(wrong)


FIRST = [
    "x.double() * (1 - 2j)",
    "x * full(3, 1 - 2j)",
    "torch.fft.fft(x)",
]
"""What makes the first complex tensor of a program."""


@pytest.mark.parametrize("line", FIRST)
def test_the_first_complex_numbers_of_a_program_have_their_gradients(line: str):
    """In a program of its own: complex numbers are looked out for from the first one on."""
    program = f"""
import numpy as np

def second_derivative(torch, full):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    made = {line}
    ones = torch.ones_like(made).requires_grad_()
    by_x, = torch.autograd.grad(made, x, ones, create_graph=True)
    return torch.autograd.grad(by_x, ones, torch.ones(3))[0].numpy()

import autokit
found = second_derivative(autokit, np.full)
import torch
expected = second_derivative(torch, lambda size, value: torch.full((size,), value))
np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert not run.returncode, run.stderr


# ---------------------------------------------------------------- vectors that may turn


TURNING: dict[str, Any] = {
    "low rank": lambda T, a: _product(T, *T.linalg.svd(a, full_matrices=False), 2),
    "unitary factor": lambda T, a: _product(T, *T.linalg.svd(a, full_matrices=False), None),
    "space of U": lambda T, a: _space(T.linalg.svd(a)[0][..., :1]),
    "space of V": lambda T, a: _space(T.svd(a, some=False)[2][..., :2]),
    "lengths in U": lambda T, a: T.linalg.svd(a)[0][..., : a.shape[-1]].abs(),
    "values and vectors": lambda T, a: T.exp(_product(T, *T.linalg.svd(a, False), None) * T.svd(a)[1].sum()),
    "function of a Hermitian matrix": lambda T, a: _function(T, *T.linalg.eigh(a.mH @ a / 9)),
    "space of an eigenvector": lambda T, a: T.linalg.eigh(a.mH @ a, UPLO="U")[1][..., :1].abs(),
    "function of a matrix": lambda T, a: _function_of_any(T, *T.linalg.eig(a.mT @ a / 9)),
    "lengths in eigenvectors": lambda T, a: T.linalg.eig(a.mT @ a)[1].abs(),
}
"""What does not depend on the angles of singular vectors and eigenvectors."""


def _product(T: Any, u: Any, s: Any, vh: Any, rank: int | None) -> Any:
    return (u if rank is None else u[..., :rank] * s[..., None, :rank]) @ vh[..., :rank, :]


def _space(vectors: Any) -> Any:
    return vectors @ vectors.mH


def _function(T: Any, values: Any, vectors: Any) -> Any:
    return vectors * values.exp()[..., None, :] @ vectors.mH


def _function_of_any(T: Any, values: Any, vectors: Any) -> Any:
    return vectors * values.exp()[..., None, :] @ T.linalg.inv(vectors)


SPECTRAL_SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 2)]


def _complex_normal(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    random = np.random.RandomState(seed)
    return random.normal(size=shape) + 1j * random.normal(size=shape)


@pytest.mark.parametrize("shape", SPECTRAL_SHAPES, ids=str)
@pytest.mark.parametrize("name", TURNING)
def test_what_turns_no_vector_has_pytorchs_gradients_to_second_order(name: str, shape: tuple[int, ...]):
    if "eigen" in name and shape[-1] > shape[-2]:
        pytest.skip("aᵀa has two eigenvalues 0, whose vectors are not determined")
    found = []
    for T in (autokit, torch):
        a = T.tensor(_complex_normal(3, shape), requires_grad=True)
        result = TURNING[name](T, a)
        weights = T.tensor(_complex_normal(5, tuple(result.shape)))
        (first,) = T.autograd.grad((result * weights).sum().real, a, create_graph=True)
        (second,) = T.autograd.grad((first * T.tensor(_complex_normal(7, shape))).sum().real, a)
        found.append([each.detach().resolve_conj().numpy() for each in (result, first, second)])
    for mine, other in zip(*found):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["low rank", "unitary factor", "lengths in U", "lengths in eigenvectors"])
def test_what_turns_no_vector_has_the_slopes_that_differences_show(name: str):
    a = autokit.tensor(_complex_normal(3, (3, 3)), requires_grad=True)
    assert autokit.autograd.gradcheck(lambda a: TURNING[name](autokit, a), (a,))
    assert autokit.autograd.gradgradcheck(lambda a: TURNING[name](autokit, a), (a,))


@pytest.mark.parametrize(
    "loss",
    [
        lambda T, a: T.linalg.svd(a)[0].real.sum(),
        lambda T, a: T.linalg.svd(a)[2].imag.sum(),
        lambda T, a: (T.svd(a)[0].sum() * T.svd(a)[2].sum()).real,
        lambda T, a: T.linalg.eigh(a @ a.mH)[1].imag.sum(),
        lambda T, a: T.linalg.eig(a)[1].real.sum(),
    ],
)
def test_a_loss_that_turns_with_a_vector_is_refused_as_by_pytorch(loss: Any):
    messages = []
    for T in (autokit, torch):
        a = T.tensor(_complex_normal(3, (3, 3)), requires_grad=True)
        with pytest.raises(RuntimeError) as caught:
            loss(T, a).backward()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
