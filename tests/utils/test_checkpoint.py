"""Checkpoints give the gradients that they would give without, and PyTorch's refusals, for less memory."""

from __future__ import annotations

import gc
import importlib
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.utils.checkpoint import checkpoint, checkpoint_sequential
from tests.libraries import on_each, pytorch
from tests.shown import shown_by
from tests.support import require

START = """
checkpoint, sequential = T.utils.checkpoint.checkpoint, T.utils.checkpoint.checkpoint_sequential
x = T.tensor([1.0, -2.0, 0.5], dtype=T.float64, requires_grad=True)
w = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
def f(a): return (a * w).tanh() * a
runs = []
def counted(a):
    runs.append(T.is_grad_enabled())
    return f(a)
"""

EITHER = {
    "one": "y = checkpoint(f, x, use_reentrant=R); y.sum().backward(); show(y, x.grad, w.grad)",
    "runs twice": "checkpoint(counted, x, use_reentrant=R).sum().backward(); show(len(runs))",
    "in the middle": "(checkpoint(f, x * 2, use_reentrant=R) * x).sum().backward(); show(x.grad, w.grad)",
    "several outputs": "a, b = checkpoint(lambda a: (f(a), a * a), x, use_reentrant=R)\n"
    "(a * b).sum().backward(); show(x.grad, w.grad)",
    "one of several outputs": "a, b = checkpoint(lambda a: (f(a), a * a), x, use_reentrant=R)\n"
    "b.sum().backward(); show(x.grad, w.grad)",
    "outputs that are no tensors": "a, n = checkpoint(lambda a: (f(a), 3), x, use_reentrant=R)\n"
    "a.sum().backward(); show(n, x.grad)",
    "arguments that are no tensors": "checkpoint(lambda a, n, s: f(a) * n, x, 3, 'a', use_reentrant=R)"
    ".sum().backward()\n"
    "show(x.grad)",
    "an argument without a gradient": "checkpoint(lambda a, b: f(a) * b, x, w.detach(), use_reentrant=R)"
    ".sum().backward()\n"
    "show(x.grad, w.grad)",
    "inside one another": "g = lambda a: checkpoint(f, a * 3, use_reentrant=R) + a\n"
    "checkpoint(g, x, use_reentrant=R).sum().backward(); show(x.grad, w.grad)",
    "one after the other": "h = x\nfor _ in range(3): h = checkpoint(f, h, use_reentrant=R)\n"
    "h.sum().backward(); show(x.grad, w.grad)",
    "no_grad": "with T.no_grad(): y = checkpoint(f, x, use_reentrant=R)\nshow(y)",
    "retain_graph": "y = checkpoint(f, x, use_reentrant=R).sum(); y.backward(retain_graph=True); "
    "y.backward(); show(x.grad)",
    "freed": "y = checkpoint(f, x, use_reentrant=R).sum(); y.backward(); refused(y.backward)",
    "the argument changed": "h = x * 1; y = checkpoint(f, h, use_reentrant=R); h.add_(1); refused(y.sum()"
    ".backward)",
    "the same random numbers": "T.manual_seed(0); d = T.nn.Dropout(0.5); v = T.ones(20, requires_grad=True)\n"
    "y = checkpoint(lambda a: d(a) * 2, v, use_reentrant=R); T.rand(3); y.sum().backward()\n"
    "show(v.grad.tolist() == y.tolist(), T.rand(2))",
    "other random numbers": "T.manual_seed(0); d = T.nn.Dropout(0.5); v = T.ones(20, requires_grad=True)\n"
    "y = checkpoint(lambda a: d(a) * 2, v, use_reentrant=R, preserve_rng_state=False); y.sum().backward()\n"
    "show(v.grad.tolist() == y.tolist(), T.rand(2))",
    "hooks": "log = []\nx.register_hook(lambda g: log.append(1)); h = x * 2; "
    "h.register_hook(lambda g: g * 10)\n"
    "checkpoint(f, h, use_reentrant=R).sum().backward(); show(x.grad, log)",
    "a sequence": "T.manual_seed(0); m = T.nn.Sequential(*[T.nn.Linear(3, 3).double() for _ in range(5)])\n"
    "sequential(m, 2, x, use_reentrant=R).sum().backward(); show(x.grad, m[0].weight.grad, m[4].bias.grad)",
    "segments below 0": "T.manual_seed(0); m = [T.nn.Linear(3, 3).double()]\n"
    "show(sequential(m, -7, x, use_reentrant=R), sequential(m * 3, -1, x, use_reentrant=R))",
    "nothing requires grad": "y = checkpoint(lambda a: a * 2, x.detach(), use_reentrant=R); show(y)",
}

