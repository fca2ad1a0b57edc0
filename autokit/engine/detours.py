"""Detours: features that want a say in every operation of a ``with`` block.

An operation asks one question, ``if DETOURS``, and goes the plain way while the list is empty. Autocast,
tracing, or a count of multiplications is a :class:`Detour`: inside its ``with`` block it receives each
operation of its thread with the operands, and calls ``proceed`` to go on. When the block is left, the plain
way is as fast as before.

Examples
--------
>>> import autokit as torch
>>> class Count(Detour):
...     names = ()
...     def apply(self, operation, operands, settings, proceed):
...         self.names += (operation.name,)
...         return proceed(operands, settings)
>>> with Count() as count:
...     y = torch.ones(2) * 3 + 1
>>> count.names
('mul', 'add')
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, Self

DETOURS: list[Detour] = []
"""The detours of all threads, the outermost first."""


class Detour:
    """A feature that sees each operation inside its ``with`` block; subclasses override :meth:`apply`."""

    thread = 0

    def __enter__(self) -> Self:
        self.thread = get_ident()
        DETOURS.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        DETOURS.remove(self)

    def apply(
        self, operation: Any, operands: tuple[Any, ...], settings: dict[str, Any], proceed: Callable[..., Any]
    ) -> Any:
        """Compute ``operation``; ``proceed(operands, settings)`` does it as if this detour were not there."""
        return proceed(operands, settings)


def detour(
    operation: Any, operands: tuple[Any, ...], settings: dict[str, Any], plain: Callable[..., Any]
) -> Any:
    """Send an operation through the detours of this thread, the innermost first, and then the plain way."""
    thread = get_ident()

    def through(place: int, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        while place >= 0 and DETOURS[place].thread != thread:
            place -= 1
        if place < 0:
            return plain(operation, operands, settings)

        def proceed(operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
            return through(place - 1, operands, settings)

        return DETOURS[place].apply(operation, operands, settings, proceed)

    return through(len(DETOURS) - 1, operands, settings)
