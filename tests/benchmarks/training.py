"""Training steps of whole networks: time and peak memory beside PyTorch's, and the losses too.

``python -m tests.benchmarks.training`` prints this table alone; names after
it choose rows.  Each row gives both sides the same number of threads.  Peak
memory is what a step holds at most, parameters and the optimizer's state
included, and the samples, which stand in NumPy's arrays on both sides, left
out.  PyTorch's is the running sum of the tensors that its profiler sees
allocated, without the objects around them; so two figures stand beside it: the
running sum of NumPy's arrays, counted at each allocation (on the thread that
asks), and Python's own count of all allocations (tracemalloc, on every thread),
objects too.
"""

from __future__ import annotations

import gc
import importlib
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from autokit.backends import numba
from tests.array_memory import ArrayMemory
from tests.benchmarks.measure import WAYS, Job, best_times, row, threads, ways_of

STEPS, CLOSE = 20, 1e-4
"""For so many steps the losses must be PyTorch's, within so much."""


class Training(NamedTuple):
    """A row: its title, the threads on each side, and ``make(torch, nn)``, which gives a step to call."""

    title: str
    threads: int
    make: Callable[[Any, Any], Callable[[], Any]]


@cache
def _images(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


@cache
def _classes(count: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(1).randint(0, count, shape).astype(np.int64)


def _step(torch: Any, model: Any, optimizer: Any, input: np.ndarray, target: np.ndarray) -> Callable[[], Any]:
    """A step of training with the cross-entropy, where the model is; it returns the loss."""
    criterion = torch.nn.CrossEntropyLoss()
    where = next(model.parameters()).device
    inputs, targets = torch.from_numpy(input).to(where), torch.from_numpy(target).to(where)

    def step() -> Any:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    return step


def perceptron(inputs: int, hidden: int, batch: int) -> Callable[[Any, Any], Callable[[], Any]]:
    def make(torch: Any, nn: Any) -> Callable[[], Any]:
        model = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return _step(torch, model, optimizer, _images(batch, inputs), _classes(10, batch))

    return make


def lenet(batch: int) -> Callable[[Any, Any], Callable[[], Any]]:
    def make(torch: Any, nn: Any) -> Callable[[], Any]:
        model = nn.Sequential(
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        return _step(torch, model, optimizer, _images(batch, 1, 28, 28), _classes(10, batch))

    return make


def _lstm(torch: Any, nn: Any) -> Callable[[], Any]:
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
    return _step(torch, model, optimizer, _images(32, 32, 64), _classes(10, 32))


def transformer(width: int) -> Callable[[Any, Any], Callable[[], Any]]:
    return lambda torch, nn: _transformer(torch, nn, width)


def _transformer(torch: Any, nn: Any, width: int) -> Callable[[], Any]:
    letters, length = 65, 64

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
    text = _classes(letters, 16, length + 1)
    return _step(torch, model, optimizer, text[:, :-1].copy(), text[:, 1:].reshape(-1).copy())


TRAININGS = {
    "small": Training("an SGD step of a 64-32-10 network, batch of 32", 1, perceptron(64, 32, 32)),
    "middle": Training("an SGD step of a 784-128-10 network, batch of 64", 2, perceptron(784, 128, 64)),
    "large": Training("an SGD step of a 784-512-10 network, batch of 256", 2, perceptron(784, 512, 256)),
    "lenet": Training("a step of LeNet on 28×28 pixels, batch of 64, momentum", 2, lenet(64)),
    "lstm": Training("a step of an LSTM of 64, 32 times, batch of 32, Adam", 2, _lstm),
    "transformer": Training(
        "a step of a causal transformer of 4 layers, width 64, 4 heads, 64 letters, batch of 16, AdamW",
        2,
        transformer(64),
    ),
}


def made(library: str, training: Training) -> Callable[[], Any]:
    torch, nn = importlib.import_module(library), importlib.import_module(f"{library}.nn")
    importlib.import_module(f"{library}.optim")
    torch.manual_seed(0)
    return training.make(torch, nn)


# ---------------------------------------------------------------- the same networks elsewhere


def _by_hand(inputs: int, hidden: int, batch: int) -> Job:
    x, y, rows = _images(batch, inputs), _classes(10, batch), np.arange(batch)
    w1, b1, w2, b2 = _weights(inputs, hidden)

    def step() -> None:
        hidden = x @ w1 + b1
        active = np.maximum(hidden, 0)
        logits = active @ w2 + b2
        exponentials = np.exp(logits - logits.max(1, keepdims=True))
        slope = exponentials / exponentials.sum(1, keepdims=True)
        slope[rows, y] -= 1
        slope /= len(y)
        back = (slope @ w2.T) * (hidden > 0)
        for parameter, gradient in (
            (w2, active.T @ slope),
            (b2, slope.sum(0)),
            (w1, x.T @ back),
            (b1, back.sum(0)),
        ):
            parameter -= 0.01 * gradient

    return step


def _mygrad(inputs: int, hidden: int, batch: int) -> Job:
    import mygrad
    from mygrad.nnet import softmax_crossentropy
    from mygrad.nnet.activations import relu

    x, y = _images(batch, inputs), _classes(10, batch)
    w1, b1, w2, b2 = parameters = [mygrad.tensor(each) for each in _weights(inputs, hidden)]

    def step() -> None:
        loss = softmax_crossentropy(relu(x @ w1 + b1) @ w2 + b2, y)
        loss.backward()
        for each in parameters:
            each.data -= np.float32(0.01) * each.grad
            each.null_grad()

    return step


def _hips(inputs: int, hidden: int, batch: int) -> Job:
    import autograd
    import autograd.numpy as anp
    from autograd.scipy.special import logsumexp

    x, y, rows = _images(batch, inputs), _classes(10, batch), np.arange(batch)

    def loss(parameters: Any) -> Any:
        w1, b1, w2, b2 = parameters
        logits = anp.dot(anp.maximum(anp.dot(x, w1) + b1, 0), w2) + b2
        return anp.mean(logsumexp(logits, axis=1) - logits[rows, y])

    gradient = autograd.grad(loss)
    parameters = _weights(inputs, hidden)

    def step() -> None:
        for each, slope in zip(parameters, gradient(parameters)):
            each -= np.float32(0.01) * slope

    return step


def _weights(inputs: int, hidden: int) -> list[np.ndarray]:
    draw = np.random.RandomState(2).uniform
    shapes = ((inputs, hidden), (hidden,), (hidden, 10), (10,))
    return [draw(-0.1, 0.1, shape).astype(np.float32) for shape in shapes]


COMPILED = {"lenet", "lstm", "transformer"}
"""The networks whose arrays are large enough for compiled loops."""

_SIZES = {"small": (64, 32, 32), "middle": (784, 128, 64), "large": (784, 512, 256)}


def jobs(name: str) -> dict[str, Job]:
    """The step in each library that is installed and can do it."""
    training = TRAININGS[name]
    own = made("autokit", training)
    found: dict[str, Job] = ways_of(own) if name in COMPILED else {"autokit": own}
    with suppress(ImportError):
        found["PyTorch"] = made("torch", training)
    if name in _SIZES:
        for peer, make in (("NumPy by hand", _by_hand), ("MyGrad", _mygrad), ("HIPS autograd", _hips)):
            with suppress(ImportError):
                found[peer] = make(*_SIZES[name])
    return found


# ---------------------------------------------------------------- losses and memory


def largest_difference(name: str) -> float:
    """How far the losses of the first steps are from PyTorch's, from the same seed."""
    losses = [[step().item() for _ in range(STEPS)] for step in _of_both(name)]
    return float(np.abs(np.subtract(*losses)).max())


def _of_both(name: str) -> list[Callable[[], Any]]:
    return [made(library, TRAININGS[name]) for library in ("autokit", "torch")]


def peaks(make: Callable[[str], Job]) -> dict[str, int]:
    """The bytes that stand in memory at most during ``make(library)()`` and before it, in each library."""
    return {
        "arrays": peak_of_arrays(make),
        "with objects": _own_peak(make),
        "PyTorch": peak_of_tensors(make),
    }


def peak_of_arrays(make: Callable[[str], Job]) -> int:
    """The bytes of NumPy's arrays that stand at most in the second step, those made before it included."""
    make("autokit")()  # what a first step loads and remembers is not the step's
    gc.collect()
    with ArrayMemory() as memory:
        step = make("autokit")
        step()
        memory.peak = memory.now
        step()
    return memory.peak


def _own_peak(make: Callable[[str], Job]) -> int:
    make("autokit")()  # what a first step loads and remembers is not the step's
    gc.collect()
    tracemalloc.start()
    step = make("autokit")
    arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    kept = tracemalloc.take_snapshot().filter_traces([arrays])
    before = tracemalloc.get_traced_memory()[0]
    step()
    tracemalloc.reset_peak()
    step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before + sum(trace.size for trace in kept.traces)


def peak_of_tensors(make: Callable[[str], Job]) -> int:
    from torch.profiler import ProfilerActivity, profile

    make("torch")()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        step = make("torch")
        step()
        step()
    events = [each for each in profiled.profiler.kineto_results.events() if each.name() == "[memory]"]
    changes = [each.nbytes() for each in sorted(events, key=lambda each: each.start_ns())]
    return int(np.cumsum(changes).max())


# ---------------------------------------------------------------- a loader

SAMPLES, BATCH = 60_000, 64


def _epoch(library: str) -> Job:
    torch = importlib.import_module(library)
    data = importlib.import_module(f"{library}.utils.data")
    samples = torch.from_numpy(_images(SAMPLES, 28, 28)), torch.from_numpy(_classes(10, SAMPLES))
    loader = data.DataLoader(data.TensorDataset(*samples), batch_size=BATCH, shuffle=True)

    def epoch() -> None:
        for _ in loader:
            pass

    return epoch


def rows(chosen: list[str] | None = None) -> Iterator[str]:
    """The rows of the table, in Markdown; of those networks that are ``chosen``."""
    for name, training in TRAININGS.items():
        if chosen and name not in chosen:
            continue
        with threads(training.threads):
            times = best_times(jobs(name), rounds=9, seconds=0.1)
            said = f"losses within {CLOSE} of PyTorch's for {STEPS} steps"
            with suppress(ImportError):
                off = largest_difference(name)
                said = said if off < CLOSE else f"**losses up to {off:.1e} from PyTorch's**"
                said += f"; {_said_of_memory(lambda library, training=training: made(library, training))}"
        yield row(_title(training.title, training.threads), times, said)
    if not chosen or "loader" in chosen:
        epochs = {"autokit": _epoch("autokit")}
        with threads(1), suppress(ImportError):
            epochs["PyTorch"] = _epoch("torch")
            said = _said_of_memory(_epoch)
            title = f"an epoch of a shuffled DataLoader, {SAMPLES:,} images of 28×28, batches of {BATCH}"
            yield row(_title(title, 1), best_times(epochs, rounds=5), said)


def _title(title: str, count: int) -> str:
    return f"{title}, {count} thread{'s' * (count > 1)}"


def _said_of_memory(make: Callable[[str], Job]) -> str:
    found = {}
    for way, enabled in WAYS.items():
        with numba.flags(enabled=enabled):
            both = peaks(make)
        arrays, objects_too = (both[what] / both["PyTorch"] for what in ("arrays", "with objects"))
        found[way] = f"{arrays:.2f} of PyTorch's tensors, {objects_too:.2f} with Python's objects"
    compiled = found.get("with Numba", found["autokit"])
    other = f" (with Numba {compiled})" if compiled != found["autokit"] else ""
    return f"peak memory of arrays {found['autokit']}{other}"


if __name__ == "__main__":
    print("| what | autokit | beside |\n|---|---|---|")
    for line in rows(sys.argv[1:]):
        print(line, flush=True)
