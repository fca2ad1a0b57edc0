"""What the browser is told: small, and nothing lost that is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autokit import widgets
from autokit.graphs.model import Change, Summary, Timeline
from autokit.widgets.payload import payload
from tests.widgets import timelines

WIDGETS = Path(widgets.__file__).parent


@pytest.mark.parametrize("story", [timelines.product(), timelines.chain(100)], ids=["product", "chain"])
def test_under_a_kilobyte_a_step(story: Timeline) -> None:
    assert len(json.dumps(payload(story)["_timeline"], ensure_ascii=False).encode()) < 1000 * len(story)


def test_code_is_small() -> None:
    assert (WIDGETS / "player.js").stat().st_size < 60_000


def test_changes_keep_what_is_empty_and_elements_are_left_out() -> None:
    story = timelines.product()
    told = payload(story)["_timeline"]
    assert {"element": "n0", "field": "value", "value": ""} in told["initial"]
    assert {"element": "n0", "field": "pending", "value": None} in told["initial"]
    assert "values" not in json.dumps(told)
    assert told["graph"]["nodes"][0]["id"] == 0


def test_what_is_no_number_is_told_as_text() -> None:
    story = timelines.product()
    odd = Summary("nan", (), "float32", (float("nan"),), float("inf"), float("-inf"), float("nan"), nan=1)
    node = replace(story.graph.nodes[2], value=odd)
    graph = replace(story.graph, nodes=(*story.graph.nodes[:2], node))
    value = payload(replace(story, graph=graph))["_timeline"]["graph"]["nodes"][2]["value"]
    json.dumps(value, allow_nan=False)
    assert (value["minimum"], value["maximum"], value["mean"], value["nan"]) == ("inf", "-inf", "nan", 1)


def test_picture_is_that_before_the_first_step() -> None:
    story = timelines.product()
    assert "300.0" not in payload(story)["_svg"].split("</title>", 1)[1]
    later = replace(story, initial=(*story.initial, Change("n2", "value", "300.0")))
    assert "300.0" in payload(later)["_svg"].split("</title>", 1)[1]
