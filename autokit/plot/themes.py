"""A finished figure is recoloured for another theme: each colour of the light theme is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autokit.draw.themes import THEMES, palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# From the colour in light to those in dark and in print, beside those of the pictures of graphs.
_OWN = {
    "#d5dae0": ("#3a424b", "#888888"),
    "#1a6b2d": ("#7fd18f", "#1a6b2d"),
    "#7a35b0": ("#cfa8ff", "#7a35b0"),
    "#0b6e99": ("#5cc3ea", "#0b6e99"),
    "#b0306a": ("#f291bb", "#b0306a"),
    "#7a5c00": ("#d9bb55", "#7a5c00"),
    "#3f5560": ("#a9bcc6", "#3f5560"),
}
_ASPECTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def in_theme(made: Figure, theme: str) -> Figure:
    """The figure itself, in the colours of ``theme``: ``"light"`` as it is, ``"dark"`` or ``"print"``."""
    if theme not in THEMES:
        raise ValueError(f"theme is one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    if theme == "light":
        return made
    from matplotlib.contour import ContourSet

    own = {light: others[THEMES.index(theme) - 1] for light, others in _OWN.items()}
    colours = {**palette(theme), **own}
    for artist in made.findobj():
        if isinstance(artist, ContourSet):
            # Its lines go from the ink to the paper, and these have changed places.
            artist.set_cmap(artist.get_cmap().reversed() if theme == "dark" else artist.get_cmap())
            continue
        for aspect in _ASPECTS:
            _exchange(artist, aspect, colours)
    return made


def _exchange(artist: Any, aspect: str, colours: dict[str, str]) -> None:
    from matplotlib.colors import to_hex, to_rgba_array

    read, write = getattr(artist, f"get_{aspect}", None), getattr(artist, f"set_{aspect}", None)
    if read is None or write is None:
        return
    found = read()
    if isinstance(found, str) and found in ("none", "auto"):
        return
    rows = to_rgba_array(found)
    if len(rows) == 1 and rows[0][3] > 0 and (other := colours.get(to_hex(rows[0]))) is not None:
        write(other)
