"""Half precision beside PyTorch: every case in float16 and bfloat16, and what else is particular to them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.limits import finfo
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES, complex_parts
from tests.support import require

require("torch")
require("ml_dtypes")
import torch  # noqa: E402

HALVES = ["float16", "bfloat16"]
both = pytest.mark.parametrize("half", HALVES)
NEED_MORE_PRECISION = {"det", "ldl_factor", "ldl_factor_ex", "ldl_solve", "matrix_exp", "solve"}
"""Functions that refuse half precision here, while PyTorch computes a few shapes of them."""


def tensors_of(library: Any, case: Case, half: str, dtype: str | None = None) -> list[Any]:
    """The case's tensors, the real ones rounded to half precision and then perhaps made wide again."""
    made = []
    for array in case.arrays:
        tensor = library.tensor(array)
        if array.dtype.kind == "f":
            tensor = tensor.to(getattr(library, half)).to(getattr(library, dtype or half))
        made.append(tensor)
    return made


def values(result: Any) -> np.ndarray:
    return result.detach().double().numpy()


def spacing(numbers: np.ndarray, half: str) -> np.ndarray:
    """The distance from each number to the next one in half precision."""
    limits = finfo(getattr(autokit, half))
    size = np.where(np.isfinite(numbers), np.abs(numbers), 1.0)
    return limits.eps * 2.0 ** np.floor(np.log2(np.maximum(size, limits.tiny)))


# Those that PyTorch has not in half precision do not count.
def pytorchs(case: Case, half: str) -> list[Any] | None:
    try:
        return flat(call(torch, case, tensors_of(torch, case, half)))
    except RuntimeError:
        return None


@both
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if any(array.dtype.kind == "f" for array in case.arrays)
        and not any(case is each for each in complex_parts.CASES)
    ],  # of complex numbers in half precision there are none here
    ids=lambda case: case.name,
)
def test_the_results_are_pytorchs_or_nearer_to_the_exact_ones(case: Case, half: str):
    theirs = pytorchs(case, half)
    if theirs is None or case.name.removeprefix("linalg.") in NEED_MORE_PRECISION:
        return
    ours = flat(call(autokit, case, tensors_of(autokit, case, half)))
    exact = None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if not isinstance(other, torch.Tensor):
            assert type(mine) is type(other)
            continue
        assert repr(mine.dtype) == repr(other.dtype)
        assert tuple(mine.shape) == tuple(other.shape)
        if repr(mine.dtype) != f"torch.{half}":
            continue
        a, b = values(mine), values(other)
        with np.errstate(all="ignore"):
            near = (a == b) | (a != a) & (b != b) | (np.abs(a - b) <= 1.01 * spacing(b, half))
        if not near.all():
            exact = exact or flat(call(torch, case, tensors_of(torch, case, half, "float64")))
            true = values(exact[place])
            # Where the result takes several operations each rounds, at the size of its own values.
            reach = 2 * spacing(max(np.abs(true).max(), 0.25), half)
            assert (near | (np.abs(a - true) <= np.maximum(np.abs(b - true), reach))).all()


@both
def test_whole_numbers_and_order(half: str):
    data = [3.0, -1.0, 2.5, float("nan"), 0.0, -0.0, 2.5, float("inf")]
    for make in (
        lambda T, x: x.sort(stable=True),
        lambda T, x: x.sort(descending=True, stable=True),
        lambda T, x: x.argmax(),
        lambda T, x: x.nan_to_num(),
        lambda T, x: x.isnan(),
        lambda T, x: x > 0,
        lambda T, x: x == 2.5,
        lambda T, x: x.tolist(),
        lambda T, x: x[2].item(),
        lambda T, x: x[:3].long(),
        lambda T, x: x.nonzero(),
        lambda T, x: T.where(x > 0, x, 0.0),
        lambda T, x: x[x > 0],
        lambda T, x: x * 0.1,
        lambda T, x: x + 1e-3,
        lambda T, x: 0.1 / x,
        lambda T, x: x**2,
        lambda T, x: x + T.tensor(0.1),
        lambda T, x: x + T.ones(1),
        lambda T, x: x + T.ones(1, dtype=T.int64),
        lambda T, x: x + T.ones(1, dtype=T.float16) + T.ones(1, dtype=T.bfloat16),
        lambda T, x: x.requires_grad_(),
        lambda T, x: x.new_tensor([0.1]),
        lambda T, x: T.zeros_like(x[:2]),
        lambda T, x: T.full((2,), 0.1, dtype=x.dtype),
        lambda T, x: T.arange(0, 1, 0.1, dtype=x.dtype),
        lambda T, x: T.eye(2, dtype=x.dtype),
        lambda T, x: T.tensor([x[0], x[1]]),
    ):
        ours, theirs = (
            repr(make(T, T.tensor(data, dtype=getattr(T, half)))).replace("\n", "") for T in (autokit, torch)
        )
        assert ours == theirs


