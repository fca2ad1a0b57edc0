"""What registering a hook returns: :class:`RemovableHandle`."""

from __future__ import annotations

from typing import Any

from autokit.shown import by_type


class RemovableHandle:
    """Takes a hook away again: ``handle.remove()``, or leave its ``with`` block."""

    __repr__ = by_type

    _last = 0

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        RemovableHandle._last += 1
        self.id = RemovableHandle._last
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away; a second time does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
