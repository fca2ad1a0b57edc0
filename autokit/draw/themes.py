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
FRAME, NOT_FINITE, ON_NOT_FINITE = "#cbd2db", "#6b7280", "#fffffe"
"""Of heatmaps: what is round one, and a cell that is no finite number."""

SERIES = ("#0b6e99", "#b0306a", "#7a5c00", "#3f5560", "#00736b", "#8c5a4a")
"""Curves beside each other, told apart by most who see colours otherwise; lines differ in dashes too."""

# What is written on a cell: black or white, which on a dark page is black or white.
_ON_CELLS = {
    "#000001": ("#ffffff", "#000000"),
    "#000002": ("#000000", "#000000"),
    "#fffffd": ("#ffffff", "#ffffff"),
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
    **dict(
        zip(
            SERIES,
            (
                ("#5cc8f2", "#0b6e99"),
                ("#ff8fc0", "#b0306a"),
                ("#e0bd4a", "#7a5c00"),
                ("#c2d2da", "#3f5560"),
                ("#4cd6c8", "#00736b"),
                ("#dfb3a4", "#8c5a4a"),
            ),
            strict=True,
        )
    ),
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
ON_BOTH = "#2a8f47", "#9457c8"
"""Plus and minus where one colour has to do on a light page and on a dark one, as in a chart's pixels."""

_COLOUR = re.compile(r'(?<= )(fill|stroke)="(#[0-9a-f]{6})"')
_WRITTEN = re.compile(r'(?<=[ "])(fill|stroke)(="|: )(#[0-9a-f]{6})')
_NUMBER, _WORDS = re.compile(r"[-−]?(?:\d+\.?\d*(?:e[+−-]?\d+)?|inf)"), re.compile(r"[^\W\d_]+")
_IN_NUMBERS = {"e", "inf", "nan", "to", "all"}
_BOTH_INKS = 0.179
"""The luminance of a ground on which black and white have the same contrast."""


def recolour(drawn: str, theme: str) -> str:
    """The SVG ``drawn`` in the colours of ``theme``: ``"light"`` as it is, ``"dark"`` or ``"print"``."""
    colours = palette(theme)
    return _COLOUR.sub(lambda found: f'{found[1]}="{colours.get(found[2], found[2])}"', drawn)


def following(drawn: str) -> str:
    """The SVG ``drawn``, in the dark colours where the page around it is dark.

    >>> following('<svg><path fill="#fcfcfb"/></svg>')[31:]
    '<style>@media (prefers-color-scheme: dark){[fill="#fcfcfb"]{fill:#16191d}}</style></svg>'
    """
    colours = palette("dark")
    rules = []
    for aspect, sign, light in sorted(set(_WRITTEN.findall(drawn))):
        dark = colours.get(light, light)
        where = f'[{aspect}="{light}"]' if sign == '="' else f'[style*="{aspect}: {light}"]'
        important = "" if sign == '="' else "!important"  # against matplotlib's own style
        if dark != light:
            rules.append(f"{where}{{{aspect}:{dark}{important}}}")
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


def of_thumbnails() -> list[tuple[str, str, str]]:
    """What heatmaps and histograms are filled and drawn with: how, on a light page, and on a dark one."""
    dark = palette("dark")
    filled = (*_dark_shades(), NOT_FINITE)
    drawn = (GREY, FRAME, *_ON_CELLS)
    return [("fill", each, dark[each]) for each in filled] + [("stroke", each, dark[each]) for each in drawn]


def _dark_shades() -> dict[str, str]:
    return {shade(level): _dark_shade(level) for level in range(-LEVELS, LEVELS + 1)}


def shade(level: int) -> str:
    """The colour of a cell, from ``-LEVELS`` to ``LEVELS``."""
    return mixed(_PALEST, PLUS if level > 0 else MINUS, abs(level) / LEVELS)


def _dark_shade(level: int) -> str:
    strongest = _DARK_AND_PRINT[PLUS if level > 0 else MINUS][0]
    return mixed(_PALEST_DARK, strongest, abs(level) / LEVELS)


def ink_on_shade(level: int) -> str:
    """What is read on a cell of this level, on a light page and on a dark one."""
    return ink_on(shade(level), _dark_shade(level))


def ink_on(light: str, dark: str) -> str:
    """The colour to write with on a ground that is ``light``, and on a dark page ``dark``."""
    if _luminance(light) > _BOTH_INKS:
        return "#000002" if _luminance(dark) > _BOTH_INKS else "#000001"
    return "#fffffe" if _luminance(dark) > _BOTH_INKS else "#fffffd"


def sign_of(text: str) -> str:
    """The sign of the numbers in ``text``, "+" or "−"; "±" of both, and empty for 0 and for other words.

    >>> sign_of("-3.0"), sign_of("−3"), sign_of("2e-05"), sign_of("0.0"), sign_of("−1 to 1"), sign_of("W1")
    ('−', '−', '+', '', '±', '')
    """
    if "·" in text or set(_WORDS.findall(text)) - _IN_NUMBERS:
        return ""
    numbers = [float(each.replace("−", "-")) for each in _NUMBER.findall(text)]
    above, below = any(each > 0 for each in numbers), any(each < 0 for each in numbers)
    return "±" if above and below else "+" if above else "−" if below else ""


def mixed(one: str, other: str, part: float) -> str:
    """A colour on the way from ``one`` to ``other``."""
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(_rgb(one), _rgb(other)))


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def _luminance(colour: str) -> float:
    parts = [each / 255 for each in _rgb(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
