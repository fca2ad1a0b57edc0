"""What all optimizers share, beside PyTorch's: groups, hooks, states, and optimizers of one's own."""

from __future__ import annotations

import copy
import pickle
from importlib import import_module
from typing import Any

import pytest

import autokit as ak
from autokit.optim.optimizer import required
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402


def leaf(module: Any = ak) -> Any:
    return module.ones(2, requires_grad=True)


@pytest.mark.parametrize("module", [ak, torch])
def test_hooks_are_called_around_a_step_in_their_order(module: Any):
    x = leaf(module)
    optimizer = module.optim.SGD([x], lr=0.1)
    other = module.optim.SGD([leaf(module)], lr=0.1)
    told: list[Any] = []
    shared = import_module(f"{module.__name__}.optim.optimizer")
    handles = [
        shared.register_optimizer_step_pre_hook(lambda *given: told.append("all before")),
        shared.register_optimizer_step_post_hook(lambda *given: told.append("all after")),
        optimizer.register_step_pre_hook(lambda *given: told.append(("before", len(given[1]), given[2]))),
        optimizer.register_step_post_hook(lambda *given: told.append(("after", given[0] is optimizer))),
    ]
    optimizer.step()
    assert told == ["all before", ("before", 1, {}), ("after", True), "all after"]
    other.step()
    assert told[4:] == ["all before", "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(told) == 6


@pytest.mark.parametrize("module", [ak, torch])
def test_a_hook_may_change_the_closure_and_must_return_a_pair(module: Any):
    optimizer = module.optim.SGD([leaf(module)], lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((opt, lambda: 5), {}))
    assert optimizer.step(lambda: 3) == 5
    handle.remove()
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: 7)
    with pytest.raises(
        RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 7"
    ):
        optimizer.step()


