"""Every control of the player by mouse and by key, in a real JupyterLab and Notebook 7; none forgotten."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.controls import CELLS, CONTROLS, walk
from tests.widgets.pages import open_file, press

USABLE = "button, input, select, textarea, summary, a, label > *, [role=grid], [role=button], [tabindex]"

FORGOTTEN = f"""root => [...root.querySelectorAll(`{USABLE}`)]
  .filter((each) => !("inTable" in each.dataset) && !each.matches("span, [role=region], [role=group]"))
  .map((each) => each.outerHTML.slice(0, 160))"""

OUT_OF_REACH = f"""root => [...root.querySelectorAll(`{USABLE}`)]
  .filter((each) => each.checkVisibility() && each.tabIndex >= 0 && !("reached" in each.dataset))
  .map((each) => each.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize("app", ["lab", "notebook7"])
def test_each_by_mouse_and_by_key(app: str, chromium: Any, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue(app)
    context = chromium.new_context(viewport={"width": 1280, "height": 2200}, reduced_motion="reduce")
    notebook = server.open(context, "controls.ipynb", [*CELLS, "0"])
    notebook.run_all()
    notebook.page.wait_for_selector(".ak-player >> nth=1")
    walk(notebook.page, notebook.page.locator(".ak-player").all())
    context.close()


@pytest.mark.parametrize("player", [0, 1])
def test_the_table_has_all_and_tab_leads_to_each(
    open_page: Callable[..., Any], tmp_path: Path, player: int
) -> None:
    (tmp_path / "cells.py").write_text("\n".join(CELLS).replace("ak.animate", "ak.record"), "utf-8")
    scope = runpy.run_path(str(tmp_path / "cells.py"))
    page = open_file(open_page(reduced_motion="reduce"), scope["folded" if player else "player"], tmp_path)
    root = page.locator(".ak-player")
    for name in ("Code", "Predict"):
        page.get_by_role("button", name=name).click()
    root.focus()
    for node in range(1 if player else 3):  # with the details of x, of w, and of h, which has a source
        press(page, "End", "ArrowDown")
        page.locator(".ak-account").evaluate("account => account.open = true")
        for control in CONTROLS:
            root.locator(control.selector).evaluate_all(
                "all => all.forEach((one) => (one.dataset.inTable = ''))"
            )
        assert root.evaluate(FORGOTTEN) == []
        if node == 0:
            reached = 0
            root.focus()
            while page.evaluate("document.activeElement.closest('.ak-player') !== null"):
                page.evaluate("document.activeElement.dataset.reached = ''")
                page.keyboard.press("Tab")
                reached += 1
            assert root.evaluate(OUT_OF_REACH) == [] and reached > 20
            root.focus()


def test_the_tests_see_what_is_forgotten(page: Any) -> None:
    page.locator(".ak-row").evaluate("row => row.append(document.createElement('button'))")
    assert "<button></button>" in page.locator(".ak-player").evaluate(FORGOTTEN)
