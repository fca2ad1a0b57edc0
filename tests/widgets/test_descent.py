"""The descent: at each step the screen shows Python's numbers, by mouse, by key, and with the kernel gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import traitlets

import autokit as ak
from autokit import optim
from autokit.plot.functions import finer
from autokit.widgets.descent import Descent
from tests.widgets.live import show
from tests.widgets.test_playground import pictures


def race(**traits: Any) -> Descent:
    optimizers = {"plain": (optim.SGD, {"lr": 0.02}), "Adam": (optim.Adam, {"lr": 0.2})}
    return ak.descent(lambda a, b: a * a + 10 * b * b, optimizers, start=(2, 1), steps=12, **traits)


def test_steps_stay_within_the_way() -> None:
    widget = race(step=3)
    widget.step = 99
    assert widget.step == 12
    widget.seek(-13)
    assert widget.step == 0
    with pytest.raises(IndexError, match="step 13 is out of range: there are 13 steps"):
        widget.seek(13)
    with pytest.raises(traitlets.TraitError, match="there are plain, Adam"):
        widget.selected = "nobody"
    assert repr(widget) == "Descent(plain, Adam; 12 steps)"


def test_the_still_is_the_whole_way() -> None:
    widget = race()
    ((alt, _),) = pictures(widget)
    assert alt.startswith("After 12 steps") and widget.still()["text/plain"].startswith(alt.split(";")[0])
    assert widget.still() == race().still()


def test_one_that_runs_away_is_told() -> None:
    widget = ak.descent(lambda a, b: (a * a + b * b).exp(), [(optim.SGD, {"lr": 10.0})], (1, 1), 8)
    assert widget._sentence(8).endswith("ran away.") and widget._descents["paths"][0]["losses"][-1] is None


def test_every_step_shows_pythons_numbers(open_page: Callable[..., Any]) -> None:
    widget = race()
    (shown,) = show(open_page(), widget)
    page, place = shown.page, shown.locator
    place.locator(".ak-descent").focus()
    for step in range(13):
        cells = [row.locator("th, td").all_inner_texts() for row in place.locator("tbody tr").all()]
        assert cells == [list(row) for row in widget._table(step).rows]
        assert place.locator(".ak-sentence").inner_text() == widget._sentence(step)
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(50)
    assert widget.step == 12
    page.keyboard.press("Home")
    place.get_by_role("button", name="Step forward").click()
    place.get_by_label("Step", exact=True).fill("7")
    place.get_by_role("button", name="Step back").click()
    place.get_by_role("button", name="Adam").click()
    page.wait_for_timeout(50)
    assert widget.step == 6 and widget.selected == "Adam"
    assert place.locator(".ak-chart [data-mark]").count() == 4


def test_it_plays_to_the_end_without_a_kernel(open_page: Callable[..., Any]) -> None:
    widget = race(speed=10.0)
    (shown,) = show(open_page(), widget)
    shown.page.evaluate("window.dead = true")
    shown.locator.locator(".ak-descent").focus()
    shown.page.keyboard.press("Space")
    shown.page.wait_for_function("document.querySelector('.ak-count').textContent === '12 / 12'")
    shown.page.wait_for_function("document.querySelector('.ak-play').textContent === 'Play'")
    assert widget.step == 0 and shown.close() == 0


def curves(place: Any) -> list[int]:
    """How many steps the curves of losses show."""
    drawn = place.locator(".ak-side .ak-line-of").evaluate_all("(g) => g.map((e) => e.getAttribute('d'))")
    return [d.count("L") for d in drawn]


def test_the_losses_grow_with_the_steps(open_page: Callable[..., Any]) -> None:
    widget = race()
    (shown,) = show(open_page(), widget)
    place = shown.locator
    place.locator(".ak-descent").focus()
    scale = place.locator(".ak-side .ak-axes").inner_html()
    for step in range(4):
        assert curves(place) == [step, step]
        now = widget.figure(step).axes[1]
        assert [len(line.get_xdata()) for line in now.lines[:4]] == [step + 1, 1, step + 1, 1]
        assert now.get_ylim() == widget.figure().axes[1].get_ylim()
        shown.page.keyboard.press("ArrowRight")
    assert place.locator(".ak-side .ak-axes").inner_html() == scale, "the axes stay"


def test_marks_that_overlap_are_all_seen(open_page: Callable[..., Any]) -> None:
    widget = ak.descent(lambda a, b: a * a + 10 * b * b, start=(2, 1), steps=30)
    (shown,) = show(open_page(), widget)
    marks = shown.locator.locator(".ak-seat:first-child .ak-mark-of")
    wide = [mark.bounding_box()["width"] for mark in marks.all()]
    assert wide == sorted(wide, reverse=True) and wide[0] > wide[1] + 3 > wide[2] + 6
    widget.step = 30
    shown.update()
    boxes = [mark.bounding_box() for mark in marks.all()]
    assert max(box["width"] for box in boxes) < wide[0] and len({box["x"] for box in boxes}) == 3
    sizes = [line.get_markersize() for line in widget.figure(0).axes[0].lines if line.get_marker() != "None"]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_contours_bend(open_page: Callable[..., Any]) -> None:
    (shown,) = show(open_page(), ak.descent(lambda a, b: a * a + b * b, start=(1, 1), steps=2))
    corners = shown.locator.locator(".ak-contour").evaluate_all(
        """(lines) => lines.map((line) => {
          const parts = line.getAttribute("d").split("M").slice(1)
            .map((part) => part.split("L").map((at) => at.split(",").map(Number)));
          return Math.max(...parts.map(([[a, b], [c, d]]) => Math.hypot(a - c, b - d)));
        })"""
    )
    assert len(corners) > 5 and max(corners) < 4.5, "no straight piece is longer than a few pixels"
    plane = np.add.outer(np.arange(4.0), 2 * np.arange(5.0))
    np.testing.assert_allclose(finer(plane), np.add.outer(np.arange(10) / 3, 2 * np.arange(13) / 3))


def test_a_click_sets_the_start(open_page: Callable[..., Any]) -> None:
    widget = race(step=12)
    (shown,) = show(open_page(), widget)
    place, page = shown.locator, shown.page
    frame = place.locator(".ak-seat:first-child .ak-chart > svg").bounding_box()
    page.mouse.click(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 4)
    page.wait_for_timeout(100)
    (x0, x1), (y0, y1) = widget.descents.ends
    np.testing.assert_allclose(widget.start, [(x0 + x1) / 2, y0 + 0.75 * (y1 - y0)], atol=0.02 * (y1 - y0))
    expected = ak.descent(
        lambda a, b: a * a + 10 * b * b, [(optim.SGD, {"lr": 0.02})], start=widget.start, steps=12
    )
    assert widget.descents.paths[0].points == expected.descents.paths[0].points
    shown.update()
    cells = [row.locator("th, td").all_inner_texts() for row in place.locator("tbody tr").all()]
    assert cells == [list(row) for row in widget._table(12).rows]
    first, second = (
        place.locator("tbody tr").first.locator(each).first.bounding_box() for each in ("th", "td")
    )
    assert first["x"] + first["width"] <= second["x"] + 0.5
    place.get_by_label("Start, a").fill("99")
    place.get_by_label("Start, a").press("Tab")
    page.wait_for_timeout(100)
    assert widget.start[0] == x1, "kept within the picture"
    widget.step, page_start = 0, list(widget.start)
    shown.update()
    page.evaluate("window.dead = true")
    page.mouse.click(frame["x"] + frame["width"] / 3, frame["y"] + frame["height"] / 3)
    place.get_by_text("The kernel does not answer: the ways begin where they began.").wait_for()
    assert widget.start == page_start and place.locator(".ak-count").inner_text() == "0 / 12"
    for wrong in ([1.0], [1.0, float("nan")]):
        with pytest.raises(traitlets.TraitError):
            widget.start = wrong
