"""The stage: what the camera shows, the room that the window leaves, the pace, and the local derivative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from autokit.graphs.model import Timeline
from autokit.widgets.payload import payload
from tests.widgets.lab import Lab
from tests.widgets.pages import open_file, press, view

IN_STAGE = """name => {
  const box = document.querySelector(`.ak-stage [data-element="${name}"]`).getBoundingClientRect();
  const seen = document.querySelector(".ak-seen").getBoundingClientRect();
  return seen.left <= box.left + 1 && box.right <= seen.right + 1
    && seen.top <= box.top + 1 && box.bottom <= seen.bottom + 1;
}"""

SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll(".ak-stage svg text")]
  .filter((text) => text.textContent && text.checkVisibility())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""

CUT = """() => [...document.querySelectorAll(".ak-telling, .ak-symbols, .ak-row, .ak-stage, .ak-panel > div")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.className)"""


def scalars() -> Timeline:
    a, b, c = (ak.tensor(value, requires_grad=True) for value in (2.0, -3.0, 10.0))
    for tensor, name in ((a, "a"), (b, "b"), (c, "c")):
        tensor.name = name
    return ak.record((a * b + c) ** 2)


def deep(layers: int) -> Timeline:
    ak.manual_seed(0)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(layers)])
    return ak.record(model(ak.randn(2, 3)).sum())


def go(page: Any, step: int) -> None:
    page.get_by_label("Step", exact=True).fill(str(step))


@pytest.fixture
def calm(open_page: Callable[..., Any]) -> Any:
    return open_page(reduced_motion="reduce", viewport={"width": 1280, "height": 720})


def test_all_is_seen_at_the_start_the_turn_and_the_end_and_the_active_box_between(
    calm: Any, tmp_path: Path
) -> None:
    story = deep(12)
    page = open_file(calm, story, tmp_path)
    page.wait_for_function("document.querySelector('.ak-sheet').style.transform")
    _, _, width, height = page.locator(".ak-stage svg").get_attribute("viewBox").split()
    turn = next(k for k, step in enumerate(story) if step.phase == "turn")
    for step in (0, turn, len(story) - 1):
        go(page, step)
        _, _, wide, tall = view(page)
        assert wide >= float(width) - 1 and tall >= float(height) - 1
    for step in range(1, len(story) - 1, 4):
        if story.steps[step].phase == "turn":
            continue
        go(page, step)
        first = next(name for name in story.steps[step].touches if name.startswith("n"))
        alone = len(story.steps[step].touches) == 1  # else both ends of an edge are to be seen
        assert page.evaluate(IN_STAGE, first) and page.evaluate(SMALLEST_TEXT) > (9.9 if alone else 5.9)


def test_the_camera_rests_where_all_can_be_read(calm: Any, tmp_path: Path) -> None:
    story = scalars()
    page = open_file(calm, story, tmp_path)
    home = view(page)
    assert page.evaluate(SMALLEST_TEXT) >= 10
    for step in range(len(story)):
        go(page, step)
        assert view(page) == home


def test_the_readers_own_view_is_kept_while_it_shows_the_story(calm: Any, tmp_path: Path) -> None:
    story = scalars()
    page = open_file(calm, story, tmp_path)
    press(page, "-")
    kept = view(page)
    go(page, len(story) - 1)
    assert view(page) == kept
    press(page, "0")
    assert view(page) != kept


@pytest.mark.parametrize("side", ["open", "shut"])
def test_the_play_bar_stays_in_jupyterlabs_window(lab: Lab, chromium: Any, side: str) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    cells = ["import autokit as ak\nw = ak.randn(9, 9, requires_grad=True)", "ak.animate((w @ w @ w).sum())"]
    notebook = lab.open(context, f"window_{side}.ipynb", cells)
    page = notebook.page
    notebook.run_all()
    page.wait_for_selector(".ak-player")
    if side == "shut":
        notebook.command("application:toggle-left-area")
    page.locator(".ak-play").click()
    page.locator(".ak-play").click()
    page.wait_for_function(
        """() => {
          const [player, panel] = [".ak-player", ".jp-WindowedPanel-outer"]
            .map((each) => document.querySelector(each).getBoundingClientRect());
          return player.top >= panel.top - 1 && player.bottom <= panel.bottom + 1;
        }"""
    )
    for step in (3, 12):
        go(page, step)
        page.locator("[data-element=n0]").first.dispatch_event("pointerdown", {"button": 0})
        page.locator("[data-element=n0]").first.dispatch_event("pointerup", {"button": 0})
        page.wait_for_selector(".ak-panel:not([hidden])")
        panel, bar = (page.locator(each).bounding_box() for each in (".jp-WindowedPanel-outer", ".ak-row"))
        assert bar["y"] + bar["height"] <= panel["y"] + panel["height"]
    context.close()


@pytest.mark.parametrize("width", [800, 1280])
def test_details_and_questions_cut_nothing(open_page: Callable[..., Any], tmp_path: Path, width: int) -> None:
    page = open_page(reduced_motion="reduce", viewport={"width": width, "height": 720})
    story = deep(3)
    open_file(page, story, tmp_path)
    for step, told in enumerate(story):
        active = next((name for name in told.touches if name.startswith("n")), "")
        if told.kind not in ("value", "select") or not active:
            continue
        go(page, step)
        page.evaluate("() => document.querySelector('.ak-player').focus()")
        page.locator(f"[data-element={active}]").click()
        page.wait_for_timeout(50)
        assert page.evaluate(IN_STAGE, active) and page.evaluate(CUT) == []
        press(page, "Escape")
    bar = page.locator(".ak-row").bounding_box()
    assert bar["y"] + bar["height"] <= 720
    open_file(page, scalars(), tmp_path)
    page.get_by_role("button", name="Predict").click()
    while not page.locator(".ak-question").is_visible():
        page.get_by_role("button", name="Step forward").click()
    telling = page.locator(".ak-telling").bounding_box()
    for each in (".ak-ask", ".ak-answer", ".ak-reveal"):
        box = page.locator(each).bounding_box()
        assert box["y"] >= telling["y"] - 1
        assert box["y"] + box["height"] <= telling["y"] + telling["height"] + 1
    assert page.evaluate(CUT) == []


def test_a_step_takes_the_time_to_read_and_to_see_it(module_page: Any) -> None:
    timeline = payload(scalars())["_timeline"]
    dwell = "t => t.steps.map((_, k) => player.dwell(t, k, 'fine'))"
    times = module_page.evaluate(dwell, timeline)
    assert sum(times) < 60_000 and min(times) >= 700
    kinds = [step["kind"] for step in timeline["steps"]]
    assert all(time >= 2000 for kind, time in zip(kinds, times, strict=True) if kind == "travel")
    first, again = kinds.index("select"), len(kinds) - 1 - kinds[::-1].index("select")
    assert times[first] > times[again]


def test_the_local_derivative_stands_on_its_edge_and_becomes_the_product(calm: Any, tmp_path: Path) -> None:
    story = scalars()
    page = open_file(calm, story, tmp_path)
    said = {}
    for step, told in enumerate(story):
        go(page, step)
        texts = page.locator(".ak-factor tspan").all_text_contents()
        assert bool(texts) == (told.kind in ("local", "product"))
        if texts:
            said.setdefault(told.kind, []).append(" ".join(texts))
    assert "× b = × −3.0" in said["local"] and "× 1" in said["local"]
    assert "8.0 · (−3.0) = −24.0" in said["product"]


def test_what_arrives_is_multiplied_and_travels_on_for_a_second(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    story = scalars()
    page = open_file(open_page(viewport={"width": 1280, "height": 720}), story, tmp_path)
    at = next(k for k, step in enumerate(story) if step.kind == "product")
    go(page, at - 1)
    page.locator(".ak-player").focus()
    press(page, "ArrowRight")
    assert page.locator(".ak-traveller").text_content() == "+1.0"
    page.wait_for_selector(".ak-traveller", state="detached")
    assert page.locator(".ak-factor").text_content().endswith("= 8.0")
    press(page, "ArrowRight")
    page.wait_for_timeout(600)
    assert page.locator(".ak-traveller").text_content() == "+8.0"


def test_a_folds_face_tells_how_far_it_is_and_what_is_at_work(calm: Any, tmp_path: Path) -> None:
    y = u = ak.tensor(0.5, requires_grad=True)
    for _ in range(80):
        y = (y * 0.9).tanh() + u
    story = ak.record(y)
    page = open_file(calm, story, tmp_path)
    face = page.locator("[data-part=fold]").first
    filled = "fold => Number(fold.querySelector('.ak-done').getAttribute('width'))"
    turn = next(k for k, step in enumerate(story) if step.phase == "turn")
    for steps in (range(0, turn, 12), range(turn + 1, len(story), 12)):
        widths = []
        for step in steps:
            go(page, step)
            widths.append(face.evaluate(filled))
        assert widths == sorted(widths) and len(set(widths)) > 3
    go(page, turn // 2)
    assert face.locator("text").last.text_content().startswith("▸ ")
