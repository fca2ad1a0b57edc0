"""The widgets of compiled steps: a dynamic beside a static graph, and the passes before and after each."""

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
    before = [each.clone() for each in [*model.parameters(), torch.get_rng_state()]]
    widget = torch.static.compare(step, x, t)
    assert all(map(torch.equal, before, [*model.parameters(), torch.get_rng_state()]))
    return step, widget


def test_values_come_with_their_operation_and_go_with_the_last_reader(shown: Any) -> None:
    step, widget = shown
    boxes = boxes_of(step.passes[0].before, "operation")
    freed: set[str] = set()
    for moment in widget._moments:
        reads = {each for node in boxes[int(moment["box"][1:])] for each in node.operands()}
        assert not any(reads & {*boxes[int(each[1:])]} for each in freed), "what is read is still there"
        freed |= {*moment["freed"]}
    assert len(boxes) > len(widget._moments) > len(freed) > len(widget._moments) / 2
    assert all(widget._graphs[0]["boxes"][each["key"]][0] == each["box"] for each in widget._moments)


def test_a_saved_page_moves_both_graphs_and_goes_through_the_passes(
    shown: Any, open_page: Any, tmp_path: Path
) -> None:
    step, widget = shown
    widget.save(tmp_path / "compare.html")
    page = open_page(viewport={"width": 1300, "height": 900})
    page.goto((tmp_path / "compare.html").as_uri())
    root, boxes = page.locator(".ak-compare"), [moment["box"] for moment in widget._moments]
    for key, at in (("Home", 0), ("ArrowRight", 1), ("End", len(boxes) - 1)):
        root.press(key)
        dynamic = page.evaluate(STATUS, 0)
        assert dynamic[boxes[at]] == "current"
        assert [box for box in boxes if dynamic[box] == "to-come"] == boxes[at + 1 :]
    assert page.locator(".ak-sentence").inner_text().startswith("Adam")
    assert "the medians are" in page.locator("figcaption").last.inner_text()
    page.get_by_label("Passes").press("Home")
    assert page.locator(".ak-controls .ak-note").inner_text().startswith("as traced")
    assert page.evaluate(STATUS, 1).keys() == dynamic.keys() and not violations(page)
    step.passes.save(tmp_path / "passes.html")
    page.goto((tmp_path / "passes.html").as_uri())
    root.press("ArrowLeft")
    *_, before, after = [each for each in step.passes if each.words != "nothing to do"][:-1]
    assert page.locator(".ak-note").inner_text().startswith(f"{after.name}: {after.words}")
    counts = [f"Before: {len(before.after.nodes)} nodes", f"After: {len(after.after.nodes)} nodes"]
    assert page.locator(".ak-half h2").all_inner_texts() == counts and not violations(page)


def test_stills_have_words_and_no_times(shown: Any) -> None:
    step, widget = shown
    still = widget.still()
    assert "the static graph keeps" in still["text/plain"] and still["text/html"].count("<img") == 3
    assert "µs" not in str(still)
    assert repr(step.passes).startswith("constants: values known before the first run (3×) (")
