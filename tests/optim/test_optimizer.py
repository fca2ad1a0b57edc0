"""What all optimizers share, beside PyTorch's: groups, hooks, states, and optimizers of one's own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit
from autokit import nn, optim
from autokit.optim.optimizer import required
from tests.oracle import pytorch, refused


def leaf(torch: Any = autokit, size: int = 2) -> Any:
    return torch.ones(size, requires_grad=True)


# ---------------------------------------------------------------- the step


def test_a_step_literally():
    x = autokit.tensor([1.0, 2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5, momentum=0.5)
    for expected in ([0.5, 1.5], [-0.25, 0.75]):
        optimizer.zero_grad()
        x.sum().backward()
        optimizer.step()
        assert x.tolist() == expected and x.grad.tolist() == [1, 1]
    assert x.is_leaf and x.requires_grad
    assert optimizer.state[x]["momentum_buffer"] is not x.grad


@pytest.mark.parametrize("method", ["SGD", "Adam", "LBFGS"])
def test_a_step_is_a_change_in_place_that_backward_notices(method: str):
    x = leaf()
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    getattr(optim, method)([x], lr=0.1).step(lambda: (x * x).sum())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("method", ["SGD", "Adam", "RMSprop", "LBFGS"])
def test_an_expanded_parameter_is_refused_as_its_elements_are_one_number(method: str):
    for torch in (autokit, pytorch):
        weight = torch.zeros(1).expand(3).requires_grad_()
        weight.grad = torch.ones(3)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            getattr(torch.optim, method)([weight]).step(weight.sum)


def test_zero_grad_forgets_or_zeroes():
    x = leaf()
    optimizer = optim.SGD([x], lr=0.1)
    x.sum().backward()
    gradient = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is gradient and gradient.tolist() == [0, 0]
    optimizer.zero_grad()
    assert x.grad is None


def test_a_closure_computes_the_loss_with_recording_on():
    x = autokit.tensor([2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with autokit.no_grad():
        assert optimizer.step(closure).item() == 4
    assert x.tolist() == [1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad", "Adadelta", "RMSprop"])
def test_a_state_of_another_model_is_named_at_the_step(name: str):
    settings = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    one, other = leaf(size=2), leaf(size=3)
    optimizers = [getattr(optim, name)([each], **settings) for each in (one, other)]
    for each in (one, other):
        each.grad = autokit.ones_like(each)
    optimizers[0].step()
    optimizers[1].load_state_dict(optimizers[0].state_dict())
    with pytest.raises(
        RuntimeError, match=r"the state's '\w+' has shape \[2\], and its parameter shape \[3\]"
    ):
        optimizers[1].step()


# ---------------------------------------------------------------- groups


def test_groups_have_settings_of_their_own():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    groups = [{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 1.0}]
    optimizer = optim.SGD(groups, lr=0.1)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0]
    extra = leaf()
    given = {"params": extra, "momentum": 0.5}
    optimizer.add_param_group(given)
    assert optimizer.param_groups[2] is given and given["params"] == [extra] and given["momentum"] == 0.5
    given["lr"] = 2.0
    extra.sum().backward()
    optimizer.step()
    assert extra.tolist() == [-1, -1]


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda torch: torch.optim.SGD([]), "empty parameter list"),
    (lambda torch: torch.optim.SGD(leaf(torch)), "put it into a list"),
    (lambda torch: torch.optim.SGD(torch.nn.Linear(1, 1)), "give its model.parameters()"),
    (lambda torch: torch.optim.SGD(["a"]), "one of the params is str"),
    (lambda torch: torch.optim.SGD([leaf(torch) * 2]), "can't optimize a non-leaf Tensor"),
    (lambda torch: torch.optim.SGD([{"lr": 1}]), "params"),
    (lambda torch: torch.optim.SGD([{"params": [x := leaf(torch)]}, {"params": x}]), "more than one"),
    (
        lambda torch: torch.optim.SGD([leaf(torch)]).load_state_dict(
            {"state": {}, "param_groups": [{"params": [0, 1]}]}
        ),
        "groups of [2] parameters, and the optimizer of [1]",
    ),
]


test_wrong_use_raises_pytorchs_type_and_says_what_is_wrong = refused(WRONG)


def test_a_parameter_given_twice_is_warned_of():
    x = leaf()
    with pytest.warns(UserWarning, match="duplicate parameters") as told:
        optim.SGD([x, x], lr=0.1)
    assert told[0].filename == __file__


# ---------------------------------------------------------------- hooks, and methods of one's own


@pytest.mark.parametrize("torch", [autokit, pytorch])
def test_hooks_are_called_around_a_step(torch: Any):
    optimizer = torch.optim.SGD([leaf(torch)], lr=0.1)
    told: list[Any] = []
    handles = [
        optimizer.register_step_pre_hook(lambda *given: told.append(("before", len(given[1]), given[2]))),
        optimizer.register_step_post_hook(lambda *given: told.append(("after", given[0] is optimizer))),
    ]
    optimizer.step()
    assert told == [("before", 1, {}), ("after", True)]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(told) == 2
    optimizer.register_step_pre_hook(lambda opt, args, settings: ((opt, lambda: 5), {}))
    assert optimizer.step(lambda: 3) == 5


class Sign(optim.Optimizer):
    """A learner's own, by its step."""

    def __init__(self, params: Any, lr: Any = required) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for param in group["params"]:
                state = self.state[param]
                state["step"] = state.get("step", 0) + 1
                param.data.add_(param.grad.data.sign(), alpha=-group["lr"])


