"""autokit.optim.swa_utils beside PyTorch's: averages, learning rates, statistics of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.optim import swa_utils
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.optim.swa_utils as their_utils  # noqa: E402

AVERAGES: dict[str, Any] = {
    "alike": lambda u: {},
    "alike, function": lambda u: {"avg_fn": u.get_swa_avg_fn()},
    "alike, lists": lambda u: {"multi_avg_fn": u.get_swa_multi_avg_fn()},
    "moving": lambda u: {"avg_fn": u.get_ema_avg_fn(0.9)},
    "moving, lists": lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.9), "use_buffers": True},
}


def network(module: Any) -> Any:
    """A network with a batch normalization; the same numbers in both libraries."""
    rng = np.random.RandomState(0)
    model = module.nn.Sequential(module.nn.Linear(3, 4), module.nn.BatchNorm1d(4), module.nn.Linear(4, 1))
    with module.no_grad():
        for parameter in model.parameters():
            parameter.copy_(module.from_numpy(rng.randn(*parameter.shape).astype(np.float32)))
    return model


@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_pytorchs(name: str):
    found = []
    for module, utils in ((ak, swa_utils), (torch, their_utils)):
        rng = np.random.RandomState(1)
        model = network(module)
        averaged = utils.AveragedModel(model, **AVERAGES[name](utils))
        optimizer = module.optim.SGD(model.parameters(), lr=0.05)
        batches = [module.from_numpy(rng.randn(8, 3).astype(np.float32)) for _ in range(4)]
        for batch in batches:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            averaged.update_parameters(model)
        state = averaged.state_dict()
        assert state["n_averaged"].item() == 4
        utils.update_bn([(batch, 0) for batch in batches], averaged)
        found.append((state, averaged.eval()(batches[0]).tolist(), averaged.module[1].momentum))
    (ours, our_output, our_momentum), (theirs, their_output, their_momentum) = found
    assert list(ours) == list(theirs) and our_momentum == their_momentum == 0.1
    for key in theirs:
        np.testing.assert_allclose(ours[key].numpy(), theirs[key].numpy(), rtol=1e-5, atol=1e-6, err_msg=key)
    np.testing.assert_allclose(our_output, their_output, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"anneal_epochs": 0}, {"anneal_epochs": 3, "anneal_strategy": "linear"}]
)
def test_the_rates_are_pytorchs(options: dict[str, Any]):
    found = []
    for module, utils in ((ak, swa_utils), (torch, their_utils)):
        groups = [{"params": [module.ones(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.1)]
        optimizer = module.optim.SGD(groups, lr=0.1)
        scheduler = utils.SWALR(optimizer, [0.05, 0.2], **options)
        for step in range(12):
            optimizer.step()
            scheduler.step()
            found.append(scheduler.get_last_lr())
            if step == 2:
                state = scheduler.state_dict()
                scheduler = utils.SWALR(optimizer, 0.05, **options)
                scheduler.load_state_dict(state)
    np.testing.assert_allclose(found[:12], found[12:], rtol=1e-12)
    assert set(state) >= {"anneal_epochs", "_anneal_strategy", "last_epoch", "_step_count"}


def test_a_network_without_batch_normalization_is_not_run():
    batches = iter([ak.ones(2, 1)])
    swa_utils.update_bn(batches, ak.nn.Linear(1, 1))
    assert len([*batches]) == 1


def test_wrong_use_is_refused_in_pytorchs_words():
    messages = []
    for module, utils in ((ak, swa_utils), (torch, their_utils)):
        model = module.nn.Linear(1, 1)
        optimizer = module.optim.SGD(model.parameters(), lr=0.1)
        for wrong in (
            lambda u, o, m: u.get_ema_avg_fn(1.5),
            lambda u, o, m: u.get_ema_multi_avg_fn(-1),
            lambda u, o, m: u.AveragedModel(m, avg_fn=min, multi_avg_fn=max),
            lambda u, o, m: u.SWALR(o, 0.1, anneal_strategy="fast"),
            lambda u, o, m: u.SWALR(o, 0.1, anneal_epochs=-1),
            lambda u, o, m: u.SWALR(o, [0.1, 0.2]),
        ):
            with pytest.raises((ValueError, AssertionError)) as refused:
                wrong(utils, optimizer, model)
            messages.append((type(refused.value), str(refused.value)))
    assert messages[:6] == messages[6:]
