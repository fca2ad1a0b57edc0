"""Escaping: a name that a learner gives to a tensor is shown as this text in every format.

A name or a value may hold markup, control characters that XML forbids,
marks that turn the reading direction, or half of a surrogate pair.  ``visible``
spells out what cannot be seen, ``xml`` makes text safe in SVG and HTML, as
content and as an attribute, ``isolate`` keeps a right-to-left name from
turning the line it stands in, and ``in_a_line`` keeps a long one short too.
"""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, line breaks among them
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # direction marks, invisible spaces
    "\ud800-\udfff\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff]"  # lone surrogates, noncharacters
)
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def visible(text: str) -> str:
    r"""The text with each character that cannot be seen spelled out, as Python would.

    >>> visible("a\x07b\u202ec")
    'a\\x07b\\u202ec'
    """
    return _UNSEEN.sub(lambda found: _spelled(found.group()), text)


def xml(text: str) -> str:
    """The text, made visible and escaped for SVG and HTML, as content or inside a quoted attribute.

    >>> xml('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return markup(visible(text))


def markup(text: str) -> str:
    """Escape what ``visible`` or ``isolate`` has been over already, for SVG and HTML."""
    return text.translate(_ENTITIES)


def isolate(text: str) -> str:
    """The text, made visible and kept apart from the line's direction where it reads from right to left.

    >>> isolate("loss")
    'loss'
    """
    shown = visible(text)
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in shown):
        return f"{_FIRST_STRONG_ISOLATE}{shown}{_POP_ISOLATE}"
    return shown


def in_a_line(text: str, most: int) -> str:
    """``isolate`` for a cell or a sentence: a text of more than ``most`` characters loses its middle.

    >>> in_a_line("a quite long name", 8)
    'a qu…ame'
    """
    return isolate(text if len(text) <= most else f"{text[: most // 2]}…{text[1 - most // 2 :]}")


def _spelled(character: str) -> str:
    code = ord(character)
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )
