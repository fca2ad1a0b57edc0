"""A view says how a graph is drawn: with which facts, how many levels of modules, in which direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FACTS = (
    *("value", "heatmap", "gradient", "shape", "dtype", "order", "formula", "local", "saved", "source"),
    "constants",
)
"""What a picture can show, beside names and the operations' symbols."""

SHOWN = ("value", "heatmap", "gradient", "shape", "order", "formula")
"""What it shows where nothing else is asked for: a dtype only where it is none of the usual ones."""


@dataclass(frozen=True)
class View:
    """How a graph is to be drawn.

    Attributes
    ----------
    depth : int or None
        How many levels of modules stand open; None for as many as fit on a page.
    show : tuple of str
        Which of ``FACTS`` a box shows.
    direction : "auto", "LR" or "TB"
        From left to right, or from top to bottom.
    slopes : "gradient", "tangent" or "workers"
        What stands beside the values: gradients; of a story in forward mode tangents; in a ring of workers
        those whose numbers are in a sum.
    lit : tuple of int
        The nodes that stand out.
    """

    depth: int | None = None
    show: tuple[str, ...] = SHOWN
    direction: str = "auto"
    slopes: str = "gradient"
    lit: tuple[int, ...] = ()


def make_view(depth: int | None, show: str | Iterable[str] | None, direction: str) -> View:
    """A view, checked."""
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 0):
        raise ValueError(f"depth is how many levels of modules to open, 0 or more, got {depth!r}")
    if direction not in ("auto", "LR", "TB"):
        raise ValueError(
            f"direction is 'LR' (left to right), 'TB' (top to bottom) or 'auto', got {direction!r}"
        )
    if show is None:
        return View(depth=depth, direction=direction)
    wanted = FACTS if show == "all" else (show,) if isinstance(show, str) else tuple(show)
    for fact in wanted:
        if fact not in FACTS:
            raise ValueError(f"show knows {', '.join(map(repr, FACTS))} and 'all', got {fact!r}")
    return View(depth, tuple(fact for fact in FACTS if fact in wanted), direction)
