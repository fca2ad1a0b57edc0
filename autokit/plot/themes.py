"""Black becomes ink: matplotlib's SVG does not say what is black, and a dark page could not turn it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autokit.draw.themes import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASPECTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def inked(made: Figure) -> Figure:
    """The figure itself, with ink for black."""
    for artist in made.findobj():
        for aspect in _ASPECTS:
            _ink(artist, aspect)
    return made


def _ink(artist: Any, aspect: str) -> None:
    from matplotlib.colors import to_rgba, to_rgba_array

    nothing = lambda *value: "none"  # noqa: E731
    read, write = (getattr(artist, f"{verb}_{aspect}", nothing) for verb in ("get", "set"))
    found = read()
    if isinstance(found, str) and found in ("none", "auto"):
        return
    rows = to_rgba_array(found)
    black = ~rows[:, :3].any(axis=1) & (rows[:, 3] > 0)
    if black.any():
        rows[black, :3] = to_rgba(INK)[:3]
        write(rows if len(rows) > 1 else rows[0])
