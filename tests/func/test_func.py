"""Functions made from functions: each program gives what it gives with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from autokit.func.forward import tangents
from autokit.func.trees import flatten, spread, unflatten
from tests.beside import assert_same
from tests.func.values import values


def through_a_leaf(n: Any) -> Any:
    g = n.F.grad(lambda x: (x * n.w * n.w).sum())(n.x)
    g.sum().backward()
    return g, n.w.grad


def of_a_leaf_under_no_grad(n: Any) -> Any:
    with n.T.no_grad():
        return n.F.grad(lambda x: (x * n.w).sum())(n.x), n.F.grad(n.T.sin)(n.s)


def no_grad_inside(n: Any) -> Any:
    def f(x: Any) -> Any:
        with n.T.no_grad():
            c = x * x
        return (x - c).sum()

    return n.F.grad(f)(n.x)


def jacobians_of_containers(n: Any) -> Any:
    def f(p: Any) -> Any:
        return {"a": p["u"] * p["v"][0], "b": p["u"].sum()}

    p, found = {"u": n.x, "v": (n.y,)}, []
    for jac in (n.F.jacrev, n.F.jacfwd):
        j = jac(f)(p)
        found += [j["a"]["u"], j["a"]["v"][0], j["b"]["u"], j["b"]["v"][0]]
    return found


def per_sample_gradients(n: Any) -> Any:
    def loss(p: Any, x: Any, y: Any) -> Any:
        return ((x @ p["w"] + p["b"]) - y) ** 2

    found = n.F.vmap(n.F.grad(loss), in_dims=(None, 0, 0))({"w": n.x, "b": n.s}, n.A, n.t(1.0, 2.0))
    return found["w"], found["b"]


def through_every_kind_of_rule(n: Any) -> Any:
    def f(x: Any, m: Any) -> Any:
        y = x * 1
        y[0] = x[1] * 2
        values, _ = (m @ y).sort()
        top = n.T.stack([values, values * 2]).max(0)[0]
        h = n.T.nn.functional.layer_norm(n.T.cat([top, y]), (5,)).softmax(0)
        return h.cumsum(0) * n.T.linalg.svdvals(m).sum() + n.T.einsum("ij,j->i", m, x).prod() + y.std()

    directions = (n.y, n.A.cos())
    return n.F.jvp(f, (n.x, n.A), directions), n.F.jacfwd(f, (0, 1))(n.x, n.A)


def functional_call(n: Any) -> Any:
    m = n.T.nn.Sequential(n.T.nn.Linear(3, 2), n.T.nn.Tanh()).double()
    p, before = {"0.weight": n.A, "0.bias": n.t(1.0, 2.0)}, m[0].weight
    call = n.F.functional_call
    g = n.F.grad(lambda p: call(m, p, n.x).sum())(p)
    both = call(m, ({"0.weight": n.A}, {"0.bias": n.t(0.0, 0.0)}), n.x)
    return call(m, p, (n.x,)), call(m, p, n.x), m[0].weight is before, g["0.weight"], g["0.bias"], both


def random_numbers(n: Any) -> Any:
    n.T.manual_seed(3)
    same = n.F.vmap(lambda a: a + n.T.rand(3, dtype=n.T.float64), randomness="same")(n.A * 0)
    other = n.F.vmap(lambda a: a + n.T.rand(3, dtype=n.T.float64), randomness="different")(n.A * 0)
    return bool((same[0] == same[1]).all()), bool((other[0] == other[1]).any())


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda n: n.F.grad(n.T.sin)(n.s),
    "grad of grad": lambda n: [
        n.F.grad(n.F.grad(lambda x: x**3))(n.s),
        n.F.grad(n.F.grad(n.F.grad(n.T.sin)))(n.s),
    ],
    "has_aux": lambda n: [
        n.F.grad(lambda x: (x.sum(), x * 2), has_aux=True)(n.x),
        n.F.grad_and_value(lambda x: ((x * x).sum(), x), has_aux=True)(n.x),
    ],
    "an input that takes no part": lambda n: n.F.grad(lambda x, y: x.sum(), (0, 1))(n.x, n.y),
    "constants": lambda n: [n.F.grad(lambda x: n.s)(n.x), n.F.grad(lambda x: x)(n.s)],
    "an inner gradient of an outer variable": lambda n: n.F.grad(
        lambda x: n.F.grad(lambda y: x * x * y * y)(n.s) * x
    )(n.s),
    "perturbations are not confused": lambda n: [
        n.F.grad(lambda x: x * n.F.grad(lambda y: x + y)(n.s))(n.s),
        n.F.grad(lambda x: x * n.F.grad(lambda y: x * y)(x))(n.s),
        n.F.jvp(lambda x: x * n.F.jvp(lambda y: x * y, (n.s,), (n.s,))[1], (n.s,), (n.s,)),
    ],
    "vjp": lambda n: [(v := n.F.vjp(n.T.sin, n.x))[0], v[1](n.y), v[1](n.x)],
    "jvp": lambda n: [
        n.F.jvp(n.T.sin, (n.x,), (n.y,)),
        n.F.jvp(lambda a, b: (a @ b, a * b), (n.x, n.y), (n.y, n.x)),
        n.F.jvp(lambda x: (x * 2, x + 1), (n.x,), (n.y,), has_aux=True),
        n.F.jvp(lambda x: n.y * 1, (n.x,), (n.y,)),
        n.F.jvp(lambda x: x, (n.x,), (n.y,)),
    ],
    "jvp of jvp": lambda n: n.F.jvp(lambda x: n.F.jvp(lambda x: x**3, (x,), (n.y,))[1], (n.x,), (n.x,)),
    "grad of jvp": lambda n: [
        n.F.grad(lambda x: n.F.jvp(n.T.exp, (x,), (n.y,))[1].sum())(n.x),
        n.F.grad(lambda v: (n.F.jvp(n.T.exp, (n.x,), (v,))[1] ** 2).sum())(n.y),
    ],
    "a product with the Hessian": lambda n: n.F.jvp(n.F.grad(lambda x: (x**3).sum() * x[0]), (n.x,), (n.y,)),
    "Jacobians": lambda n: [
        [
            jac(lambda x: n.A @ x.sin())(n.x),
            jac(lambda a, b: a[:, None] * b, (0, 1))(n.x, n.y),
            jac(n.T.sin)(n.s),
        ]
        for jac in (n.F.jacrev, n.F.jacfwd)
    ],
    "hessian": lambda n: [
        transform(lambda x: x[0] * x[1] ** 2 + x[2].exp() * x[0])(n.x)
        for transform in (
            n.F.hessian,
            lambda f: n.F.jacfwd(n.F.jacfwd(f)),
            lambda f: n.F.jacfwd(n.F.jacrev(f)),
            lambda f: n.F.jacrev(n.F.jacfwd(f)),
        )
    ],
    "vmap": lambda n: [
        n.F.vmap(n.T.dot)(n.A, n.A),
        n.F.vmap(lambda a: a.sum())(n.A),
        n.T.vmap(n.T.sin)(n.x),
        n.F.vmap(lambda a: a.sum(), 1)(n.A),
        n.F.vmap(n.T.dot, (0, None))(n.A, n.x),
        n.F.vmap(n.T.mul, (-1, 0))(n.A, n.x),
        n.F.vmap(lambda a: a * 2, out_dims=1)(n.A),
        n.F.vmap(lambda a: (a, a.sum()), out_dims=(-1, 0))(n.A),
        n.F.vmap(lambda a, k: a * k, (0, None))(n.A, 3),
        n.F.vmap(lambda a, k: a * k)(n.A, k=n.x),
        n.F.vmap(lambda a: n.s)(n.A),
    ],
    "vmap of vmap": lambda n: [
        n.F.vmap(n.F.vmap(n.T.mul, (0, None)), (None, 0))(n.x, n.y),
        n.F.vmap(n.F.vmap(n.T.mul))(n.A, n.A),
    ],
    "vmap of derivatives": lambda n: [
        n.F.vmap(n.F.grad(lambda w, x: (w @ x).tanh()), (None, 0))(n.x, n.A),
        n.F.vmap(n.F.jacrev(lambda x: x * x.sum()))(n.A),
        n.F.vmap(n.F.hessian(lambda x: (x**3).sum()))(n.A),
        n.F.vmap(n.F.vjp(lambda x: n.A @ x, n.x)[1])(n.T.eye(2, dtype=n.T.float64)),
    ],
    "grad of vmap": lambda n: n.F.grad(lambda w: n.F.vmap(n.T.dot, (0, None))(n.A, w).tanh().sum())(n.x),
    **{
        each.__name__: each
        for each in (
            *(through_a_leaf, of_a_leaf_under_no_grad, no_grad_inside, jacobians_of_containers),
            *(random_numbers, per_sample_gradients, through_every_kind_of_rule, functional_call),
        )
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_with_pytorch(name: str):
    assert_same(lambda T: PROGRAMS[name](values(T)), 1e-6)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no number": (lambda n: grad(lambda x: x)(n.x), "one number.*vjp or jacrev"),
    "no tensor": (lambda n: grad(lambda x: 3)(n.x), "must return tensors"),
    "an argument twice": (lambda n: grad(lambda x: x.sum(), (0, 0))(n.x), "each once"),
    "integers": (lambda n: grad(lambda x: x.sum())(n.T.tensor([1])), r"\.float\(\)"),
    "other cotangents": (lambda n: vjp(n.T.sin, n.x)[1]((n.x, n.x)), "1 outputs and 2 cotangents"),
    "other tangents": (lambda n: jvp(n.T.sin, (n.x,), (n.x, n.y)), "same structure"),
    "a tangent's shape": (lambda n: jvp(n.T.sin, (n.x,), (n.s,)), r"\[3\], got \[\]"),
    "different sizes": (lambda n: vmap(n.T.mul)(n.A, n.x), r"\[2, 3\]"),
    "no examples": (lambda n: vmap(n.T.sin)(n.T.zeros(0, 3)), "no examples"),
    "randomness": (lambda n: vmap(lambda a: a + n.T.rand(3))(n.A), "randomness='different'"),
    "a name": (lambda n: n.F.functional_call(n.T.nn.Linear(3, 2), {"nothing": n.s}, n.x), "unknown"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_use_is_refused(name: str):
    call, message = REFUSED[name]
    with pytest.raises((RuntimeError, ValueError), match=message):
        call(values(autokit))


def test_a_draw_that_is_refused_leaves_the_stream():
    before = autokit.get_rng_state()
    with pytest.raises(RuntimeError, match="draws random numbers"):
        vmap(lambda a: a + autokit.rand(3))(autokit.ones(2, 3))
    assert autokit.equal(before, autokit.get_rng_state())


def test_a_loop_may_branch_on_values():
    found = vmap(lambda x: x * 2 if x.item() > 0 else x * 3)(autokit.tensor([1.0, -1.0]))
    assert found.tolist() == [2.0, -3.0]


def quadratic(x: Any) -> Any:
    return (x**2).sum() * x[0] + x.sin().sum()


@settings(max_examples=25)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=4), st.integers(0, 1000))
def test_the_transforms_agree_with_each_other(elements: list[float], seed: int):
    x = autokit.tensor(elements, dtype=autokit.float64)
    draw = np.random.RandomState(seed)
    u, v = (autokit.tensor(draw.uniform(-1, 1, len(elements))) for _ in range(2))
    gradient = grad(quadratic)
    second = hessian(quadratic)(x)
    for other in (jacrev(jacrev(quadratic)), jacfwd(gradient), jacrev(gradient)):
        np.testing.assert_allclose(other(x).numpy(), second.numpy(), atol=1e-10)
    np.testing.assert_allclose(jvp(gradient, (x,), (v,))[1].numpy(), (second @ v).numpy(), atol=1e-10)
    np.testing.assert_allclose(vjp(gradient, x)[1](u)[0].numpy(), (u @ second).numpy(), atol=1e-10)
    whole = vmap(gradient)(autokit.stack([x, u]))
    np.testing.assert_allclose(whole.numpy(), [gradient(x).tolist(), gradient(u).tolist()], atol=1e-10)


@given(st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_tree_is_put_together_as_it_was(tree: Any):
    leaves, structure = flatten((tree,))
    assert unflatten(leaves, structure) == (tree,)
    assert spread((0,), (tree,)) == [0] * len(leaves)


def test_tangents_come_oldest_first():
    x = autokit.tensor(2.0, requires_grad=True)
    y = (x * 3).exp()
    told = [(getattr(node, "kind", "x"), t.item()) for node, t in tangents([y], [x], [autokit.tensor(1.0)])]
    assert [kind for kind, _ in told] == ["x", "MulBackward0", "ExpBackward0"]
    assert [number for _, number in told] == pytest.approx([1.0, 3.0, 3 * np.exp(6.0)])


def test_a_gradient_that_nobody_differentiates_again_has_no_history():
    x = autokit.ones(3)
    gradient, value = autokit.func.grad_and_value(lambda x: (x**3).sum())(x)
    assert gradient.grad_fn is value.grad_fn is None and not x.requires_grad and x.grad is None
