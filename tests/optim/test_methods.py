"""The methods of autokit.optim beside PyTorch's: values, states, and what they refuse."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit import optim
from tests.oracle import compare_errors, pytorch

LR = st.sampled_from([1e-3, 0.01, 0.1])
DECAY = st.sampled_from([0.0, 0.01, 0.3])
MOMENTUM = st.sampled_from([0.0, 0.5, 0.9])
BOOL = st.booleans()
COMMON = {"lr": LR, "weight_decay": DECAY, "maximize": BOOL}
BETAS = st.sampled_from([(0.9, 0.999), (0.0, 0.5), (0.5, 0.9), (0.9, 0.99)])
ADAM = {**COMMON, "betas": BETAS, "eps": st.sampled_from([1e-8, 1e-3])}
OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {**COMMON, "momentum": MOMENTUM, "dampening": st.sampled_from([0.0, 0.3]), "nesterov": BOOL},
    "Adam": {**ADAM, "amsgrad": BOOL, "decoupled_weight_decay": BOOL},
    "AdamW": {**ADAM, "amsgrad": BOOL},
    "Adamax": ADAM,
    "NAdam": {**ADAM, "momentum_decay": st.sampled_from([0.0, 4e-3, 0.1]), "decoupled_weight_decay": BOOL},
    "RMSprop": {**COMMON, "alpha": st.sampled_from([0.5, 0.99]), "momentum": MOMENTUM, "centered": BOOL},
    "Adagrad": {
        **COMMON,
        "lr_decay": st.sampled_from([0.0, 0.1]),
        "initial_accumulator_value": st.sampled_from([0.0, 0.5]),
    },
    "Adadelta": {**COMMON, "rho": st.sampled_from([0.0, 0.5, 0.9]), "eps": st.sampled_from([1e-6, 1e-3])},
}
"""For each method, the settings it is tried with."""

METHODS = sorted(OPTIONS)
SHAPES = [(3, 4), (4,), (), (0, 2)]
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}


def parameters(seed: int, dtype: str = "float64") -> list[list[Any]]:
    """The same parameters for autokit and for PyTorch."""
    rng = np.random.RandomState(seed)
    arrays = [np.asarray(rng.randn(*shape)).astype(dtype) for shape in SHAPES]
    arrays.append(np.asfortranarray(arrays[0]))  # a transposed matrix's order of elements
    return [[torch.from_numpy(a.copy("K")).requires_grad_() for a in arrays] for torch in (autokit, pytorch)]


def give_gradients(ours: list[Any], theirs: list[Any], rng: np.random.RandomState) -> None:
    """The same random gradients to both; now and then none, and now and then zero."""
    for our, their in zip(ours, theirs, strict=True):
        chance = rng.rand()
        gradient = np.asarray(rng.randn(*our.shape) * 10 ** rng.uniform(-2, 1) * (chance > 0.1))
        gradient = gradient.astype(our.array.dtype)
        our.grad = autokit.tensor(gradient) if chance > 0.05 else None
        their.grad = pytorch.tensor(gradient) if chance > 0.05 else None


def assert_close(our: Any, their: Any, tolerance: float) -> None:
    """Equal types and shapes, and values within ``tolerance``, relative to those above 1."""
    if isinstance(their, pytorch.Tensor):
        our, their = our.detach().numpy(), their.detach().numpy()
        assert our.shape == their.shape
        scale = max(1.0, np.abs(their).max(initial=0))
        np.testing.assert_allclose(our, their, rtol=tolerance, atol=tolerance * scale)
    elif isinstance(their, dict):
        assert set(our) == set(their)
        for key in their:
            assert_close(our[key], their[key], tolerance)
    else:
        assert our == their


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_ten_steps_are_pytorchs(name: str, dtype: str, data: Any):
    options = data.draw(st.fixed_dictionaries({}, optional=OPTIONS[name]))
    if options.get("nesterov") and (not options.get("momentum") or options.get("dampening")):
        del options["nesterov"]
    seed = data.draw(st.integers(0, 1000))
    ours, theirs = parameters(seed, dtype)
    rng = np.random.RandomState(seed)
    our, their = getattr(optim, name)(ours, **options), getattr(pytorch.optim, name)(theirs, **options)
    for _ in range(10):
        give_gradients(ours, theirs, rng)
        our.step()
        their.step()
    # Averages of squares near 0 magnify the rounding of their differences.
    tolerance = TOLERANCE[dtype] * (30 if name in ("RMSprop", "NAdam", "Adadelta") else 10)
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, tolerance)
    if name != "Adagrad" or all(param.grad is not None for param in ours):  # PyTorch's has a state at once
        assert_close(our.state_dict()["state"], their.state_dict()["state"], tolerance)


@pytest.mark.parametrize("name", METHODS)
def test_a_copy_of_the_optimizer_goes_on_by_itself(name: str):
    x = autokit.ones(3, requires_grad=True)
    optimizer = getattr(optim, name)([x], lr=0.1)
    x.grad = autokit.ones(3)
    optimizer.step()
    before = x.tolist()
    other = copy.deepcopy(optimizer)
    (same,) = other.param_groups[0]["params"]
    same.grad = autokit.ones(3)
    other.step()
    assert x.tolist() == before != same.tolist()
    optimizer.step()
    assert x.tolist() == same.tolist() and repr(other) == repr(optimizer)


@pytest.mark.parametrize("name", METHODS)
def test_half_precision_steps_within_its_rounding(name: str):
    values = np.linspace(-2, 2, 12).astype(np.float16)
    params = [torch.tensor(values, requires_grad=True) for torch in (autokit, pytorch)]
    options = {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True} if name == "SGD" else {}
    for torch, param in zip((autokit, pytorch), params):
        optimizer = getattr(torch.optim, name)([param], lr=0.1, **options)
        for step in range(5):
            param.grad = torch.tensor(np.cos(np.arange(12) + step).astype(np.float16))
            optimizer.step()
    ours, theirs = [param.detach().float().numpy() for param in params]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=8 * 2**-10)


@pytest.mark.parametrize("name", METHODS)
def test_a_learning_rate_may_be_a_tensor(name: str):
    params = [autokit.ones(3, requires_grad=True) for _ in range(2)]
    for param, lr in zip(params, (0.125, autokit.tensor(0.125))):
        param.grad = autokit.tensor([1.0, -2.0, 0.5])
        getattr(optim, name)([param], lr=lr).step()
    assert params[0].tolist() == params[1].tolist()


WRONG: list[tuple[str, dict[str, Any]]] = [
    *((name, {setting: -1}) for name in METHODS for setting in ("lr", "weight_decay")),
    *((name, {"eps": -1}) for name in METHODS if name != "SGD"),
    *((name, {"betas": (1.0, 0.9)}) for name in ("Adam", "AdamW", "Adamax", "NAdam")),
    ("SGD", {"momentum": -1}),
    ("SGD", {"nesterov": True}),
    ("Adadelta", {"rho": 1.5}),
    ("RMSprop", {"alpha": -1}),
]


@pytest.mark.parametrize(("name", "options"), WRONG)
def test_wrong_settings_are_refused(name: str, options: dict[str, Any]):
    said = compare_errors(lambda T: getattr(T.optim, name)([T.ones(1, requires_grad=True)], **options))
    assert re.search("Invalid .* -1|Invalid .* 1.[05]|Nesterov momentum requires", said), said


def test_adamw_stays_adamw_with_the_state_of_an_adam():
    x = autokit.ones(1, requires_grad=True)
    optimizer = optim.AdamW([x])
    optimizer.load_state_dict(optim.Adam([x]).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True
