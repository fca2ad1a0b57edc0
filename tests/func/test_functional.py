"""Products with Jacobians and Hessians: results and refusals are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.beside import assert_same
from tests.func.values import values


def cubes(x: Any) -> Any:
    return (x**3).sum() * x[0]


def both(a: Any, b: Any) -> Any:
    return (a * a * b).sum() + b.exp().sum()


def pair(a: Any, b: Any) -> Any:
    return a * b, (a * a).sum()


def with_graphs(n: Any) -> Any:
    found: list[Any] = []
    for f in (n.C.vjp, n.C.jvp):
        o, v = f(lambda x: x**3, n.w, n.x, create_graph=True)
        found += [o, v, n.T.autograd.grad(v.sum(), n.w)]
    o, v = n.C.hvp(cubes, n.w, n.x, create_graph=True)
    found += [o, v, n.T.autograd.grad(v.sum(), n.w)]
    for f in (n.C.jacobian, n.C.hessian):
        v = f(cubes, n.w, create_graph=True)
        found += [v, n.T.autograd.grad(v.sum(), n.w)]
    return found


def inside_no_grad(n: Any) -> Any:
    with n.T.no_grad():
        return n.C.vjp(n.T.sin, n.x, n.y), n.C.jacobian(n.T.sin, n.w), n.C.hvp(cubes, n.x, n.y)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "vjp": lambda n: [
        n.C.vjp(lambda x: n.A @ x.sin(), n.x, n.t(1.0, 2.0)),
        n.C.vjp(cubes, n.x),
        n.C.vjp(pair, (n.x, n.y), (n.x, n.s)),
    ],
    "jvp": lambda n: [
        n.C.jvp(lambda x: n.A @ x.sin(), n.x, n.y),
        n.C.jvp(n.T.sin, n.s),
        n.C.jvp(pair, (n.x, n.y), (n.y, n.x)),
    ],
    "hvp": lambda n: [n.C.hvp(cubes, n.x, n.y), n.C.hvp(both, (n.x, n.y), (n.y, n.x)), n.C.hvp(n.T.sin, n.s)],
    "jacobian": lambda n: [
        n.C.jacobian(lambda x: n.A @ x.sin(), n.x),
        n.C.jacobian(n.T.sin, n.s),
        n.C.jacobian(lambda x: x.T, n.A),
        n.C.jacobian(pair, (n.x, n.y), vectorize=True),
        n.C.jacobian(lambda x: (x, x * 2), n.x),
        n.C.jacobian(n.T.sin, (n.x,)),
    ],
    "hessian": lambda n: [
        n.C.hessian(cubes, n.x),
        n.C.hessian(both, (n.x, n.y)),
        n.C.hessian(n.T.sin, n.s),
        n.C.hessian(cubes, (n.x,)),
    ],
    "constants": lambda n: [
        n.C.vjp(lambda x: n.y * 2, n.x, n.y),
        n.C.jvp(lambda x: n.y * 2, n.x, n.y),
        n.C.jacobian(lambda x: n.y * 2, n.x),
        n.C.hessian(lambda x: n.s * 2, n.x),
        n.C.hvp(lambda x: x.sum(), n.x, n.y),
    ],
    "a vector of another shape": lambda n: n.C.vjp(n.T.sin, n.x, n.s),
    "no tensor": lambda n: n.C.jacobian(n.T.sin, 3.0),
    **{each.__name__: each for each in (with_graphs, inside_no_grad)},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_with_pytorch(name: str):
    assert_same(lambda T: PROGRAMS[name](values(T)))


@settings(max_examples=25)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=4), st.integers(0, 1000))
def test_products_are_products_with_the_matrices(elements: list[float], seed: int):
    calculus = autokit.autograd.functional
    x = autokit.tensor(elements, dtype=autokit.float64)
    v = autokit.tensor(np.random.RandomState(seed).uniform(-1, 1, len(elements)))

    def function(x: Any) -> Any:
        return (x.sin() * x.sum()).exp()

    def number(x: Any) -> Any:
        return function(x).sum()

    jacobian, hessian = calculus.jacobian(function, x), calculus.hessian(number, x)
    for found, expected in (
        (calculus.vjp(function, x, v)[1], v @ jacobian),
        (calculus.jvp(function, x, v)[1], jacobian @ v),
        (calculus.hvp(number, x, v)[1], hessian @ v),
    ):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)


def test_the_jacobian_of_nothing_is_empty():
    found = autokit.autograd.functional.jacobian(lambda x: x[:0] * 2, autokit.ones(3))
    assert tuple(found.shape) == (0, 3)
