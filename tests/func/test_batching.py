"""``vmap`` beside a loop, for every operation, its values and its gradients; and beside PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.batches import Batch, Level, NotBatched
from autokit.func import grad, jacrev, vmap
from autokit.ops import samples
from tests.func.programs import assert_same
from tests.ops.case import Case, flat
from tests.ops.cases import CASES, NEED_A_GPU

BY_SAMPLES = {
    *("apply_", "as_strided", "bernoulli", "bernoulli_", "bincount", "binomial", "bucketize", "cov"),
    *("geqrf", "igamma", "igammac", "ldl_factor", "ldl_factor_ex"),
    *(
        "ctc_loss",
        "embedding_bag",
        "histc",
        "histogram",
        "histogramdd",
        "index",
        "index_fill",
        "map_",
        "masked_scatter",
    ),
    *("masked_select", "matrix_exp", "max_unpool1d", "max_unpool2d", "max_unpool3d"),
    *("multilabel_margin_loss", "multinomial", "nanmedian", "nll_loss", "nonzero", "poisson", "polygamma"),
    *("repeat_interleave", "scatter_reduce", "searchsorted", "segment_reduce", "solve_triangular", "unique"),
    *("unique_consecutive", "zeta"),
}
"""What has no rule for all samples at once."""

DRAWS_OTHERWISE = {"bernoulli_", "multinomial"}
"""What draws for the samples in another order than a loop does."""

SCALES = (1.0, 0.9, 0.8)


@contextmanager
def looped() -> Iterator[set[str]]:
    """The names of the operations that go through the samples meanwhile."""
    names: set[str] = set()
    samples.told_of.append(names.add)
    try:
        yield names
    finally:
        samples.told_of.remove(names.add)


def batch_of(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "f":
        return np.stack([array * scale for scale in SCALES])
    return np.stack([array, array, np.flip(array)])


def tensors_of(case: Case) -> list[Any]:
    return [
        autokit.tensor(batch, requires_grad=batch.dtype.kind == "f") for batch in map(batch_of, case.arrays)
    ]


def gradients(results: list[Any], leaves: list[Any]) -> list[Any]:
    ends = [result for result in results if result.requires_grad]
    if not ends or not leaves:
        return []
    draw = np.random.RandomState(1)
    seeds = [autokit.tensor(draw.uniform(-1, 1, tuple(end.shape))).to(end.dtype) for end in ends]
    return list(autokit.autograd.grad(ends, leaves, seeds, allow_unused=True))


def assert_close(mine: Any, other: Any) -> None:
    if mine is None or other is None:
        known = other if mine is None else mine
        assert known is None or not known.numpy().any()
        return
    assert mine.shape == other.shape and mine.dtype == other.dtype
    tolerance = {"float64": 1e-8, "complex128": 1e-8, "float32": 1e-5}.get(mine.dtype.name, 1e-2)
    mine, other = (each.detach() for each in (mine, other))
    if mine.dtype.name == "bfloat16":
        mine, other = mine.float(), other.float()
    np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=tolerance, atol=tolerance)


def refused_by_pytorch_too(case: Case, error: RuntimeError) -> bool:
    """Whether what all samples share would change for each, or memory is read outside of a sample."""
    return (case.name == "batch_norm" and "data pointer" in str(error)) or case.name == "as_strided"


def is_tried(case: Case) -> bool:
    return bool(case.arrays) and case.name not in DRAWS_OTHERWISE | NEED_A_GPU


def assert_like_a_loop(case: Case) -> None:
    def call(*tensors: Any) -> tuple[Any, ...]:
        found = flat(case.call(autokit, *tensors))
        return tuple([each for each in found if isinstance(each, autokit.Tensor)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one_by_one = tensors_of(case)
        rows = [call(*[tensor[place] for tensor in one_by_one]) for place in range(len(SCALES))]
        if not rows[0]:
            return
        expected = [autokit.stack(parts) for parts in zip(*rows)]
        tensors = tensors_of(case)
        with looped() as names:
            try:
                results = vmap(call, randomness="same")(*tensors)
            except RuntimeError as error:
                assert refused_by_pytorch_too(case, error)
                return
            made = gradients(results, [tensor for tensor in tensors if tensor.requires_grad])
    for mine, other in zip(results, expected, strict=True):
        assert_close(mine, other)
    wanted = gradients(expected, [tensor for tensor in one_by_one if tensor.requires_grad])
    for mine, other in zip(made, wanted, strict=True):
        assert_close(mine, other)
    assert names <= BY_SAMPLES


@pytest.mark.parametrize("name", sorted({case.name for case in CASES if is_tried(case)}))
def test_an_operation_gives_what_a_loop_gives(name: str):
    for case in CASES:
        if case.name == name and is_tried(case):
            assert_like_a_loop(case)


def test_the_documentation_names_what_goes_through_the_samples():
    assert vmap.__doc__
    for name in BY_SAMPLES:
        assert f"``{name.rstrip('_123d') if 'unpool' in name else name}" in vmap.__doc__ or name in (
            "bernoulli_",
            "unique_consecutive",
            "ldl_factor_ex",
        )


# ---------------------------------------------------------------- beside PyTorch

BATCHES = """
nn = T.nn.functional
B = A * 2 - 1
W = t((1.0, 0.5, -1.0), (0.2, -0.3, 1.0), (2.0, 1.0, 0.1))
X = T.arange(24, dtype=T.float64).reshape(4, 2, 3).sin()
images = T.arange(4 * 2 * 36, dtype=T.float64).reshape(4, 1, 2, 6, 6).sin()
kernels = T.arange(4 * 54, dtype=T.float64).reshape(4, 3, 2, 3, 3).cos()
index = T.tensor([[0, 1], [1, 1], [2, 0], [0, 0]])
v = F.vmap
def loss(p, a): return T.tanh(W @ a * p).sum() + (p**3).sum()
def change(a):
    b = a.clone(); b[0] = 5; b[1:] *= 2
    return b
