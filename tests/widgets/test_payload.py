"""What the browser is told: small, and nothing lost that is shown."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path

import autokit as ak
from autokit.graphs.model import Change, Summary
from autokit.widgets.payload import payload
from autokit.widgets.script import FOLDER, player_js
from tests.support import require
from tests.widgets import timelines


def test_code_is_small() -> None:
    assert len(player_js().encode()) < 80_000


def test_code_is_one_module_that_the_browser_can_read(tmp_path: Path) -> None:
    require("node")
    assert "import " not in player_js() and "/**" not in player_js()
    (tmp_path / "player.mjs").write_text(player_js(), "utf-8")
    subprocess.run(["node", "--check", str(tmp_path / "player.mjs")], check=True)
    for file in FOLDER.glob("*.js"):
        (tmp_path / f"{file.stem}.mjs").write_text(file.read_text("utf-8"), "utf-8")
        subprocess.run(["node", "--check", str(tmp_path / f"{file.stem}.mjs")], check=True)


def test_no_text_of_the_sources_looks_like_a_comment() -> None:
    """What is left out before the code is sent is found without reading texts."""
    for file in FOLDER.glob("*.js"):
        found = re.findall(r'/\*[\s\S]*?\*/|//.*|("[^"\n]*"|`[^`\n]*`)', file.read_text("utf-8"))
        assert not [text for text in found if re.search(r"/\*|(?<!\S)//", text)], file.name


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
    assert (value["minimum"], value["maximum"], value["mean"], value["nan"]) == ("inf", "−inf", "nan", 1)


def test_picture_is_that_before_the_first_step() -> None:
    story = timelines.product()
    assert "300.0" not in payload(story)["_svg"].split("</title>", 1)[1]
    later = replace(story, initial=(*story.initial, Change("n2", "value", "300.0")))
    assert "300.0" in payload(later)["_svg"].split("</title>", 1)[1]


def test_what_cannot_be_seen_is_spelled_out_wherever_the_player_shows_it() -> None:
    a = ak.tensor(3.0, requires_grad=True)
    a.name = "a\u202eb\x07"
    sent = json.dumps(payload(ak.record(a * a)), ensure_ascii=False)
    assert "a\\\\u202eb\\\\x07" in sent
    assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs") for each in sent)
