"""The player's controls in a real browser, and what it shows at each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from autokit.graphs.model import Change, Timeline
from tests.widgets.pages import SHOWN, drawn, open_file, press, standing, view


def test_picture_is_pythons_at_every_step_both_ways(page: Any, story: Timeline) -> None:
    for step in range(len(story)):
        assert page.evaluate(SHOWN) == drawn(story, step)
        for name, fields in story.state(step).items():
            for field in ("status", "value", "gradient", "flow"):
                if field in page.evaluate(SHOWN)[name]:
                    assert page.evaluate(SHOWN)[name][field].lstrip("+−± ") == fields[field].lstrip("+−± ")
        press(page, "ArrowRight")
    for step in reversed(range(len(story))):
        assert page.evaluate(SHOWN) == drawn(story, step)
        press(page, "ArrowLeft")


def test_a_text_without_room_is_shortened_as_python_does(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path
) -> None:
    long = "[0.0, 0.083333333, 0.166666667, 0.083333333, \x07]"
    changes = tuple(Change(element, "flow", long) for element in ("e0", "e1"))
    story = replace(story, steps=(*story.steps[:-1], replace(story.steps[-1], changes=changes)))
    page = open_file(open_page(), story, tmp_path)
    press(page, "End")
    assert page.evaluate(SHOWN) == drawn(story, -1)
    assert page.evaluate(SHOWN)["e0"]["flow"] != long


def test_caption_tells_each_step(page: Any, story: Timeline) -> None:
    for number, step in enumerate(story, 1):
        assert page.locator(".ak-sentence").inner_text() == step.sentence
        assert page.locator(".ak-formula").text_content() == step.formula
        assert page.locator(".ak-numbers").text_content() == step.numbers
        assert page.locator(".ak-why").first.is_visible() == bool(step.note)
        assert page.locator(".ak-count").inner_text() == f"{number} / 20"
        touched = page.locator("[data-touched]").evaluate_all("gs => gs.map((g) => g.dataset.element)")
        assert sorted(touched) == sorted(step.touches)
        press(page, "ArrowRight")


def test_keys_stay_within_the_story_and_leave_the_browsers_own(page: Any, story: Timeline) -> None:
    assert press(page, "End") == 19
    assert press(page, "Home") == 0
    assert press(page, "ArrowLeft") == 0
    assert press(page, "PageDown", "PageDown") == 2
    assert press(page, "ArrowRight", "PageUp") == 2
    assert press(page, "Control+ArrowRight") == 2


def test_keys_typed_in_a_field_are_left_alone(page: Any) -> None:
    page.get_by_label("Find a node").fill("c")
    assert press(page, "ArrowLeft", "ArrowRight", "Home", "End", " ") == 0
    assert page.get_by_label("Find a node").input_value() == "c "
    page.get_by_label("Speed").focus()
    assert press(page, "End") == 0
    page.get_by_role("button", name="To the end").focus()
    assert press(page, " ") == 19, "Space on a button is that button's"


def test_buttons_and_scrubber(page: Any) -> None:
    presses = {"Step forward": 1, "To the end": 19, "Step forward ": 19, "Step back": 18, "To the start": 0}
    for name, step in presses.items():
        page.get_by_role("button", name=name.strip()).click(force=True)  # disabled ones stay focusable
        assert standing(page) == step
    page.get_by_label("Step", exact=True).fill("7")
    assert page.locator(".ak-count").inner_text() == "8 / 20"
    assert "8 of 20" in page.get_by_label("Step", exact=True).get_attribute("aria-valuetext")
    assert page.get_by_role("button", name="To the start").get_attribute("aria-disabled") == "false"


def test_coarse_grain_stands_on_the_ends_of_chapters(page: Any, story: Timeline) -> None:
    press(page, "ArrowRight", "ArrowRight")
    page.get_by_label("Detail", exact=True).select_option("coarse")
    page.locator(".ak-player").focus()
    assert standing(page) == story.chapters[2].last
    assert page.locator(".ak-sentence").inner_text() == story.chapters[2].sentence
    assert page.locator(".ak-count").inner_text() == "3 / 8"
    ends = [chapter.last for chapter in story.chapters]
    assert [press(page, "ArrowRight") for _ in range(6)] == [*ends[3:], ends[-1]]
    assert press(page, "ArrowLeft") == ends[-2]
    page.get_by_label("Step", exact=True).fill(str(story.chapters[5].first))
    assert standing(page) == story.chapters[5].last


@pytest.mark.parametrize("reduced_motion", ["no-preference", "reduce"])
def test_plays_to_the_end_and_stops(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path, reduced_motion: str
) -> None:
    page = open_page(reduced_motion=reduced_motion)
    page.clock.install(time=datetime(2026, 1, 1))
    open_file(page, story, tmp_path)
    page.clock.pause_at(datetime(2026, 1, 2))
    page.get_by_label("Speed").select_option("2")
    page.get_by_role("button", name="Play", exact=True).click()
    travellers = 0
    for _ in range(400):
        page.clock.run_for(100)
        travellers += page.locator(".ak-traveller").count()
        if page.locator(".ak-play").inner_text() == "Play":
            break
    assert standing(page) == len(story) - 1
    assert (travellers == 0) == (reduced_motion == "reduce"), "motion, except for those who asked for none"
    page.clock.run_for(5000)
    assert page.locator(".ak-traveller").count() == 0
    page.get_by_role("button", name="Play", exact=True).click()
    assert standing(page) == 0, "Play at the end begins anew"


def test_motion_carries_the_contribution_back(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path
) -> None:
    page = open_page()
    page.clock.install(time=datetime(2026, 1, 1))
    open_file(page, story, tmp_path)
    page.clock.pause_at(datetime(2026, 1, 2))
    travel = next(k for k, step in enumerate(story) if step.kind == "travel")
    for _ in range(travel):
        press(page, "ArrowRight")
    assert page.locator(".ak-traveller").text_content() == "+20.0"
    target, source = (
        page.locator(f"[data-element={n}] [data-part=box]").bounding_box() for n in ("n2", "n0")
    )
    positions = []
    while page.locator(".ak-traveller").count():
        positions.append(page.locator(".ak-traveller").bounding_box()["x"])
        page.clock.run_for(40)
    assert positions == sorted(positions, reverse=True) and len(positions) > 3
    assert positions[0] > source["x"] + source["width"] and positions[0] < target["x"] + 10


def test_selecting_a_node_shows_its_details(page: Any) -> None:
    panel = page.locator(".ak-panel")
    assert panel.is_hidden()
    page.locator("[data-element=n2]").click()
    text = panel.inner_text()
    assert (
        "not computed yet" in text and "∂c/∂a = b" in text and "c = a * b" in text and "MulBackward0" in text
    )
    page.locator(".ak-player").focus()
    press(page, "End")
    assert "300.0" in panel.inner_text()
    press(page, "Escape")
    assert panel.is_hidden()
    page.get_by_label("Find a node").fill("b")
    press(page, "Enter")
    assert panel.locator(".ak-title").inner_text() == "b"
    page.get_by_role("button", name="Close the details").click()
    assert panel.is_hidden()


def test_the_page_keeps_its_wheel(page: Any) -> None:
    home, stage = view(page), page.locator(".ak-stage").bounding_box()
    page.mouse.move(stage["x"] + 30, stage["y"] + 200)
    page.mouse.wheel(0, 50)
    assert view(page) == home


def test_predict_then_reveal(page: Any) -> None:
    page.get_by_role("button", name="Predict").click()
    page.locator(".ak-player").focus()
    press(page, "ArrowRight", "ArrowRight")
    assert standing(page) == 2, "the inputs are given, not asked for"
    press(page, "ArrowRight")
    assert standing(page) == 2 and page.locator(".ak-question").is_visible()
    assert page.evaluate("document.activeElement.className") == "ak-answer"
    assert "300" not in page.locator(".ak-player").inner_text(), "the answer is nowhere on the screen"
    page.keyboard.type("35")
    page.keyboard.press("Enter")
    assert standing(page) == 2 and "35 is not it" in page.locator(".ak-verdict").inner_text()
    page.keyboard.type("300")
    page.keyboard.press("Enter")
    assert standing(page) == 3 and "Right: 300.0" in page.locator(".ak-verdict").inner_text()
    assert page.locator(".ak-score").inner_text() == "Predicted 0 / 1", "the first answer counts"
    page.locator(".ak-player").focus()
    while not page.locator(".ak-question").is_visible():
        press(page, "ArrowRight")
    assert "send back to a" in page.locator(".ak-ask").inner_text() and standing(page) == 8
    page.keyboard.type("20,05")
    page.keyboard.press("Enter")
    assert page.locator(".ak-score").inner_text() == "Predicted 1 / 2" and standing(page) == 9
    while not page.locator(".ak-question").is_visible():
        press(page, "ArrowRight")
    page.get_by_role("button", name="Reveal").click()
    assert page.locator(".ak-score").inner_text() == "Predicted 1 / 3"
    assert "15.0" in page.locator(".ak-verdict").inner_text()
    page.get_by_role("button", name="Predict").click()
    page.locator(".ak-player").focus()
    assert press(page, "End") == 19


def test_table_view(page: Any, story: Timeline) -> None:
    press(page, "End")
    page.get_by_role("button", name="Show as table").click()
    assert page.locator(".ak-stage").is_hidden()
    rows = page.locator(".ak-table tbody tr").evaluate_all(
        "rows => rows.map((r) => [...r.cells].map((c) => c.textContent))"
    )
    assert rows[0] == ["a", "leaf", "scalar", "15.0", "20.0", "gradient final"]
    assert rows[2] == ["c", "a · b", "scalar", "300.0", "1.0", "gradient final"]
    page.get_by_role("button", name="To the start").click()
    assert page.locator(".ak-table tbody tr").nth(2).inner_text().split("\t")[-1] == "not computed"
    page.get_by_role("button", name="Show as table").click()
    assert page.locator(".ak-stage").is_visible()
