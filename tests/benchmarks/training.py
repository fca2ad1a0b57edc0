"""Training steps of whole networks: time beside PyTorch's, peak memory, and the losses too.

``python -m tests.benchmarks row lenet lstm`` prints these rows alone. Both sides have the same number of
threads. Peak memory is what a step holds at most; PyTorch's is the running sum of the tensors that its
profiler sees allocated.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks.measure import Job, best_times, in_each, row, threads

STEPS, CLOSE = 20, 1e-4
"""For so many steps the losses must be PyTorch's, within so much."""


class Training(NamedTuple):
    """A row: its title, the threads on each side, the ratio that is wanted, and what makes a step to call."""

    title: str
    threads: int
    wanted: float
    make: Callable[[Any], Callable[[], Any]]


@cache
def images(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


@cache
def classes(count: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(1).randint(0, count, shape).astype(np.int64)


def _step(torch: Any, model: Any, optimizer: Any, input: np.ndarray, target: np.ndarray) -> Callable[[], Any]:
    """A step of training with the cross-entropy, where the model is; it returns the loss."""
    criterion = torch.nn.CrossEntropyLoss()
    where = next(model.parameters()).device

    def step(inputs: Any, targets: Any) -> Any:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    return partial(step, torch.from_numpy(input).to(where), torch.from_numpy(target).to(where))


def perceptron(inputs: int, hidden: int, batch: int) -> Callable[[Any], Callable[[], Any]]:
    """Two linear layers, trained by SGD."""

    def make(torch: Any) -> Callable[[], Any]:
        nn = torch.nn
        model = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return _step(torch, model, optimizer, images(batch, inputs), classes(10, batch))

    return make


def lenet(batch: int) -> Callable[[Any], Callable[[], Any]]:
    """LeNet, trained by SGD with momentum."""

    def make(torch: Any) -> Callable[[], Any]:
        nn = torch.nn
        model = nn.Sequential(
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        return _step(torch, model, optimizer, images(batch, 1, 28, 28), classes(10, batch))

    return make


def lstm(torch: Any) -> Callable[[], Any]:
    """An LSTM that reads 32 times, and a linear layer on its last state."""
    nn = torch.nn

    class Reader(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(64, 64, batch_first=True)
            self.out = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            states, _ = self.lstm(x)
            return self.out(states[:, -1])

    model = Reader()
    optimizer = torch.optim.Adam(model.parameters())
    return _step(torch, model, optimizer, images(32, 32, 64), classes(10, 32))


def transformer(width: int) -> Callable[[Any], Callable[[], Any]]:
    """A causal transformer that tells the next letter."""
    return lambda torch: _transformer(torch, width)


def _transformer(torch: Any, width: int) -> Callable[[], Any]:
    nn, letters, length = torch.nn, 65, 64

    class Writer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.letters = nn.Embedding(letters, width)
            self.places = nn.Embedding(length, width)
            layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, "gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
            self.out = nn.Linear(width, letters)
            self.mask = nn.Transformer.generate_square_subsequent_mask(length)
            self.order = torch.arange(length)

        def forward(self, text: Any) -> Any:
            x = self.letters(text) + self.places(self.order)
            return self.out(self.layers(x, mask=self.mask, is_causal=True)).flatten(0, 1)

    model = Writer()
    optimizer = torch.optim.AdamW(model.parameters())
    text = classes(letters, 16, length + 1)
    return _step(torch, model, optimizer, text[:, :-1].copy(), text[:, 1:].reshape(-1).copy())


TRAININGS = {
    "small": Training("an SGD step of a 64-32-10 network, batch of 32", 1, 0.60, perceptron(64, 32, 32)),
    "middle": Training("an SGD step of a 784-128-10 network, batch of 64", 2, 0.90, perceptron(784, 128, 64)),
    "large": Training(
        "an SGD step of a 784-512-10 network, batch of 256", 2, 0.90, perceptron(784, 512, 256)
    ),
    "lenet": Training("a step of LeNet on 28×28 pixels, batch of 64, momentum", 2, 2.0, lenet(64)),
    "lstm": Training("a step of an LSTM of 64, 32 times, batch of 32, Adam", 2, 1.7, lstm),
    "transformer": Training(
        "a step of a causal transformer of 4 layers, width 64, 4 heads, 64 letters, batch of 16, AdamW",
        2,
        1.4,
        transformer(64),
    ),
}

SAMPLES, BATCH = 60_000, 64


def loader(torch: Any) -> Job:
    """An epoch through a shuffled DataLoader."""
    samples = torch.from_numpy(images(SAMPLES, 28, 28)), torch.from_numpy(classes(10, SAMPLES))
    batches = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*samples), batch_size=BATCH, shuffle=True
    )

    def epoch() -> None:
        for _ in batches:
            pass

    return epoch


def line(name: str) -> str:
    """The row of the table."""
    if name == "loader":
        with threads(1):
            title = f"an epoch of a shuffled DataLoader, {SAMPLES:,} images of 28×28, batches of {BATCH}"
            return row(f"{title}, 1 thread", best_times(in_each(loader), rounds=5), 0.35)
    title, count, wanted, make = TRAININGS[name]
    with threads(count):
        times = best_times(in_each(make), rounds=9, seconds=0.1)
        also = f"{_losses(make)}; {_memory(make)}" if "PyTorch" in times else ""
    return row(f"{title}, {count} thread{'s' * (count > 1)}", times, wanted, also)


def _losses(make: Callable[[Any], Callable[[], Any]]) -> str:
    """How far the losses of the first steps are from PyTorch's, from the same seed."""
    losses = [[step().item() for _ in range(STEPS)] for step in in_each(make).values()]  # type: ignore[attr-defined]
    off = float(np.abs(np.subtract(*losses)).max())
    return f"losses within {CLOSE} for {STEPS} steps" if off < CLOSE else f"**losses up to {off:.1e} apart**"


def _memory(make: Callable[[Any], Callable[[], Any]]) -> str:
    """The peak memory of a second step, beside PyTorch's tensors."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    import autokit

    make(autokit)()  # what a first step loads and remembers is not the step's
    gc.collect()
    tracemalloc.start()
    step = make(autokit)
    step()
    tracemalloc.reset_peak()
    step()
    own = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        step = make(torch)
        step()
        step()
    events = [each for each in profiled.profiler.kineto_results.events() if each.name() == "[memory]"]
    changes = [each.nbytes() for each in sorted(events, key=lambda each: each.start_ns())]
    return f"peak memory {own / float(np.cumsum(changes).max()):.2f}"
