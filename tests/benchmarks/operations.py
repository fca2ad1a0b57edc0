"""What operations cost: chains and graphs of small tensors, indices, and array code on large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job, best_times, in_each, row, threads

ROUNDS = 50  # of four operations each


def chain(torch: Any) -> Job:
    """200 elementwise operations on 4 elements, forward and backward: the cost of an operation itself."""

    def run() -> Any:
        x = torch.ones(4, requires_grad=True)
        w = torch.full((4,), 0.5)
        y = x
        for _ in range(ROUNDS):
            y = y * w
            y = y + x
            y = torch.tanh(y)
            y = y - w
        y.sum().backward()
        return x.grad

    return run


def after_a_detour(torch: Any) -> Job:
    """The chain in a process that was in an autocast block, and in half precision, before."""
    with torch.autocast("cpu", torch.float16):
        chain(torch)()
    (torch.ones(4, dtype=torch.float16, requires_grad=True) * 2).sum().backward()
    return chain(torch)


def random_graph(torch: Any) -> Job:
    """A graph of 1,000 operations on 8 elements, each of two values at random of the last 40."""
    random = np.random.RandomState(0)
    starts = [random.uniform(-1, 1, 8).astype(np.float32) for _ in range(20)]
    functions = (torch.add, torch.sub, torch.mul, torch.maximum, lambda a, _: torch.tanh(a))
    program = [
        (functions[random.randint(5)], random.randint(max(0, at - 40), at, 2)) for at in range(20, 1020)
    ]

    def run() -> Any:
        leaves = [torch.from_numpy(start).requires_grad_() for start in starts]
        values = list(leaves)
        for function, (first, second) in program:
            values.append(function(values[first], values[second]))
        torch.stack(values[-40:]).sum().backward()
        return [leaf.grad for leaf in leaves]

    return run


def indices(columns: int) -> Callable[[Any], Job]:
    """100,000 indices into 1,000 rows, both ways."""

    def make(torch: Any) -> Job:
        random = np.random.RandomState(0)
        shape = (1000, columns) if columns else (1000,)
        x = torch.from_numpy(random.rand(*shape).astype(np.float32)).requires_grad_()
        index = torch.from_numpy(random.randint(0, 1000, 100_000))

        def run() -> Any:
            x.grad = None
            x[index].sum().backward()
            return x.grad

        return run

    return make


def convolution(torch: Any) -> Job:
    """16 to 32 channels on 28×28 pixels, with the gradients of input, weight and bias."""
    images, weight, bias = (
        torch.from_numpy(np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)).requires_grad_()
        for shape in ((32, 16, 28, 28), (32, 16, 3, 3), (32,))
    )
    seed = torch.ones(32, 32, 28, 28)

    def run() -> None:
        images.grad = weight.grad = bias.grad = None
        torch.conv2d(images, weight, bias, padding=1).backward(seed)

    return run


ROWS: dict[str, tuple[str, Callable[[Any], Job], float | None]] = {
    "chain": ("200 elementwise operations on 4 elements, both ways", chain, 0.62),
    "after": ("the same after an autocast block was left", after_a_detour, 0.62),
    "graph": ("a random graph of 1,000 operations on 8 elements, both ways", random_graph, None),
    "numbers": ("100,000 indices into 1,000 numbers, both ways", indices(0), None),
    "rows": ("100,000 indices into 1,000 rows of 64, both ways", indices(64), None),
    "convolution": (
        "a 3×3 convolution, 16 to 32 channels, 32 images of 28×28, both ways",
        convolution,
        None,
    ),
}
"""By name: the title, what is timed, and the ratio to PyTorch that is wanted."""


def line(name: str) -> str:
    """The row of the table."""
    title, make, wanted = ROWS[name]
    with threads(1):
        return row(f"{title}, 1 thread", best_times(in_each(make)), wanted)


# ---------------------------------------------------------------- on large tensors

COUNT = 1_000_000

LARGE: dict[str, Callable[[Any, Any], Any]] = {
    "x · x": lambda torch, x: x * x,
    "x³": lambda torch, x: x**3,
    "exp": lambda torch, x: x.exp(),
    "tanh": lambda torch, x: x.tanh(),
    "relu": lambda torch, x: x.relu(),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "sum of rows": lambda torch, x: x.view(1000, 1000).sum(1),
    "sum of columns": lambda torch, x: x.view(1000, 1000).sum(0),
    "max of rows": lambda torch, x: x.view(1000, 1000).max(1).values,
    "sort of rows": lambda torch, x: x.view(1000, 1000).sort(1).values,
    "softmax of rows": lambda torch, x: x.view(1000, 1000).softmax(1),
    "layer_norm": lambda torch, x: torch.nn.functional.layer_norm(x.view(1000, 1000), (1000,)),
    "matrix product of 1000×1000": lambda torch, x: x.view(1000, 1000) @ x.view(1000, 1000),
}
"""Array code, both ways, by what NumPy has."""


def large_lines() -> Iterator[str]:
    """A table in Markdown, with a row for each of :data:`LARGE`."""
    yield f"| both ways, {COUNT:,} numbers, 1 thread | autokit | beside | |"
    yield "|---|---|---|---|"
    for name in LARGE:
        with threads(1):
            yield row(name, best_times(in_each(lambda torch, name=name: _large(torch, name)), 7, 0.01))


def _large(torch: Any, name: str) -> Job:
    numbers = np.random.RandomState(0).standard_normal(COUNT).astype(np.float32)
    x = torch.from_numpy(numbers).requires_grad_()
    seed = torch.ones(tuple(LARGE[name](torch, x).shape))

    def run() -> None:
        x.grad = None
        LARGE[name](torch, x).backward(seed)

    return run
