"""The methods of autokit.optim beside PyTorch's: values, states, and what they refuse."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit import optim
from tests.support import require

require("torch")
import torch  # noqa: E402

LR = st.sampled_from([1e-3, 0.01, 0.1])
DECAY = st.sampled_from([0.0, 0.01, 0.3])
BETAS = st.sampled_from([(0.9, 0.999), (0.0, 0.5), (0.5, 0.9), (0.9, 0.99)])
EPS = st.sampled_from([1e-8, 1e-3])
BOOL = st.booleans()
ADAM = {"lr": LR, "betas": BETAS, "eps": EPS, "weight_decay": DECAY, "maximize": BOOL}
OPTIONS = {
    "SGD": {"lr": LR, "momentum": st.sampled_from([0.0, 0.9]), "weight_decay": DECAY, "maximize": BOOL},
    "Adam": {**ADAM, "amsgrad": BOOL, "decoupled_weight_decay": BOOL, "fused": BOOL},
    "AdamW": {**ADAM, "amsgrad": BOOL, "foreach": BOOL},
    "Adamax": ADAM,
    "NAdam": {**ADAM, "momentum_decay": st.sampled_from([0.0, 4e-3, 0.1]), "decoupled_weight_decay": BOOL},
    "RAdam": {**ADAM, "decoupled_weight_decay": BOOL},
    "Adagrad": {
        "lr": LR,
        "lr_decay": st.sampled_from([0.0, 0.1]),
        "weight_decay": DECAY,
        "initial_accumulator_value": st.sampled_from([0.0, 0.5]),
        "eps": st.sampled_from([1e-10, 1e-3]),
        "maximize": BOOL,
    },
    "Adadelta": {
        "lr": st.sampled_from([0.1, 1.0]),
        "rho": st.sampled_from([0.0, 0.5, 0.9]),
        "eps": st.sampled_from([1e-6, 1e-3]),
        "weight_decay": DECAY,
        "maximize": BOOL,
    },
    "RMSprop": {
        "lr": LR,
        "alpha": st.sampled_from([0.5, 0.99]),
        "eps": EPS,
        "weight_decay": DECAY,
        "momentum": st.sampled_from([0.0, 0.9]),
        "centered": BOOL,
        "maximize": BOOL,
    },
    "Rprop": {
        "lr": LR,
        "etas": st.sampled_from([(0.5, 1.2), (0.1, 3.0)]),
        "step_sizes": st.sampled_from([(1e-6, 50), (1e-2, 0.05)]),
        "maximize": BOOL,
    },
    "ASGD": {
        "lr": LR,
        "lambd": st.sampled_from([0.0, 1e-4, 0.1]),
        "alpha": st.sampled_from([0.0, 0.75]),
        "t0": st.sampled_from([0.0, 5.0, 1e6]),
        "weight_decay": DECAY,
        "maximize": BOOL,
    },
}
"""For each method, the settings it is tried with."""

METHODS = sorted(OPTIONS)
SHAPES = [(3, 4), (4,), (), (0, 2)]
TOLERANCE = {"float32": 1e-6, "float64": 1e-12, "complex64": 1e-6, "complex128": 1e-12}


def parameters(seed: int, dtype: str = "float64") -> tuple[list[Any], list[Any]]:
    """The same parameters for autokit and for PyTorch."""
    rng = np.random.RandomState(seed)
    arrays = [np.asarray(rng.randn(*shape)).astype(dtype) for shape in SHAPES]
    real = not dtype.startswith("complex")  # autokit has no derivatives of complex numbers
    ours = [ak.from_numpy(array.copy()).requires_grad_(real) for array in arrays]
    theirs = [torch.from_numpy(array.copy()).requires_grad_(real) for array in arrays]
    return ours, theirs


def give_gradients(ours: list[Any], theirs: list[Any], rng: np.random.RandomState) -> None:
    """The same random gradients to both; now and then none, and now and then zero."""
    for our, their in zip(ours, theirs, strict=True):
        chance = rng.rand()
        gradient = np.asarray(rng.randn(*our.shape) * 10 ** rng.uniform(-2, 1))
        if our.is_complex():
            gradient = gradient * (1 + 0.5j)
        gradient = np.array(gradient * (chance > 0.1), our.array.dtype)
        our.grad = ak.from_numpy(gradient.copy()) if chance > 0.05 else None
        their.grad = torch.from_numpy(gradient.copy()) if chance > 0.05 else None


def assert_close(our: Any, their: Any, tolerance: float, what: str = "") -> None:
    """Equal types and shapes, and values within ``tolerance``, relative to those above 1."""
    if isinstance(their, torch.Tensor):
        assert isinstance(our, ak.Tensor) and str(our.dtype) == str(their.dtype), what
        our, their = our.detach().numpy(), their.detach().numpy()
        assert our.shape == their.shape, what
        scale = max(1.0, np.abs(their).max(initial=0))
        np.testing.assert_allclose(our, their, rtol=tolerance, atol=tolerance * scale, err_msg=what)
    elif isinstance(their, dict):
        assert list(our) == list(their), what
        for key in their:
            assert_close(our[key], their[key], tolerance, f"{what}.{key}")
    elif isinstance(their, list | tuple):
        assert type(our) is type(their) and len(our) == len(their), what
        for one, other in zip(our, their, strict=True):
            assert_close(one, other, tolerance, what)
    else:
        assert our == their, what


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_twenty_steps_are_pytorchs(name: str, dtype: str, data: Any):
    options = data.draw(st.fixed_dictionaries({}, optional=OPTIONS[name]))
    seed = data.draw(st.integers(0, 1000))
    ours, theirs = parameters(seed, dtype)
    rng = np.random.RandomState(seed)
    our, their = getattr(optim, name)(ours, **options), getattr(torch.optim, name)(theirs, **options)
    for _ in range(20):
        give_gradients(ours, theirs, rng)
        our.step()
        their.step()
    # Averages of squares near 0 magnify the rounding of their differences.
    tolerance = TOLERANCE[dtype] * (30 if name in ("RMSprop", "Rprop", "NAdam", "Adadelta") else 5)
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, tolerance)
    assert_close(our.state_dict()["state"], their.state_dict()["state"], tolerance)
    assert our.state_dict()["param_groups"] == their.state_dict()["param_groups"]


def trained(name: str, steps: int = 3, **options: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """The same optimizer in autokit and in PyTorch after a few steps, and their parameters."""
    ours, theirs = parameters(0)
    rng = np.random.RandomState(1)
    our, their = getattr(optim, name)(ours, **options), getattr(torch.optim, name)(theirs, **options)
    for _ in range(steps):
        give_gradients(ours, theirs, rng)
        our.step()
        their.step()
    return our, their, ours, theirs


def converted(value: Any, to: Any) -> Any:
    """A state with the tensors of the one library as tensors of the other."""
    if isinstance(value, ak.Tensor | torch.Tensor):
        return to(value.detach().numpy().copy())
    if isinstance(value, dict):
        return {key: converted(each, to) for key, each in value.items()}
    if isinstance(value, list):
        return [converted(each, to) for each in value]
    return value


@pytest.mark.parametrize("name", METHODS)
def test_a_state_of_pytorch_goes_on_here_and_one_of_ours_there(name: str):
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    our, their, ours, theirs = trained(name, **options)
    from_torch, from_here = getattr(optim, name)(ours), getattr(torch.optim, name)(theirs)
    from_torch.load_state_dict(converted(their.state_dict(), ak.from_numpy))
    from_here.load_state_dict(converted(our.state_dict(), torch.from_numpy))
    rng = np.random.RandomState(2)
    for _ in range(3):
        give_gradients(ours, theirs, rng)
        from_torch.step()
        from_here.step()
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, 1e-11)
    assert repr(from_torch) == repr(from_here)


@pytest.mark.parametrize("name", METHODS)
def test_a_copy_of_the_optimizer_goes_on_by_itself(name: str):
    our, _, _, _ = trained(name)
    before = copy.deepcopy(our.state_dict())
    other = copy.deepcopy(our)
    other.param_groups[0]["params"][0].grad = ak.ones(3, 4, dtype=ak.float64)
    other.step()
    assert repr(other) == repr(our)
    for key, state in our.state_dict()["state"].items():
        for field, value in state.items():
            assert value.tolist() == before["state"][key][field].tolist()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_parameters_step_as_pairs(name: str, dtype: str):
    tolerance = TOLERANCE[dtype] * 30
    ours, theirs = parameters(3, dtype)
    rng = np.random.RandomState(4)
    our, their = getattr(optim, name)(ours, lr=0.1), getattr(torch.optim, name)(theirs, lr=0.1)
    for _ in range(5):
        give_gradients(ours, theirs, rng)
        our.step()
        their.step()
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, tolerance)
    assert_close(our.state_dict()["state"], their.state_dict()["state"], tolerance)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_steps_within_its_rounding(name: str, dtype: str):
    values = np.linspace(-2, 2, 12).astype(np.float32)
    our_param = ak.from_numpy(values).to(getattr(ak, dtype)).requires_grad_()
    their_param = torch.from_numpy(values).to(getattr(torch, dtype)).requires_grad_()
    options = {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True} if name == "SGD" else {}
    our = getattr(optim, name)([our_param], lr=0.1, **options)
    their = getattr(torch.optim, name)([their_param], lr=0.1, **options)
    for step in range(5):
        gradient = np.cos(np.arange(12) + step).astype(np.float32)
        our_param.grad = ak.from_numpy(gradient).to(our_param.dtype)
        their_param.grad = torch.from_numpy(gradient).to(their_param.dtype)
        our.step()
        their.step()
    assert str(our_param.dtype) == str(their_param.dtype)
    unit = 2**-10 if dtype == "float16" else 2**-7
    ours, theirs = our_param.detach().float().numpy(), their_param.detach().float().numpy()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=8 * unit)


@pytest.mark.parametrize("name", METHODS)
def test_infinities_and_nan_pass_without_a_warning(name: str):
    x = ak.ones(4, requires_grad=True)
    optimizer = getattr(optim, name)([x], lr=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            x.grad = ak.tensor([float("inf"), float("nan"), 1e38, 0.0])
            optimizer.step()


@pytest.mark.parametrize("name", METHODS)
def test_a_large_parameter_steps_as_small_ones_do(name: str):
    rng = np.random.RandomState(0)
    values, gradient = rng.randn(300, 400), rng.randn(300, 400)
    whole = ak.from_numpy(values.copy()).requires_grad_()
    rows = [ak.from_numpy(row.copy()).requires_grad_() for row in values]
    turned = ak.from_numpy(np.asfortranarray(values)).requires_grad_()
    optimizers = [getattr(optim, name)(params, lr=0.1) for params in ([whole], rows, [turned])]
    for _ in range(3):
        whole.grad, turned.grad = ak.from_numpy(gradient.copy()), ak.from_numpy(gradient.copy())
        for row, slope in zip(rows, gradient, strict=True):
            row.grad = ak.from_numpy(slope.copy())
        for optimizer in optimizers:
            optimizer.step()
    for row, expected in zip(rows, whole.detach().numpy(), strict=True):
        np.testing.assert_array_equal(row.detach().numpy(), expected)
    np.testing.assert_array_equal(turned.detach().numpy(), whole.detach().numpy())
    assert np.all(whole.grad.numpy() == gradient)


@pytest.mark.parametrize("name", METHODS)
def test_a_learning_rate_may_be_a_tensor(name: str):
    ours, theirs = parameters(0)
    our = getattr(optim, name)(ours, lr=ak.tensor(0.125))
    their = getattr(torch.optim, name)(theirs, lr=torch.tensor(0.125))
    give_gradients(ours, theirs, np.random.RandomState(0))
    our.step()
    their.step()
    for mine, other in zip(ours, theirs, strict=True):
        # PyTorch computes with the float32 learning rate in some of them.
        assert_close(mine, other, 1e-7)


WRONG: list[tuple[str, dict[str, Any]]] = [
    *((name, {"lr": -1}) for name in METHODS),
    *((name, {"weight_decay": -1}) for name in METHODS if name != "Rprop"),
    *((name, {"eps": -1}) for name in METHODS if name not in ("Rprop", "SGD", "ASGD")),
    *(
        (name, {"betas": betas})
        for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam")
        for betas in [(1.0, 0.9), (0.9, -0.1)]
    ),
    ("Adam", {"betas": (0, 0.9)}),
    ("NAdam", {"momentum_decay": -1}),
    ("SGD", {"momentum": -1}),
    ("SGD", {"fused": True, "foreach": True}),
    ("Adam", {"fused": True, "foreach": True}),
    ("Adagrad", {"fused": True, "foreach": True}),
    ("Adagrad", {"lr_decay": -1}),
    ("Adagrad", {"initial_accumulator_value": -1}),
    ("Adadelta", {"rho": 1.5}),
    ("RMSprop", {"momentum": -1}),
    ("RMSprop", {"alpha": -1}),
    ("Rprop", {"etas": (1.5, 1.2)}),
    ("LBFGS", {"lr": -1}),
]


@pytest.mark.parametrize(("name", "options"), WRONG)
def test_wrong_settings_are_refused_in_pytorchs_words(name: str, options: dict[str, Any]):
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        getattr(torch.optim, name)([torch.ones(1, requires_grad=True)], **options)
    with pytest.raises(type(theirs.value)) as ours:
        getattr(optim, name)([ak.ones(1, requires_grad=True)], **options)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("name", METHODS)
def test_a_learning_rate_of_several_elements_is_refused(name: str):
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        getattr(optim, name)([ak.ones(1, requires_grad=True)], lr=ak.ones(2))


@pytest.mark.parametrize("name", METHODS)
def test_differentiable_steps_are_refused_and_capturable_ones_on_the_cpu(name: str):
    x = ak.ones(1, requires_grad=True)
    with pytest.raises(NotImplementedError, match="create_graph=True"):
        getattr(optim, name)([x], differentiable=True)
    if name not in ("SGD", "Adagrad"):
        optimizer = getattr(optim, name)([x], capturable=True)
        x.grad = ak.ones(1)
        with pytest.raises(AssertionError, match="If capturable=True, params and state_steps must be on"):
            optimizer.step()


@pytest.mark.parametrize("name", METHODS)
def test_the_signature_is_pytorchs(name: str):
    from inspect import signature

    ours, theirs = (signature(getattr(module, name)).parameters for module in (optim, torch.optim))
    assert list(ours) == list(theirs)
    for ours_one, theirs_one in zip(ours.values(), theirs.values(), strict=True):
        assert (ours_one.default, ours_one.kind) == (theirs_one.default, theirs_one.kind)


def test_adamw_stays_adamw_with_the_state_of_an_adam():
    x = ak.ones(1, requires_grad=True)
    optimizer = optim.AdamW([x])
    optimizer.load_state_dict(optim.Adam([x]).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


def test_a_count_of_steps_that_is_a_number_is_loaded_too():
    x = ak.ones(1, requires_grad=True)
    optimizer = optim.Adam([x])
    x.grad = ak.ones(1)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 1
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state[x]["step"].item() == 2
