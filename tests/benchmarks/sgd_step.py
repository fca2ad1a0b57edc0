"""One SGD step of a 64-32-10 network on a batch of 32: the cost of a small training loop."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job


def jobs() -> dict[str, Job]:
    """The step in autokit, in PyTorch where it is installed, and by hand in NumPy."""
    found = {"autokit": _torch_like("autokit"), "NumPy by hand": _by_hand()}
    with suppress(ImportError):
        found["PyTorch"] = _torch_like("torch")
    return found


def _data() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.RandomState(0)
    return generator.rand(32, 64).astype(np.float32), generator.randint(0, 10, 32).astype(np.int64)


def _torch_like(name: str) -> Job:
    torch: Any = importlib.import_module(name)
    if name == "torch":
        torch.set_num_threads(1)  # on so small a network more threads only wait for each other
    nn, optim = importlib.import_module(f"{name}.nn"), importlib.import_module(f"{name}.optim")
    images, labels = (torch.from_numpy(array) for array in _data())
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


def _by_hand() -> Job:
    images, labels = _data()
    generator = np.random.RandomState(1)
    w1 = generator.uniform(-0.125, 0.125, (64, 32)).astype(np.float32)
    w2 = generator.uniform(-0.18, 0.18, (32, 10)).astype(np.float32)
    b1, b2 = np.zeros(32, np.float32), np.zeros(10, np.float32)
    rows = np.arange(32)

    def step() -> None:
        hidden = images @ w1 + b1
        active = np.maximum(hidden, 0)
        logits = active @ w2 + b2
        exponentials = np.exp(logits - logits.max(1, keepdims=True))
        slope = exponentials / exponentials.sum(1, keepdims=True)
        slope[rows, labels] -= 1
        slope /= 32
        back = (slope @ w2.T) * (hidden > 0)
        for parameter, gradient in (
            (w2, active.T @ slope),
            (b2, slope.sum(0)),
            (w1, images.T @ back),
            (b1, back.sum(0)),
        ):
            parameter -= 0.01 * gradient

    return step
