"""One number for all dimensions of a window, or one for each: ``_pair(3)`` is ``(3, 3)``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives a tuple of ``count`` where it is given one number.

    >>> _pair(3), _pair((3, 5))
    ((3, 3), (3, 5))
    """

    def repeated(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * count

    return repeated


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)