PROGRAMS = {
    **{
        f"{name}, {R}": program.replace("=R", f"={R}")
        for name, program in EITHER.items()
        for R in (True, False)
    },
    "only the closure requires grad, True": "y = checkpoint(f, x.detach(), use_reentrant=True); show(y, "
    "*warned)",
    "only the closure requires grad, False": "y = checkpoint(f, x.detach(), use_reentrant=False)\n"
    "y.sum().backward(); show(y, w.grad, *warned)",
    "no choice": "y = checkpoint(f, x); show(y, *warned)",
    "autograd.grad": "show(*T.autograd.grad(checkpoint(f, x, use_reentrant=False).sum(), (x, w)))",
    "second derivatives": "g, = T.autograd.grad(checkpoint(f, x, use_reentrant=False).sum(), x, "
    "create_graph=True)\n"
    "g.sum().backward(); show(g, x.grad, w.grad)",
    "keywords": "checkpoint(lambda a, *, k: f(a) * k, x, k=w, use_reentrant=False).sum().backward(); "
    "show(x.grad, w.grad)\n"
    "refused(lambda: checkpoint(f, x, k=3, use_reentrant=True))",
    "contexts": "from contextlib import contextmanager\nlog = []\n@contextmanager\n"
    "def c(n):\n    log.append(n); yield\n"
    "checkpoint(f, x, use_reentrant=False, context_fn=lambda: (c(1), c(2))).sum().backward(); show(log)\n"
    "refused(lambda: checkpoint(f, x, use_reentrant=True, context_fn=lambda: (c(1), c(2))))",
    "names": "show(checkpoint(f, x, use_reentrant=True).grad_fn.name(), checkpoint(f, x, "
    "use_reentrant=False).grad_fn.name())",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_what_it_gives_with_pytorch(program: str):
    require("torch")
    import torch.utils.checkpoint

    expected = shown_by(START + program, torch)
    assert expected and shown_by(START + program, autokit) == expected


def test_a_second_run_that_differs_is_refused():
    require("torch")
    import torch.utils.checkpoint as theirs

    told = []
    for T, module in ((autokit, autokit.utils.checkpoint), (pytorch(), theirs)):
        for first, second in (
            (lambda x: x.exp(), lambda x: (2 * x).repeat(2).exp()),
            (lambda x: x.exp().sin(), lambda x: x.exp()),
        ):
            runs = [second, first]
            y = module.checkpoint(lambda x, runs=runs: runs.pop()(x), _leaf(T), use_reentrant=False)
            with pytest.raises(module.CheckpointError) as caught:
                y.sum().backward()
            told.append(str(caught.value))
    ours, same = told[:2], told[2:]
    assert "saved metadata: {'shape': torch.Size([2])" in ours[0] and ours[0][:90] == same[0][:90]
    assert "saved during forward: 2\n" in ours[1] and ours[1][:90] == same[1][:90]


def _leaf(T: Any) -> Any:
    return T.ones(2, requires_grad=True)


@on_each
def test_the_second_run_stops_where_all_is_there(T: Any):
    module = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    log = []

    def part(x: Any) -> Any:
        log.append("begins")
        y = x.exp().sin() + 1
        log.append("ends")
        return y

    module.checkpoint(part, _leaf(T), use_reentrant=False).sum().backward()
    assert log == ["begins", "ends", "begins"]
    log.clear()
    module.checkpoint(part, _leaf(T), use_reentrant=False, early_stop=False).sum().backward()
    with module.set_checkpoint_early_stop(False):
        y = module.checkpoint(part, _leaf(T), use_reentrant=False)
    y.sum().backward()
    assert log == ["begins", "ends"] * 4


@on_each
def test_the_reentrant_kind_runs_without_a_graph_at_first(T: Any):
    module = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    log = []

    def part(x: Any) -> Any:
        y = x.exp()
        log.append((T.is_grad_enabled(), x.requires_grad, x.is_leaf, y.requires_grad))
        return y

    x = _leaf(T) * 1
    y = module.checkpoint(part, x, use_reentrant=True)
    assert len(y.grad_fn.next_functions) == 1
    y.sum().backward()
    assert log == [(False, True, False, False), (True, True, True, True)]
    same = module.checkpoint(lambda x: x, x, use_reentrant=True)
    assert same is not x and same.grad_fn.name() == "CheckpointFunctionBackward"


@on_each
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            lambda T, c, x: T.autograd.grad(c(T.exp, x, use_reentrant=True).sum(), x),
            "incompatible with .grad",
        ),
        (
            lambda T, c, x: c(T.exp, x, use_reentrant=True).sum().backward(inputs=[x]),
            "incompatible with .grad",
        ),
        (
            lambda T, c, x: c(lambda x: x.detach(), x, use_reentrant=True).sum().backward(),
            "none of output has",
        ),
        (
            lambda T, c, x: c(T.exp, x, use_reentrant=False, determinism_check="?"),
            "determinism_check should be",
        ),
        (
            lambda T, c, x: c(T.exp, x, use_reentrant=True, debug=True),
            "only supported when use_reentrant=False",
        ),
    ],
)
def test_wrong_use_is_refused(T: Any, wrong: Any, says: str):
    module = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    with pytest.raises((RuntimeError, ValueError), match=says):
        wrong(T, module.checkpoint, _leaf(T))


