"""Functions of 1,000,000 elements, and a product of two 1000×1000 matrices: the cost of array code."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job

COUNT = 1_000_000
PRODUCT = "matrix product of 1000×1000"
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda torch, x: x + x,
    "exp": lambda torch, x: x.exp(),
    "tanh": lambda torch, x: x.tanh(),
    "sigmoid": lambda torch, x: x.sigmoid(),
    "relu": lambda torch, x: x.relu(),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "sum": lambda torch, x: x.sum(),
    "softmax of 1000 rows": lambda torch, x: x.view(1000, 1000).softmax(1),
    PRODUCT: lambda torch, x: x.view(1000, 1000) @ x.view(1000, 1000),
}


def jobs(name: str) -> dict[str, Job]:
    """The call ``name``, forward and backward, in each library, on as many threads as NumPy takes for it.

    That is one for all but the product, for which NumPy and PyTorch take what
    they find.
    """
    found = {"autokit": _job("autokit", name)}
    with suppress(ImportError):
        theirs = _job("torch", name)
        if name == PRODUCT:
            found["PyTorch"] = theirs
        else:
            found["PyTorch on 1 thread"] = _one_threaded(theirs)
    return found


def _job(library: str, name: str) -> Job:
    torch: Any = importlib.import_module(library)
    numbers = np.random.RandomState(0).standard_normal(COUNT).astype(np.float32)
    x = torch.from_numpy(numbers).requires_grad_()
    seed = torch.ones(tuple(CALLS[name](torch, x).shape))

    def run() -> None:
        x.grad = None
        CALLS[name](torch, x).backward(seed)

    return run


def _one_threaded(job: Job) -> Job:
    import torch

    def run() -> None:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        job()
        torch.set_num_threads(threads)

    return run
