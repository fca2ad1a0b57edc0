"""Pictures of a timeline in which folded modules are open, drawn beforehand for a page without Python."""

from __future__ import annotations

import base64
import gzip
import json
from collections import deque
from typing import Any

from autokit import draw
from autokit.draw.fold import ranges
from autokit.graphs.model import Timeline
from autokit.widgets.payload import pictured

MOST = 16
"""So many pictures are drawn at most, which keeps saving under some seconds."""

WEIGHT = 500_000
"""So many bytes all of them together weigh at most, as they are packed."""


def packed_folds(timeline: Timeline, **picture: Any) -> list[dict[str, Any]]:
    """For each picture the folds ``opened``, each within the one before it, and the picture ``packed``.

    The first has none open; without any fold there is no picture.  Folds come
    before the folds within them, so that where the room ends the innermost
    stay closed.  A picture is packed as JSON in gzip in base64.

    Parameters
    ----------
    timeline : Timeline
    **picture
        The options of :func:`autokit.draw.scene`.
    """
    told: list[dict[str, Any]] = []
    waiting: deque[tuple[list[str], set[str]]] = deque([([], set())])
    room = WEIGHT
    while waiting and len(told) < MOST:
        opened, seen = waiting.popleft()
        scene = draw.scene(timeline, **picture, opened=opened, legend=False)
        # A fold that opens turns nothing around.
        picture["direction"] = scene.direction
        text = json.dumps(pictured(scene, timeline), ensure_ascii=False, allow_nan=False)
        packed = base64.b64encode(gzip.compress(text.encode(errors="backslashreplace"), mtime=0)).decode()
        room -= len(packed)
        if room < 0:
            break
        told.append({"opened": opened, "packed": packed})
        folds = [ranges(box.holds) for box in scene.boxes if box.holds]
        waiting += [([*opened, fold], seen | set(folds)) for fold in folds if fold not in seen]
    return told if len(told) > 1 else []
