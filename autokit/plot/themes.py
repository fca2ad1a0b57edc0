"""A finished figure is recoloured for another theme: each colour of the light theme is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autokit.draw.themes import INK, palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASPECTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def in_theme(made: Figure, theme: str) -> Figure:
    """The figure itself, in the colours of ``theme``: ``"light"``, ``"dark"`` or ``"print"``."""
    colours = palette(theme)
    colours["#000000"] = colours.get(INK, INK)  # matplotlib writes no black, which then stays on a dark page
    for artist in made.findobj():
        for aspect in _ASPECTS:
            _exchange(artist, aspect, colours)
    return made


def _exchange(artist: Any, aspect: str, colours: dict[str, str]) -> None:
    from matplotlib.colors import to_hex, to_rgba, to_rgba_array

    read, write = getattr(artist, f"get_{aspect}", None), getattr(artist, f"set_{aspect}", None)
    if read is None or write is None:
        return
    found = read()
    if isinstance(found, str) and found in ("none", "auto"):
        return
    rows = to_rgba_array(found)
    others = [to_rgba(colours.get(to_hex(row), to_hex(row)), row[3]) for row in rows]
    if any(row[3] for row in rows) and others != [tuple(row) for row in rows]:
        write(others if len(others) > 1 else others[0])
