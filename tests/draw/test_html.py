"""What a notebook gets, and what is written to a file."""

from __future__ import annotations

import base64
import html.parser
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from autokit import draw
from autokit.draw.html import tensor_html
from autokit.graphs.summary import summarize
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
    (style, _), (tag, attributes) = Tags(draw.html(graph)).tags
    assert (style, tag) == ("style", "img")
    kind, _, data = (attributes["src"] or "").partition(",")
    assert kind == "data:image/svg+xml;base64"
    root = ET.fromstring(base64.b64decode(data))
    assert root[0].text == attributes["alt"] == draw.scene(graph).title


@pytest.mark.parametrize("label", HOSTILE)
def test_a_tensor_shows_itself_as_a_table(label: str) -> None:
    page = Tags(tensor_html(summarize(np.array([[1.0, np.nan], [-1.0, 0.0]])), label))
    assert {tag for tag, _ in page.tags} <= {"div", "table", "tr", "th", "td", "style", "img"}
    assert "[2, 2]" in page.words and "1 NaN" in page.words
