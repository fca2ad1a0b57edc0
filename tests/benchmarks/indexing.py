"""``x[index]`` with 100,000 indices into 1,000 rows, forward and backward: gradients meet at one place."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job

ROWS, INDICES = 1000, 100_000


def jobs(columns: int) -> dict[str, Job]:
    """The same reading in autokit, and in PyTorch where it is installed; one number a row, or ``columns``."""
    found = {"autokit": _torch_like("autokit", columns)}
    with suppress(ImportError):
        found["PyTorch"] = _torch_like("torch", columns)
    return found


def _torch_like(module: str, columns: int) -> Job:
    torch: Any = importlib.import_module(module)
    random = np.random.RandomState(0)
    shape = (ROWS, columns) if columns else (ROWS,)
    x = torch.from_numpy(random.rand(*shape).astype(np.float32)).requires_grad_()
    index = torch.from_numpy(random.randint(0, ROWS, INDICES))

    def run() -> Any:
        x.grad = None
        x[index].sum().backward()
        return x.grad

    return run
