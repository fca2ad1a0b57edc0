"""A random graph of 1,000 operations on small tensors, both ways: the cost of branching programs."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job

OPERATIONS = 1000
LEAVES = 20


def jobs() -> dict[str, Job]:
    """The same graph in autokit, and in PyTorch where it is installed."""
    found = {"autokit": _torch_like("autokit")}
    with suppress(ImportError):
        found["PyTorch"] = _torch_like("torch")
    return found


def _program() -> list[tuple[str, int, int]]:
    """For each operation its name, and which two values it takes, of all that there are by then."""
    random = np.random.RandomState(0)
    names = random.choice(["add", "sub", "mul", "tanh", "relu", "exp"], OPERATIONS)
    return [
        (str(name), int(random.randint(max(0, at - 40), at)), int(random.randint(max(0, at - 40), at)))
        for at, name in enumerate(names, start=LEAVES)
    ]


def _torch_like(module: str) -> Job:
    torch: Any = importlib.import_module(module)
    program = _program()
    random = np.random.RandomState(1)
    starts = [random.uniform(-1, 1, 8).astype(np.float32) for _ in range(LEAVES)]

    def run() -> Any:
        leaves = [torch.from_numpy(start).requires_grad_() for start in starts]
        values = list(leaves)
        for name, first, second in program:
            a, b = values[first], values[second]
            if name == "add":
                made = a + b
            elif name == "sub":
                made = a - b
            elif name == "mul":
                made = torch.tanh(a) * b
            elif name == "tanh":
                made = torch.tanh(a)
            elif name == "relu":
                made = torch.relu(a)
            else:
                made = torch.exp(-torch.tanh(a))
            values.append(made)
        torch.stack(values[-40:]).sum().backward()
        return [leaf.grad for leaf in leaves]

    return run
