"""Frames become one GIF that plays in a loop, with a duration for each frame and a common palette."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any


def check_pace(seconds: float, frames: int) -> None:
    """Raise ValueError where no frame can stand so long, or there would be none."""
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds is how long a frame stands, from 0.02 to 60, got {seconds!r}")
    if frames < 1:
        raise ValueError(f"frames is how many to draw at most, at least 1, got {frames!r}")


def as_gif(images: Iterable[Any], colours: Any, seconds: float, last: int, **info: Any) -> bytes:
    """The bytes of the GIF.

    Parameters
    ----------
    images : iterable of PIL.Image.Image
        Its frames, in RGB.
    colours : PIL.Image.Image
        An image whose palette stands for the colours of all.
    seconds : float
        How long a frame stands; the last one stands ``last`` times as long.
    **info
        More for Pillow to write down, such as ``comment``.
    """
    from PIL import Image

    # Where all frames have the same colours, what differs between two is soon found, and all that is written.
    first, *others = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in images]
    stand = round(1000 * seconds)
    duration = [stand] * len(others) + [round(1000 * last * seconds)]
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=duration, loop=0, **info)
    return file.getvalue()