def steps(a):
    h = T.zeros(3, dtype=T.float64)
    for _ in range(3): h = T.tanh(W @ h + a)
    return h
"""

PROGRAMS = {
    "nested": "show(v(v(T.dot, (None, 0)), (0, None))(A, B))\n"
    "show(v(v(lambda a, b: (a * b).sum() * a, (None, 0), 1), (0, None), 1)(A, B))",
    "nested gradients": "show(v(v(F.grad(lambda a, b: (a * b).sin().sum()), (None, 0)), (0, None))(A, B))",
    "per-sample gradients": "show(v(F.grad(loss), (None, 0))(x, A))",
    "the gradient of per-sample gradients": "show(F.grad(lambda p: (v(F.grad(loss), (None, 0))(p, A) ** 2)"
    ".sum())(x))",
    "per-sample Hessians": "show(v(F.hessian(loss), (None, 0))(x, A))",
    "Jacobians of a batch": "f = lambda p: v(loss, (None, 0))(p, A)\n"
    "show(F.jacrev(f)(x), F.jacfwd(f)(x), F.hessian(lambda p: f(p).sum())(x))",
    "jvp inside": "show(v(lambda a, d: F.jvp(lambda x: (W @ x).sin(), (a,), (d,))[1])(A, B))",
    "jvp along a batch": "show(v(lambda d: F.jvp(lambda x: (W @ x).sin(), (x,), (d,))[1])(A))",
    "vjp along a basis": "f = F.vjp(lambda x: (W @ x).sin() * x, x)[1]\n"
    "show(v(f)(T.eye(3, dtype=T.float64)))",
    "vjp along a batch without a rule": "f = F.vjp(lambda x: nn.softmax(x, 1), A)[1]\n"
    "g = F.vjp(lambda k: nn.conv2d(images[0], k), kernels[0])[1]\n"
    "show(v(f)(T.stack([A, B])), v(g)(T.arange(96, dtype=T.float64).reshape(2, 1, 3, 4, 4).sin()))",
    "vjp of a batch along a basis": "f = F.vjp(lambda p: v(loss, (None, 0))(p, A), x)[1]\n"
    "show(v(f)(T.eye(2, dtype=T.float64)))",
    "jvp along a vjp of nested batches": "gradients = T.arange(96, dtype=T.float64).reshape(2, 3, 4, 4)\n"
    "for bias in (None, W[0]):\n"
    "    f = lambda k, x: nn.conv2d(x[0], k, bias)\n"
    "    def kernel(a, b):\n"
    "        back = F.vjp(lambda k: f(k, a), kernels[0])[1]\n"
    "        return v(lambda g: F.jvp(lambda k: f(k, b), (kernels[0],), back(g))[1])(gradients)\n"
    "    show(v(v(kernel, (None, 0)), (0, None))(images, images))",
    "backward through a closure": "v(lambda a: (a @ w * w).tanh().sum() + (w * "
    "2).sum())(A).sum().backward()\n"
    "show(w.grad)",
    "backward through gradients by another": "v(F.grad(lambda a: (a @ "
    "w).tanh()))(A).pow(2).sum().backward()\n"
    "show(w.grad)",
    "autograd.grad inside": "y = (w * w).tanh()\n"
    "show(v(lambda d: T.autograd.grad(y, w, d, retain_graph=True)[0])(T.eye(3, dtype=T.float64)))",
    "convolutions": "show(v(lambda x: nn.conv2d(x, kernels[0], padding=1))(images))\n"
    "show(v(F.grad(lambda k, x: (nn.conv2d(x, k) ** 2).sum()), (None, 0))(kernels[0], images))\n"
    "show(v(lambda k, x: nn.conv2d(x, k))(kernels, images))",
    "pooling": "show(v(lambda x: nn.max_pool2d(x, 2))(images), v(lambda x: nn.avg_pool2d(x, 2))(images))",
    "normalization": "show(v(lambda x: nn.layer_norm(x, (3,)))(X))\n"
    "show(v(lambda x: nn.batch_norm(x, T.zeros(2).double(), T.ones(2).double()))(images))",
    "losses": "k = T.tensor([0, 2])\nshow(v(F.grad(nn.cross_entropy))(A, k))\n"
    "show(v(lambda a, b: nn.mse_loss(a, b))(A, B))",
    "ignored classes": "f = lambda a, k: nn.cross_entropy(a, k, ignore_index=1)\n"
    "show(v(F.grad(f))(X, T.tensor([[0, 1], [1, 2], [2, 2], [0, 0]])))",
    "embedding": "f = lambda m, i: nn.embedding(i, m).pow(2).sum()\nshow(v(F.grad(f), (None, 0))(W, index))",
    "indices of each": "show(v(lambda a, i: a[i])(A, T.tensor([0, 2])), v(lambda a, i: a[:, i])(X, index))\n"
    "show(v(lambda a, i: a[i], (None, 0))(W, index), v(lambda a, i: a[i, :, i], (None, 0))(X[:3], index))\n"
    "show(v(lambda a, i: a.gather(1, i[None]))(X, index))",
    "changes": "show(v(change)(A), v(F.grad(lambda a: (change(a) ** 2).sum()))(A))",
    "a changed input": "b = A.clone(); show(v(lambda a: a.add_(1))(b), b)",
    "a loop": "show(v(steps)(A), v(F.jacrev(steps))(A))",
    "where": "show(v(lambda a: T.where(a > 0, a, T.zeros(()).double()))(A))",
    "several results": "f = lambda a: (a.std(), a.var(), a.norm(), a.max(), a.sort().values, "
    "a.topk(2).indices)\n"
    "show(v(f)(A), v(lambda a: sum(z**2 for z in a))(A))",
    "linear algebra": "f = lambda a: (T.linalg.inv(a), T.linalg.det(a), T.linalg.solve(a, x))\n"
    "show(v(f)(T.stack([W, W + 1, W @ W])))\nshow(v(lambda a, b: T.einsum('ij,j->i', a, b), (None, "
    "0))(W, A))",
    "shapes of one example": "show(v(lambda a: a.view(-1, 1).expand(3, 2).reshape(a.size(0) * 2))(A))\n"
    "v(lambda a: (show(list(a.shape), a.ndim, a.dim(), a.numel(), a.stride(), len(a)), a)[1], 1)(A)",
    "chunks": "show(v(lambda a: a * 2, out_dims=1, chunk_size=3)(X), v(T.sin, chunk_size=2)(X))\n"
    "refused(v, T.sin, chunk_size=0)",
    "out_dims without examples": "show(v(lambda a: s, out_dims=None)(A))\n"
    "refused(v(lambda a: a, out_dims=None), A)\nrefused(v(T.sin, out_dims=5), A)",
    "random numbers": "for r in ('same', 'different'):\n"
    "    for f in (lambda a: T.randn(2) + 0 * a[0], T.rand_like, nn.dropout, lambda a: T.randint(0, 9, "
    "(2,)),\n"
    "              lambda a: T.randperm(4) + 0 * a[0], lambda a: T.bernoulli(a * 0 + 0.5) if r != "
    "'same' else a):\n"
    "        T.manual_seed(0)\n"
    "        show(v(f, randomness=r)(A))",
    "random numbers that are refused": "refused(v(lambda a: nn.dropout(a)), A); refused(v(T.rand_like), A)",
    "values that are asked for": "refused(v(lambda a: a * a[0].item()), A)\n"
    "refused(v(lambda a: a if a.sum() > 0 else -a), A); refused(v(lambda a: a * float(a[0])), A)\n"
    "refused(v(lambda a: a.tolist()), A); refused(v(lambda a: a.numpy()), A); refused(v(lambda a: a[a > "
    "0.7]), A)",
    "what all share is not changed": "refused(v(lambda a: T.zeros(3).double().add_(a)), A)",
    "errors of one example": "refused(v(lambda a: a.sum(5)), A); refused(v(lambda a: a @ W[:2]), A)",
    "half precision": "show(v(F.grad(lambda a: (a * a).sum()))(A.half()).double())",
    "integers": "show(v(lambda a: a // 2 + a % 3)(T.arange(12).reshape(4, 3)))",
    "dtypes meet": "show(v(lambda a, b: a * b)(T.ones(3), T.ones(3, dtype=T.float64)))",
    "a printed example": "show(v(lambda a: (show(repr(a)), a)[1])(A))",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_what_it_gives_with_pytorch(program: str):
    assert_same(BATCHES + program)


def test_a_network_gives_the_gradients_of_each_sample():
    layer = autokit.nn.Linear(3, 2)
    parameters = {name: value.detach() for name, value in layer.named_parameters()}
    x, target = autokit.randn(5, 3), autokit.tensor([0, 1, 1, 0, 1])

    def loss(parameters: Any, x: Any, target: Any) -> Any:
        scores = autokit.func.functional_call(layer, parameters, (x,))
        return autokit.nn.functional.cross_entropy(scores, target)

    with looped() as names:
        found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, target)
    assert not names
    for place in range(5):
        layer.zero_grad()
        autokit.nn.functional.cross_entropy(layer(x[place]), target[place]).backward()
        for name, parameter in layer.named_parameters():
            np.testing.assert_allclose(found[name][place].numpy(), parameter.grad.numpy(), atol=1e-6)


def test_an_operation_runs_once_for_all_samples():
    calls = []
    vmap(lambda x: calls.append(x.shape) or x * 2)(autokit.ones(100, 3))
    assert calls == [(3,)]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_indexing_gives_what_a_loop_gives(data: Any):
    shape = (3, 4, 2, 3)
    x = autokit.tensor(np.arange(72.0).reshape(shape), requires_grad=True)
    entries: list[Any] = []
    for size in shape[1:]:
        kind = data.draw(st.sampled_from(["all", "slice", "int", "shared", "own", "new"]))
        draw = np.random.RandomState(data.draw(st.integers(0, 99)))
        if kind == "new":
            entries.append(None)
        entries.append(
            {
                "all": slice(None),
                "slice": slice(1, None),
                "int": -1,
                "shared": autokit.tensor(draw.randint(-size, size, 2)),
                "own": autokit.tensor(draw.randint(-size, size, (3, 2))),
            }.get(kind, slice(None))
        )
    own = [entry for entry in entries if isinstance(entry, autokit.Tensor) and entry.ndim == 2]

    def pick(x: Any, *own: Any) -> Any:
        left = iter(own)
        return x[
            tuple(
                next(left) if isinstance(entry, autokit.Tensor) and entry.ndim == 2 else entry
                for entry in entries
            )
        ]

    found = vmap(pick)(x, *own)
    expected = autokit.stack([pick(x[place], *[each[place] for each in own]) for place in range(3)])
    assert found.tolist() == expected.tolist()
    weights = autokit.tensor(np.random.RandomState(0).uniform(size=tuple(found.shape)))
    assert autokit.autograd.grad((found * weights).sum(), x)[0].allclose(
        autokit.autograd.grad((expected * weights).sum(), x)[0]
    )


def test_levels_that_are_over_stay_apart():
    pull = autokit.func.vjp(lambda x: vmap(lambda a: a.sin() * x.sum())(x), autokit.ones(2))[1]
    assert jacrev(lambda x: pull(x)[0])(autokit.ones(2)).shape == (2, 2)
    outer, inner = Level(2), Level(3)
    from autokit.batches import full_of, wrap

    nested = Batch(Batch(np.arange(12.0).reshape(2, 3, 2), outer), inner)
    assert nested.shape == (2,) and full_of(nested, outer).shape == (2, 2)
    again = wrap(full_of(nested, outer), outer)
    assert (again.memory == nested.memory).all() and again.level is inner


def test_what_has_no_rule_raises_where_nobody_goes_through_the_samples():
    batch = Batch(np.ones((3, 2)), Level(3))
    for refused in (np.unique, np.array, lambda a: np.add(np.ones(2), a, out=np.zeros(2))):
        with pytest.raises(NotBatched):
            refused(batch)
