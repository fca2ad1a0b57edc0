"""The player at 200 % of a browser's zoom, and where a page magnifies it, as slides do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.approve import square
from tests.widgets.pages import open_file, press, violations

CLIPPED = """() => [...document.querySelectorAll(".ak-player :is(button, label, select, .ak-sentence)")]
  .filter((each) => each.checkVisibility() && each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.outerHTML.slice(0, 120))"""

PAGES = {
    # A window of 1280 by 800 at 200 %: each pixel of its style is two of the screen.
    "browser": ({"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}, "", 1),
    "zoom": ({"viewport": {"width": 1280, "height": 800}}, "zoom: 2", 2),
    "transform": (
        {"viewport": {"width": 1280, "height": 1600}},
        "transform: scale(2); transform-origin: 0 0; width: 50%; margin: 0",
        2,
    ),
}


@pytest.fixture(params=list(PAGES))
def enlarged(request: pytest.FixtureRequest, open_page: Callable[..., Any]) -> tuple[Any, str, float]:
    options, style, factor = PAGES[request.param]
    return open_page(reduced_motion="reduce", **options), style, factor


def magnify(page: Any, style: str) -> None:
    page.locator("main").evaluate("(main, style) => (main.style.cssText = style)", style)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_nothing_is_cut_off_and_all_of_the_graph_fits(enlarged: Any, tmp_path: Path) -> None:
    page, style, _ = enlarged
    open_file(page, square(), tmp_path)
    magnify(page, style)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CLIPPED) == []
    for control in page.locator(".ak-player :is(button, select, input):visible").all():
        box = control.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= page.evaluate("innerWidth")
    press(page, "0")
    stage = page.locator(".ak-seen").bounding_box()
    boxes = [box.bounding_box() for box in page.locator("[data-part=box]").all()]
    left, right = min(box["x"] for box in boxes), max(box["x"] + box["width"] for box in boxes)
    assert stage["x"] <= left and right <= stage["x"] + stage["width"]
    assert right - left > 0.8 * stage["width"] or page.viewport_size["width"] > 700, "and uses the room"
    assert violations(page) == []
