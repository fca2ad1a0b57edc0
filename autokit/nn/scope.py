"""Which module is running: the path that errors name."""

from __future__ import annotations

from typing import Any

from autokit.thread_state import thread


def path_in_model() -> str:
    """Where in the outermost module the module stands whose ``forward`` is running, as ``"encoder.0"``."""
    running, scope = [], thread.state.scope
    while scope is not None:
        scope, module = scope
        running.append(module())
    path = ""
    while len(running) > 1:
        outer, inner = running.pop(), running[-1]
        step = next((name for name, module in outer.named_modules() if module is inner), type(inner).__name__)
        path = f"{path}.{step}" if path else step
    return path


def name_layer(error: Exception, module: Any) -> None:
    """Add to ``error`` which layer of the model it comes from, if that is one of autokit's own.

    What goes wrong in a learner's ``forward`` needs no such help, and the
    innermost layer alone says where.
    """
    own = type(module).forward.__module__
    if not str(own).startswith("autokit.nn.") or own == "autokit.nn.container" or hasattr(error, "layer"):
        return
    if len(error.args) == 1 and isinstance(error.args[0], str):
        path = path_in_model()
        error.args = (f"{error.args[0]} [in {path + ': ' if path else ''}{module}]",)
        error.layer = path  # type: ignore[attr-defined]
