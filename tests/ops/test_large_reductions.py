"""Products, norms and extremes of large arrays take other ways than small ones, to the same numbers."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops.operation import OPERATIONS
from autokit.ops.product import plain_prod
from tests.support import require

SHAPES = [(10_007,), (100, 129), (3, 41, 57), (7000, 2), (2, 5000)]
DIMS = [None, 0, -1]


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return np.exp(np.random.RandomState(0).normal(size=shape) / 50).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
def test_products(shape: tuple[int, ...], dim: int | None, dtype: str, keepdim: bool):
    a = numbers(shape, dtype)
    expected = a.astype(np.float64).prod(axis=dim, keepdims=keepdim)
    tolerance = {"float32": 1e-5, "float64": 1e-13}[dtype]
    found = plain_prod(torch.from_numpy(a), dim, keepdim).numpy()
    assert found.shape == expected.shape
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance)
    a[..., 0] = 0
    assert not torch.from_numpy(a).prod(-1).numpy().any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_norms_and_their_gradients(shape: tuple[int, ...], dim: int | None, dtype: str):
    a = numbers(shape, dtype)
    a[0] = 0  # among rows one where the norm has its kink
    wide = a.astype(np.float64)
    expected = np.sqrt((wide * wide).sum(axis=dim, keepdims=True))
    slope = np.divide(wide, expected, out=np.zeros_like(wide), where=expected != 0)
    x = torch.from_numpy(a).requires_grad_()
    y = x.norm(dim=dim)
    y.sum().backward()
    tolerance: dict[str, Any] = {"float32": {"rtol": 3e-6}, "float64": {"rtol": 1e-13}}
    np.testing.assert_allclose(y.detach().numpy(), expected.reshape(y.shape), **tolerance[dtype])
    np.testing.assert_allclose(x.grad.numpy(), slope, **tolerance[dtype])


@pytest.mark.parametrize("special", [None, np.nan, np.inf])
@pytest.mark.parametrize("arriving", [1.5, np.inf])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_of_extremes(
    shape: tuple[int, ...], dim: int | None, arriving: float, special: float | None
):
    operation = OPERATIONS["amax"]
    a = np.random.RandomState(0).randint(-40, 40, shape).astype(np.float32)  # with ties
    if special is not None:
        a.reshape(-1)[5] = special
    out = operation.plain(a, dim=dim)
    g = np.full(out.shape, arriving, np.float32)
    needs = {**operation.defaults, 0: a, "out": out, "shape": shape, "dim": dim}
    (fast,), (plain,) = operation.rules, operation.plain_rules
    with np.errstate(all="ignore"):
        found, expected = (rule.vjp(g, *[needs[need] for need in plain.fetch]) for rule in (fast, plain))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def awkward(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers with ties, infinities and NaN among them."""
    random = np.random.RandomState(0)
    a = random.randint(-9, 10, shape) + random.normal(size=shape) / 7
    return np.where(random.uniform(size=shape) < 0.3, random.randint(-3, 4, shape), a).astype(np.float32)


def both(library: Any, function: Any, a: np.ndarray) -> list[np.ndarray]:
    """What ``function`` gives, and the gradient that goes back from it."""
    x = library.tensor(a, requires_grad=True)
    y = function(library, x)
    y.backward(library.tensor(np.cos(np.arange(y.numel())).astype(np.float32)).reshape(y.shape))
    return [y.detach().numpy(), x.grad.numpy()]


