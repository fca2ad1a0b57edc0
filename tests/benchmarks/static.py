"""Compiled steps beside eager ones, NumPy by hand, products of matrices alone, JAX and ``torch.compile``.

``python -m tests.benchmarks static`` prints all rows, with one thread; ``static small lenet`` these alone.
JAX, PyTorch and Numba take part where they are installed. Each row also says how long it took to trace and to
build, and how much memory the plan takes of what it would be without sharing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

import autokit
from autokit.static.step import Step, compile
from tests.benchmarks.measure import Job, best_times, in_a_process, threads

RATE = 0.01
EAGER, NUMPY, NATIVE = "eager", "NumPy code", "Numba"
BY_HAND, PRODUCTS, JAX, TORCH = "NumPy by hand", "its products alone", "JAX jit", "torch.compile"
BACKENDS = {NUMPY: "numpy", NATIVE: "native"}


class Row(NamedTuple):
    """A row: its title, what makes the jobs, and the wanted ratios, each of one job to another."""

    title: str
    make: Callable[[], dict[str, Job]]
    wanted: dict[tuple[str, str], float]


def perceptron(inputs: int, hidden: int, batch: int) -> Callable[[], dict[str, Job]]:
    """Two linear layers with a relu between, the cross-entropy, and a step of SGD."""
    x = np.random.RandomState(0).rand(batch, inputs).astype(np.float32)
    t = np.random.RandomState(1).randint(0, 10, batch)

    def make() -> dict[str, Job]:
        def model(torch: Any) -> Any:
            nn = torch.nn
            return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10))

        jobs = _of_autokit(model, lambda torch, params: torch.optim.SGD(params, lr=RATE), x, t)
        weights = [each.detach().numpy().copy() for each in model(autokit).parameters()]
        jobs[BY_HAND] = lambda: _step_by_hand(*weights, x, t)
        jobs[PRODUCTS] = _products(*[each.copy() for each in weights[::2]], x)
        with suppress(ImportError):
            jobs[JAX] = _jax_step(weights, x, t)
        with suppress(ImportError):
            jobs[TORCH] = _torch_step(model, x, t)
        return jobs

    return make


def lenet() -> dict[str, Job]:
    """LeNet on 28×28 pixels, trained by SGD with momentum."""

    def model(torch: Any) -> Any:
        nn = torch.nn
        return nn.Sequential(
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        )

    x = np.random.RandomState(0).rand(64, 1, 28, 28).astype(np.float32)
    t = np.random.RandomState(1).randint(0, 10, 64)
    return _of_autokit(
        model, lambda torch, params: torch.optim.SGD(params, lr=RATE, momentum=0.9), x, t, [NUMPY]
    )


def _of_autokit(
    model: Callable[[Any], Any],
    optimizer: Callable[..., Any],
    x: np.ndarray,
    t: np.ndarray,
    backends: list[str] | None = None,
) -> dict[str, Job]:
    """A step of training, eager and compiled, each on a network of its own."""

    def training() -> tuple[Any, Any, Any]:
        autokit.manual_seed(0)
        network = model(autokit)
        steps = optimizer(autokit, network.parameters())
        criterion = autokit.nn.CrossEntropyLoss()

        def step(x: Any, t: Any) -> Any:
            steps.zero_grad()
            loss = criterion(network(x), t)
            loss.backward()
            steps.step()
            return loss

        return step, network, steps

    arrays = autokit.from_numpy(x), autokit.from_numpy(t)
    eager, _, _ = training()
    jobs: dict[str, Job] = {EAGER: lambda: eager(*arrays)}
    for name in backends or BACKENDS:
        with suppress(ImportError):
            step, network, steps = training()
            jobs[name] = _compiled(step, arrays, name, model=network, optimizer=steps)
    return jobs


def _compiled(function: Any, arrays: Any, name: str, **parts: Any) -> Job:
    step = compile(function, backend=BACKENDS[name], **parts)
    step(*arrays)
    step(*arrays)  # where the optimizer's memory begins in the first, this one builds
    run = lambda: step(*arrays)  # noqa: E731
    run.step = step  # type: ignore[attr-defined]
    return run


def _step_by_hand(w1: Any, b1: Any, w2: Any, b2: Any, x: np.ndarray, t: np.ndarray) -> Any:
    """The step as one would write it with NumPy."""
    rows = np.arange(len(x))
    a = x @ w1.T
    a += b1
    np.maximum(a, 0, out=a)
    z = a @ w2.T
    z += b2
    z -= z.max(1, keepdims=True)
    e = np.exp(z)
    total = e.sum(1, keepdims=True)
    loss = (np.log(total[:, 0]) - z[rows, t]).mean()
    e /= total
    e[rows, t] -= 1
    e *= np.float32(1 / len(x))
    g = e @ w2
    g *= a > 0
    for weight, gradient in ((w1, g.T @ x), (b1, g.sum(0)), (w2, e.T @ a), (b2, e.sum(0))):
        gradient *= np.float32(RATE)
        weight -= gradient
    return loss


def _products(w1: np.ndarray, w2: np.ndarray, x: np.ndarray) -> Job:
    """The products of matrices that a step cannot do without, into arrays that are there."""
    a, z = np.empty((len(x), len(w1)), np.float32), np.empty((len(x), 10), np.float32)
    e, g1, g2 = np.random.rand(len(x), 10).astype(np.float32), np.empty_like(w1), np.empty_like(w2)

    def products() -> None:
        np.dot(x, w1.T, a)
        np.dot(a, w2.T, z)
        np.dot(e.T, a, g2)
        np.dot(e, w2, a)
        np.dot(a.T, x, g1)

    return products


def _jax_step(weights: list[np.ndarray], x: np.ndarray, t: np.ndarray) -> Job:
    import jax
    import jax.numpy as jnp

    def loss(p: Any, x: Any, t: Any) -> Any:
        z = jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3]
        return -jnp.take_along_axis(jax.nn.log_softmax(z), t[:, None], 1).mean()

    @jax.jit
    def step(p: Any, x: Any, t: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(p, x, t)
        return value, [each - RATE * gradient for each, gradient in zip(p, gradients)]

    params = [jnp.asarray(each) for each in weights]
    data = jnp.asarray(x), jnp.asarray(t.astype(np.int32))

    def run() -> None:
        params[:] = jax.block_until_ready(step(params, *data))[1]

    return run


def _torch_step(model: Callable[[Any], Any], x: np.ndarray, t: np.ndarray) -> Job:
    import torch

    network, data = model(torch), (torch.from_numpy(x), torch.from_numpy(t))
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)

    @torch.compile
    def step(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x), t)
        loss.backward()
        optimizer.step()
        return loss

    try:
        step(*data)
    except Exception as error:  # it needs a compiler of C++
        raise ImportError("torch.compile does not work here") from error
    return lambda: step(*data)


def chain(size: int) -> Callable[[], dict[str, Job]]:
    """200 operations on so many numbers, and their gradient."""
    x, w = np.ones(size, np.float32), np.full(size, 0.5, np.float32)

    def make() -> dict[str, Job]:
        def gradient(x: Any, w: Any) -> Any:
            y = x
            for _ in range(50):
                y = autokit.tanh(y * w + x) - w
            y.sum().backward()
            return x.grad

        arrays = autokit.tensor(x, requires_grad=True), autokit.tensor(w)

        def eager() -> Any:
            arrays[0].grad = None
            return gradient(*arrays)

        jobs: dict[str, Job] = {EAGER: eager, BY_HAND: lambda: _chain_by_hand(x, w)}
        for name in BACKENDS:
            with suppress(ImportError):
                jobs[name] = _compiled(gradient, arrays, name)
        with suppress(ImportError):
            jobs[JAX] = _jax_chain(x, w)
        return jobs

    return make


def _chain_by_hand(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    y, results = x, []
    for _ in range(50):
        y = np.tanh(y * w + x)
        results.append(y)
        y = y - w
    g, total = np.ones_like(x), np.zeros_like(x)
    for result in reversed(results):
        g = g * (1 - result * result)
        total += g
        g = g * w
    return total + g


def _jax_chain(x: np.ndarray, w: np.ndarray) -> Job:
    import jax
    import jax.numpy as jnp

    def total(x: Any, w: Any) -> Any:
        y = x
        for _ in range(50):
            y = jnp.tanh(y * w + x) - w
        return y.sum()

    gradient, data = jax.jit(jax.grad(total)), (jnp.asarray(x), jnp.asarray(w))
    return lambda: gradient(*data).block_until_ready()


ROWS = {
    "small": Row(
        "a step of a 64-32-10 network, batch of 32",
        perceptron(64, 32, 32),
        {
            (NUMPY, EAGER): 0.35,
            (NUMPY, BY_HAND): 0.70,
            (NATIVE, EAGER): 0.08,
            (NATIVE, JAX): 0.20,
            (NATIVE, TORCH): 0.10,
        },
    ),
    "middle": Row(
        "a step of a 784-128-10 network, batch of 64",
        perceptron(784, 128, 64),
        {(NUMPY, PRODUCTS): 1.30, (NATIVE, PRODUCTS): 1.05, (NATIVE, JAX): 0.45},
    ),
    "large": Row(
        "a step of a 784-512-10 network, batch of 256",
        perceptron(784, 512, 256),
        {(NUMPY, PRODUCTS): 1.15, (NATIVE, PRODUCTS): 1.05},
    ),
    "few": Row(
        "200 operations on 4 numbers, and back",
        chain(4),
        {(NUMPY, BY_HAND): 0.70, (NUMPY, EAGER): 0.20, (NATIVE, JAX): 1.2},
    ),
    "many": Row(
        "200 operations on 10⁶ numbers, and back",
        chain(1_000_000),
        {(NUMPY, EAGER): 0.80, (NUMPY, JAX): 1.05},
    ),
    "lenet": Row("a step of LeNet, batch of 64, momentum", lenet, {(NUMPY, EAGER): 0.85}),
}


def line(name: str) -> str:
    """A row of the table in Markdown."""
    title, make, wanted = ROWS[name]
    with threads(1):
        jobs = make()
        times = best_times(jobs, rounds=9, seconds=0.1)
    shown = ", ".join([f"{job} {seconds * 1e6:,.0f}" for job, seconds in times.items()])
    ratios = [
        f"{one} {times[one] / times[other]:.2f} of {other} (≤ {limit:.2f})"
        for (one, other), limit in wanted.items()
        if one in times and other in times
    ]
    made = [f"{name}: {_making(job)}" for name, job in jobs.items() if hasattr(job, "step")]
    return f"| {title} | {shown} | {'; '.join(ratios)} | {'; '.join(made)} |"


def _making(job: Any) -> str:
    """How long it took to trace a step and to build it, and its memory, shared and not."""
    step: Step = job.step
    times = [f"{what} {each * 1e3:.0f} ms" for what, each in step.last.seconds.items()] if step.last else []
    plan = step.memory
    if hasattr(plan, "total"):
        times.append(f"{plan.size / 1024:,.0f} of {plan.total / 1024:,.0f} KB")
    return ", ".join(times)


def main(*names: str) -> None:
    """Print the rows, each measured in a process of its own."""
    print("| what | times in µs | ratios, and the wanted ones | building |\n|---|---|---|---|", flush=True)
    for name in names or ROWS:
        print("\n".join(in_a_process("-m", "tests.benchmarks", "static row", name)), flush=True)
