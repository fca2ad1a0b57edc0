"""What each thread is doing: whether it records, and who is listening or running.

``thread.state`` has the fields

* ``grad_enabled``: operations record a graph; ``inference``: that is so by :class:`inference_mode`;
* ``autocast``: where :class:`autokit.amp.autocast` is at work, what it does on each type of device; else
  None;
* ``scope``: the modules whose ``forward`` runs, innermost first, as a chain
  ``(outer scope, weak reference to the module)``, or None outside of all;
* ``keep``: how many elements a value may have to be kept for the picture;
* ``code``: the part of the learner's program that made the last node;
* ``line``: while one of autokit's own modules runs, the line of the learner's program that called it, as
  ``(code, instruction)``; else None;
* ``levels``: the runs of ``vmap`` that it is inside of, from the outermost;
* ``watchers``: functions to call with each new node;
* ``listener``: whom a backward pass tells what happens, where nobody else asks;
* ``passes``: how many backward passes it began, and ``depth``: how many of these it is inside of;
* ``forward``: the levels of :mod:`autokit.func.tangents` that are open, from the outermost;
* ``gpu``: which GPU the program made the current one, while another one computes for it; else None;
* ``packers``: the ``saved_tensors_hooks`` that are at work, innermost last, and
  ``packing_refused``: why there may be none;
* ``small``: up to this many elements a node needs no second look: ``keep``,
  and -1 while somebody watches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

UNUSUAL: set[str] = set()
"""What operations look out for, since this program uses it: half precision, or several GPUs."""

FORWARD = "forward"
"""It stands in ``UNUSUAL`` while any thread computes in forward mode."""

SMALL = 1000
"""Values of up to this many elements, such as an image of 28×28, are kept for the picture unasked."""


class State:
    """What one thread is doing."""

    __slots__ = (
        "_keep",
        "_watchers",
        "autocast",
        "code",
        "depth",
        "forward",
        "gpu",
        "grad_enabled",
        "inference",
        "levels",
        "line",
        "listener",
        "packers",
        "packing_refused",
        "passes",
        "scope",
        "small",
    )

    def __init__(self) -> None:
        self.grad_enabled = True
        self.scope: tuple[Any, Any] | None = None
        self.code: Any = None
        self.line: tuple[Any, int] | None = None
        self.inference = False
        self.autocast: dict[str, Any] | None = None
        self.levels: list[Any] = []
        self.listener: Any = None
        self.passes = self.depth = 0
        self.forward: tuple[Any, ...] = ()
        self.gpu: int | None = None
        self.packers: tuple[Any, ...] = ()
        self.packing_refused = ""
        self._watchers: tuple[Callable[[Any], None], ...] = ()
        self.keep = SMALL

    @property
    def keep(self) -> float:
        """How many elements a value may have to be kept for the picture."""
        return self._keep

    @keep.setter
    def keep(self, limit: float) -> None:
        self._keep = limit
        self.small = -1 if self._watchers else limit

    @property
    def watchers(self) -> tuple[Callable[[Any], None], ...]:
        """Functions to call with each new node."""
        return self._watchers

    @watchers.setter
    def watchers(self, watchers: tuple[Callable[[Any], None], ...]) -> None:
        self._watchers = watchers
        self.keep = self._keep


def moves(tensor: Any) -> bool:
    """Whether ``tensor`` has a tangent in a level of forward mode that is open."""
    return any(level.of(tensor) is not None for level in thread.state.forward)


class _Thread(threading.local):
    # One look-up finds all: reading a thread's own attribute is what costs.
    def __init__(self) -> None:
        self.state = State()


thread = _Thread()
