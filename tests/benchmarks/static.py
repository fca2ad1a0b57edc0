"""Compiled steps beside eager ones, NumPy by hand, products of matrices alone, PyTorch and JAX.

``python -m tests.benchmarks static`` prints all rows, with one thread; ``static small lenet`` these alone.
JAX, PyTorch and Numba take part where they are installed. Each row also says how long it took to trace a step
and to build it, and how much memory one holds at most, where it is ours.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import autokit
import autokit.static as tf
from tests.benchmarks import training
from tests.benchmarks.measure import Job, best_times, in_a_process, threads
from tests.benchmarks.operations import ROUNDS

RATE = 0.01
EAGER, NUMPY, NATIVE = "eager", "NumPy code", "Numba"
BY_HAND, PRODUCTS, JAX = "NumPy by hand", "its products alone", "JAX jit"
PYTORCH, TORCH = "PyTorch eager", "torch.compile"
UNOPTIMIZED, SESSION, MICROSECOND = "without passes", "compiled", "1 µs"
OURS = (EAGER, NUMPY, NATIVE, UNOPTIMIZED, SESSION)


class Row(NamedTuple):
    """A row: its title, what makes each job, and the wanted ratios, each of one job to another."""

    title: str
    jobs: dict[str, Callable[[], Job]]
    wanted: dict[tuple[str, str], float]


def steps(make: Callable[[Any], Any]) -> dict[str, Callable[[], Job]]:
    """A step of autokit and of PyTorch, eager and compiled; ``make(torch)`` gives it with its arguments."""

    def compiled(backend: str) -> Job:
        eager = make(autokit)
        step = partial(tf.compile(eager.func, backend=backend), *eager.args)
        step()  # the optimizer's memory may begin here
        return step

    def pytorch(compiled: bool) -> Job:
        import torch

        eager = make(torch)
        return partial(torch.compile(eager.func), *eager.args) if compiled else eager

    ours = {EAGER: partial(make, autokit), NUMPY: partial(compiled, "numpy")}
    ours[NATIVE] = partial(compiled, "native")
    return ours | {PYTORCH: partial(pytorch, False), TORCH: partial(pytorch, True)}


def perceptron(inputs: int, hidden: int, batch: int, wanted: dict[tuple[str, str], float]) -> Row:
    """Two linear layers with a relu between, the cross-entropy, and a step of SGD."""
    shapes = (hidden, inputs), (hidden,), (10, hidden), (10,)

    def arrays() -> Any:
        weights = [np.random.uniform(-0.1, 0.1, shape).astype(np.float32) for shape in shapes]
        return weights, training.images(batch, inputs), training.classes(10, batch)

    jobs = steps(training.perceptron(inputs, hidden, batch))
    jobs |= {name: lambda make=make: make(*arrays()) for name, make in BESIDE.items()}
    return Row(f"a step of a {inputs}-{hidden}-10 network, batch of {batch}", jobs, wanted)


def _by_hand(weights: Any, x: np.ndarray, t: np.ndarray) -> Job:
    """The step as one would write it with NumPy."""
    w1, b1, w2, b2 = weights
    rows = np.arange(len(x))

    def step() -> Any:
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

    return step


def _products(weights: Any, x: np.ndarray, t: np.ndarray) -> Job:
    """The products of matrices that a step cannot do without, into arrays that are there."""
    w1, _, w2, _ = weights
    a, z = np.empty((len(x), len(w1)), np.float32), np.empty((len(x), 10), np.float32)
    e, g1, g2 = np.random.rand(len(x), 10).astype(np.float32), np.empty_like(w1), np.empty_like(w2)

    def products() -> None:
        np.dot(x, w1.T, a)
        np.dot(a, w2.T, z)
        np.dot(e.T, a, g2)
        np.dot(e, w2, a)
        np.dot(a.T, x, g1)

    return products


def _by_jax(weights: Any, x: np.ndarray, t: np.ndarray) -> Job:
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


BESIDE = {BY_HAND: _by_hand, PRODUCTS: _products, JAX: _by_jax}
"""What a step of a perceptron stands beside: each takes the weights, the input and the target."""


def chain(size: int, wanted: dict[tuple[str, str], float]) -> Row:
    """200 operations on so many numbers, and their gradient."""
    x, w = np.ones(size, np.float32), np.full(size, 0.5, np.float32)

    def value(x: Any, w: Any, tanh: Callable[[Any], Any]) -> Any:
        y = x
        for _ in range(ROUNDS):
            y = tanh(y * w + x) - w
        return y.sum()

    def make(torch: Any) -> Any:
        leaf, weight = torch.tensor(x, requires_grad=True), torch.tensor(w)

        def gradient() -> Any:
            leaf.grad = None
            value(leaf, weight, torch.tanh).backward()
            return leaf.grad

        return partial(gradient)

    def by_jax() -> Job:
        import jax

        gradient = jax.jit(jax.grad(partial(value, tanh=jax.numpy.tanh)))
        data = jax.numpy.asarray(x), jax.numpy.asarray(w)
        return lambda: gradient(*data).block_until_ready()

    beside = {BY_HAND: lambda: partial(_chain_by_hand, x, w), JAX: by_jax}
    return Row(f"200 operations on {size:,} numbers, and back", steps(make) | beside, wanted)


def _chain_by_hand(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    y, results = x, []
    for _ in range(ROUNDS):
        y = np.tanh(y * w + x)
        results.append(y)
        y = y - w
    g, total = np.ones_like(x), np.zeros_like(x)
    for result in reversed(results):
        g = g * (1 - result * result)
        total += g
        g = g * w
    return total + g


def tutorial(compiled: bool) -> Job:
    """A step of TensorFlow's softmax tutorial, on digits of 64 pixels."""
    with tf.Graph().as_default():
        x, wanted = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 10])
        W, b = tf.Variable(tf.zeros([64, 10])), tf.Variable(tf.zeros([10]))
        y = tf.nn.softmax(tf.matmul(x, W) + b)
        cross_entropy = tf.reduce_mean(-tf.reduce_sum(wanted * tf.log(y), reduction_indices=[1]))
        step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
        session = tf.Session(compiled=compiled)
        session.run(tf.global_variables_initializer())
    images, answers = training.images(100, 64), np.eye(10, dtype=np.float32)[training.classes(10, 100)]
    return lambda: session.run(step, feed_dict={x: images, wanted: answers})


