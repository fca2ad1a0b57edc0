"""Models, optimizers and checkpoints between autokit and PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.serialization.archives import equal, here, network, there
from tests.support import require

require("torch")
import torch  # noqa: E402


def test_a_models_state_goes_both_ways():
    a, b = network(ak), network(torch)
    assert here(b.state_dict())._metadata == b.state_dict()._metadata
    assert type(here(b.state_dict())) is OrderedDict
    a.load_state_dict(here(b.state_dict()))
    assert a(ak.ones(1, 2)).item() == pytest.approx(b(torch.ones(1, 2)).item())
    c = network(torch)
    c.load_state_dict(there(a.state_dict()))
    assert c[0].weight.tolist() == a[0].weight.tolist()


def trained(t: Any, steps: int, state: Any = None) -> Any:
    """A checkpoint after so many more steps."""
    model = network(t)
    optimizer = t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    x = t.linspace(-1, 1, 8).view(4, 2)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


@pytest.mark.parametrize("way", ["there", "here"])
def test_training_goes_on_in_the_other_where_it_stopped(way: str):
    first, second, move = (ak, torch, there) if way == "there" else (torch, ak, here)
    start = trained(first, 0)
    stopped = move(trained(first, 3, start))
    moved = trained(second, 3, stopped)
    stayed = trained(first, 6, start)
    for name, value in stayed["model"].items():
        np.testing.assert_allclose(moved["model"][name].numpy(), value.numpy(), rtol=1e-5, atol=1e-7)


def test_the_state_of_pytorchs_optimizers_is_read():
    weight = torch.nn.Parameter(torch.ones(3))
    for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.LBFGS):
        optimizer = kind([weight])
        weight.grad = torch.ones(3)
        optimizer.step(lambda: torch.tensor(1.0))
        assert repr(here(optimizer.state_dict())) == repr(optimizer.state_dict())


def test_a_file_that_does_not_fit_leaves_the_model_as_it_was(tmp_path: Path):
    model = network(ak)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    wrong = network(torch).state_dict()
    wrong["2.0.bias"] = torch.ones(5)  # the last one
    torch.save(wrong, tmp_path / "wrong.pt")
    with pytest.raises(RuntimeError, match=r"size mismatch for 2\.0\.bias"):
        model.load_state_dict(ak.load(tmp_path / "wrong.pt"))
    assert all(equal(value, before[name]) for name, value in model.state_dict().items())
