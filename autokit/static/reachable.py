"""What a function can reach before it runs: the tensors, modules and optimizers that its code names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn.module import Module
from autokit.optim.optimizer import Optimizer


def reachable(function: Any) -> Iterator[tuple[str, Any]]:
    """Tensors, modules and optimizers that ``function`` names, as its globals, its closure or its object."""
    if isinstance(function, Module):
        yield "", function
        return
    owner = getattr(function, "__self__", None)
    if owner is not None:
        yield from _in("", owner)
        yield from [
            pair for name, value in getattr(owner, "__dict__", {}).items() for pair in _in(name, value)
        ]
    code = getattr(function, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, getattr(function, "__closure__", None) or ()):
        try:
            yield from _in(name, cell.cell_contents)
        except ValueError:  # the cell is still empty
            continue
    for name in code.co_names:
        if name in function.__globals__:
            yield from _in(name, function.__globals__[name])


def _in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor | Module | Optimizer):
        yield name, value
    elif isinstance(value, list | tuple) and len(value) <= 1000:
        for place, each in enumerate(value):
            yield from _in(f"{name}[{place}]", each)
    elif isinstance(value, dict) and len(value) <= 1000:
        for key, each in value.items():
            yield from _in(f"{name}[{key!r}]", each)