@pytest.mark.parametrize("module", [ak, torch])
def test_hooks_are_called_around_states(module: Any):
    optimizer = module.optim.SGD([leaf(module)], lr=0.1)
    told: list[str] = []

    def stamped(opt: Any, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "stamp": 1}

    optimizer.register_state_dict_pre_hook(lambda opt: told.append("second"))
    optimizer.register_state_dict_pre_hook(lambda opt: told.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(stamped)
    state = optimizer.state_dict()
    assert told == ["first", "second"] and state["stamp"] == 1

    def unstamped(opt: Any, state: dict[str, Any]) -> dict[str, Any]:
        state["param_groups"][0]["lr"] = 0.5
        return state

    optimizer.register_load_state_dict_pre_hook(unstamped)
    optimizer.register_load_state_dict_post_hook(lambda opt: told.append("loaded"))
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.5 and told[-1] == "loaded"


class Plain:
    """A method of one's own, in either library."""

    @staticmethod
    def of(module: Any) -> Any:
        class Sign(module.optim.Optimizer):
            def __init__(
                self, params: Any, lr: Any = required if module is ak else None, **more: Any
            ) -> None:
                super().__init__(params, {"lr": lr, **more})

            def step(self, closure: Any = None) -> Any:
                loss = None if closure is None else closure()
                for group in self.param_groups:
                    for param in group["params"]:
                        if param.grad is not None:
                            state = self.state[param]
                            state["step"] = state.get("step", 0) + 1
                            param.data.add_(param.grad.data.sign(), alpha=-group["lr"])
                return loss

        return Sign


def test_an_optimizer_of_ones_own_has_all_that_the_others_have():
    x = leaf()
    optimizer = Plain.of(ak)([x], lr=0.25)
    scheduler = ak.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    told: list[int] = []
    optimizer.register_step_post_hook(lambda *given: told.append(1))
    for _ in range(2):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
        scheduler.step()
    assert x.tolist() == [0.625, 0.625] and told == [1, 1]
    state = optimizer.state_dict()
    assert state["state"] == {0: {"step": 2}}
    optimizer.load_state_dict(state)
    assert optimizer.state[x] == {"step": 2}


def test_a_required_setting_must_be_given():
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Plain.of(ak)([leaf()])
    assert Plain.of(ak)([{"params": leaf(), "lr": 0.1}]).param_groups[0]["lr"] == 0.1
    assert repr(required) == "<required parameter>"


def test_zeroed_gradients_stay_the_same_tensors():
    x = leaf()
    x.grad = ak.tensor([1.0, 2.0])
    gradient = x.grad
    ak.optim.SGD([x]).zero_grad(set_to_none=False)
    assert x.grad is gradient and gradient.tolist() == [0, 0]


def test_what_maximizes_remembers_what_pytorch_remembers():
    found = []
    for module in (ak, torch):
        x = leaf(module)
        optimizer = module.optim.SGD([x], lr=0.1, momentum=0.9, maximize=True)
        x.grad = module.tensor([1.0, 2.0])
        optimizer.step()
        found.append([x.tolist(), optimizer.state[x]["momentum_buffer"].tolist()])
    assert found[0] == found[1]


def test_several_groups_print_as_in_pytorch():
    found = []
    for module in (ak, torch):
        groups = [{"params": leaf(module)}, {"params": leaf(module), "lr": 0.5}]
        found.append(repr(module.optim.Adam(groups, lr=0.1)))
    assert found[0] == found[1]


def test_the_given_group_is_the_group():
    group = {"params": leaf(), "lr": 0.5}
    optimizer = ak.optim.SGD([leaf()], lr=0.1)
    optimizer.add_param_group(group)
    assert optimizer.param_groups[1] is group and group["momentum"] == 0


def test_names_go_into_the_state_and_stay_when_it_has_none():
    layer = ak.nn.Linear(1, 1)
    optimizer = ak.optim.SGD(layer.named_parameters(), lr=0.1)
    state = optimizer.state_dict()
    assert state["param_groups"][0].pop("param_names") == ["weight", "bias"]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_an_optimizer_is_pickled_with_its_parameters():
    x = leaf()
    optimizer = ak.optim.Adam([x], lr=0.1)
    x.grad = ak.ones(2)
    optimizer.step()
    same = pickle.loads(pickle.dumps(optimizer))
    (param,) = same.param_groups[0]["params"]
    param.grad = x.grad = ak.ones(2)
    same.step()
    optimizer.step()
    assert param is not x and param.tolist() == x.tolist()
    assert copy.deepcopy(same).state_dict()["state"][0]["step"].item() == 2


WRONG: list[Any] = [
    lambda module: module.optim.SGD(leaf(module)),
    lambda module: module.optim.SGD([]),
    lambda module: module.optim.SGD(None),
    lambda module: module.optim.SGD(module.nn.Linear(1, 1)),
    lambda module: module.optim.SGD(["a"]),
    lambda module: module.optim.SGD([[leaf(module)]]),
    lambda module: module.optim.SGD([leaf(module) * 2]),
    lambda module: module.optim.SGD([{"lr": 1}]),
    lambda module: module.optim.SGD([{"params": {leaf(module)}}]),
    lambda module: module.optim.SGD([("a", leaf(module)), leaf(module)]),
    lambda module: module.optim.SGD([("a", leaf(module))]).add_param_group({"params": leaf(module)}),
    lambda module: module.optim.SGD([leaf(module)]).add_param_group([leaf(module)]),
    lambda module: module.optim.SGD([leaf(module)]).load_state_dict({"state": {}, "param_groups": []}),
    lambda module: module.optim.SGD([leaf(module)]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
]


@pytest.mark.parametrize("place", range(len(WRONG)))
def test_wrong_use_is_refused_in_pytorchs_words_first(place: int):
    ours, theirs = refusals(WRONG[place])
    assert ours.startswith(theirs)


def test_an_optimizer_that_wraps_another_needs_no_parts_of_its_own():
    class EverySecond(ak.optim.Optimizer):
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups, self.count = inner, inner.param_groups, 0

        def step(self, closure: Any = None) -> Any:
            self.count += 1
            return self.inner.step(closure) if self.count % 2 == 0 else None

    weight = ak.ones(1, requires_grad=True)
    outer = EverySecond(ak.optim.SGD([weight], lr=0.5))
    for expected in (1.0, 0.5):
        weight.grad = ak.ones(1)
        outer.step()
        assert weight.item() == expected


@pytest.mark.parametrize("method", ["SGD", "Adam", "RMSprop", "Adafactor", "LBFGS"])
def test_an_expanded_parameter_is_refused_as_its_elements_are_one_number(method: str):
    def step(module: Any) -> None:
        weight = module.zeros(1).expand(3).requires_grad_()

        def loss() -> Any:
            weight.grad = module.ones(3)
            return weight.sum()

        getattr(module.optim, method)([weight]).step(loss)

    ours, theirs = refusals(step)
    assert all("more than one element of the written-to tensor" in words for words in (ours, theirs))


@pytest.mark.parametrize(
    "name",
    [
        "SGD",
        "Adam",
        "AdamW",
        "Adamax",
        "NAdam",
        "RAdam",
        "Adagrad",
        "Adadelta",
        "RMSprop",
        "Rprop",
        "ASGD",
        "Adafactor",
        "LBFGS",
    ],
)
def test_a_state_of_another_model_is_named_at_the_step(name: str):
    """PyTorch loads it too: only the step sees that the shapes differ."""
    settings = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    for T, words in (
        (ak, r"the state's '\w+' is of shape \(2,\), and its parameter of shape \(3,\)"),
        (torch, ""),
    ):
        first, other = (T.nn.Parameter(T.ones(size)) for size in (2, 3))

        def stepped(optimizer: Any, parameter: Any) -> None:
            def closure() -> Any:
                optimizer.zero_grad()
                loss = (parameter * parameter).sum()
                loss.backward()
                return loss

            optimizer.step(closure)

        make = getattr(T.optim, name)
        before, after = make([first], **settings), make([other], **settings)
        stepped(before, first)
        stepped(before, first)
        after.load_state_dict(before.state_dict())
        with pytest.raises(RuntimeError, match=r"The size of tensor a \(\d\) must match .*" + words):
            stepped(after, other)


def test_a_closures_own_error_is_left_alone():
    def closure() -> Any:
        raise ValueError("could not broadcast my own")

    with pytest.raises(ValueError, match="my own"):
        ak.optim.SGD([ak.nn.Parameter(ak.ones(2))], lr=0.1).step(closure)
