"""Operations on 1,000,000 numbers, forward and backward: the cost of array code.

autokit computes by NumPy alone, and by compiled loops where Numba is installed.  Both
libraries compute on as many threads as each other: on one, and on two.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from autokit.threads import available
from tests.benchmarks.measure import WAYS, Job, best_times, threads, ways_of

COUNT = 1_000_000

Call = Callable[[Any, Any], Any]


def _functional(name: str) -> Call:
    return lambda torch, x: getattr(torch.nn.functional, name)(x)


def _by_rows(call: Callable[[Any], Any]) -> Call:
    return lambda torch, x: call(x.view(1000, 1000))


CALLS: dict[str, Call] = {
    "x + x": lambda torch, x: x + x,
    "x · x": lambda torch, x: x * x,
    "x / x": lambda torch, x: x / x,
    "x³": lambda torch, x: x**3,
    "|x|^1.7": lambda torch, x: x.abs() ** 1.7,
    **{name: lambda torch, x, name=name: getattr(x, name)() for name in ("exp", "tanh", "sin", "abs")},
    "√|x|": lambda torch, x: x.abs().sqrt(),
    "log |x|": lambda torch, x: x.abs().log(),
    "clamp": lambda torch, x: x.clamp(-1, 1),
    "where": lambda torch, x: torch.where(x > 0, x, 2 * x),
    "maximum": lambda torch, x: torch.maximum(x, -x.detach()),
    **{name: _functional(name) for name in ("sigmoid", "relu", "leaky_relu", "elu", "gelu", "silu")},
    **{name: _functional(name) for name in ("hardswish", "softplus", "logsigmoid")},
    **{
        name: lambda torch, x, name=name: getattr(x, name)() for name in ("sum", "mean", "var", "std", "norm")
    },
    **{name: lambda torch, x, name=name: getattr(x, name)() for name in ("prod", "max")},
    "sum of rows": _by_rows(lambda x: x.sum(1)),
    "sum of columns": _by_rows(lambda x: x.sum(0)),
    "mean of columns": _by_rows(lambda x: x.mean(0)),
    "var of rows": _by_rows(lambda x: x.var(1)),
    "norm of rows": _by_rows(lambda x: x.norm(dim=1)),
    "prod of rows": _by_rows(lambda x: x.prod(1)),
    "max of rows": _by_rows(lambda x: x.max(1).values),
    "max of columns": _by_rows(lambda x: x.max(0).values),
    "argmax of rows": _by_rows(lambda x: x.argmax(1)),
    "cumsum of rows": _by_rows(lambda x: x.cumsum(1)),
    "cumsum of columns": _by_rows(lambda x: x.cumsum(0)),
    "sort of rows": _by_rows(lambda x: x.sort(1).values),
    "logsumexp of rows": _by_rows(lambda x: x.logsumexp(1)),
    "softmax of rows": _by_rows(lambda x: x.softmax(1)),
    "softmax of columns": _by_rows(lambda x: x.softmax(0)),
    "softmax of 100,000 rows": lambda torch, x: x.view(-1, 10).softmax(1),
    "log_softmax of rows": _by_rows(lambda x: x.log_softmax(1)),
    "layer_norm": lambda torch, x: torch.nn.functional.layer_norm(x.view(1000, 1000), (1000,)),
    "cross_entropy": lambda torch, x: torch.nn.functional.cross_entropy(
        x.view(1000, 1000), torch.arange(1000)
    ),
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x, 2 * x.detach()),
    "matrix product of 1000×1000": _by_rows(lambda x: x @ x),
}


def lines() -> list[str]:
    """The table in Markdown, a line for each operation."""
    counts = (1, 2) if available() > 1 else (1,)
    heads = [f"{way}, {_threads(count)} | of PyTorch" for count in counts for way in WAYS]
    table = [f"| both ways, {COUNT:,} numbers | {' | '.join(heads)} |", "|---" * (1 + 2 * len(heads)) + "|"]
    for name in CALLS:
        cells = []
        for count in counts:
            with threads(count):
                times = best_times(jobs(name, count), rounds=7, seconds=0.01)
            for way in WAYS:
                beside = f"{times[way] / times['PyTorch']:.2f}" if "PyTorch" in times else ""
                cells.append(f"{times[way] * 1e6:.0f} µs | {beside}")
        table.append(f"| {name.replace('|', '∣')} | {' | '.join(cells)} |")
    return table


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def jobs(name: str, threads: int) -> dict[str, Job]:
    """The call ``name``, forward and backward, in each library on so many threads."""
    found = ways_of(_job("autokit", name, threads))
    with suppress(ImportError):
        found["PyTorch"] = _job("torch", name, threads)
    return found


def _job(library: str, name: str, threads: int) -> Job:
    torch: Any = importlib.import_module(library)
    numbers = np.random.RandomState(0).standard_normal(COUNT).astype(np.float32)
    if name.startswith("prod"):
        numbers = np.exp(numbers / 100)  # whose products neither vanish nor overflow
    x = torch.from_numpy(numbers).requires_grad_()
    made = CALLS[name](torch, x)
    seed = torch.ones(tuple(made.shape))
    learns = made.requires_grad

    def run() -> None:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        x.grad = None
        result = CALLS[name](torch, x)
        if learns:
            result.backward(seed)

    return run
