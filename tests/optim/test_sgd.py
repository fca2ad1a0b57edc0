"""autokit.optim.SGD: PyTorch's steps, and what every optimizer shares."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit import nn, optim
from tests.support import require

SETTINGS = st.fixed_dictionaries(
    {"lr": st.sampled_from([0.0, 1e-3, 0.1, 0.37])},
    optional={
        "momentum": st.sampled_from([0.0, 0.5, 0.9]),
        "weight_decay": st.sampled_from([0.0, 0.01]),
        "dampening": st.sampled_from([0.0, 0.3]),
        "nesterov": st.booleans(),
        "maximize": st.booleans(),
    },
)


@settings(max_examples=150, deadline=None)
@given(SETTINGS, st.integers(0, 1000), st.sampled_from(["float32", "float64"]))
def test_five_steps_are_pytorchs_within_the_rounding_of_each(options: dict[str, Any], seed: int, dtype: str):
    require("torch")
    import torch

    if options.get("nesterov") and (not options.get("momentum") or options.get("dampening")):
        options["nesterov"] = False
    rng = np.random.RandomState(seed)
    first, second = rng.randn(3, 4).astype(dtype), rng.randn(4).astype(dtype)
    ours = [ak.from_numpy(a.copy()).requires_grad_() for a in (first, second)]
    theirs = [torch.from_numpy(a.copy()).requires_grad_() for a in (first, second)]
    our_sgd, their_sgd = optim.SGD(ours, **options), torch.optim.SGD(theirs, **options)
    for step in range(5):
        gradient = rng.randn(3, 4).astype(dtype)
        ours[0].grad, theirs[0].grad = ak.from_numpy(gradient.copy()), torch.from_numpy(gradient.copy())
        if step % 2:
            ours[1].grad, theirs[1].grad = (
                ak.ones(4, dtype=ours[1].dtype),
                torch.ones(4, dtype=theirs[1].dtype),
            )
        our_sgd.step()
        their_sgd.step()
        for our, their in zip(ours, theirs, strict=True):
            # Terms of up to 10 are added up: a unit in the last place of these, for each step.
            tolerance = 5 * np.spacing(np.array(10, dtype))
            np.testing.assert_allclose(our.detach().numpy(), their.detach().numpy(), rtol=0, atol=tolerance)


def test_a_step_literally():
    x = ak.tensor([1.0, 2.0], requires_grad=True)
    sgd = optim.SGD([x], lr=0.5, momentum=0.5)
    for expected in ([0.5, 1.5], [-0.25, 0.75]):
        sgd.zero_grad()
        x.sum().backward()
        sgd.step()
        assert x.tolist() == expected
    assert x.is_leaf and x.requires_grad


@pytest.mark.parametrize("shape", [(), (3,), (2001,), (1, 1500), (33, 64), (64, 33, 2), (300, 400)])
def test_parameters_of_all_sizes_go_the_same_way(shape: tuple[int, ...]):
    random = np.random.RandomState(0)
    start, gradient = (np.asarray(random.rand(*shape), np.float32) for _ in range(2))
    x = ak.tensor(start, requires_grad=True)
    x.grad = ak.tensor(gradient)
    optim.SGD([x], lr=0.3).step()
    assert np.array_equal(x.detach().numpy(), start + gradient * np.float32(-0.3))


def test_parameters_without_a_gradient_stay():
    x, y = ak.ones(1, requires_grad=True), ak.ones(1, requires_grad=True)
    sgd = optim.SGD([x, y], lr=1.0)
    (x * 2).backward()
    sgd.step()
    assert x.tolist() == [-1] and y.tolist() == [1]


def test_a_step_is_a_change_in_place_that_backward_notices():
    x = ak.ones(2, requires_grad=True)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    optim.SGD([x], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_the_gradient_is_left_as_it_was_and_shares_nothing_with_the_velocity():
    x = ak.ones(2, requires_grad=True)
    sgd = optim.SGD([x], lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True)
    for _ in range(2):
        x.grad = ak.ones(2)
        sgd.step()
        assert x.grad.tolist() == [1, 1]
        assert sgd.state[x]["momentum_buffer"] is not x.grad


def test_zero_grad_forgets_or_zeroes():
    x = ak.ones(2, requires_grad=True)
    sgd = optim.SGD([x], lr=0.1)
    x.sum().backward()
    sgd.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0, 0]
    sgd.zero_grad()
    assert x.grad is None


def test_groups_have_settings_of_their_own():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    sgd = optim.SGD([{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 1.0}], lr=0.1)
    assert [group["lr"] for group in sgd.param_groups] == [0.1, 1.0]
    extra = ak.ones(1, requires_grad=True)
    sgd.add_param_group({"params": extra, "momentum": 0.5})
    assert sgd.param_groups[2]["params"] == [extra] and sgd.param_groups[2]["momentum"] == 0.5
    sgd.param_groups[2]["lr"] = 2.0
    extra.sum().backward()
    sgd.step()
    assert extra.tolist() == [-1]
    named = optim.SGD(model.named_parameters(), lr=0.1)
    assert named.param_groups[0]["param_names"] == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_a_closure_computes_the_loss_with_recording_on():
    x = ak.tensor([2.0], requires_grad=True)
    sgd = optim.SGD([x], lr=0.25)

    def closure() -> ak.Tensor:
        sgd.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with ak.no_grad():
        assert sgd.step(closure).item() == 4
    assert x.tolist() == [1]


def test_the_state_goes_round():
    x = ak.ones(2, requires_grad=True)
    sgd = optim.SGD([x], lr=0.1, momentum=0.9)
    x.grad = ak.ones(2)
    sgd.step()
    state = copy.deepcopy(sgd.state_dict())
    assert state["param_groups"][0]["params"] == [0] and state["param_groups"][0]["lr"] == 0.1
    assert state["state"][0]["momentum_buffer"].tolist() == [1, 1]
    y = x.detach().clone().requires_grad_()
    other = optim.SGD([y], lr=5.0)
    other.load_state_dict(state)
    for optimizer, parameter in ((sgd, x), (other, y)):
        parameter.grad = ak.ones(2)
        optimizer.step()
    assert y.tolist() == x.tolist()
    assert state["state"][0]["momentum_buffer"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="different number of parameter groups"):
        other.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size"):
        other.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_it_prints_as_in_pytorch():
    require("torch")
    import torch

    ours = optim.SGD([ak.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
    assert repr(ours) == repr(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9))


X = ak.ones(1, requires_grad=True)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: optim.SGD([], lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD(nn.ReLU().parameters(), lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD(X, lr=0.1), TypeError, "iterable of Tensors or dicts"),
        (lambda: optim.SGD([1], lr=0.1), TypeError, "one of the params is int"),
        (lambda: optim.SGD([X * 2], lr=0.1), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: optim.SGD([{"params": {X}}], lr=0.1), TypeError, "ordered collections"),
        (lambda: optim.SGD([X, ("a", X)], lr=0.1), ValueError, "Some param names are missing"),
        (
            lambda: optim.SGD([{"params": [X]}, {"params": [X]}], lr=0.1),
            ValueError,
            "more than one parameter group",
        ),
        (lambda: optim.SGD([X], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([X], lr=float("nan")), ValueError, "Invalid learning rate: nan"),
        (lambda: optim.SGD([X], momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda: optim.SGD([X], weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (
            lambda: optim.SGD([X], nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (lambda: optim.SGD([X]).add_param_group([X]), TypeError, "param_group must be a dict"),
        (lambda: optim.Optimizer([X], {}).step(), NotImplementedError, "no step"),
    ],
)
def test_wrong_use_says_what_is_wrong(make: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        make()


def test_a_parameter_given_twice_is_warned_of():
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([X, X], lr=0.1)
