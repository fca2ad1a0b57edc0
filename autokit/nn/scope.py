"""Which module is running: the path that errors name."""

from __future__ import annotations

from autokit.autograd.modes import thread


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
