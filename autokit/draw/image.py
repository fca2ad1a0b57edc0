"""A drawing as an ``<img>`` element that contains the whole SVG, which no notebook viewer removes."""

from __future__ import annotations

import base64

from autokit.draw.escape import markup
from autokit.draw.themes import following

_LEAST = 0.75
"""A picture wider than the notebook shrinks to this part of its size, and then scrolls."""

# An image asks the element that shows it whether the page is dark; a notebook's theme says it by these.
_THEMED = (
    '<style>.ak-still{color-scheme:light}[data-jp-theme-light="false"] .ak-still,.vscode-dark .ak-still'
    "{color-scheme:dark}</style>"
)


def image(drawn: str, alt: str, width: float, follows: bool = True) -> str:
    """The SVG ``drawn`` as an image, with ``alt`` for those who do not see it.

    One that ``follows`` has dark colours on a dark page.

    >>> image("<svg/>", "a & b", 10, follows=False)
    '<img alt="a &amp; b" width="10" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    source = base64.b64encode((following(drawn) if follows else drawn).encode("utf-8")).decode("ascii")
    least = f' style="min-width: {width * _LEAST:.0f}px"' if width > 640 else ""
    before, name = (_THEMED, ' class="ak-still"') if follows else ("", "")
    return (
        f'{before}<img alt="{markup(alt)}"{name} width="{width:.0f}"{least}'
        f' src="data:image/svg+xml;base64,{source}">'
    )