class SignByFormula(optim.Optimizer):
    """The same, by its formula."""

    def update(self, array: Any, gradient: Any, state: Any, group: Any) -> None:
        array -= group["lr"] * np.sign(gradient)


def test_an_optimizer_of_ones_own_has_all_that_the_others_have():
    x, y = leaf(), leaf()
    optimizers = [Sign([x], lr=0.25), SignByFormula([y], {"lr": 0.25})]
    told: list[int] = []
    schedulers = [optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5) for optimizer in optimizers]
    optimizers[0].register_step_post_hook(lambda *given: told.append(1))
    for _ in range(2):
        for optimizer, scheduler in zip(optimizers, schedulers):
            optimizer.zero_grad()
            (x * x + y * y).sum().backward()
            optimizer.step()
            scheduler.step()
    assert x.tolist() == y.tolist() == [0.625, 0.625] and told == [1, 1]
    state = optimizers[0].state_dict()
    assert state["state"] == {0: {"step": 2}}
    optimizers[0].load_state_dict(state)
    assert optimizers[0].state[x] == {"step": 2}
    with pytest.raises(ValueError, match="didn't specify a value of required parameter lr"):
        Sign([leaf()])


def test_an_optimizer_that_wraps_another_needs_no_parts_of_its_own():
    class EverySecond(optim.Optimizer):
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups, self.count = inner, inner.param_groups, 0

        def step(self, closure: Any = None) -> Any:
            self.count += 1
            return self.inner.step(closure) if self.count % 2 == 0 else None

    weight = leaf(size=1)
    outer = EverySecond(optim.SGD([weight], lr=0.5))
    for expected in (1.0, 0.5):
        weight.grad = autokit.ones(1)
        outer.step()
        assert weight.item() == expected


# ---------------------------------------------------------------- states in files


def test_an_optimizer_is_pickled_with_its_parameters():
    x = leaf()
    optimizer = optim.Adam([x], lr=0.1)
    optimizer.register_step_post_hook(lambda *given: None)  # which stays here
    x.grad = autokit.ones(2)
    optimizer.step()
    same = pickle.loads(pickle.dumps(optimizer))
    (param,) = same.param_groups[0]["params"]
    param.grad = x.grad = autokit.ones(2)
    same.step()
    optimizer.step()
    assert param is not x and param.tolist() == x.tolist()
    assert same.state_dict()["state"][0]["step"].item() == 2


def start(torch: Any, name: str) -> tuple[Any, Any]:
    """A network and an optimizer: with two groups where the method allows, with a memory where it may."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    if name == "LBFGS":
        return model, torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, history_size=4)
    extra = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {"amsgrad": True} if name == "Adam" else {}
    groups = [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.005}]
    return model, getattr(torch.optim, name)(groups, lr=0.01, **extra)


def train(torch: Any, model: Any, optimizer: Any) -> list[float]:
    """The losses of some steps, each by a closure."""
    x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((model(x) - 0.5) ** 2).mean()
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(4)]


@pytest.mark.parametrize("direction", ["to PyTorch", "from PyTorch", "to ourselves"])
@pytest.mark.parametrize(
    "name", ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "RMSprop", "SGD"]
)
def test_training_goes_on_equally_from_a_file_of_the_other(name: str, direction: str, tmp_path: Path):
    here = pytorch if direction == "from PyTorch" else autokit
    there = pytorch if direction == "to PyTorch" else autokit
    model, optimizer = start(here, name)
    train(here, model, optimizer)
    file = tmp_path / "checkpoint.pt"
    here.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 4}, file)
    expected = train(here, model, optimizer)
    again, resumed = start(there, name)
    checkpoint = there.load(file, weights_only=True)
    assert checkpoint["epoch"] == 4
    again.load_state_dict(checkpoint["model"])
    resumed.load_state_dict(checkpoint["optimizer"])
    np.testing.assert_allclose(train(there, again, resumed), expected, rtol=1e-10)
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-9, atol=1e-12)
