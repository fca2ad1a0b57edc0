"""A story as an animated GIF: one frame for each step, with its sentence below."""

from __future__ import annotations

import io
import textwrap
from typing import Any

from autokit.draw.escape import xml
from autokit.draw.metrics import FONT
from autokit.draw.mpl import png
from autokit.draw.scene import scene
from autokit.draw.svg import svg
from autokit.draw.themes import recolour
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
    from PIL import Image

    if grain not in ("coarse", "fine"):
        raise ValueError(
            f"grain is 'coarse' (a frame for each chapter) or 'fine' (for each step), got {grain!r}"
        )
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds is how long a frame stands, from 0.02 to 60, got {seconds!r}")
    if frames < 1:
        raise ValueError(f"frames is how many to draw at most, at least 1, got {frames!r}")
    picture = scene(timeline, **options)
    if grain == "coarse":
        told = [(chapter.last, chapter.sentence) for chapter in timeline.chapters]
    else:
        told = [(k, step.sentence) for k, step in enumerate(timeline.steps)]
    if len(told) > frames:
        told = [told[(k + 1) * len(told) // frames - 1] for k in range(frames)]
    room = int((picture.width - 56) / (0.55 * _SIZE))
    lines = [textwrap.wrap(sentence, max(20, room)) or [""] for _, sentence in told]
    deep = max((len(words) for words in lines), default=1) * _LINE + 16
    images: list[Any] = []
    for (step, _), words in zip(told, lines, strict=True):
        drawn = _captioned(svg(picture, timeline.state(step)), words, picture.height, deep)
        image = Image.open(io.BytesIO(png(recolour(drawn, theme), scale))).convert("RGB")
        images.append(image.quantize(128, dither=Image.Dither.NONE))
    if not images:
        raise ValueError("a story without steps has no frames")
    file = io.BytesIO()
    stand = [round(1000 * seconds)] * (len(images) - 1) + [round(3000 * seconds)]
    images[0].save(
        file,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=stand,
        loop=0,
        comment=picture.title.encode(),
    )
    return file.getvalue()


def _captioned(drawn: str, lines: list[str], height: float, deep: float) -> str:
    """The picture made taller, with the sentence on the paper below it."""
    taller = drawn.replace(f'height="{height:g}"', f'height="{height + deep:g}"', 1)
    taller = taller.replace(f'height="{height - 1:.6g}"', f'height="{height + deep - 1:.6g}"', 1)
    texts = "".join(
        f'<text x="28" y="{height + 4 + _LINE * i:g}" font-size="{_SIZE:g}" fill="#1f2933">{xml(line)}</text>'
        for i, line in enumerate(lines)
    )
    return taller.removesuffix("</svg>") + f'<g font-family="{xml(FONT)}">{texts}</g></svg>'
