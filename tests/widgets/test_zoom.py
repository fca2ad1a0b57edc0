"""The player at 200 % of a browser's zoom, and where a page magnifies it, as slides do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.approve import classes, square
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


def test_the_pointer_finds_what_it_points_at(enlarged: Any, tmp_path: Path) -> None:
    page, style, factor = enlarged
    story = classes()
    open_file(page, story, tmp_path)
    magnify(page, style)
    press(page, "End", "Escape", "0")
    page.locator("[data-element=n1] text").first.click()
    assert page.locator(".ak-panel .ak-title").inner_text() == "w"
    page.locator(".ak-player").focus()
    press(page, "Escape", "0")
    # The page scrolls what is pointed at into view; where it comes to lie is asked after that.
    page.locator(".ak-seen").scroll_into_view_if_needed()
    told = next(each.sums for each in story.cells if (each.element, each.field) == ("n1", "gradient"))
    heat = page.locator("[data-element=n1] [data-part=gradient-heatmap]").bounding_box()
    for row, column in ((0, 0), (1, 3), (2, 4)):
        page.mouse.move(
            heat["x"] + (column + 0.5) * heat["width"] / 5, heat["y"] + (row + 0.5) * heat["height"] / 3
        )
        page.locator(".ak-tip").wait_for()
        page.wait_for_function(
            "told => document.querySelector('.ak-tip').textContent === told", arg=told[5 * row + column]
        )
    tip, stage = page.locator(".ak-tip").bounding_box(), page.locator(".ak-picture").bounding_box()
    assert stage["x"] <= tip["x"] and tip["x"] + tip["width"] <= stage["x"] + stage["width"]
    before = page.locator("[data-element=n1]").bounding_box()
    at = page.locator(".ak-seen").bounding_box()
    page.mouse.move(at["x"] + 20, at["y"] + 30)
    page.mouse.down()
    page.mouse.move(at["x"] + 60, at["y"] + 30, steps=4)
    page.mouse.up()
    moved = page.locator("[data-element=n1]").bounding_box()["x"] - before["x"]
    assert abs(moved - 40) <= factor, "the picture stays under the hand"


def test_the_whole_screen_has_room_for_the_picture(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(reduced_motion="reduce", **PAGES["browser"][0])
    open_file(page, square(), tmp_path)
    press(page, "f")
    page.wait_for_function("document.fullscreenElement?.matches('.ak-player')")
    page.wait_for_function("document.querySelector('.ak-seen').clientHeight > 140")
    page.get_by_role("button", name="Show as table").click()
    assert page.locator(".ak-table").bounding_box()["height"] > 140, "what has no room is scrolled to"
