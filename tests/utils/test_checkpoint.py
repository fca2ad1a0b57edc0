"""Checkpoints give the gradients that they would give without, for less memory."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.utils.checkpoint import checkpoint
from tests.oracle import compare, numbers, pytorch

PROGRAMS: dict[str, Any] = {
    "one": lambda T, c, f, x, w: c(lambda a: f(a, w), x),
    "in the middle": lambda T, c, f, x, w: c(lambda a: f(a, w), x * 2) * x,
    "several results": lambda T, c, f, x, w: c(lambda a: (f(a, w), a * a), x),
    "a result without a gradient": lambda T, c, f, x, w: c(lambda a: (f(a, w), a.detach()), x),
    "arguments that are no tensors": lambda T, c, f, x, w: c(lambda a, n, s: f(a, w) * n, x, 3, "a"),
    "an argument without a gradient": lambda T, c, f, x, w: c(lambda a, b: f(a, w) * b, x, w.detach()),
    "arguments of one another": lambda T, c, f, x, w: c(lambda a, b: f(a, w) * b, x * 2, x * 2 * w),
    "keywords": lambda T, c, f, x, w: c(lambda a, k: f(a, w) * k, x, k=w),
    "a value from outside": lambda T, c, f, x, w: (lambda h: c(lambda a: f(a, h), x) + h)(w.exp()),
    "inside one another": lambda T, c, f, x, w: c(lambda a: c(lambda b: f(b, w), a * 3) + a, x),
    "one after the other": lambda T, c, f, x, w: c(lambda a: f(a, w), c(lambda a: f(a, w), x)),
    "the argument itself": lambda T, c, f, x, w: c(lambda a: a, x) * w,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_to_second_order_are_those_of_pytorchs(name: str):
    def program(T: Any, x: Any, w: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            return T.utils.checkpoint.checkpoint(*args, use_reentrant=False, **kwargs)

        return PROGRAMS[name](T, call, lambda a, w: (a * w).tanh() * a, x, w)

    import torch.utils.checkpoint  # noqa: F401

    compare(program, numbers(3), numbers(3, seed=1))


def test_dropout_drops_the_same_in_both_runs():
    drawn = []
    for T in (ak, pytorch):
        T.manual_seed(0)
        dropout, v = T.nn.Dropout(0.5), T.ones(20, requires_grad=True)
        y = T.utils.checkpoint.checkpoint(lambda a, d=dropout: d(a) * 2, v, use_reentrant=False)
        T.rand(3)
        y.sum().backward()
        assert v.grad.tolist() == y.tolist()
        drawn.append([y.tolist(), T.rand(2).tolist()])
    assert drawn[0] == drawn[1]
    y = checkpoint(lambda a: ak.nn.functional.dropout(a), v := ak.ones(20, requires_grad=True))
    z = checkpoint(lambda a: ak.nn.functional.dropout(a), v, preserve_rng_state=False)
    z.sum().backward()
    assert v.grad.tolist() != z.tolist()


def test_the_part_runs_again_in_each_pass_and_hooks_see_its_gradient():
    runs, seen = [], []
    x = ak.ones(2, requires_grad=True)
    h = x * 2
    h.register_hook(lambda g: seen.append(g.tolist()))
    y = checkpoint(lambda a: (runs.append(ak.is_grad_enabled()), a.exp())[1], h, use_reentrant=True).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert runs == [True] * 3 and len(seen) == 2
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with ak.no_grad():
        assert checkpoint(lambda a: a * 2, x).grad_fn is None
    assert not checkpoint(lambda a: a * 2, x.detach()).requires_grad


def test_what_differs_in_the_second_run_is_refused():
    runs = [lambda x: x.repeat(2), lambda x: x.exp()]
    y = checkpoint(lambda x: runs.pop()(x), ak.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="results of other shapes"):
        y.sum().backward()
    h = ak.ones(2, requires_grad=True) * 1
    y = checkpoint(ak.exp, h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def peak(segments: int) -> tuple[float, np.ndarray]:
    """The peak of memory of a step through 16 layers, and the gradient; 0 segments means no checkpoints."""
    x = ak.tensor(np.linspace(-1, 1, 50_000), requires_grad=True)
    layers = [ak.nn.Tanh() for _ in range(16)]
    gc.collect()
    tracemalloc.start()
    size = len(layers) // max(segments, 1)
    parts = [ak.nn.Sequential(*layers[i : i + size]) for i in range(0, len(layers), size)]
    loss = x
    for part in parts:
        loss = checkpoint(part, loss) if segments else part(loss)
    loss.sum().backward()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, x.grad.numpy()


def test_it_needs_less_memory():
    (plain, gradient), (saving, same) = peak(0), peak(4)
    np.testing.assert_array_equal(gradient, same)
    assert saving < 0.85 * plain


def test_what_a_checkpoint_keeps_goes_with_the_graph():
    x = ak.ones(50_000, requires_grad=True)
    gc.disable()
    tracemalloc.start()
    try:
        y = checkpoint(lambda a: (a * 2).exp().sin(), x * 3)
        assert tracemalloc.get_traced_memory()[0] < 2.5 * x.nbytes  # its argument and its result
        del y
        assert tracemalloc.get_traced_memory()[0] < 0.5 * x.nbytes
    finally:
        tracemalloc.stop()
        gc.enable()
