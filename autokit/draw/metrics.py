"""The width of a text is estimated without a font.

The fonts of a reader's machine are unknown, so each character counts as wide as in the widest of the common
sans-serif fonts.  A box that is sized by these widths holds its text everywhere, with a little space left.
"""

from __future__ import annotations

import unicodedata
from functools import cache

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
"""The faces asked for, in order: all of them but the last are of one width."""

ELLIPSIS = "…"

_BOLD = 1.1
_EM = {
    character: em
    for em, characters in (
        (0.3, "'Iijl"),
        (0.36, " ,./:;\\|·"),
        (0.42, "()-[]ft"),
        (0.46, "!r"),
        (0.52, '"*J`'),
        (0.56, "csz"),
        (0.62, "?L_kvxy∂"),
        (0.65, "$0123456789FTabdeghnopqu{}Σσ"),
        (0.7, "ABEKPSVXYZα√"),
        (0.75, "CNRU"),
        (0.85, "&DGHOQ#+<=>^w~×−∞"),
        (0.9, "M"),
        (1.05, "%Wm@…—→"),
    )
    for character in characters
}


@cache
def _em(character: str) -> float:
    if character in _EM:
        return _EM[character]
    if _invisible(character):
        return 0.0
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0.7
    if unicodedata.east_asian_width(character) in "WF":
        return 1.4 if unicodedata.category(character) == "So" else 1.05
    name = unicodedata.name(character, "").split(" ")[0]
    if name in ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "SUPERSCRIPT", "SUBSCRIPT"):
        # One Arabic letter can be a whole sentence: the ligatures of the presentation forms.
        return 12.0 if 0xFB50 <= ord(character) <= 0xFDFF else 0.9
    return 1.5


def _invisible(character: str) -> bool:
    """Whether the character only joins or picks a form: accents, joiners, variation selectors."""
    return (
        "\u0300" <= character <= "\u036f" or character in "\u200c\u200d" or "\ufe00" <= character <= "\ufe0f"
    )


def width(text: str, size: float, bold: bool = False) -> float:
    """The room in px that ``text`` takes at most, at ``size`` px.

    >>> width("loss", 10) < width("loss", 10, bold=True) < width("a longer loss", 10)
    True
    """
    return sum(map(_em, text)) * size * (_BOLD if bold else 1.0)


def columns(text: str) -> int:
    """How many columns of a terminal ``text`` takes.

    >>> columns("loss"), columns("損失")
    (4, 4)
    """
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def fit(text: str, size: float, limit: float, bold: bool = False) -> str:
    """The text, shortened in the middle where it would take more than ``limit`` px.

    >>> fit("loss", 10, 100)
    'loss'
    >>> fit("encoder.layers.0.attention.weight", 10, 100)
    'encoder.….weight'
    """
    if width(text, size, bold) <= limit:
        return text
    # What lies beyond these many characters can never be shown, however narrow they are.
    reach = int(limit / (0.3 * size)) + 2
    head, tail = _clusters(text[: 4 * reach]), _clusters(text[-4 * reach :])
    room = limit - width(ELLIPSIS, size, bold)
    begin, end = "", ""
    while head and tail:
        from_head = len(begin) <= len(end)
        piece = head.pop(0) if from_head else tail.pop()
        room -= width(piece, size, bold)
        if room < 0:
            break
        begin, end = (begin + piece, end) if from_head else (begin, piece + end)
    return begin + ELLIPSIS + end


def _clusters(text: str) -> list[str]:
    """The text cut where a reader sees cuts: an accent stays on its letter, a joined emoji whole."""
    pieces: list[str] = []
    for character in text:
        joins = _invisible(character) or unicodedata.category(character) in ("Mn", "Me")
        if pieces and (joins or pieces[-1].endswith("\u200d")):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
