"""Models, optimizers and checkpoints between autokit and PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

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
