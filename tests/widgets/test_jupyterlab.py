"""The player in a real JupyterLab: it appears, both sides drive it, and it outlives its kernel."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from autokit.graphs.model import Timeline
from tests.widgets.lab import PATIENCE, Lab, Notebook
from tests.widgets.pages import SHOWN, drawn

COMPUTE = """\
import autokit as ak
a = ak.tensor(15.0, requires_grad=True)
b = ak.tensor(20.0, requires_grad=True)
c = a * b"""
MAKE = f"""\
{COMPUTE}
player = ak.animate(c)
player"""
LAST = 18
SECOND = f"""\
import ipywidgets
slider = ipywidgets.IntSlider(max={LAST})
link = ipywidgets.jslink((player, "step"), (slider, "value"))
ipywidgets.VBox([slider, player])"""


def recorded() -> Timeline:
    """The story that the notebook's cell records, recorded here."""
    scope: dict[str, Any] = {}
    exec(COMPUTE, scope)
    for name in "abc":
        scope[name].name = name
    return scope["ak"].record(scope["c"])


@pytest.fixture(scope="module")
def notebook(lab: Lab, chromium: Any) -> Iterator[Notebook]:
    """One notebook for all: a player, a second view of it with a linked slider, and a cell to run in."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1700})
    notebook = lab.open(context, "player.ipynb", [MAKE, SECOND, "0"])
    notebook.run_all()
    notebook.page.wait_for_selector(".ak-player >> nth=1")
    yield notebook
    context.close()


@pytest.fixture
def page(notebook: Notebook) -> Any:
    """The notebook's page, with the player at its start."""
    # What the front end has just changed may reach Python only after Python set it back: so it is said again.
    stands = "[...document.querySelectorAll('.ak-range')].every((range) => Number(range.value) === 0)"
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        notebook.run("player.playing, player.step, player.selected, player.grain = False, 0, '', 'fine'")
        if notebook.page.evaluate(stands):
            return notebook.page
        time.sleep(0.1)
    raise TimeoutError("the player did not go back to its start")


def wait_for_steps(page: Any, step: int) -> None:
    page.wait_for_function(
        "step => [...document.querySelectorAll('.ak-range')].every((range) => Number(range.value) === step)",
        arg=step,
    )


def test_keys_and_buttons_step_and_python_reads_it_back(notebook: Notebook, page: Any) -> None:
    first = page.locator(".ak-player").first
    first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    first.get_by_role("button", name="Step forward").click()
    first.get_by_role("button", name="Step back").click()
    page.keyboard.press("ArrowRight")
    wait_for_steps(page, 4)
    notebook.wait_for("player.step", "4")
    assert notebook.active_cell() == 2, "Lab took no key"


def test_what_is_shown_is_what_python_says(notebook: Notebook, page: Any) -> None:
    story = recorded()
    assert len(story) == LAST + 1
    for step in (0, 3, 10, LAST):
        notebook.run(f"player.seek({step})")
        wait_for_steps(page, step)
        assert page.evaluate(SHOWN) == drawn(story, step)
        assert page.locator(".ak-sentence").first.inner_text() == story.steps[step].sentence


def test_python_selects_and_changes_the_grain(notebook: Notebook, page: Any) -> None:
    notebook.run("player.selected = 'n2'")
    page.wait_for_selector(".ak-panel:visible")
    assert page.locator(".ak-panel .ak-title").first.inner_text().endswith("c")
    page.locator(".ak-player").first.get_by_label("Detail", exact=True).select_option("coarse")
    page.locator(".ak-player").first.get_by_role("button", name="To the end").click()
    wait_for_steps(page, LAST)
    notebook.wait_for("player.grain, player.step, player.selected", f"coarse {LAST} n2")


def test_python_plays_and_both_views_keep_step(notebook: Notebook, page: Any) -> None:
    notebook.run("player.speed = 10; player.play()")
    wait_for_steps(page, LAST)
    page.wait_for_function("() => document.querySelector('.ak-play').textContent === 'Play'")
    notebook.wait_for("player.step, player.playing", f"{LAST} False")
    notebook.run("player.speed = 1")