ROWS = {
    "small": perceptron(
        *(64, 32, 32),
        {
            (NUMPY, EAGER): 0.35,
            (NUMPY, BY_HAND): 0.70,
            (NATIVE, EAGER): 0.08,
            (NATIVE, JAX): 0.20,
            (NATIVE, TORCH): 0.10,
        },
    ),
    "middle": perceptron(
        784, 128, 64, {(NUMPY, PRODUCTS): 1.30, (NATIVE, PRODUCTS): 1.05, (NATIVE, JAX): 0.45}
    ),
    "large": perceptron(784, 512, 256, {(NUMPY, PRODUCTS): 1.15, (NATIVE, PRODUCTS): 1.05}),
    "few": chain(4, {(NUMPY, BY_HAND): 0.70, (NUMPY, EAGER): 0.20, (NATIVE, JAX): 1.2}),
    "many": chain(1_000_000, {(NUMPY, EAGER): 0.80, (NUMPY, JAX): 1.05}),
    "lenet": Row("a step of LeNet, batch of 64, momentum", steps(training.lenet(64)), {(NUMPY, EAGER): 0.85}),
    "session": Row(
        "session.run of the softmax tutorial, batch of 100",
        {UNOPTIMIZED: partial(tutorial, False), SESSION: partial(tutorial, True)},
        {(UNOPTIMIZED, MICROSECOND): 200, (SESSION, MICROSECOND): 35},
    ),
}


def line(name: str) -> str:
    """A row of the table in Markdown."""
    title, makers, wanted = ROWS[name]
    jobs: dict[str, Job] = {}
    with threads(1):
        for job, make in makers.items():
            with suppress(ImportError):  # it is not installed
                jobs[job] = make()
        times = best_times(jobs, rounds=9, seconds=0.1)
    shown = [f"{job} {seconds * 1e6:,.0f}" for job, seconds in times.items()]
    times[MICROSECOND] = 1e-6
    ratios = [
        f"{one} {times[one] / times[other]:.2f} of {other} (≤ {limit})"
        for (one, other), limit in wanted.items()
        if one in times and other in times
    ]
    built = [f"{job} {_building(jobs[job].func)}" for job in (NUMPY, NATIVE) if job in jobs]  # type: ignore
    peaks = [f"{job} {peak(makers[job]) / 1024:,.0f}" for job in jobs if job in OURS]
    return f"| {title} | {' | '.join([', '.join(each) for each in (shown, ratios, built, peaks)])} |"


def _building(step: Any) -> str:
    """How long it took to trace a step and to build it."""
    return " and ".join([f"{what} {seconds * 1e3:.0f}" for what, seconds in step.last.seconds.items()])


def peak(make: Callable[[], Job]) -> int:
    """The most bytes there are in a step: NumPy's arrays before it, and what it takes besides."""
    gc.collect()
    tracemalloc.start()
    job = make()
    for _ in range(3):
        job()
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    held = sum([each.size for each in tracemalloc.take_snapshot().filter_traces([arrays]).traces])
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    job()
    after = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held + after - before


def main(*names: str) -> None:
    """Print the rows, each measured in a process of its own."""
    print("| what | times in µs | ratios, and the wanted ones | ms to build | peak KB |", flush=True)
    print("|---|---|---|---|---|", flush=True)
    for name in names or ROWS:
        print("\n".join(in_a_process("-m", "tests.benchmarks", "static row", name)), flush=True)
