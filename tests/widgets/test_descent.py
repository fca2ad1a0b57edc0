"""The descent: at each step the screen shows Python's numbers, by mouse, by key, and with the kernel gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import traitlets

import autokit as ak
from autokit import optim
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
    with pytest.raises(IndexError, match="step 13 is out of range for ways of 12 steps"):
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
