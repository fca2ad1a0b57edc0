"""The widget that shows a step as a dynamic and as a static graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autokit as torch
from autokit.graphs.program import boxes_of
from autokit.widgets.compare import Compare
from tests.static.programs import trained_step
from tests.support import require
from tests.widgets.pages import violations

require("anywidget")

STATUS = """(half) => Object.fromEntries([...document.querySelectorAll(".ak-half")[half]
  .querySelectorAll('[data-element^="n"]')].map((g) => [g.dataset.element, g.dataset.status]))"""


@pytest.fixture
def shown() -> tuple[Any, Compare]:
    step, model, x, t = trained_step()
    before = [each.clone() for each in model.parameters()], torch.get_rng_state()
    widget = torch.static.compare(step, x, t)
    assert all(torch.equal(*pair) for pair in zip(before[0], model.parameters()))
    assert torch.equal(before[1], torch.get_rng_state())
    return step, widget


def test_values_come_with_their_operation_and_go_with_the_last_reader(shown: Any) -> None:
    step, widget = shown
    graph = step.passes[0].before
    boxes = boxes_of(graph)
    order = [int(moment["box"][1:]) for moment in widget._moments]
    assert order == sorted(order) and order[-1] == len(boxes) - 1
    freed: set[int] = set()
    for place, moment in zip(order, widget._moments):
        reads = {each for node in boxes[place] for each in node.operands()}
        assert not {at for at in freed if reads & {*boxes[at]}}, "what is read is still there"
        freed |= {int(each[1:]) for each in moment["freed"]}
    assert len(freed) > len(order) / 2
    for stage in widget._graphs:
        assert len(stage["boxes"]) == len(order)
    assert widget._graphs[0]["boxes"] == [moment["box"] for moment in widget._moments]


def test_a_saved_page_moves_both_graphs_and_goes_through_the_passes(
    shown: Any, open_page: Any, tmp_path: Path
) -> None:
    _, widget = shown
    widget.save(tmp_path / "compare.html")
    page = open_page(viewport={"width": 1300, "height": 900})
    page.goto((tmp_path / "compare.html").as_uri())
    first, second = [moment["box"] for moment in widget._moments[:2]]
    page.locator(".ak-compare").focus()
    assert page.evaluate(STATUS, 0)[first] == "current" and page.evaluate(STATUS, 0)[second] == "to-come"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(STATUS, 0)[second] == "current" and page.evaluate(STATUS, 0)[first] != "to-come"
    page.keyboard.press("End")
    assert (
        f"{len(widget._moments)} of {len(widget._moments)}: Adam" in page.locator(".ak-headline").inner_text()
    )
    assert "to-come" not in page.evaluate(STATUS, 0).values()
    passes = page.get_by_label("Passes")
    passes.focus()
    page.keyboard.press("Home")
    assert page.locator(".ak-sliders .ak-note").inner_text() == "as traced"
    assert page.evaluate(STATUS, 1).keys() == page.evaluate(STATUS, 0).keys()
    assert not violations(page)


def test_the_still_has_words_and_is_saved(shown: Any, tmp_path: Path) -> None:
    _, widget = shown
    still = widget.still()
    assert "the static graph keeps" in still["text/plain"] and still["text/html"].count("<img") == 3
    widget.save(tmp_path / "compare.svg")
    assert (tmp_path / "compare.svg").read_text("utf-8").count("<svg") == 7
