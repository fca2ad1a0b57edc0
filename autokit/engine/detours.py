"""A detour is a feature that sees, and may change, every operation inside a ``with`` block.

Autocast, tracing, or a count of multiplications is a :class:`Detour`: inside its ``with`` block it receives
each operation of its thread with the operands, and calls ``proceed`` to compute the result. Outside of such
blocks the list :data:`DETOURS` is empty, and all that an operation pays is the question ``if DETOURS``.

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
from functools import partial
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
        """Compute ``operation``; ``proceed(operands, settings)`` computes it as without this detour."""
        return proceed(operands, settings)

    def created(self, array: Any) -> Any:
        """The array of a new tensor that no operation computed, as of ``zeros``."""
        return array

    def source(self, generator: Any) -> Any:
        """The generator of the random numbers that are to be drawn."""
        return generator

    def step(self, optimizer: Any, proceed: Callable[[], Any]) -> Any:
        """Take a step of an optimizer."""
        return proceed()


def of_this_thread() -> list[Detour]:
    """The detours of this thread, the outermost first."""
    thread = get_ident()
    return [each for each in DETOURS if each.thread == thread]


def new_array(array: Any) -> Any:
    """The array of a new tensor, as the detours of this thread leave it."""
    for each in of_this_thread():
        array = each.created(array)
    return array


def step_through_detours(optimizer: Any, plain: Callable[[], Any]) -> Any:
    """Let the detours of this thread take a step of ``optimizer``; ``plain`` takes it last."""
    for each in of_this_thread():
        plain = partial(each.step, optimizer, plain)
    return plain()


def detour(
    operation: Any, operands: tuple[Any, ...], settings: dict[str, Any], plain: Callable[..., Any]
) -> Any:
    """Give an operation to the detours of this thread, the innermost first; ``plain`` computes it last."""
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
