"""Products, norms and extremes of large arrays take other ways than small ones, to the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops.operation import OPERATIONS
from autokit.ops.product import plain_prod

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
