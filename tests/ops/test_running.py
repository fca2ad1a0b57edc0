"""Running sums and products of large arrays are those that NumPy accumulates; logarithms of running sums."""

from __future__ import annotations

import importlib
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.ops.running import accumulated
from tests.support import require

SHAPES = {
    "one row": ((20_003,), 0),
    "long rows": ((40, 1013), 1),
    "many rows of few": ((3000, 17), 1),
    "columns": ((60, 600), 0),
    "columns in a cube": ((3, 50, 300), 1),
    "rows of a cube": ((5, 40, 200), -1),
}


@pytest.mark.parametrize("ufunc", [np.add, np.multiply], ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("special", [False, True])
def test_they_are_what_numpy_accumulates(
    ufunc: np.ufunc, reverse: bool, name: str, special: bool, loops: str
):
    shape, axis = SHAPES[name]
    rng = np.random.RandomState(0)
    a = rng.normal(size=shape) if ufunc is np.add else np.exp(rng.normal(size=shape) / 50)
    if special:  # few in number, so that most results stay numbers
        places = rng.randint(0, a.size, 12)
        a.reshape(-1)[places] = [0, -0.0, np.nan, np.inf, -np.inf, 0, 1e30, 1e30, 1e-40, 3, 0, 1]
    a = a.astype(np.float32)
    with np.errstate(all="ignore"):
        run = np.flip(a, axis) if reverse else a
        run = ufunc.accumulate(run, axis=axis, dtype=np.float64).astype(np.float32)
        expected = np.flip(run, axis) if reverse else run
        found = accumulated(ufunc, a, axis, reverse)
    if found is None:  # left to NumPy where a product of some could leave float64's range
        assert ufunc is np.multiply and special
        return
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-6 if ufunc is np.add else 0)


def test_what_is_small_or_of_another_dtype_is_left_to_numpy():
    large = np.ones(math.prod((200, 200)), np.float32)
    assert accumulated(np.add, large, 0, False) is not None
    for left in (large[:100], large.astype(np.float64), large.reshape(200, 200).T, np.float32(1)):
        assert accumulated(np.add, left, 0, False) is None


def require_torch() -> Any:
    require("torch")
    return importlib.import_module("torch")


def _both_derivatives(T: Any, row: Any, seed: Any) -> list[Any]:
    x, g = T.tensor(row, requires_grad=True), T.tensor(seed, requires_grad=True)
    (first,) = T.autograd.grad(x.logcumsumexp(0), x, g, create_graph=True)
    second = T.autograd.grad(first, (x, g), T.linspace(1, 2, len(row), dtype=T.float64))
    return [first.detach().numpy(), *[each.numpy() for each in second]]


ROWS = {
    "of large numbers": [800.0, -800.0, 801.0, 3.0],
    "with ties": [1.0, 1.0, 1.0, 0.0, 1.0],
    "-inf first": [-np.inf, -np.inf, 1.0, 2.0],
    "-inf later": [1.0, -np.inf, 2.0, -np.inf],
    "inf": [1.0, np.inf, 2.0],
    "nan first": [np.nan, 1.0, 2.0],
    "one": [3.0],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("seed", [1.0, -0.5])
def test_both_derivatives_of_logcumsumexp_are_pytorchs_at_awkward_points(name: str, seed: float):
    row = np.array(ROWS[name])
    seeds = seed * (-1.0) ** np.arange(len(row))
    for ours, theirs in zip(*(_both_derivatives(T, row, seeds) for T in (autokit, require_torch()))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_the_second_derivative_of_logcumsumexp_takes_memory_in_proportion_to_the_length():
    row = np.random.RandomState(0).normal(size=100_000) * 20
    tracemalloc.start()
    made = _both_derivatives(autokit, row, np.ones_like(row))
    assert tracemalloc.get_traced_memory()[1] < 50 * row.nbytes
    tracemalloc.stop()
    for ours, theirs in zip(made, _both_derivatives(require_torch(), row, np.ones_like(row))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("share_of_zeros", [0.1, 0.4])
@pytest.mark.parametrize(("shape", "dim"), [((7,), 0), ((3, 6), 1), ((5, 2, 3), 0)])
def test_three_derivatives_of_cumprod_are_pytorchs_at_zeros(
    shape: tuple[int, ...], dim: int, share_of_zeros: float
):
    random = np.random.RandomState(0)
    row, seed, weights = random.standard_normal((3, *shape))
    row[random.random_sample(shape) < share_of_zeros] = 0
    row.flat[1] = 0
    made = []
    for T in (autokit, require_torch()):
        x, g = T.tensor(row, requires_grad=True), T.tensor(seed, requires_grad=True)
        (first,) = T.autograd.grad(x.cumprod(dim), x, g, create_graph=True)
        second = T.autograd.grad((first * T.tensor(weights)).sum(), (x, g), create_graph=True)
        third = T.autograd.grad((second[0] * second[1]).sum(), (x, g))
        made.append([each.detach().numpy() for each in (first, *second, *third)])
    for ours, theirs in zip(*made):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_the_second_derivative_of_cumprod_at_zeros_takes_memory_in_proportion_to_the_length():
    row = np.random.RandomState(0).normal(size=100_000)
    row[5] = 0
    x = autokit.tensor(row, requires_grad=True)
    tracemalloc.start()
    (first,) = autokit.autograd.grad(x.cumprod(0).sum(), x, create_graph=True)
    first.sum().backward()
    assert tracemalloc.get_traced_memory()[1] < 50 * row.nbytes
    tracemalloc.stop()
    assert x.grad[:6].ne(0).all()


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["cummax", "cummin", "gather"])
def test_running_extremes_and_given_places_are_pytorchs(loops: str, name: str, dim: int):
    require("torch")
    torch = importlib.import_module("torch")
    random = np.random.RandomState(dim)
    numbers = random.randint(-4, 5, (3, 17, 5)).astype(np.float32)
    numbers[random.uniform(size=numbers.shape) < 0.05] = np.nan
    places = random.randint(0, numbers.shape[dim], numbers.shape)
    made = {}
    for library in (autokit, torch):
        x = library.from_numpy(numbers.copy()).requires_grad_()
        if name == "gather":
            values = indices = x.gather(dim, library.from_numpy(places.copy()))
        else:
            values, indices = getattr(x, name)(dim)
        (values * library.arange(255.0).reshape(3, 17, 5)).nansum().backward()
        made[library] = [each.detach().numpy() for each in (values, indices, x.grad)]
    for mine, other in zip(made[autokit], made[torch]):
        np.testing.assert_array_equal(mine, other)
