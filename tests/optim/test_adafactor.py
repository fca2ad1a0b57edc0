"""Adafactor beside PyTorch: steps, states in both directions, and what it refuses."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)
SHAPES = [(3, 4), (2, 3, 2), (4,), ()]
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "lr": st.sampled_from([1e-3, 0.05, 1.0]),
        "beta2_decay": st.sampled_from([-0.8, -0.5]),
        "eps": st.sampled_from([(None, 1e-3), (1e-3, 0.1)]),
        "d": st.sampled_from([1.0, 2.0]),
        "weight_decay": st.sampled_from([0.0, 0.1]),
        "maximize": st.booleans(),
    },
)


def parameters(T: Any, seed: int, dtype: str) -> list[Any]:
    rng = np.random.RandomState(seed)
    return [T.from_numpy(np.asarray(rng.randn(*shape)).astype(dtype)).requires_grad_() for shape in SHAPES]


def steps(T: Any, optimizer: Any, params: list[Any], count: int, seed: int) -> None:
    rng = np.random.RandomState(seed)
    for _ in range(count):
        for param in params:
            gradient = np.asarray(rng.randn(*param.shape) * (rng.rand() > 0.1))
            param.grad = T.from_numpy(gradient).to(param.dtype)
        optimizer.step()


def assert_same(ours: list[Any], theirs: list[Any], tolerance: float) -> None:
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            our.detach().double().numpy(), their.detach().double().numpy(), rtol=tolerance, atol=tolerance
        )


@settings(max_examples=30, deadline=None)
@given(options=SETTINGS, seed=st.integers(0, 9), dtype=st.sampled_from(["float32", "float64"]))
def test_steps_are_pytorchs(options: dict[str, Any], seed: int, dtype: str):
    both = [parameters(T, seed, dtype) for T in BOTH]
    for T, params in zip(BOTH, both):
        steps(T, T.optim.Adafactor(params, **options), params, 10, seed)
    assert_same(*both, {"float32": 2e-5, "float64": 1e-11}[dtype])


def test_a_state_goes_on_in_the_other_library(tmp_path: Any):
    for first, second in (BOTH, BOTH[::-1]):
        params = parameters(first, 0, "float64")
        optimizer = first.optim.Adafactor(params)
        steps(first, optimizer, params, 3, 1)
        first.save({"optimizer": optimizer.state_dict(), "params": params}, tmp_path / "a.pt")
        loaded = second.load(tmp_path / "a.pt", weights_only=True)
        others = loaded["params"]
        other = second.optim.Adafactor(others)
        other.load_state_dict(loaded["optimizer"])
        steps(first, optimizer, params, 3, 2)
        steps(second, other, others, 3, 2)
        assert_same(params, others, 1e-11)


def test_it_is_written_as_pytorchs():
    signatures = [inspect.signature(T.optim.Adafactor.__init__).parameters for T in BOTH]
    assert [(each.name, each.default, each.kind) for each in signatures[0].values()] == [
        (each.name, each.default, each.kind) for each in signatures[1].values()
    ]
    assert repr(ak.optim.Adafactor([ak.ones(1)])) == repr(torch.optim.Adafactor([torch.ones(1)]))


@pytest.mark.parametrize(
    "options",
    [{"lr": -1}, {"beta2_decay": 1}, {"eps": (-1, 1)}, {"eps": (None, -1)}, {"d": 0.5}, {"weight_decay": -1}],
)
def test_wrong_settings(options: dict[str, Any]):
    said = []
    for T in BOTH:
        with pytest.raises(ValueError, match="should be") as caught:
            T.optim.Adafactor([T.ones(1)], **options)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_half_precision_and_complex_numbers():
    results = []
    for T in BOTH:
        half = T.linspace(-1, 1, 12).reshape(3, 4).to(T.float16).requires_grad_()
        optimizer = T.optim.Adafactor([half], lr=0.1)
        half.grad = T.linspace(-2, 1, 12).reshape(3, 4).to(T.float16)
        optimizer.step()
        results.append(half.detach().double().numpy())
        pair = T.ones(2, dtype=T.complex64)
        pair.grad = T.ones(2, dtype=T.complex64)
        with pytest.raises(RuntimeError, match="does not support complex parameters"):
            T.optim.Adafactor([pair]).step()
    np.testing.assert_allclose(*results, rtol=5e-3, atol=2e-3)
