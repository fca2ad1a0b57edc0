"""What the browser is told of a timeline: all that is shown, and no more.

The form is that of :meth:`Timeline.to_json`, made lean: fields that are empty
are left out, and so are the elements of tensors, which the picture holds as
heatmaps already.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from autokit import draw
from autokit.draw.card import BOLD
from autokit.draw.escape import visible
from autokit.draw.metrics import fit
from autokit.draw.shapes import Scene
from autokit.graphs.model import Change, Graph, State, Timeline

_NOT_SENT = {"values"}
_WHOLE = (Change, Graph, Timeline)
"""Of these, what is empty counts: an empty text is one to show."""


def payload(timeline: Timeline) -> dict[str, Any]:
    """What ``player.js`` finds in its model, as plain JSON.

    ``_timeline`` is the story; ``_svg`` the picture before the first step,
    which the player then keeps up to date; ``_shortened`` holds, by element
    and field, the texts that the picture has no room for, and what it shows.
    """
    picture = draw.scene(timeline)
    before: State = {}
    for change in timeline.initial:
        before.setdefault(change.element, {})[change.field] = change.value
    return {
        "_timeline": _lean(timeline),
        "_svg": draw.svg(picture, state=before),
        "_shortened": _shortened(picture, timeline),
    }


def _shortened(picture: Scene, timeline: Timeline) -> dict[str, dict[str, dict[str, str]]]:
    room = {
        (box.node.element, name): f
        for box in picture.boxes
        if box.node
        for name, f in box.card.fields.items()
    }
    room |= {(line.edge.element, "flow"): line.flow for line in picture.lines}
    short: dict[str, dict[str, dict[str, str]]] = {}
    for change in (*timeline.initial, *(change for step in timeline.steps for change in step.changes)):
        field = room.get((change.element, change.field))
        if field and isinstance(change.value, str):
            shown = fit(visible(change.value), field.size, field.width + 0.01, change.field in BOLD)
            if shown != change.value:
                short.setdefault(change.element, {}).setdefault(change.field, {})[change.value] = shown
    return short


def _lean(value: Any) -> Any:
    if is_dataclass(value):
        named = {
            field.name: getattr(value, field.name) for field in fields(value) if field.name not in _NOT_SENT
        }
        if not isinstance(value, _WHOLE):
            named = {name: item for name, item in named.items() if item not in (None, "", ())}
        return {name: _lean(item) for name, item in named.items()}
    if isinstance(value, tuple):
        return [_lean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no NaN and no infinity
    return value
