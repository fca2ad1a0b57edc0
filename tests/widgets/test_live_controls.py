"""Every control of the live widgets by mouse and by key, in JupyterLab and Notebook 7; none is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.widgets.lab import LIVE_WIDGETS, Notebook

USABLE = "button, input, select, textarea, summary, a, [role=treeitem], [tabindex]"
SCALE = "place => place.querySelector('[data-element]').getScreenCTM().a"


@dataclass
class Control:
    """One control: where it is, what is set before, the hand's two ways, and what Python must then say."""

    widget: str
    find: str
    before: str
    says: tuple[str, str]
    keys: tuple[str, ...] = ("Enter",)
    mouse: Callable[[Any], None] = lambda control: control.click()
    """What a click alone does not do."""


def _to_the_right(control: Any) -> None:
    room = control.bounding_box()
    control.click(position={"x": room["width"] - 3, "y": room["height"] / 2})


def _exactly(control: Any) -> None:
    control.click(click_count=3)
    control.page.keyboard.type("1.25")
    control.page.locator(".ak-playground .ak-result").click()


def _descent(label: str, key: str, before: int, after: int) -> list[Control]:
    says = ("race.step", str(after))
    start = f"race.step = {before}"
    return [
        Control(".ak-descent", f"[aria-label='{label}']", start, says),
        Control(".ak-descent", "", start, says, (key,), lambda place: None),
    ]


CONTROLS = [
    Control(
        ".ak-playground", ".ak-slide", "board.a = 0.0", ("board.a > 1.9", "True"), ("End",), _to_the_right
    ),
    Control(
        ".ak-playground",
        ".ak-exact",
        "board.a = 0.0",
        ("board.a", "1.25"),
        ("Control+a", "1", ".", "2", "5", "Enter"),
        _exactly,
    ),
    Control(".ak-playground", "text=Back to the start", "board.a = 1.0", ("board.a", "0.0")),
    *_descent("To the start", "Home", 3, 0),
    *_descent("Step back", "ArrowLeft", 3, 2),
    *_descent("Step forward", "ArrowRight", 3, 4),
    *_descent("To the end", "End", 3, 5),
    Control(".ak-descent", ".ak-slide", "race.step = 0", ("race.step", "5"), ("End",), _to_the_right),
    Control(".ak-descent", ".ak-play", "race.playing, race.step = False, 0", ("race.step > 0", "True")),
    Control(".ak-descent", ".ak-link", "race.selected = ''", ("race.selected", "SGD")),
    Control(
        ".ak-explorer",
        "[role=treeitem]",
        "explorer.selected = ''",
        ("explorer.selected", "1"),
        ("ArrowDown", "ArrowDown"),
        lambda tree: tree.page.locator(".ak-explorer [role=treeitem]").nth(2).click(),
    ),
    Control(".ak-monitor", ".ak-link", "watch.selected = ''", ("watch.selected", "0 · Linear")),
]


@pytest.fixture(params=["lab", "notebook7"])
def notebook(request: pytest.FixtureRequest, chromium: Any) -> Any:
    server = request.getfixturevalue(request.param)
    context = chromium.new_context(viewport={"width": 1280, "height": 2600}, reduced_motion="reduce")
    opened = server.open(context, "live.ipynb", [LIVE_WIDGETS, "0"])
    opened.run_all()
    opened.page.wait_for_selector(".ak-explorer")
    yield opened
    context.close()


def test_each_by_mouse_and_by_key(notebook: Notebook) -> None:
    page = notebook.page
    for control in CONTROLS:
        place = page.locator(control.widget)
        found = place.locator(control.find).first if control.find else place
        for way in ("mouse", "key"):
            if way == "mouse" and not control.find:
                continue  # a key of the whole widget; its button is another row
            notebook.run(control.before)
            if way == "mouse":
                control.mouse(found)
            else:
                found.focus()
                for key in control.keys:
                    page.keyboard.press(key)
            notebook.wait_for(*control.says)
        if control.find:
            found.evaluate("each => { each.dataset.inTable = 'yes' }")
    _zoom(page)
    forgotten = page.evaluate(
        """usable => [...document.querySelectorAll(".ak-playground, .ak-descent, .ak-monitor, .ak-explorer")]
  .flatMap((root) => [...root.querySelectorAll(usable)])
  .filter((each) => !("inTable" in each.dataset) && !each.matches("[role=region], [role=treeitem]"))
  .map((each) => each.outerHTML.slice(0, 160))""",
        USABLE,
    )
    assert forgotten == []


def _zoom(page: Any) -> None:
    """The buttons of the picture, which only the browser knows of."""
    for widget in (".ak-playground", ".ak-explorer"):
        place = page.locator(widget)
        for use in (lambda button: button.click(), lambda button: button.press("Enter")):
            sizes = []
            for label in ("Fit the whole graph", "Zoom in", "Zoom out", "Fit the whole graph"):
                button = place.get_by_label(label)
                use(button)
                button.evaluate("each => { each.dataset.inTable = 'yes' }")
                page.wait_for_timeout(50)
                sizes.append(place.evaluate(SCALE))
            fitted, larger, smaller, again = sizes
            assert fitted < larger > smaller and again == pytest.approx(fitted)
