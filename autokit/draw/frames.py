"""A story where nobody can play it: three to five of its moments, each with its sentence below."""

from __future__ import annotations

import re
from typing import Any

from autokit.draw.escape import markup
from autokit.draw.image import image
from autokit.draw.scene import scene
from autokit.draw.svg import svg
from autokit.graphs.model import Timeline
from autokit.graphs.moments import moments

_UNSEEN = re.compile(
    r'<g data-part="\w+-heatmap"[^>]* display="none">.*?</g>|<title>.*?</title>| data-[\w-]+="[^"]*"'
)
"""What an image never shows."""

_ROOM = 190_000
"""So many characters of HTML; a story that takes more has fewer moments, and three at least."""


def frames(timeline: Timeline, **options: Any) -> str:
    """The moments as HTML, a picture for each; the options are those of :func:`autokit.draw.scene`."""
    picture, end = scene(timeline, **options), len(timeline) - 1
    told = []
    for step, sentence in moments(timeline):
        alt = picture.title if step == end else f"The graph at step {step + 1} of {end + 1}."
        drawn = image(_UNSEEN.sub("", svg(picture, timeline.state(step))), alt, picture.width)
        told.append(f"<div>{drawn}</div><p>Step {step + 1} of {end + 1}. {markup(sentence)}</p>")
    while len(told) > 3 and sum(map(len, told)) > _ROOM:
        del told[2 if len(told) == 5 else 0]  # a second moment of the way back, then the start
    return "".join(told)
