"""200 elementwise operations on 4 elements, forward and backward: the cost of an operation itself."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

from tests.benchmarks.measure import Job

ROUNDS = 50  # of four operations each


def jobs() -> dict[str, Job]:
    """The same chain in each library that is installed."""
    found: dict[str, Job] = {"autokit": _torch_like("autokit")}
    peers = {"PyTorch": _pytorch, "MyGrad": _mygrad, "HIPS autograd": _hips, "JAX without jit": _jax}
    for name, make in peers.items():
        with suppress(ImportError):
            found[name] = make()
    return found


def _torch_like(module: str) -> Job:
    torch = importlib.import_module(module)

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


def _pytorch() -> Job:
    return _torch_like("torch")


def _mygrad() -> Job:
    import mygrad
    import numpy as np

    def run() -> Any:
        x = mygrad.tensor(np.ones(4, np.float32))
        w = mygrad.tensor(np.full(4, 0.5, np.float32), constant=True)
        y = x
        for _ in range(ROUNDS):
            y = y * w
            y = y + x
            y = mygrad.tanh(y)
            y = y - w
        y.sum().backward()
        return x.grad

    return run


def _hips() -> Job:
    import autograd
    import autograd.numpy as anp
    import numpy as np

    w = np.full(4, 0.5, np.float32)

    def total(x: Any) -> Any:
        y = x
        for _ in range(ROUNDS):
            y = y * w
            y = y + x
            y = anp.tanh(y)
            y = y - w
        return anp.sum(y)

    gradient = autograd.grad(total)
    x = np.ones(4, np.float32)
    return lambda: gradient(x)


def _jax() -> Job:
    import jax
    import jax.numpy as jnp

    w = jnp.full(4, 0.5)

    def total(x: Any) -> Any:
        y = x
        for _ in range(ROUNDS):
            y = y * w
            y = y + x
            y = jnp.tanh(y)
            y = y - w
        return y.sum()

    # Without jit: operation by operation, as the others do it.
    gradient = jax.grad(total)
    x = jnp.ones(4)
    return lambda: gradient(x).block_until_ready()
