"""The player in a real Notebook 7: keys are its own, twenty share nothing, and a restart is survived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.widgets.lab import LIVE_WIDGETS, Lab, Notebook
from tests.widgets.pages import standing, violations

MAKE = """\
import autokit as ak
a = ak.tensor(15.0, requires_grad=True)
b = ak.tensor(20.0, requires_grad=True)
c = a * b
player = ak.animate(c)
player"""
MANY = """\
from IPython.display import display
players = [ak.animate(a * float(k), step=k % 5) for k in range(20)]
display(*players)"""


@pytest.fixture(scope="module")
def notebook(notebook7: Lab, chromium: Any) -> Iterator[Notebook]:
    context = chromium.new_context(viewport={"width": 1280, "height": 1700}, reduced_motion="reduce")
    notebook = notebook7.open(context, "player.ipynb", [MAKE, "0"])
    notebook.run_all()
    notebook.page.wait_for_selector(".ak-player")
    yield notebook
    context.close()


def test_it_appears_and_the_still_steps_back(notebook: Notebook) -> None:
    cell = notebook.page.locator(".jp-Cell").first
    assert cell.locator(".ak-player").count() == 1
    assert cell.locator("img").is_hidden()
    assert violations(notebook.page) == []


def test_keys_are_the_players(notebook: Notebook) -> None:
    page = notebook.page
    page.locator(".ak-player").focus()
    active = notebook.active_cell()
    for key in (
        "ArrowRight",
        "ArrowRight",
        "ArrowDown",
        "ArrowLeft",
        "PageDown",
        "End",
        "Home",
        "ArrowRight",
    ):
        page.keyboard.press(key)
    assert standing(page) == 1
    assert page.locator(".ak-panel .ak-title").inner_text() == "a"
    assert notebook.active_cell() == active
    page.keyboard.press("Escape")
    page.locator(".ak-player").get_by_role("button", name="Step forward").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".ak-panel .ak-title").inner_text() == "a", "also where a button has the focus"
    page.keyboard.press("Escape")
    notebook.wait_for("player.step, repr(player.selected)", "1 ''")


def test_twenty_players_share_nothing(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(MANY)
    page.wait_for_function("document.querySelectorAll('.ak-player').length === 21")
    steps = "() => [...document.querySelectorAll('.ak-range')].map((range) => Number(range.value))"
    page.wait_for_function(f"({steps})().slice(1).every((step, k) => step === k % 5)")
    page.locator(".ak-player").nth(7).get_by_role("button", name="To the end").click()
    page.locator(".ak-player").nth(9).get_by_role("button", name="Code").click()
    shown = page.evaluate(steps)
    assert shown[7] > 5 and [shown[0], *shown[1:7], *shown[8:]] == [
        1,
        *(k % 5 for k in (*range(6), *range(7, 20))),
    ]
    assert page.locator(".ak-program:visible").count() == 1
    assert page.locator(".jp-OutputArea-child img:visible").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids)), "no two elements have one id"


def test_the_live_widgets_have_their_keys_too(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(LIVE_WIDGETS)
    page.wait_for_selector(".ak-explorer")
    for name in (".ak-playground", ".ak-monitor", ".ak-descent", ".ak-explorer"):
        assert page.locator(name).count() == 1
    page.locator(".ak-playground").get_by_label("a", exact=True).focus()
    active = notebook.active_cell()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.locator(".ak-descent").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".ak-explorer [role=treeitem]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".ak-explorer [role=treeitem][aria-selected=true] >> text=1")
    assert notebook.active_cell() == active
    notebook.wait_for("board.a, race.step, explorer.selected", "0.1 1 1")
    assert violations(page) == []


def test_a_restart_in_mid_play_leaves_it_playing(notebook: Notebook) -> None:
    page = notebook.page
    first = page.locator(".ak-player").first
    first.get_by_label("Step", exact=True).fill("10")
    first.get_by_label("Speed").select_option("4")
    first.get_by_role("button", name="Play", exact=True).click()
    notebook.restart()
    page.wait_for_function(
        "() => { const p = document.querySelector('.ak-player');"
        " return Number(p.querySelector('.ak-range').value) === Number(p.querySelector('.ak-range').max)"
        " && p.querySelector('.ak-play').textContent === 'Play'; }"
    )
    first.focus()
    page.keyboard.press("ArrowLeft")
    assert standing(page.locator(".ak-player").first) == 17
    assert notebook.asked and notebook.outside() == []


def test_opened_again_without_its_kernel_the_stills_take_their_place(
    notebook: Notebook, notebook7: Lab, chromium: Any
) -> None:
    notebook.save()
    notebook.shut_down()
    context = chromium.new_context(viewport={"width": 1280, "height": 1700})
    cell = notebook7.reopen(context, "player.ipynb").page.locator(".jp-Cell").first
    cell.get_by_text("model not found").wait_for(state="attached")
    assert cell.locator("img").is_visible()
    assert cell.get_by_text("model not found").is_hidden()
    assert cell.locator(".jp-OutputArea-output:visible").count() == 1
    context.close()
