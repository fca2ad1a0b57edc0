"""What the constructors of all optimizers say of each wrong setting, and their states in PyTorch's files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402

METHODS = ["Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "LBFGS", "Muon", "NAdam",
           "RAdam", "RMSprop", "Rprop", "SGD"]  # fmt: skip

VALUES: dict[str, Callable[[Any], Any]] = {
    **{repr(value): lambda T, value=value: value for value in (
        -1, -0.5, 0, 1.0, 1.5, True, None, "x", (), (1,), (-1.0, 0.5), (0.5, 1.0), (1.2, 0.5), (0.5, 0.9),
        float("nan"), float("inf"))},
    "a tensor": lambda T: T.tensor(0.1),
    "a tensor below 0": lambda T: T.tensor(-0.1),
    "two elements": lambda T: T.tensor([0.1, 0.2]),
}  # fmt: skip


def said(T: Any, name: str, setting: str, value: Any) -> tuple[str, str]:
    """The type of the error and its words; Python's own words on a comparison without the operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(T.optim, name)([T.zeros(2, 2, requires_grad=True)], **{setting: value})
        except Exception as error:
            words = re.sub("^.* (?=not supported between)| of '.*", "", str(error)).split(" or `tensor")[0]
            return type(error).__name__, words
    return "", ""


@pytest.mark.parametrize("name", METHODS)
def test_each_setting_takes_and_refuses_what_pytorchs_does_in_its_words(name: str):
    settings = [each for each in signature(getattr(torch.optim, name)).parameters if each != "params"]
    differ, refused = [], 0
    for setting in settings:
        for what, value in VALUES.items():
            ours, theirs = (said(T, name, setting, value(T)) for T in (ak, torch))
            refused += theirs[0] != ""
            if setting == "differentiable" and ours[0] == "NotImplementedError" and not theirs[0]:
                continue  # a known limit, which says what to do
            if name == "SGD" and what == "nan" and ours[0] == "ValueError" and not theirs[0]:
                continue  # PyTorch's SGD alone takes it, and destroys the parameters
            if ours[0] != theirs[0] or not ours[1].startswith(theirs[1].rstrip(".")):
                differ.append((setting, what, ours, theirs))
    assert differ == []
    assert refused > 10


# ---------------------------------------------------------------- states in files


def network(T: Any) -> Any:
    T.manual_seed(0)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 1)).double()


def optimizer(T: Any, name: str, model: Any) -> Any:
    """With two groups where the method allows, and a memory where it is a choice."""
    extra = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {"amsgrad": True} if name == "Adam" else {}
    if name == "LBFGS":
        return T.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, history_size=4)
    groups = [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.005}]
    return getattr(T.optim, name)(groups, lr=0.01, **extra)


def train(T: Any, model: Any, method: Any, steps: int) -> list[float]:
    """The losses of some steps, each by a closure."""
    x = T.linspace(-1, 1, 12, dtype=T.float64).reshape(4, 3)

    def closure() -> Any:
        method.zero_grad()
        loss = ((model(x) - 0.5) ** 2).mean()
        loss.backward()
        return loss

    return [method.step(closure).item() for _ in range(steps)]


FILED = [name for name in METHODS if name != "Muon"]  # which rounds to bfloat16, so has tests of its own


@pytest.mark.parametrize("direction", ["to PyTorch", "from PyTorch", "to ourselves"])
@pytest.mark.parametrize("name", FILED)
def test_training_goes_on_equally_from_a_file_of_the_other(name: str, direction: str, tmp_path: Path):
    here, there = {"to PyTorch": (ak, torch), "from PyTorch": (torch, ak), "to ourselves": (ak, ak)}[
        direction
    ]
    file = tmp_path / "checkpoint.pt"
    model = network(here)
    method = optimizer(here, name, model)
    train(here, model, method, 4)
    here.save({"model": model.state_dict(), "optimizer": method.state_dict(), "epoch": 4}, file)
    expected = train(here, model, method, 4)

    again = network(there)
    resumed = optimizer(there, name, again)
    checkpoint = there.load(file, weights_only=True)
    assert checkpoint["epoch"] == 4
    again.load_state_dict(checkpoint["model"])
    resumed.load_state_dict(checkpoint["optimizer"])
    np.testing.assert_allclose(train(there, again, resumed, 4), expected, rtol=1e-10)
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-9, atol=1e-12)
