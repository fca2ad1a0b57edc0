"""Functions made from functions: each program gives what it gives with PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from autokit.func.trees import flatten, spread, unflatten
from tests.func.programs import assert_same

PROGRAMS = {
    "grad": "show(F.grad(T.sin)(s))",
    "grad of grad": "show(F.grad(F.grad(lambda x: x**3))(s), F.grad(F.grad(F.grad(T.sin)))(s))",
    "functionalized": "f = lambda x: x.clone().add_(1).view(-1).mul_(x.reshape(-1)).sum()\n"
    "show(F.functionalize(f)(x), F.grad(F.functionalize(f, remove='mutations_and_views'))(x))\n"
    "F.functionalize(lambda x: x.add_(1))(x); show(x)",
    "functionalized wrongly": "refused(lambda: F.functionalize(T.sin, remove='all')(x))",
    "what a transform holds": "F.vmap(lambda r: (show(F.debug_unwrap(r)), r)[1])(x)",
    "argnums": "f = lambda a, b: (a * b**2).sum()\nshow(F.grad(f, 1)(x, y), F.grad(f, (0, 1))(x, y), "
    "F.grad(f, -1)(x, y))",
    "has_aux": "show(F.grad(lambda x: (x.sum(), {'a': x * 2}), has_aux=True)(x))",
    "value": "show(F.grad_and_value(lambda x: (x * x).sum())(x))\n"
    "show(F.grad_and_value(lambda x: ((x * x).sum(), x), has_aux=True)(x))",
    "containers": "f = lambda p, k: (p['w'] * k[0]).sum() + p['b'][0].sum()\n"
    "show(F.grad(f)({'w': x, 'b': (y, s)}, [x]), F.grad(f, (1, 0))({'w': x, 'b': (y, s)}, [x]))",
    "keyword arguments": "show(F.grad(lambda x, *, k: (x * k).sum())(x, k=y))",
    "an input that takes no part": "show(F.grad(lambda x, y: x.sum(), (0, 1))(x, y))",
    "a constant": "show(F.grad(lambda x: s)(x), F.grad(lambda x: s * 2)(x))",
    "the input itself": "show(F.grad(lambda x: x)(s))",
    "a closure over an inner variable": "show(F.grad(lambda x: F.grad(lambda y: (x * x * y * y))(s) * x)(s))",
    "perturbations are not confused": "show(F.grad(lambda x: x * F.grad(lambda y: x + y)(s))(s))\n"
    "show(F.grad(lambda x: x * F.grad(lambda y: x * y)(x))(s))",
    "a closure over a leaf": "g = F.grad(lambda x: (x * w * w).sum())(x); show(g); g.sum().backward(); "
    "show(w.grad)",
    "an input that requires grad": "g = F.grad(lambda x: (x**3).sum())(w); show(g); g.sum().backward(); "
    "show(w.grad)",
    "an input that requires grad by backward": "v = F.grad_and_value(lambda x: (x**3).sum())(w)\n"
    "show(v); v[1].backward(); show(w.grad)",
    "inside no_grad": "with T.no_grad(): show(F.grad(lambda x: (x * w).sum())(x), F.grad(T.sin)(s))",
    "no_grad inside": "def f(x):\n    with T.no_grad(): c = x * x\n    return (x - c).sum()\n"
    "show(F.grad(f)(x))",
    "detach inside": "show(F.grad(lambda x: (x * x.detach()).sum())(x))",
    "vjp": "o, f = F.vjp(T.sin, x); show(o, f(y), f(x))",
    "vjp of trees": "o, f = F.vjp(lambda a, b: {'p': a * b['q'], 'r': (a.sum(),)}, x, {'q': y})\n"
    "show(o, f({'p': x, 'r': (s,)}))",
    "vjp with aux": "o, f, a = F.vjp(lambda x: (x * 2, x + 1), x, has_aux=True); show(o, a, f(y))",
    "vjp inside grad": "show(F.grad(lambda x: F.vjp(T.sin, x)[1](x)[0].sum())(x))",
    "vjp's function inside grad": "f = F.vjp(lambda x: x**2, x)[1]\nshow(F.grad(lambda c: (f(c)[0] ** 2)"
    ".sum())(y))",
    "jvp": "show(F.jvp(T.sin, (x,), (y,)), F.jvp(lambda a, b: (a @ b, a * b), (x, y), (y, x)))",
    "jvp with aux": "show(F.jvp(lambda x: (x * 2, x + 1), (x,), (y,), has_aux=True))",
    "jvp where the output is constant": "show(F.jvp(lambda x: y * 1, (x,), (y,)))",
    "jvp of the identity": "show(F.jvp(lambda x: x, (x,), (y,)))",
    "jvp of jvp": "f = lambda x: F.jvp(lambda x: x**3, (x,), (y,))[1]\nshow(F.jvp(f, (x,), (x,)))",
    "grad of jvp": "show(F.grad(lambda x: F.jvp(T.exp, (x,), (y,))[1].sum())(x))",
    "grad of jvp by the tangent": "show(F.grad(lambda v: (F.jvp(T.exp, (x,), (v,))[1] ** 2).sum())(y))",
    "a product with the Hessian": "show(F.jvp(F.grad(lambda x: (x**3).sum() * x[0]), (x,), (y,)))",
    "jacrev": "show(F.jacrev(lambda x: A @ x.sin())(x), F.jacrev(lambda a, b: a[:, None] * b, (0, 1))(x, y))",
    "jacfwd": "show(F.jacfwd(lambda x: A @ x.sin())(x), F.jacfwd(lambda a, b: a[:, None] * b, (0, 1))(x, y))",
    "Jacobians of trees": "f = lambda p: {'a': p['u'] * p['v'][0], 'b': p['u'].sum()}\n"
    "p = {'u': x, 'v': (y,)}\nshow(F.jacrev(f)(p), F.jacfwd(f)(p))",
    "Jacobians with aux": "f = lambda x: (x * x, x.sum())\nshow(F.jacrev(f, has_aux=True)(x), F.jacfwd(f, "
    "has_aux=True)(x))",
    "Jacobians of one number": "show(F.jacrev(T.sin)(s), F.jacfwd(T.sin)(s), F.jacrev(lambda x: x.sum())(A))",
    "Jacobians that are 0": "show(F.jacrev(lambda x: y * 1)(x), F.jacfwd(lambda x: y * 1)(x))",
    "hessian": "f = lambda x: (x[0] * x[1] ** 2 + x[2].exp() * x[0])\nshow(F.hessian(f)(x))\n"
    "show(F.jacrev(F.jacrev(f))(x), F.jacfwd(F.jacfwd(f))(x), F.jacrev(F.jacfwd(f))(x))",
    "hessian by two": "show(F.hessian(lambda a, b: (a * a * b).sum(), (0, 1))(x, y))",
    "hessian through a leaf": "h = F.hessian(lambda x: (x**2 * w).sum())(x); h.sum().backward(); show(h, "
    "w.grad)",
    "vmap": "show(F.vmap(T.dot)(A, A), F.vmap(lambda a: a.sum())(A), T.vmap(T.sin)(x))",
    "in_dims": "show(F.vmap(lambda a: a.sum(), 1)(A), F.vmap(T.dot, (0, None))(A, x), F.vmap(T.mul, (-1, "
    "0))(A, x))",
    "in_dims of containers": "f = lambda d, k: d['a'] * d['b'] + k[0]\n"
    "show(F.vmap(f, ({'a': 0, 'b': None}, 0))({'a': x, 'b': s}, [y]), F.vmap(f, (0, None))({'a': x, "
    "'b': y}, [s]))",
    "out_dims": "show(F.vmap(lambda a: a * 2, out_dims=1)(A), F.vmap(lambda a: (a, a.sum()), "
    "out_dims=(-1, 0))(A))",
    "a number for all": "show(F.vmap(lambda a, k: a * k, (0, None))(A, 3))",
    "keywords": "show(F.vmap(lambda a, k: a * k)(A, k=x)); refused(F.vmap(lambda k: k), k=x)",
    "vmap of vmap": "show(F.vmap(F.vmap(T.mul, (0, None)), (None, 0))(x, y), F.vmap(F.vmap(T.mul))(A, A))",
    "vmap of nothing": "show(F.vmap(lambda a: (a * 2, a.sum()))(T.zeros(0, 3)))",
    "an output that all share": "show(F.vmap(lambda a: s)(A))",
    "vmap of grad": "show(F.vmap(F.grad(lambda w, x: (w @ x).tanh()), (None, 0))(x, A))",
    "per-sample gradients": "params = {'w': x, 'b': s}\n"
    "def loss(p, x, y): return ((x @ p['w'] + p['b']) - y) ** 2\n"
    "show(F.vmap(F.grad(loss), in_dims=(None, 0, 0))(params, A, t(1.0, 2.0)))",
    "grad of vmap": "show(F.grad(lambda w: F.vmap(T.dot, (0, None))(A, w).tanh().sum())(x))",
    "vmap of jacrev": "show(F.vmap(F.jacrev(lambda x: x * x.sum()))(A), F.vmap(F.hessian(lambda x: (x**3)"
    ".sum()))(A))",
    "backward through vmap": "F.vmap(T.dot, (0, None))(A, w).sum().backward(); show(w.grad)",
    "vjp over a basis": "f = F.vjp(lambda x: A @ x, x)[1]\nshow(F.vmap(f)(T.eye(2, dtype=T.float64)))",
    "vmap of jacfwd through a leaf": "b = w[:2] * 1\n"
    "f = lambda x: T.nn.functional.linear(x, A * w, b).tanh()\n"
    "j = F.vmap(F.jacfwd(f))(A); show(j, F.vmap(F.jacrev(f))(A)); j.sum().backward(); show(w.grad)",
    "vmap of jvp through a leaf": "f = lambda x: T.nn.functional.linear(x, A * w, w[:2])\n"
    "show(F.vmap(lambda x: F.jvp(f, (x,), (y,))[1])(A))",
    "a tangent kernel by products": "def kernel(a, b):\n"
    "    o, pull = F.vjp(lambda p: T.tanh(p['m'] @ a) + p['m'] @ a, {'m': A})\n"
    "    f = lambda p: T.tanh(p['m'] @ b) + p['m'] @ b\n"
    "    def row(v): return F.jvp(f, ({'m': A},), pull(v))[1]\n"
    "    return F.vmap(row)(T.eye(2, dtype=T.float64))\n"
    "show(F.vmap(F.vmap(kernel, (None, 0)), (0, None))(A, A + 1))",
    "an ensemble on samples of its own": "m = T.nn.Linear(3, 2).double()\n"
    "def loss(p, i):\n    o = F.functional_call(m, p, (A[i],))\n"
    "    return T.nn.functional.cross_entropy(o, T.tensor([1, 0])[i])\n"
    "p = {'weight': T.stack([A * w, A + 1]), 'bias': T.stack([x[:2], y[:2]])}\n"
    "g, l = F.vmap(F.grad_and_value(loss))(p, T.tensor([[0, 1, 1], [1, 0, 1]]))\n"
    "show(g, l); l.sum().backward(); show(w.grad)",
    "gradients of many at once": "u = w**2\nshow(T.autograd.grad(u, w, T.eye(3, dtype=T.float64), "
    "is_grads_batched=True, retain_graph=True, only_inputs=True))\n"
    "(g,) = T.autograd.grad((u, u.sum()), w, (A, t(1.0, 2.0)), is_grads_batched=True, create_graph=True)\n"
    "show(g); g.sum().backward(); show(w.grad)\n"
    "refused(T.autograd.grad, w * 2, (w, s.requires_grad_()), A, is_grads_batched=True)",
    "the last operation's name": "show(F.vmap(lambda a: (a * w).exp())(A).grad_fn.name(), "
    "F.vmap(T.mul, (0, None))(A, w).grad_fn.name())",
    "not a scalar": "refused(F.grad(lambda x: x), x)",
    "no tensor": "refused(F.grad(lambda x: 3), x)",
    "no such argument": "refused(F.grad(lambda x: x.sum(), 1), x)",
    "arguments twice": "refused(F.grad(lambda x: x.sum(), (0, 0)), x)",
    "no pair": "refused(F.grad(lambda x: x.sum(), has_aux=True), x)",
    "integers": "refused(F.grad(lambda x: x.sum()), T.tensor([1, 2]))",
    "a cotangent of another structure": "refused(F.vjp(T.sin, x)[1], (x, x))",
    "tangents of another structure": "refused(F.jvp, T.sin, (x,), (x, y))\nrefused(F.jvp, T.sin, x, x)",
    "a tangent of another shape": "refused(F.jvp, T.sin, (x,), (s,))",
    "vmap of no tensor": "refused(F.vmap(lambda a: 3), A)",
    "vmap without inputs": "refused(F.vmap(lambda: s))",
    "vmap of different sizes": "refused(F.vmap(T.mul), A, x)",
    "in_dims that do not fit": "refused(F.vmap(T.mul, (0,)), A, A)\nrefused(F.vmap(T.sin, 2), A)\n"
    "refused(F.vmap(T.sin, 'a'), A)\nrefused(F.vmap(T.mul), A, 2)\nrefused(F.vmap(T.sin, None), A)",
    "out_dims that do not fit": "refused(F.vmap(T.sin, out_dims=(0, 1)), A)",
    "randomness that is refused": "refused(F.vmap(lambda a: a + T.rand(3)), A)\nrefused(F.vmap, T.sin, "
    "randomness='x')",
    "the same randomness": "o = F.vmap(lambda a: T.rand(3, dtype=T.float64), randomness='same')(A)\n"
    "show(bool((o[0] == o[1]).all()))",
    "different randomness": "o = F.vmap(lambda a: T.rand(3), randomness='different')(A)\n"
    "show(bool((o[0] == o[1]).all()))",
    "functional_call": "m = T.nn.Sequential(T.nn.Linear(3, 2), T.nn.Tanh()).double()\n"
    "p = {'0.weight': A, '0.bias': t(1.0, 2.0)}\nbefore = m[0].weight\n"
    "show(F.functional_call(m, p, (x,)), F.functional_call(m, p, x), m[0].weight is before)\n"
    "show(F.grad(lambda p: F.functional_call(m, p, x).sum())(p))\n"
    "show(F.functional_call(m, ({'0.weight': A}, {'0.bias': t(0.0, 0.0)}), x))",
    "functional_call with attributes": "class M(T.nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n"
    "        self.scale, self.inner = s, T.nn.Linear(3, 1)\n"
    "    def forward(self, x):\n        return x * self.scale + getattr(self, 'more', 0)\n"
    "m = M()\nshow(F.functional_call(m, {'scale': y}, x))\n"
    "show(F.functional_call(m, {'more': y, 'inner.odd': y}, x))\n"
    "show(m(x), hasattr(m, 'more'), hasattr(m.inner, 'odd'))\n"
    "show(F.grad(lambda k: F.functional_call(m, {'scale': k}, x).sum())(s))\n"
    "refused(F.functional_call, m, {'inner.no.odd': y}, x)\n"
    "refused(F.functional_call, m, {'training': y}, x)\n"
    "refused(F.functional_call, m, {'inner.forward': y}, x)",
    "functional_call refused": "m = T.nn.Linear(3, 2).double()\n"
    "refused(F.functional_call, m, {'weight': A, 'nothing': s}, (x,), strict=True)\n"
    "refused(F.functional_call, m, {'weight': A}, (x,), strict=True)\n"
    "refused(F.functional_call, m, ({'weight': A}, {'weight': A}), (x,))\nrefused(F.functional_call, m, "
    "3, (x,))",
    "an ensemble": "ms = [T.nn.Linear(3, 2).double() for _ in range(3)]\np, b = F.stack_module_state(ms)\n"
    "show([(k, tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in p.items()], b)\n"
    "o = F.vmap(lambda p, x: F.functional_call(ms[0], p, (x,)), (0, None))(p, x)\n"
    "show(bool((o[1] - ms[1](x)).abs().max() < 1e-12)); o.sum().backward(); show(p['bias'].grad)",
    "a training step": "p = {'w': x, 'b': s}\nfor _ in range(5):\n"
    "    g = F.grad(lambda p: ((A @ p['w'] + p['b'] - t(1.0, 2.0)) ** 2).mean())(p)\n"
    "    p = {k: p[k] - 0.1 * g[k] for k in p}\nshow(p)",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_what_it_gives_with_pytorch(program: str):
    assert_same(program)


def quadratic(x):
    return (x**2).sum() * x[0] + x.sin().sum()


@settings(max_examples=25, deadline=None)
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


def test_a_gradient_that_nobody_differentiates_again_has_no_history():
    x = autokit.ones(3)
    gradient, value = autokit.func.grad_and_value(lambda x: (x**3).sum())(x)
    assert gradient.grad_fn is value.grad_fn is None
    assert not x.requires_grad and x.grad is None


def test_an_error_says_which_transform_fits():
    with pytest.raises(RuntimeError, match="Maybe you wanted to use the vjp or jacrev"):
        grad(lambda x: x * 2)(autokit.ones(2))


@pytest.mark.parametrize("transform", ["grad", "grad_and_value", "jacrev", "jacfwd", "hessian"])
def test_what_cannot_be_differentiated_by_is_refused_as_by_pytorch(transform: str):
    import autokit.func

    def refused(error: type[Exception], match: str, argnums: Any, *args: Any) -> None:
        with pytest.raises(error, match=match):
            getattr(autokit.func, transform)(lambda x, y: (x * y).sum(), argnums)(*args)

    x = autokit.ones(2)
    refused(RuntimeError, "non-empty", (), x, x)
    refused(RuntimeError, "must be int or Tuple", 2.0, x, x)
    refused(RuntimeError, "must be int or Tuple", [0, 1], x, x)
    refused(RuntimeError, "argnum must be int", (0, 1.0), x, x)
    refused(RuntimeError, "unique", (0, 0), x, x)
    refused(RuntimeError, "only 2 positional inputs", 2, x, x)
    refused(ValueError, "must be Tensor, got <class 'float'>", 0, 1.0, x)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_a_jacobian_of_whole_numbers_is_refused(transform: Any):
    with pytest.raises(RuntimeError, match="must be floating-point"):
        transform(lambda x: x.long())(autokit.ones(2))


def test_a_branch_on_a_value_is_refused():
    with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling \.item\(\) on a Tensor"):
        vmap(lambda x: x.item() * x)(autokit.tensor([1.0, -1.0]))
    with pytest.raises(RuntimeError, match="vmap"):
        vmap(lambda x: x * 2 if x > 0 else x * 3)(autokit.tensor([1.0, -1.0]))
