"""What a watch notes of a training run is what PyTorch's way of measuring gives, and it leaves no trace."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable

import numpy as np

import autokit as torch
from autokit import nn, optim
from autokit.engine.detours import DETOURS
from autokit.graphs.training import Watch


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))


def train(model: nn.Module, steps: int, every: int, each: Callable[[int], None] = lambda step: None) -> Watch:
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    watch = Watch(model, optimizer, every)
    x = torch.arange(12.0).reshape(4, 3) / 6 - 1
    for step in range(steps):
        optimizer.zero_grad()
        loss = (model(x) - 1).pow(2).mean()
        loss.backward()
        each(step)
        optimizer.step()
        watch.step(loss)
    return watch


def test_norms_and_updates_are_those_of_the_weights() -> None:
    model = network()
    expected: list[tuple[list[float], list[float]]] = []

    def measure(step: int) -> None:
        if step % 3 == 0:
            own = [[p.grad.numpy().ravel() for p in layer.parameters()] for layer in (model[0], model[2])]
            norms = [float(np.linalg.norm(np.concatenate(each))) for each in own]
            weights = [
                [p.detach().numpy().ravel() for p in layer.parameters()] for layer in (model[0], model[2])
            ]
            sizes = [float(np.linalg.norm(np.concatenate(each))) for each in weights]
            expected.append((norms, [0.1 * n / size for n, size in zip(norms, sizes)]))

    watch = train(model, 8, 3, measure)
    history = watch.history
    assert history.layers == ("0 · Linear", "2 · Linear") and history.sampled == [1, 4, 7]
    np.testing.assert_allclose(history.norms, [norms for norms, _ in expected], rtol=1e-5)
    np.testing.assert_allclose(history.ratios, [ratios for _, ratios in expected], rtol=1e-4)
    assert len(history.losses) == 8 and set(history.rates) == {0.1} and history.alarm == ""


def test_the_alarm_names_the_layer_where_it_began() -> None:
    model = network()

    def poison(step: int) -> None:
        if step == 3:
            with torch.no_grad():
                model[2].weight[0, 0] = math.inf

    alarm = train(model, 8, 100, poison).history.alarm
    assert alarm.startswith("Step 5: the loss is ") and "in 2 · Linear" in alarm


def test_nothing_is_left_behind_and_nothing_is_changed() -> None:
    gc.collect()
    before = [*DETOURS]
    plain, watched = network(), network()
    optimizer = optim.SGD(plain.parameters(), lr=0.1)
    x = torch.arange(12.0).reshape(4, 3) / 6 - 1
    for _ in range(8):
        optimizer.zero_grad()
        (plain(x) - 1).pow(2).mean().backward()
        optimizer.step()
    watch = train(watched, 8, 2)
    watch.close()
    assert before == DETOURS and not watch.optimizer.__dict__.get("_pre_hooks")
    for one, other in zip(plain.parameters(), watched.parameters()):
        assert torch.equal(one, other)


def test_a_watch_that_nobody_holds_looks_no_more() -> None:
    gc.collect()
    before = [*DETOURS]
    watch = train(network(), 1, 1)
    assert len(DETOURS) == len(before) + 1
    del watch
    gc.collect()
    assert before == DETOURS
