"""Muon beside PyTorch's, as far as bfloat16 lets it be: steps, states in files, and what it refuses."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)
SHAPES = [(4, 4), (8, 3), (3, 8)]


def matrices(T: Any, dtype: str = "float32") -> list[Any]:
    random = np.random.RandomState(0)
    return [T.tensor(random.randn(*shape).astype(dtype), requires_grad=True) for shape in SHAPES]


def train(T: Any, params: list[Any], method: Any, steps: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    for _ in range(steps):
        for param in params:
            param.grad = T.tensor(random.randn(*param.shape).astype(str(param.dtype).split(".")[1]))
        params[0].grad = None if steps == 1 else params[0].grad
        method.step()


def assert_close(ours: list[Any], theirs: list[Any], lr: float) -> None:
    """Within a part of one step: bfloat16 keeps eight bits, and five polynomials follow each other."""
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=0.02 * lr)


@pytest.mark.parametrize(
    "options",
    [{}, {"nesterov": False}, {"momentum": 0.5, "weight_decay": 0.0}, {"adjust_lr_fn": "match_rms_adamw"},
     {"ns_steps": 2, "ns_coefficients": (2.0, -1.5, 0.5)}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_are_pytorchs_within_the_rounding_of_bfloat16(options: dict[str, Any], dtype: str):
    found, lr = [], 0.1
    for T in BOTH:
        params = matrices(T, dtype)
        method = T.optim.Muon(params, lr=lr, **options)
        train(T, params, method, 3, seed=1)
        found.append((params, method))
    (ours, our), (theirs, their) = found
    assert_close(ours, theirs, lr)
    assert str(ours[0].dtype) == str(theirs[0].dtype) and repr(our) == repr(their)
    for key, state in their.state_dict()["state"].items():
        mine = our.state_dict()["state"][key]
        assert list(mine) == list(state)
        np.testing.assert_allclose(
            mine["momentum_buffer"].numpy(), state["momentum_buffer"].numpy(), rtol=1e-6, atol=1e-7
        )


def test_a_step_goes_equally_far_in_all_directions():
    weight = ak.zeros(3, 3, requires_grad=True)
    weight.grad = ak.diag(ak.tensor([100.0, 1.0, 10.0]))
    ak.optim.Muon([weight], lr=1.0, weight_decay=0.0).step()
    sizes = ak.linalg.svdvals(weight.detach())
    assert (sizes > 0.5).all() and (sizes < 1.5).all()


@pytest.mark.parametrize("way", [(ak, torch), (torch, ak)], ids=["to PyTorch", "from PyTorch"])
def test_training_goes_on_from_a_file_of_the_other(way: tuple[Any, Any], tmp_path: Path):
    here, there = way
    params = matrices(here)
    method = here.optim.Muon(params, lr=0.1)
    train(here, params, method, 2, seed=1)
    here.save({"params": [each.detach() for each in params], "state": method.state_dict()}, tmp_path / "m.pt")
    loaded = there.load(tmp_path / "m.pt", weights_only=True)
    others = [each.requires_grad_() for each in loaded["params"]]
    resumed = there.optim.Muon(others)
    resumed.load_state_dict(loaded["state"])
    for T, each, optimizer in ((here, params, method), (there, others, resumed)):
        train(T, each, optimizer, 2, seed=2)
    assert_close(params, others, 0.1)


def test_what_it_refuses_and_takes_is_pytorchs():
    def with_steps(T: Any, **options: Any) -> None:
        params = matrices(T)
        train(T, params, T.optim.Muon(params, **options), 2, seed=0)

    wrong = [
        lambda T: T.optim.Muon([T.ones(3, requires_grad=True)]),
        lambda T: T.optim.Muon(T.nn.Linear(2, 2).parameters()),
        lambda T: T.optim.Muon(matrices(T), adjust_lr_fn="mine"),
        lambda T: T.optim.Muon(matrices(T), weight_decay=-1),
        lambda T: with_steps(T, ns_steps=100),
        lambda T: with_steps(T, ns_coefficients=(1.0, 2.0)),
    ]
    for make in wrong:
        said = []
        for T in BOTH:
            with pytest.raises((ValueError, RuntimeError)) as caught:
                make(T)
            said.append((caught.type, str(caught.value)))
        assert said[0] == said[1]
    ours, theirs = (signature(T.optim.Muon).parameters for T in BOTH)
    assert {key: each.default for key, each in ours.items()} == {
        key: each.default for key, each in theirs.items()
    }
