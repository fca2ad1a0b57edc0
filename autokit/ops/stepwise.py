"""Derivatives that change in steps: those of functions made of straight pieces.

The slope of ``relu`` is 0 or 1, so that its own derivative is 0 wherever there
is one.  A derivative that was taken to be differentiated again still depends on
the place where it was taken: a second derivative is then 0, and not an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.ops.operation import derivative, on, operation


def in_steps(name: str, vjp: Callable[..., Any]) -> Callable[..., Any]:
    """``vjp(g, place, *settings)`` as an operation, called ``name``, whose derivative by the place is 0."""

    @operation(
        "slope",
        "{g} · slope at {place}",
        g=derivative("slope at {place}", lambda g, place, settings: on(slope, g, place, settings=settings)),
        place=derivative("0", lambda g: np.zeros_like(g)),
        name=name,
        elementwise=True,
    )
    def slope(g, place, /, settings=()):
        """See :func:`in_steps`."""
        return vjp(g, place, *settings)

    @wraps(vjp)
    def rule(g: Any, place: Any, *settings: Any) -> Any:
        return on(slope, g, place, settings=settings)

    return rule