@both
def test_a_long_sum_adds_up_in_float32(half: str):
    ours, theirs = (T.ones(4000, dtype=getattr(T, half)) for T in (autokit, torch))
    for name in ("sum", "mean", "var", "logsumexp"):
        settings = {"dim": 0} if name == "logsumexp" else {}
        assert getattr(ours, name)(**settings).item() == getattr(theirs, name)(**settings).item(), name
    assert (ours @ ours).item() == (theirs @ theirs).item() == 4000.0


@both
def test_a_network_learns_as_pytorchs(half: str):
    """Gradients flow through layers, casts and losses, each rounded once."""
    grads = []
    for T in (autokit, torch):
        dtype = getattr(T, half)
        x = T.linspace(-1, 1, 12).reshape(4, 3).to(dtype)
        w = T.linspace(-0.5, 0.5, 15).reshape(5, 3).to(dtype).requires_grad_()
        b = T.linspace(0, 1, 5).requires_grad_()  # a float32 leaf
        out = T.tanh(T.nn.functional.linear(x, w, b.to(dtype)))
        loss = (T.softmax(out, 1) * out).sum() + out.float().pow(2).mean()
        loss.backward()
        assert repr(w.grad.dtype) == f"torch.{half}" and repr(b.grad.dtype) == "torch.float32"
        grads += [w.grad.double().numpy(), b.grad.double().numpy()]
    tolerance = 4 * finfo(getattr(autokit, half)).eps
    np.testing.assert_allclose(grads[0], grads[2], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(grads[1], grads[3], rtol=tolerance, atol=tolerance)


@both
@pytest.mark.parametrize("size", [3, 16, 37])
@pytest.mark.parametrize("name", ["rand", "randn"])
def test_random_numbers_are_pytorchs(half: str, size: int, name: str):
    autokit.manual_seed(1)
    torch.manual_seed(1)
    ours, theirs = (getattr(T, name)(size, dtype=getattr(T, half)) for T in (autokit, torch))
    assert ours.tolist() == theirs.tolist()


@both
def test_a_second_derivative(half: str):
    seconds = []
    for T in (autokit, torch):
        x = T.tensor([0.5, -1.5], dtype=getattr(T, half), requires_grad=True)
        (first,) = T.autograd.grad((x * x.exp()).sum(), x, create_graph=True)
        (second,) = T.autograd.grad(first.sum(), x)
        seconds.append(second.double().numpy())
    np.testing.assert_allclose(*seconds, rtol=4 * finfo(getattr(autokit, half)).eps)


@both
def test_it_is_saved_copied_and_exchanged(half: str):
    import copy
    import pickle

    x = autokit.tensor([1.5, -2.0], dtype=getattr(autokit, half), requires_grad=True)
    for same in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert same.dtype is x.dtype and same.tolist() == [1.5, -2.0] and same.requires_grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert autokit.tensor(x.detach().numpy()).dtype is x.dtype


def test_prelu_at_zero():
    grads = []
    for T in (autokit, torch):
        x = T.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        w = T.tensor([0.25], requires_grad=True)
        T.prelu(x, w).sum().backward()
        grads.append((x.grad.tolist(), w.grad.tolist()))
    assert grads[0] == grads[1]
