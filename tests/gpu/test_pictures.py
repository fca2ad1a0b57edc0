"""Texts, pictures and widgets of a GPU's tensors are those of the CPU; of large ones summaries are copied."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

MOST = 1024
"""How many elements a picture may copy at a time."""


def matrix(size: int, where: str) -> torch.Tensor:
    values = np.random.RandomState(0).uniform(-1, 1, (size, size)).astype(np.float32)
    a = torch.tensor(values, requires_grad=True, device=where)
    a.name = "a"
    return a


def network(size: int, where: str) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(size, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 1)).to(where)


def mean(a: torch.Tensor) -> torch.Tensor:
    loss = ((a @ a).relu() * a + a.mean(0)).exp().mean()
    loss.name = "loss"
    return loss


def text_of(bundle: Any) -> Any:
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/plain"]


def anomaly(size: int, where: str) -> str:
    with warnings.catch_warnings(), torch.autograd.detect_anomaly(), pytest.raises(RuntimeError) as error:
        warnings.simplefilter("ignore")
        (torch.zeros(size, device=where, requires_grad=True).sqrt() * 0).sum().backward()
    return str(error.value)


def story_of(size: int, where: str) -> list[Any]:
    timeline = torch.record(mean(matrix(size, where)))
    return [[step.sentence for step in timeline.steps], timeline.accounts]


def cells_of(size: int, where: str) -> list[Any]:
    player = torch.animate(mean(matrix(size, where)))
    return [
        player._told(node.element, field, 0, wants_sum)
        for node in player.timeline.graph.nodes
        for field in ("value", "gradient")
        for wants_sum in (True, False)
    ]


def monitor_of(size: int, where: str) -> Any:
    model = network(size, where)
    optimizer = torch.optim.Adam(model.parameters())
    monitor = torch.monitor(model, optimizer)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, size, device=where)).pow(2).mean()
        loss.backward()
        optimizer.step()
        monitor.step(loss)
    return text_of(monitor._repr_mimebundle_())


SHOWN: dict[str, Callable[[int, str], Any]] = {
    "a tensor's text": lambda n, d: repr(matrix(n, d)),
    "a tensor of integers": lambda n, d: repr(torch.arange(n * n, device=d)),
    "a tensor in a notebook": lambda n, d: matrix(n, d)._repr_mimebundle_(),
    "a loss in a notebook": lambda n, d: mean(matrix(n, d))._repr_mimebundle_(),
    "a model in a notebook": lambda n, d: text_of(network(n, d)._repr_mimebundle_()),
    "graph": lambda n, d: torch.graph(mean(matrix(n, d))),
    "record": story_of,
    "animate": lambda n, d: text_of(torch.animate(mean(matrix(n, d)))._repr_mimebundle_()),
    "the player's cells": cells_of,
    "summary": lambda n, d: repr(torch.summary(network(n, d), torch.ones(2, n, device=d))),
    "explore": lambda n, d: text_of(
        torch.explore(network(n, d), torch.ones(2, n, device=d))._repr_mimebundle_()
    ),
    "monitor": monitor_of,
    "debug.steps": lambda n, d: [repr(step) for step in torch.debug.steps(mean(matrix(n, d)))],
    "anomaly": anomaly,
}


NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


@pytest.mark.parametrize("gpu_number", [0, 1])
@pytest.mark.parametrize("size", [2, 40])
@pytest.mark.parametrize("what", SHOWN)
def test_it_is_that_of_the_cpu(gpu: str, what: str, size: int, gpu_number: int):
    if gpu_number >= torch.cuda.device_count():
        pytest.skip("needs two GPUs")
    shown = []
    for where in ("cpu", f"cuda:{gpu_number}"):
        standin.sizes.clear()
        shown.append(SHOWN[what](size, where))
    assert max(standin.sizes, default=0) <= MOST
    texts = [re.sub(r",?\s*(device='cuda:[01]'|requires_grad)", "", str(each)) for each in shown]
    # A picture may round otherwise where a text does not, and a long sum is not told of a GPU's tensor.
    if "notebook" not in what and (what, size) != ("the player's cells", 40):
        here, there = ([float(each) for each in NUMBER.findall(text)] for text in texts)
        assert NUMBER.sub("#", texts[1]) == NUMBER.sub("#", texts[0])
        exact = gpu == "stand-in"  # a GPU adds up in another order
        np.testing.assert_allclose(there, here, rtol=0 if exact else 1e-4, atol=0 if exact else 1e-5)
