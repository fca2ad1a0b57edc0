"""What a notebook gets, and what is written to a file."""

from __future__ import annotations

import base64
import html.parser
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from autokit import draw
from autokit.graphs.model import Summary
from autokit.graphs.summary import summarize
from tests.draw import graphs
from tests.draw.graphs import EXAMPLES, HOSTILE


class Tags(html.parser.HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_still_is_one_image_with_its_story(name: str) -> None:
    graph = EXAMPLES[name]()
    ((tag, attributes),) = Tags(draw.html(graph)).tags
    assert tag == "img"
    kind, _, data = (attributes["src"] or "").partition(",")
    assert kind == "data:image/svg+xml;base64"
    root = ET.fromstring(base64.b64decode(data))
    assert root[0].text == attributes["alt"] == draw.scene(graph).title


def test_a_bundle_holds_the_table_and_the_still() -> None:
    graph = graphs.product()
    assert draw.mimebundle(graph) == {"text/plain": draw.text(graph), "text/html": draw.html(graph)}
    assert graph._repr_mimebundle_() == draw.mimebundle(graph)


@pytest.mark.parametrize("label", HOSTILE)
def test_a_tensor_shows_itself_as_a_table(label: str) -> None:
    page = Tags(draw.tensor_html(summarize(np.array([[1.0, np.nan], [-1.0, 0.0]])), label))
    assert {tag for tag, _ in page.tags} <= {"div", "table", "tr", "th", "td", "img"}
    assert "[2, 2]" in page.words and "1 NaN" in page.words


def test_a_tensor_in_words() -> None:
    assert draw.tensor_text(Summary("300.0", (), "float32"), "c") == "c: 300.0 (float32)"
    assert draw.tensor_text(summarize(np.zeros((0, 2), np.float32)), "") == "empty (shape [0, 2], float32)"


def test_save_writes_each_form(tmp_path: Path) -> None:
    graph = graphs.hostile()
    for ending in ("svg", "html", "json"):
        draw.save(graph, tmp_path / f"g.{ending}")
    assert ET.parse(tmp_path / "g.svg").getroot().tag.endswith("svg")
    assert json.loads((tmp_path / "g.json").read_text("utf-8"))["nodes"]
    tags = {tag for tag, _ in Tags((tmp_path / "g.html").read_text("utf-8")).tags}
    assert tags == {"html", "head", "meta", "title", "body", "img", "pre"}


@pytest.mark.parametrize("name", ["g.bmp", "g", ".svg"])
def test_save_refuses_other_endings(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"one of \.svg, \.png, "):
        draw.save(graphs.product(), tmp_path / name)
