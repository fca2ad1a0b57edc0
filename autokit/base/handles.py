"""A handle removes a hook: registering a hook returns a :class:`RemovableHandle`."""

from __future__ import annotations

from itertools import count
from typing import Any

_numbers = count(1)


class RemovableHandle:
    """Removes a hook: by ``handle.remove()``, or at the end of its ``with`` block."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self.id = next(_numbers)
        self._hooks = hooks
        hooks[self.id] = hook

    def __repr__(self) -> str:
        # Without an address, so that a notebook's stored output stays the same.
        return "<torch.utils.hooks.RemovableHandle>"

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
