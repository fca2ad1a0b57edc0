"""The live widgets in one notebook of a real JupyterLab: hands, links, a restart, and what is saved."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.widgets.lab import Lab, Notebook
from tests.widgets.pages import violations

CELLS = [
    """\
import autokit as ak
from autokit.graphs.summary import number
from autokit import nn, optim
import ipywidgets
def bowl(a, b):
    c = a * b
    return c + a.sin()
board = ak.playground(bowl, a=(-2, 2), b=(-1, 3))
board""",
    """\
slider = ipywidgets.FloatSlider(min=-2, max=2, step=0.05)
link = ipywidgets.jslink((board, "a"), (slider, "value"))
heard = []
board.observe(lambda change: heard.append(change["new"]), "value")
slider""",
    """\
ak.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
x = ak.randn(16, 2)
with ak.monitor(model, optimizer, total=30) as watch:
    for step in range(30):
        optimizer.zero_grad()
        loss = (model(x) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        watch.step(loss)""",
    """\
race = ak.descent(lambda x, y: x * x + 4 * y * y, start=(1, 1), steps=20)
race""",
    """\
explorer = ak.explore(model, x, selected="1")
explorer""",
    """\
@ak.static.compile
def slope(x):
    model.zero_grad()
    loss = model(x).sum()
    loss.backward()
    return loss
slope(x)
comparison = ak.static.compare(slope, x)
comparison""",
    "slope.passes",
    """\
tf = ak.static
halved = tf.divide(tf.placeholder(tf.float32, name="given"), 2.0, name="halved")
debugger = tf.Session().debug(tf.square(halved), {"given:0": 3.0})
debugger""",
    "0",
]
COMPARISON, PASSES = [
    f".ak-compare[aria-label='{name}']"
    for name in ("A dynamic and a static graph", "The passes over a static graph")
]
WIDGETS = (".ak-playground", ".ak-monitor", ".ak-descent", ".ak-explorer", COMPARISON, PASSES, ".ak-session")


@pytest.fixture(scope="module")
def notebook(lab: Lab, chromium: Any) -> Iterator[Notebook]:
    context = chromium.new_context(viewport={"width": 1280, "height": 3000}, reduced_motion="reduce")
    notebook = lab.open(context, "live.ipynb", CELLS)
    notebook.run_all()
    for name in WIDGETS:
        notebook.page.wait_for_selector(name)
    yield notebook
    context.close()


def test_each_stands_in_the_place_of_its_still(notebook: Notebook) -> None:
    page = notebook.page
    for name in WIDGETS:
        assert page.locator(name).count() == 1, name
    page.wait_for_function("document.querySelector('.ak-monitor .ak-phase').textContent === 'Done'")
    assert page.locator(".jp-OutputArea-child img:visible").count() == 0
    assert violations(page) == []
    ids = page.evaluate("[...document.querySelectorAll('.ak-player [id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_a_hand_on_the_slider_reaches_the_kernel_and_the_linked_widget(notebook: Notebook) -> None:
    page = notebook.page
    place = page.locator(".ak-playground")
    place.get_by_label("a", exact=True).focus()
    active = notebook.active_cell()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert notebook.active_cell() == active
    notebook.wait_for("board.a, slider.value, len(heard) > 0", "-1.95 -1.95 True")
    shown = notebook.run("print(number(board.value))")
    page.wait_for_function(
        "(v) => document.querySelector('.ak-playground .ak-result').textContent === v", arg=shown
    )
    slopes = notebook.run("print(*map(number, board.gradients.values()))").split()
    assert place.locator(".ak-slope").all_inner_texts() == slopes


def test_python_moves_the_slider(notebook: Notebook) -> None:
    notebook.run("board.b = 2.5")
    notebook.page.wait_for_function(
        "document.querySelector('.ak-playground [aria-label=\"b, as a number\"]').value === '2.5'"
    )


def test_the_monitor_shows_the_end_of_the_run(notebook: Notebook) -> None:
    loss = notebook.run("print(number(watch.loss))")
    assert notebook.page.locator(".ak-monitor .ak-fact b").all_inner_texts() == ["30 of 30", loss, "0.1"]


def test_the_descent_plays_and_python_hears(notebook: Notebook) -> None:
    page = notebook.page
    page.locator(".ak-descent").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    notebook.wait_for("race.step", "2")
    notebook.run("race.seek(-1)")
    page.wait_for_function("document.querySelector('.ak-descent .ak-count').textContent === '20 / 20'")


def test_the_explorer_and_python_choose_modules(notebook: Notebook) -> None:
    page = notebook.page
    page.locator(".ak-explorer [role=treeitem]").nth(2).click()
    page.keyboard.press("ArrowDown")
    notebook.wait_for("explorer.selected", "2")
    notebook.run("explorer.selected = '0'")
    page.wait_for_selector(".ak-explorer [role=treeitem][aria-selected=true] >> text=0")


def test_the_widgets_of_static_graphs_step_in_the_browser_and_in_python(notebook: Notebook) -> None:
    page = notebook.page
    page.locator(COMPARISON).press("ArrowRight")
    notebook.wait_for("comparison.step", "1")
    notebook.run("comparison.chosen = 0")
    page.wait_for_function(
        "(name) => document.querySelector(name).innerText.includes('as traced')", arg=COMPARISON
    )
    note = page.locator(f"{PASSES} .ak-note")
    last = note.inner_text()
    page.locator(PASSES).press("ArrowLeft")
    assert note.inner_text() != last
    page.locator(".ak-session").press("ArrowRight")
    notebook.wait_for("debugger.run.done", "1")
    notebook.run("debugger.step = 100")
    page.wait_for_selector(".ak-session >> text=The run has ended")
    assert notebook.run("print(*debugger.results)") == "2.25"


def test_what_is_saved_shows_the_stills_without_a_kernel(notebook: Notebook, lab: Lab) -> None:
    page = notebook.page
    notebook.command("docmanager:save")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    book = json.loads((lab.folder / "live.ipynb").read_text("utf-8"))
    stills = [
        "".join(output["data"]["text/html"])
        for cell in book["cells"]
        for output in cell["outputs"]
        if "text/html" in output.get("data", {})
    ]
    assert len(stills) == len(WIDGETS) and all('src="data:image/svg+xml;base64,' in still for still in stills)
    assert "text/html" not in book["cells"][2]["outputs"][0]["data"], "the still comes after the widget"
    assert "After 30 steps of 30" in stills[1]
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--stdout", str(lab.folder / "live.ipynb")]
    page_html = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert page_html.count('<img alt="') >= 3
