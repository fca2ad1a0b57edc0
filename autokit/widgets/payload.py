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
from autokit.graphs.model import Change, Graph, State, Timeline

_NOT_SENT = {"values"}
_WHOLE = (Change, Graph, Timeline)
"""Of these, what is empty counts: an empty text is one to show."""


def story(timeline: Timeline) -> dict[str, Any]:
    """The timeline as the JSON object that ``player.js`` reads."""
    return _lean(timeline)


def picture(timeline: Timeline) -> str:
    """The timeline's SVG before its first step, which ``player.js`` then keeps up to date."""
    before: State = {}
    for change in timeline.initial:
        before.setdefault(change.element, {})[change.field] = change.value
    return draw.svg(timeline, state=before)


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