@on_each
def test_each_pass_runs_the_part_again(T: Any):
    module = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    runs = []
    y = module.checkpoint(lambda x: (runs.append(1), x.exp())[1], _leaf(T), use_reentrant=False).sum()
    for _ in range(3):
        y.backward(retain_graph=True)
    assert len(runs) == 4


def peak(segments: int) -> tuple[float, np.ndarray]:
    """The peak of memory of a step through 16 layers, and the gradient; 0 segments means no checkpoints."""
    x = autokit.tensor(np.linspace(-1, 1, 50_000), requires_grad=True)
    layers = [autokit.tanh] * 16
    gc.collect()
    tracemalloc.start()
    if segments:
        loss = checkpoint_sequential(layers, segments, x, use_reentrant=False).sum()
    else:
        loss = x
        for layer in layers:
            loss = layer(loss)
        loss = loss.sum()
    loss.backward()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, x.grad.numpy()


def test_it_needs_less_memory():
    (plain, gradient), (saving, same) = peak(0), peak(4)
    np.testing.assert_array_equal(gradient, same)
    assert saving < 0.7 * plain


def test_what_a_checkpoint_keeps_goes_with_the_graph():
    x = autokit.ones(50_000, requires_grad=True)
    gc.disable()
    tracemalloc.start()
    try:
        y = checkpoint(lambda a: (a * 2).exp().sin(), x * 3, use_reentrant=False)
        assert tracemalloc.get_traced_memory()[0] < 2.5 * x.nbytes  # its argument and its result
        del y
        assert tracemalloc.get_traced_memory()[0] < 0.5 * x.nbytes
    finally:
        tracemalloc.stop()
        gc.enable()
