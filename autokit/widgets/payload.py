"""The data of a timeline that the browser needs: all that is shown, and no more.

The form is that of :meth:`Timeline.to_json`, made lean: fields that are empty
are left out, and so are the elements of tensors, which the picture holds as
heatmaps already.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from autokit import draw
from autokit.draw.card import shown_in
from autokit.draw.escape import visible
from autokit.draw.shapes import Scene
from autokit.graphs.model import Change, Collapse, Graph, State, Summary, Timeline
from autokit.graphs.summary import number

_NOT_SENT = {"values", "cells"}
_NUMBERS_A_STEP = 24
"""How many elements of tensors are sent for each step; a player asks its kernel for others."""

_WHOLE = (Change, Graph, Timeline)
"""Of these, what is empty counts: an empty text is one to show."""


def payload(timeline: Timeline, **picture: Any) -> dict[str, Any]:
    """What ``player.js`` finds in its model, as plain JSON.

    ``_timeline`` is the story; ``_svg`` the picture before the first step,
    which the player then keeps up to date; ``_shortened`` holds, by element
    and field, the texts that the picture has no room for, and what it shows;
    ``_cells`` holds the elements of small tensors, and how each came about.
    The options are those of :func:`autokit.draw.scene`.
    """
    drawn = pictured(draw.scene(timeline, legend=False, **picture), timeline)
    return {"_timeline": _lean(timeline), "_cells": _cells(timeline), **drawn}


def pictured(scene: Scene, timeline: Timeline) -> dict[str, Any]:
    """The part of the payload that is another where the ``scene`` of a timeline is."""
    before: State = {}
    for change in timeline.initial:
        before.setdefault(change.element, {})[change.field] = change.value
    return {"_svg": draw.svg(scene, state=before), "_shortened": _shortened(scene, timeline)}


def _cells(timeline: Timeline) -> dict[str, dict[str, dict[str, list[str]]]]:
    told = {(each.element, each.field): each for each in timeline.cells}
    room = _NUMBERS_A_STEP * len(timeline)
    tensors = [
        (len(summary.values), node.id, name, summary.values)
        for node in timeline.graph.nodes
        for name, summary in (("value", node.value), ("gradient", node.gradient))
        if summary is not None and summary.shape and summary.values
    ]
    sent: dict[str, dict[str, dict[str, list[str]]]] = {}
    for size, id, name, values in sorted(tensors, key=lambda tensor: tensor[:3]):
        room -= size
        if room < 0:
            break
        element = f"n{id}"
        cell = sent.setdefault(element, {})[name] = {"values": [number(value) for value in values]}
        if (element, name) in told:
            cell["sums"] = list(told[element, name].sums)
            cell["made"] = list(told[element, name].made_of)
    return sent


def _shortened(picture: Scene, timeline: Timeline) -> dict[str, dict[str, dict[str, str]]]:
    rooms = picture.fields()
    short: dict[str, dict[str, dict[str, str]]] = {}
    for change in (*timeline.initial, *(change for step in timeline.steps for change in step.changes)):
        field = rooms.get(change.element, {}).get(change.field)
        if field and isinstance(change.value, str):
            text, shown = visible(change.value), shown_in(field, change.value, change.field)
            if shown != text:
                short.setdefault(change.element, {}).setdefault(change.field, {})[text] = shown
    return short


def _lean(value: Any) -> Any:
    if is_dataclass(value):
        named = {
            field.name: getattr(value, field.name)
            for field in fields(value)
            if field.name not in _NOT_SENT or isinstance(value, Collapse)
        }
        if isinstance(value, Summary):
            named = {name: number(item) if isinstance(item, float) else item for name, item in named.items()}
        if not isinstance(value, _WHOLE):
            named = {name: item for name, item in named.items() if item not in (None, "", ())}
        return {name: _lean(item) for name, item in named.items()}
    if isinstance(value, tuple):
        return [_lean(item) for item in value]
    if isinstance(value, str):
        return visible(value)  # a name may turn the direction of the sentence it stands in
    if isinstance(value, float):
        # JSON has no NaN and no infinity, and nobody sees more than five digits.
        return float(f"{value:.5g}") if math.isfinite(value) else str(value)
    return value
