"""The steps of a computation as an animated GIF: one frame for each step, with its sentence below."""

from __future__ import annotations

import textwrap
from typing import Any

from autokit.draw.escape import xml
from autokit.draw.gif import as_gif, check_pace
from autokit.draw.mpl import Painter
from autokit.draw.scene import scene
from autokit.draw.svg import paper, pieces
from autokit.draw.themes import INK
from autokit.graphs.model import Timeline

_LINE, _SIZE = 20.0, 14.0


def gif(
    timeline: Timeline,
    *,
    grain: str = "coarse",
    seconds: float = 1.6,
    frames: int = 120,
    scale: float = 1.0,
    theme: str = "light",
    **options: Any,
) -> bytes:
    """The story as the bytes of a GIF that plays again and again.

    Parameters
    ----------
    timeline : Timeline
    grain : "coarse" or "fine"
        A frame for each chapter, or for each step.
    seconds : float
        How long a frame stands; the last one stands three times as long.
    frames : int
        How many to draw at most: of a longer story so many, evenly chosen, the last one included.
    scale : float
        Pixels to a px.
    theme : "light", "dark" or "print"
    **options
        Those of :func:`autokit.draw.scene`.
    """
    if grain not in ("coarse", "fine"):
        raise ValueError(
            f"grain is 'coarse' (a frame for each chapter) or 'fine' (for each step), got {grain!r}"
        )
    check_pace(seconds, frames)
    picture = scene(timeline, **options)
    if grain == "coarse":
        told = [(chapter.last, chapter.sentence) for chapter in timeline.chapters]
    else:
        told = [(k, step.sentence) for k, step in enumerate(timeline.steps)]
    if len(told) > frames:
        told = [told[(k + 1) * len(told) // frames - 1] for k in range(frames)]
    if not told:
        raise ValueError("a story without steps has no frames")
    room = int((picture.width - 56) / (0.55 * _SIZE))
    lines = [textwrap.wrap(sentence, max(20, room)) or [""] for _, sentence in told]
    deep = max((len(words) for words in lines), default=1) * _LINE + 16
    painter = Painter(picture.width, picture.height + deep, theme, scale)
    ground = paper(picture.width, picture.height + deep)

    def paint(frame: int) -> Any:
        (step, _), words = told[frame], lines[frame]
        shown = pieces(picture, timeline.state(step))
        return painter.paint([ground, *shown, _caption(words, picture.height)])

    colours = _palette(
        [paint(frame) for frame in sorted({len(told) * k // 4 for k in range(4)} | {len(told) - 1})]
    )
    images = (paint(frame) for frame in range(len(told)))
    return as_gif(images, colours, seconds, 3, comment=picture.title.encode())


def _palette(images: list[Any]) -> Any:
    """The colours that stand for all that the images have."""
    from PIL import Image

    together = Image.new("RGB", (images[0].width, sum(image.height for image in images)))
    for i, image in enumerate(images):
        together.paste(image, (0, i * image.height))
    return together.quantize(192, dither=Image.Dither.NONE)


def _caption(lines: list[str], top: float) -> str:
    """The sentence on the paper below the picture."""
    texts = "".join(
        f'<text x="28" y="{top + 4 + _LINE * i:g}" font-size="{_SIZE:g}" fill="{INK}">{xml(line)}</text>'
        for i, line in enumerate(lines)
    )
    return f"<g>{texts}</g>"
