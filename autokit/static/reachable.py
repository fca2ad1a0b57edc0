"""What a function can reach before it runs: the tensors, modules and optimizers that its code names."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CellType
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
        for name, value in getattr(owner, "__dict__", {}).items():
            yield from _in(name, value)
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        return
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    empty = CellType()  # of a name that has no value yet
    inner = {name: cell.cell_contents for name, cell in zip(names, cells) if cell != empty}
    for name in (*names, *function.__code__.co_names):
        yield from _in(name, inner.get(name, function.__globals__.get(name)))


def _in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor | Module | Optimizer):
        yield name, value
    elif isinstance(value, list | tuple | dict) and len(value) <= 1000:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _in(f"{name}[{key!r}]", each)
