"""The one palette: what each colour means, and what it is on a light page, on a dark one and in print.

Blue is forward, orange-brown is backward.  A number is green above zero and purple below; nothing else has
these two.  All is drawn in the light colours.  Another theme replaces each of them; and a picture may carry
the dark ones with it, for a page that turns dark.  ``widgets/browser/player.css`` says the same to a browser.
"""

from __future__ import annotations

import re

THEMES = ("light", "dark", "print")

FORWARD, BACKWARD, PLUS, MINUS, ALARM = "#1d5c9e", "#a8440a", "#1a6b2d", "#7a35b0", "#b42318"
PAPER, PAPER_EDGE, CARD = "#fcfcfb", "#e3e5e8", "#ffffff"
INK, MUTED, GREY, FAINT = "#1f2933", "#5b6673", "#7c8896", "#b4bdc8"
FRAME, NOT_FINITE = "#cbd2db", "#6b7280"
"""Of heatmaps: what is round one, and a cell that is no finite number."""

SERIES = ("#0b6e99", "#b0306a", "#7a5c00", "#3f5560", "#00736b", "#8c5a4a")
_SERIES_DARK = ("#5cc8f2", "#ff8fc0", "#e0bd4a", "#c2d2da", "#4cd6c8", "#dfb3a4")
"""Curves beside each other, told apart by most who see colours otherwise; lines differ in dashes too."""

# What is written on a cell: black or white, which on a dark page is black or white.
_ON_CELLS = {
    "#000001": ("#ffffff", "#000000"),
    "#000002": ("#000000", "#000000"),
    "#fffffe": ("#000000", "#ffffff"),
}

# From the light colour to those of the other themes.
_DARK_AND_PRINT = {
    FORWARD: ("#86b9f5", "#0b3d75"),
    BACKWARD: ("#ffa56f", "#7a2e00"),
    PLUS: ("#7fd18f", "#14561f"),
    MINUS: ("#cfa8ff", "#5b1f8a"),
    ALARM: ("#ff9a8f", "#8c1a11"),
    PAPER: ("#16191d", "#ffffff"),
    PAPER_EDGE: ("#2c3138", "#ffffff"),
    CARD: ("#1f2429", "#ffffff"),
    INK: ("#e6e9ed", "#000000"),
    MUTED: ("#a6b0bb", "#333333"),
    GREY: ("#7f8a97", "#444444"),
    FAINT: ("#59636f", "#666666"),
    **{light: (dark, light) for light, dark in zip(SERIES, _SERIES_DARK)},
    "#243b53": ("#cbd8e5", "#000000"),  # symbols
    "#e8edf3": ("#2b333c", "#eeeeee"),
    "#edf4fb": ("#17273a", "#ffffff"),
    "#f6f6f4": ("#1e2125", "#ffffff"),
    "#fffaf6": ("#2a211b", "#ffffff"),
    "#fef3f2": ("#331c1a", "#ffffff"),
    "#5b7083": ("#8fa3b5", "#ffffff"),  # frames
    FRAME: ("#59636f", "#666666"),
    "#d5dae0": ("#3a424b", "#888888"),  # a chart's faint lines
    NOT_FINITE: ("#9aa3ad", "#6b7280"),
    **_ON_CELLS,
}

LEVELS = 8
"""How many shades a heatmap has for each sign."""

_PALEST, _PALEST_DARK = "#f3f4f6", "#262b32"
ON_EITHER = "#000001"
ON_BOTH = ("#27863f", "#975aca")
"""Plus and minus where one colour has to do on a light page and on a dark one, as in a chart's pixels;

``ON_EITHER`` is read on them, and on what lies between them and the page.
"""

_WRITTEN = re.compile(r'(?<=[ "])(fill|stroke)(="|: )(#[0-9a-f]{6})')


def recolour(drawn: str, theme: str) -> str:
    """The SVG ``drawn`` in the colours of ``theme``: ``"light"`` as it is, ``"dark"`` or ``"print"``."""
    colours = palette(theme)
    return _WRITTEN.sub(lambda found: f"{found[1]}{found[2]}{colours.get(found[3], found[3])}", drawn)


def following(drawn: str) -> str:
    """The SVG ``drawn``, in the dark colours where the page around it is dark.

    >>> following('<svg><path fill="#fcfcfb"/></svg>').partition("dark){")[2]
    '[fill="#fcfcfb"],[style*="fill: #fcfcfb"]{fill:#16191d!important}}</style></svg>'
    """
    colours = palette("dark")
    rules = [
        f'[{aspect}="{light}"],[style*="{aspect}: {light}"]{{{aspect}:{colours[light]}!important}}'
        for aspect, light in sorted({(aspect, light) for aspect, _, light in _WRITTEN.findall(drawn)})
        if light in colours
    ]
    body, end, rest = drawn.rpartition("</svg>")
    return f"{body}<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>{end}{rest}"


def palette(theme: str) -> dict[str, str]:
    """For each light colour that of ``theme``."""
    if theme not in THEMES:
        raise ValueError(f"theme is one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    if theme == "light":
        return {}
    place = THEMES.index(theme) - 1
    colours = {light: others[place] for light, others in _DARK_AND_PRINT.items()}
    # The strongest cells have the colours of the signs, with which other things are drawn too.
    return {**_dark_shades(), **colours} if theme == "dark" else colours


def of_thumbnails() -> dict[str, str]:
    """For each colour of a heatmap or a histogram that on a dark page."""
    dark = palette("dark")
    return {each: dark[each] for each in (*_dark_shades(), NOT_FINITE, GREY, FRAME, *_ON_CELLS)}


def _dark_shades() -> dict[str, str]:
    return {shade(level): _dark_shade(level) for level in range(-LEVELS, LEVELS + 1)}


def shade(level: int | None) -> str:
    """The colour of a cell, from ``-LEVELS`` to ``LEVELS``; None is no finite number."""
    if level is None:
        return NOT_FINITE
    return mixed(_PALEST, PLUS if level > 0 else MINUS, abs(level) / LEVELS)


def _dark_shade(level: int) -> str:
    strongest = _DARK_AND_PRINT[PLUS if level > 0 else MINUS][0]
    return mixed(_PALEST_DARK, strongest, abs(level) / LEVELS)


def ink_on_shade(level: int | None) -> str:
    """What is read on a cell of this level, of which the strongest is dark on a light page only."""
    black, black_on_both, white = _ON_CELLS
    strength = LEVELS if level is None else abs(level)
    return black if strength <= 4 else black_on_both if strength <= 6 else white


def mixed(one: str, other: str, part: float) -> str:
    """A colour on the way from ``one`` to ``other``."""
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(_rgb(one), _rgb(other)))


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