def test_enter_is_the_players_while_typing(notebook: Notebook, page: Any) -> None:
    first = page.locator(".ak-player").first
    first.get_by_label("Find a node").focus()
    page.keyboard.type("b")
    page.keyboard.press("Enter")
    assert first.locator(".ak-panel .ak-title").inner_text() == "b"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert first.locator(".ak-panel").is_hidden(), "leaving the field does not search again"
    first.get_by_role("button", name="Predict").click()
    first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.type("299")
    page.keyboard.press("Enter")
    assert first.locator(".ak-verdict").inner_text().startswith("✓ Right: 300.0")
    wait_for_steps(page, 3)
    first.get_by_role("button", name="Predict").click()


def test_saving_and_running_stay_jupyterlabs(notebook: Notebook, page: Any) -> None:
    page.evaluate("window.jupyterapp.shell.currentWidget.context.model.dirty = true")
    page.locator(".ak-player").first.get_by_role("button", name="Step forward").click()
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate(
        """() => {
          window.left = {};
          window.spy = (event) => {
            window.left[event.key] = !event.target.closest("[data-lm-suppress-shortcuts]");
            event.stopImmediatePropagation(); // a cell that ran would make another player
          };
          window.addEventListener("keydown", window.spy, true);
        }"""
    )
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("ArrowRight")
    page.evaluate("window.removeEventListener('keydown', window.spy, true)")
    left = page.evaluate("window.left")
    assert left["Enter"] and not left["ArrowRight"]


def test_a_linked_slider_moves_it(notebook: Notebook, page: Any) -> None:
    page.locator(".ak-player").nth(1).get_by_role("button", name="To the end").click()
    notebook.wait_for("slider.value", str(LAST))
    notebook.run("slider.value = 7")
    wait_for_steps(page, 7)


def test_the_still_stands_before_the_player_and_hides_while_that_lives(notebook: Notebook, page: Any) -> None:
    outputs = json.loads(
        page.evaluate(
            "JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets[0].model.outputs.toJSON())"
        )
    )
    still, live = (output["data"] for output in outputs)
    assert set(still) == {"text/html", "text/plain"} and "<img alt=" in still["text/html"]
    assert set(live) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert " at 0x" not in live["text/plain"] + still["text/plain"]
    moments = page.locator(".jp-Cell").first.locator("img").all()
    assert moments and not any(moment.is_visible() for moment in moments)


def test_elements_come_from_the_kernel_as_long_as_it_lives(notebook: Notebook, page: Any) -> None:
    notebook.command("notebook:insert-cell-below")
    notebook.run(
        "ak.manual_seed(0); w = ak.randn(60, 50, requires_grad=True)\n"
        "with ak.recording():\n    loss = (w * 2).sum()\n"
        "big = ak.animate(loss, step=10**6, selected='n0'); big"
    )
    player = page.locator(".ak-player").last
    assert player.locator(".ak-grid td").count() == 0, "large arrays come as their summaries"
    player.get_by_role("button", name="Show all 3,000 elements").first.click()
    player.locator(".ak-grid td >> nth=1023").wait_for(state="attached")
    assert player.locator(".ak-grid td").nth(51).inner_text() == notebook.run(
        "from autokit.graphs.summary import number; print(number(w[1, 1].item()))"
    )


def test_lives_on_without_its_kernel_and_asked_nothing_of_the_outside(notebook: Notebook, page: Any) -> None:
    notebook.shut_down()
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
    page.locator(".ak-player").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    wait_for_steps(page, LAST - 1)
    assert notebook.asked and notebook.outside() == []


def test_opened_again_without_its_widgets_the_notebook_shows_the_stills(
    notebook: Notebook, lab: Lab, chromium: Any
) -> None:
    notebook.save()
    cell = first_cell_of(lab, chromium, "player.ipynb")
    cell.get_by_text("model not found").wait_for(state="attached")
    moments = cell.locator("img").all()
    assert moments and all(moment.is_visible() for moment in moments)
    assert cell.get_by_text("model not found").is_hidden(), "the still takes its place"
    assert cell.locator(".jp-OutputArea-output:visible").count() == 1


def first_cell_of(lab: Lab, chromium: Any, name: str) -> Any:
    context = chromium.new_context(viewport={"width": 1280, "height": 1700})
    return lab.reopen(context, name).page.locator(".jp-Cell").first
