"""A drawing as an ``<img>`` element that contains the whole SVG, which no notebook viewer removes."""

from __future__ import annotations

import base64

from autokit.draw.escape import markup

_LEAST = 0.75
"""A picture wider than the notebook shrinks to this part of its size, and then scrolls."""


def image(drawn: str, alt: str, width: float) -> str:
    """The SVG ``drawn`` as an image, with ``alt`` for those who do not see it.

    >>> image("<svg/>", "a & b", 10)
    '<img alt="a &amp; b" width="10" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    source = base64.b64encode(drawn.encode("utf-8")).decode("ascii")
    least = f' style="min-width: {width * _LEAST:.0f}px"' if width > 640 else ""
    return f'<img alt="{markup(alt)}" width="{width:.0f}"{least} src="data:image/svg+xml;base64,{source}">'
