"""``torch.compile`` gives back what it is given, and ``linearize`` a function's slope."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import pytest

import autokit
from autokit import nn
from tests.support import require


def test_a_program_that_compiles_runs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Linear(2, 1)
        fast = autokit.compile(model, mode="reduce-overhead", fullgraph=True)

        @autokit.compile
        def bare(x: Any) -> Any:
            return x * 2

        @autokit.compile(dynamic=True)
        def called(x: Any) -> Any:
            return x * 3

    assert fast is model and fast.state_dict().keys() == model.state_dict().keys()
    assert bare(2) == 4 and called(2) == 6


def test_it_says_once_that_nothing_is_compiled():
    program = "import autokit as torch\nfor _ in range(3): torch.compile(torch.sin)\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr.count("torch.compile returns what it is given") == 1


@pytest.mark.parametrize(
    "program",
    ["T.compile(3)", "T.compile(T.sin, mode='fast')", "T.compile(T.sin, mode='default', options={})"],
)
def test_errors_are_pytorchs(program: str):
    require("torch")
    import torch

    words = []
    for T in (autokit, torch):
        with pytest.raises((RuntimeError, AssertionError)) as caught:
            eval(program, {"T": T})
        words.append((caught.type, str(caught.value)))
    assert words[0] == words[1]


def test_linearize_beside_pytorch():
    require("torch")
    import torch

    told = []
    for T in (autokit, torch):
        point = {"a": T.tensor([0.5, 1.0], dtype=T.float64), "b": T.tensor(2.0, dtype=T.float64)}
        value, slope = T.func.linearize(lambda p: (p["a"].sin() * p["b"], p["b"] ** 3), point)
        moved = [
            slope({"a": T.tensor([s, 1.0], dtype=T.float64), "b": T.tensor(s, dtype=T.float64)})
            for s in (1.0, -2.0)
        ]
        told.append([each.tolist() for pair in (value, *moved) for each in pair])
        with pytest.raises(RuntimeError, match="tangent:0 with shape"):
            slope({"a": T.ones(3), "b": T.ones(())})
    for mine, other in zip(*told):
        assert mine == pytest.approx(other, rel=1e-12)


def test_a_linear_function_is_its_own_slope_at_every_order():
    value, slope = autokit.func.linearize(autokit.func.grad(lambda x: x**3), autokit.tensor(2.0))
    assert (value.item(), slope(autokit.tensor(1.0)).item()) == (12, 12)
