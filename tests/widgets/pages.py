"""The player on a page: opening it, pressing its keys, and reading what it shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autokit import draw
from autokit.graphs.model import Timeline
from autokit.widgets import save_html
from tests.support import require

SHOWN = """() => Object.fromEntries([...document.querySelectorAll("[data-element]")].map((g) => [
  g.dataset.element,
  { status: g.dataset.status, ...Object.fromEntries(
    [...g.querySelectorAll("[data-field]")]
      .map((t) => [t.dataset.field, `${t.dataset.sign ?? ""} ${t.textContent}`])) },
]))"""
"""JavaScript that reads from the page what :func:`drawn` reads from Python's SVG."""


def open_file(page: Any, story: Timeline, folder: Path) -> Any:
    save_html(story, folder / "flow.html", title="c = a × b")
    page.goto((folder / "flow.html").as_uri())
    page.locator(".ak-player").focus()
    return page


def drawn(story: Timeline, step: int) -> dict[str, dict[str, str]]:
    """What Python's own picture of ``step`` shows, read from its SVG."""
    shown = {}
    for group in ET.fromstring(draw.svg(story, state=story.state(step))).iter():
        if name := group.get("data-element"):
            fields = [text for text in group.iter() if text.get("data-field")]
            texts = {t.get("data-field"): f"{t.get('data-sign', '')} {''.join(t.itertext())}" for t in fields}
            shown[name] = {"status": group.get("data-status"), **texts}
    return shown


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong with the players of a page: each rule, and an element that breaks it."""
    require("axe_playwright_python")
    code = Path(str(find_spec("axe_playwright_python").origin)).with_name("axe.min.js").read_text("utf-8")
    page.evaluate(code)
    found = page.evaluate("axe.run({ include: [['.ak-player']] }).then((result) => result.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


def view(page: Any) -> list[float]:
    """The part of the picture that is seen: left, top, width and height in the picture's own units."""
    return page.evaluate(
        """() => {
          const svg = document.querySelector(".ak-stage svg");
          const { left, top, width, height } = document.querySelector(".ak-seen").getBoundingClientRect();
          const to = svg.getScreenCTM().inverse();
          const [a, b] = [[left, top], [left + width, top + height]]
            .map(([x, y]) => new DOMPoint(x, y).matrixTransform(to));
          return [a.x, a.y, b.x - a.x, b.y - a.y].map((at) => Math.round(at * 10) / 10);
        }"""
    )


def standing(page: Any) -> int:
    return int(page.locator(".ak-range").input_value())


def press(page: Any, *keys: str) -> int:
    for key in keys:
        page.keyboard.press(key)
    return standing(page)