FUNCTIONS: dict[str, Any] = {
    "sum": lambda T, x: x.abs().sum(),
    "sum of rows": lambda T, x: x.abs().sum(-1, keepdim=True),
    "var": lambda T, x: x.var(),
    "var kept": lambda T, x: x.var(keepdim=True, correction=0),
    "std": lambda T, x: x.std(),
    "std of equals": lambda T, x: (x * 0).std(),
    "squared error": lambda T, x: T.nn.functional.mse_loss(x, 2 * x.detach() + 1),
    "squared errors": lambda T, x: T.nn.functional.mse_loss(x, 2 * x.detach() + 1, reduction="sum"),
    "squared error broadcast": lambda T, x: T.nn.functional.mse_loss(x, x.detach()[:1].expand_as(x)),
    "smooth error": lambda T, x: T.nn.functional.smooth_l1_loss(x, 2 * x.detach() + 1, beta=0.7),
    "smooth errors": lambda T, x: T.nn.functional.smooth_l1_loss(x, 2 * x.detach(), reduction="none"),
    "smooth error with no parabola": lambda T, x: T.nn.functional.smooth_l1_loss(
        x, 2 * x.detach() + 1, beta=0.0
    ),
    "Huber's error": lambda T, x: T.nn.functional.huber_loss(x, 2 * x.detach() + 1, delta=1.3),
    "Huber's errors": lambda T, x: T.nn.functional.huber_loss(x, 2 * x.detach(), reduction="sum"),
    "logsumexp": lambda T, x: x.logsumexp(-1),
    "logsumexp kept": lambda T, x: x.logsumexp(-1, keepdim=True),
    "softmax": lambda T, x: x.softmax(-1),
    "softmax of columns": lambda T, x: x.softmax(0),
    "log_softmax of columns": lambda T, x: x.log_softmax(0),
    "softmax between": lambda T, x: x.reshape(4, -1, 100).softmax(1),
    "log_softmax between": lambda T, x: x.reshape(4, -1, 100).log_softmax(1),
    "cross-entropy": lambda T, x: T.nn.functional.cross_entropy(x, T.arange(len(x)) % x.shape[1]),
    "max of columns": lambda T, x: x.max(0).values,
    "min of columns": lambda T, x: x.min(0, keepdim=True).values,
    "max between": lambda T, x: x.reshape(4, -1, 100).max(1).values,
    "cumsum": lambda T, x: x.cumsum(0),
}


@pytest.mark.parametrize("special", [[], [np.inf], [-np.inf], [np.nan], [np.nan, np.inf, -np.nan]], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_runs_through_rows_and_columns(name: str, special: list[float], loops: str):
    require("torch")
    import torch as pytorch

    a = awkward((160, 400))
    if special and not name.startswith(("sum", "squared")):
        a.reshape(-1)[np.random.RandomState(1).choice(a.size, len(special), replace=False)] = special
    for ours, theirs in zip(*[both(library, FUNCTIONS[name], a) for library in (torch, pytorch)]):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        size = np.abs(theirs[np.isfinite(theirs)]).max(initial=1e-30)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(ours / size, theirs / size, rtol=2e-6, atol=3e-7)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("keepdim", [False, True])
def test_places_of_extremes_are_the_first_of_equals_and_of_nan(
    name: str, dim: int, keepdim: bool, loops: str
):
    a = np.round(awkward((9, 40, 50)))
    a[4:6, 3:5, 7:9] = np.nan
    found = getattr(torch.from_numpy(a), name)(dim, keepdim).numpy()
    np.testing.assert_array_equal(found, getattr(a, name)(axis=dim, keepdims=keepdim))
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    "line",
    [
        "-x",
        "3 - x",
        "x * 3",
        "x / 7",
        "x * y[:600, None]",
        "y[:600] - x",
        "x / y[:600]",
        "(-x) + x * 2 - (-x)",
        "-(x[0] * y[:1, None])",
        "x + y[:600]",
        "x * y.detach()[:600, None]",
    ],
)
def test_the_gradient_of_a_large_sum_is_one_number_on_its_way_and_pytorchs_at_its_end(line: str):
    require("torch")
    numbers = np.random.RandomState(0).standard_normal((600, 600)).astype(np.float32)
    found = []
    for library in (torch, importlib.import_module("torch")):
        x = library.from_numpy(numbers.copy()).requires_grad_()
        y = library.from_numpy(np.abs(numbers).reshape(-1)[:600] + 1).requires_grad_()
        z = eval(line)
        z.sum().backward()
        x.grad.add_(1)  # it is x's own memory
        found.append([x.grad.numpy(), None if y.grad is None else y.grad.numpy()])
    for mine, other in zip(*found):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
