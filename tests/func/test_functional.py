"""Products with Jacobians and Hessians: results and refusals are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.func.programs import assert_same
from tests.support import require

FUNCTIONS = """
def cubes(x): return (x**3).sum() * x[0]
def both(a, b): return (a * a * b).sum() + b.exp().sum()
def pair(a, b): return a * b, (a * a).sum()
def linear(x): return x * 3
def constant(x): return y * 2
"""

PROGRAMS = {
    "vjp": "show(C.vjp(lambda x: A @ x.sin(), x, t(1.0, 2.0)), C.vjp(cubes, x), C.vjp(pair, (x, y), (x, s)))",
    "jvp": "show(C.jvp(lambda x: A @ x.sin(), x, y), C.jvp(T.sin, s), C.jvp(pair, (x, y), (y, x)))",
    "vhp": "show(C.vhp(cubes, x, y), C.vhp(both, (x, y), (y, x)), C.vhp(T.sin, s))",
    "hvp": "show(C.hvp(cubes, x, y), C.hvp(both, (x, y), (y, x)), C.hvp(T.sin, s))",
    "jacobian": "show(C.jacobian(lambda x: A @ x.sin(), x), C.jacobian(T.sin, s), "
    "C.jacobian(lambda x: x.T, A))",
    "jacobian of several": "show(C.jacobian(pair, (x, y)), C.jacobian(lambda a, b: a * b, (x, y)))\n"
    "show(C.jacobian(lambda x: (x, x * 2), x), C.jacobian(T.sin, (x,)))",
    "jacobian in other ways": "show(C.jacobian(pair, (x, y), vectorize=True))\n"
    "show(C.jacobian(pair, (x, y), strategy='forward-mode', vectorize=True))",
    "hessian": "show(C.hessian(cubes, x), C.hessian(both, (x, y)), C.hessian(T.sin, s), C.hessian(cubes, "
    "(x,)))",
    "hessian in other ways": "show(C.hessian(both, (x, y), vectorize=True))",
    "create_graph": "for f in (C.vjp, C.jvp):\n"
    "    o, v = f(lambda x: x**3, w, x, create_graph=True); show(o, v); show(T.autograd.grad(v.sum(), w))\n"
    "for f in (C.vhp, C.hvp):\n"
    "    o, v = f(cubes, w, x, create_graph=True); show(o, v); show(T.autograd.grad(v.sum(), w))\n"
    "for f in (C.jacobian, C.hessian):\n"
    "    v = f(cubes, w, create_graph=True); show(v); show(T.autograd.grad(v.sum(), w))",
    "create_graph without a leaf": "show(C.vjp(lambda x: x**3, x, y, create_graph=True))\n"
    "show(C.jacobian(T.sin, x, create_graph=True))",
    "no graph": "show(C.vjp(lambda x: x**3, w, x), C.jacobian(T.sin, w), C.hessian(cubes, w))",
    "by the vector": "v = y.clone().requires_grad_()\n"
    "for f in (C.vjp, C.jvp): show(T.autograd.grad(f(T.exp, x, v, create_graph=True)[1].sum(), v))",
    "a closure over the input": "show(C.jacobian(lambda x: x * w, w), C.jacobian(lambda x: x * w, w, "
    "create_graph=True))",
    "inside no_grad": "with T.no_grad(): show(C.vjp(T.sin, x, y), C.jacobian(T.sin, w), C.hvp(cubes, x, y))",
    "constants": "show(C.vjp(constant, x, y), C.jvp(constant, x, y), C.jacobian(constant, x))\n"
    "show(C.hessian(lambda x: s * 2, x), C.vhp(lambda x: x.sum(), x, y), C.hvp(lambda x: x.sum(), x, y))",
    "strict": "for f in (C.vjp, C.jvp): show(f(T.sin, x, y, strict=True))\nshow(C.jacobian(T.sin, x, "
    "strict=True))",
    "strict refuses constants": "for f in (C.vjp, C.jvp, C.vhp, C.hvp): refused(f, constant, x, y, "
    "strict=True)\n"
    "refused(C.jacobian, constant, x, strict=True); refused(C.hessian, lambda x: s * 2, x, strict=True)",
    "strict refuses an unused input": "for f in (C.vjp, C.jvp):\n"
    "    refused(f, lambda a, b: a * 2, (x, y), x if f is C.vjp else (x, y), strict=True)\n"
    "refused(C.jacobian, lambda a, b: a * 2, (x, y), strict=True)",
    "strict refuses what is linear": "for f in (C.vhp, C.hvp): refused(f, lambda x: x.sum(), x, y, "
    "strict=True)\n"
    "refused(C.hessian, lambda x: x.sum(), x, strict=True)\n"
    "refused(C.jacobian, linear, w, create_graph=True, strict=True)",
    "wrong vectors": "for f in (C.vjp, C.jvp): refused(f, T.sin, x, s); refused(f, T.sin, x, (x, x)); "
    "refused(f, T.sin, x)\n"
    "for f in (C.vhp, C.hvp): refused(f, cubes, x, s); refused(f, cubes, x); refused(f, both, (x, y), (x,))",
    "no tensors": "for f in (C.vjp, C.jvp, C.jacobian, C.vhp, C.hvp, C.hessian):\n"
    "    refused(f, T.sin, 3.0); refused(f, T.sin, [x]); refused(f, lambda x: 3, s); refused(f, T.sin, "
    "(x, 3))",
    "no single number": "for f in (C.vhp, C.hvp): refused(f, T.sin, x, y); refused(f, lambda x: (x.sum(),)"
    ", x, y)\n"
    "refused(C.hessian, T.sin, x); refused(C.hessian, lambda x: (x.sum(),), x)",
    "settings that do not go together": "refused(C.jacobian, T.sin, x, strict=True, vectorize=True)\n"
    "refused(C.jacobian, T.sin, x, create_graph=True, strategy='forward-mode')\n"
    "refused(C.jacobian, T.sin, x, strategy='sideways')",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_what_it_gives_with_pytorch(program: str):
    assert_same(FUNCTIONS + program)


@settings(max_examples=25, deadline=None)
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
        (calculus.vhp(number, x, v)[1], v @ hessian),
        (calculus.hvp(number, x, v)[1], hessian @ v),
    ):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)


def test_the_jacobian_of_nothing_is_empty():
    x = autokit.ones(3)
    assert tuple(autokit.autograd.functional.jacobian(lambda x: x[:0] * 2, x).shape) == (0, 3)


def test_batch_norms_go_by_the_batch_alone_where_they_are_to_be_batched():
    require("torch")
    import torch

    found = []
    for T in (autokit, torch):
        T.manual_seed(0)
        net = T.nn.Sequential(
            T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.InstanceNorm1d(4, track_running_stats=True)
        )
        assert T.func.replace_all_batch_norm_modules_(net) is net
        params = {name: each.detach() for name, each in net[:2].named_parameters()}

        def loss(params: Any, x: Any, net: Any = net, T: Any = T) -> Any:
            return (T.func.functional_call(net[:2], params, (x,)) ** 3).sum()

        x = T.arange(24.0).reshape(2, 4, 3).sin()
        grads = T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(params, x)
        found.append((repr(net), sorted(net.state_dict()), {k: v.numpy() for k, v in grads.items()}))
    (text, names, ours), (as_text, as_names, theirs) = found
    assert text == as_text and names == as_names
    for name, each in ours.items():
        np.testing.assert_allclose(each, theirs[name], rtol=1e-3, atol=1e-5)
