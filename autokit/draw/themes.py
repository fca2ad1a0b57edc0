"""Themes: the same picture for a dark page or for a printer, with other colours.

A picture is drawn in the colours of the light theme; another theme replaces each of them.  A notebook shows
the light theme on a light background, also on a dark page; the others are for ``save``.
"""

from __future__ import annotations

import re

from autokit.draw.heatmap import LEVELS, shade

THEMES = ("light", "dark", "print")

# From the light colour to those of the other themes.
_DARK_AND_PRINT = {
    "#fcfcfb": ("#16191d", "#ffffff"),  # paper
    "#e3e5e8": ("#2c3138", "#ffffff"),  # its edge
    "#1f2933": ("#e6e9ed", "#000000"),  # ink
    "#243b53": ("#cbd8e5", "#000000"),  # symbols
    "#5b6673": ("#a6b0bb", "#333333"),  # what is said quietly
    "#a8440a": ("#f2a36b", "#7a2e00"),  # gradients
    "#b42318": ("#ff9184", "#8c1a11"),  # alarm
    "#8b97a5": ("#7f8a97", "#444444"),
    "#b4bdc8": ("#59636f", "#666666"),
    "#2563a8": ("#6aa9ec", "#0b3d75"),  # what learns
    "#d08a5b": ("#c9814f", "#7a2e00"),  # a gradient on its way
    "#e8edf3": ("#2b333c", "#eeeeee"),
    "#edf4fb": ("#17273a", "#ffffff"),
    "#f6f6f4": ("#1e2125", "#ffffff"),
    "#ffffff": ("#1f2429", "#ffffff"),
    "#fffaf6": ("#2a211b", "#ffffff"),
    "#fef3f2": ("#331c1a", "#ffffff"),
    "#5b7083": ("#8fa3b5", "#ffffff"),  # frames
    "#cbd2db": ("#59636f", "#666666"),  # round a heatmap
    "#6b7280": ("#6b7280", "#6b7280"),  # not finite
    "#5c2600": ("#ffd9b8", "#5c2600"),  # the minus in a pale cell
    "#2166ac": ("#6aa9ec", "#2166ac"),  # bars of a histogram
    "#bf5700": ("#e08a3c", "#bf5700"),
}
_DARK_PAPER, _DARK_BLUE, _DARK_ORANGE = (38, 43, 50), (76, 141, 214), (200, 104, 28)

_COLOUR = re.compile(r'(?<= )(fill|stroke)="(#[0-9a-f]{6})"')


def recolour(drawn: str, theme: str) -> str:
    """The SVG ``drawn`` in the colours of ``theme``: ``"light"`` as it is, ``"dark"`` or ``"print"``."""
    if theme not in THEMES:
        raise ValueError(f"theme is one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    if theme == "light":
        return drawn
    colours = palette(theme)

    def exchanged(found: re.Match[str]) -> str:
        attribute, colour = found.groups()
        glyph = attribute == "stroke" and colour == "#ffffff"  # on a cell of a strong colour
        return f'{attribute}="{colour if glyph else colours.get(colour, colour)}"'

    return _COLOUR.sub(exchanged, drawn)


def palette(theme: str) -> dict[str, str]:
    """For each light colour that of ``theme``."""
    place = THEMES.index(theme) - 1
    colours = {light: others[place] for light, others in _DARK_AND_PRINT.items()}
    if theme == "dark":
        # Where a strong cell has the colour of something else, it is drawn as that.
        shades = {shade(level): _dark_shade(level) for level in range(-LEVELS, LEVELS + 1)}
        colours = {**shades, **colours}
    return colours


def _dark_shade(level: int) -> str:
    target = _DARK_BLUE if level > 0 else _DARK_ORANGE
    part = abs(level) / LEVELS
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(_DARK_PAPER, target, strict=True))
