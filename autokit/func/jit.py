"""``torch.compile`` and ``torch.jit`` return the function or module that they are given.

Results and speed are then those of the function itself; with ``backend="autokit"`` ``torch.compile`` makes a
static graph of it. Files of compiled programs can neither be written nor read; a model is saved as its
``state_dict()``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.base import doors
from autokit.base.missing import absent

__getattr__ = absent("torch.jit")

__all__ = ["script", "trace"]


def compile(model: Callable[..., Any] | None = None, **settings: Any) -> Any:
    """``model`` itself, a function or a module; without it a decorator. PyTorch's settings have no effect.

    With ``backend="autokit"`` it is :func:`autokit.static.compile`, with the settings ``fullgraph`` and
    ``mode`` left out.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.compile(torch.sin, mode="max-autotune") is torch.sin
    True
    """
    if settings.get("backend") == "autokit":
        known = {"dynamic": settings["dynamic"]} if "dynamic" in settings else {}
        return doors.compiled(model, **known)
    return _itself("compile", model) if model is not None else lambda model: _itself("compile", model)


def script(obj: Any, **settings: Any) -> Any:
    """``obj`` itself, a function, class or module."""
    return _itself("script", obj)


def trace(func: Any, example_inputs: Any = None, **settings: Any) -> Any:
    """``func`` itself, a function or module, which is not run."""
    return _itself("trace", func)


def _itself(name: str, given: Any) -> Any:
    if not callable(given):
        raise TypeError(f"{name}() takes a function or a module, not {type(given).__name__}")
    return given
