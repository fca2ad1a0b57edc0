"""The explorer: the tree and the graph choose for each other, and the facts are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import traitlets

import autokit as torch
from autokit import nn
from autokit.widgets.explorer import Explorer
from tests.widgets.live import show
from tests.widgets.test_playground import pictures


def make(**traits: Any) -> Explorer:
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4))
    return torch.explore(nn.Sequential(body, nn.Tanh()), torch.randn(5, 3), **traits)


MARKED = "g => g.map((each) => each.dataset.element).sort()"


def test_python_chooses_modules_that_there_are() -> None:
    explorer = make(selected="0.1")
    assert repr(explorer) == "Explorer(Sequential, 6 modules, 10 nodes)"
    with pytest.raises(traitlets.TraitError, match=r"'7'; there are '0', '0\.0', "):
        explorer.selected = "7"


def test_the_still_is_a_table_and_the_graph() -> None:
    explorer = make()
    ((_, drawn),) = pictures(explorer)
    assert ">tanh<" in drawn
    text = explorer.still()["text/plain"]
    assert "│  ├─ 1: ReLU" in text and "±" in text and explorer.still() == make().still()


def test_tree_and_graph_choose_for_each_other(open_page: Callable[..., Any]) -> None:
    explorer = make()
    (shown,) = show(open_page(), explorer)
    page, place = shown.page, shown.locator
    place.get_by_role("treeitem").first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    page.wait_for_timeout(50)
    assert explorer.selected == "0.2"
    expected = sorted(n.element for n in explorer.exploration.graph.nodes if n.module == "0.2")
    assert place.locator("[data-element][data-selected]").evaluate_all(MARKED) == expected
    relu = next(n for n in explorer.exploration.graph.nodes if n.operation == "relu")
    place.get_by_role("button", name="Fit the whole graph").click()
    place.locator(f"[data-element={relu.element}]").click()
    page.wait_for_timeout(50)
    assert explorer.selected == "0.1"
    assert place.locator("[role=treeitem][aria-selected=true]").inner_text().split() == ["1", "ReLU"]
    place.locator("[role=treeitem][tabindex='0']").focus()
    for key in ("Home", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert place.locator("[role=treeitem]:visible").count() == 3, "what is folded is not shown"


def test_facts_are_pythons(open_page: Callable[..., Any]) -> None:
    explorer = make()
    (shown,) = show(open_page(), explorer)
    for k, told in enumerate(explorer._layers):
        shown.locator.get_by_role("treeitem").nth(k).click()
        facts = shown.locator.locator(".ak-facts :is(dt, dd)").all_inner_texts()
        assert facts == [text for fact in told["facts"] for text in fact]
        words = shown.locator.locator(".ak-spreads figure p").all_inner_texts()
        assert words == [spread["words"] for spread in told["spreads"]] and len(words) == 2
        rows = [row.locator("th, td").all_inner_texts() for row in shown.locator.locator("tbody tr").all()]
        assert rows == told["weights"]
    assert shown.close() == 0


def test_the_tree_is_seen(open_page: Callable[..., Any]) -> None:
    deep = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(12)])
    explorer = torch.explore(deep, torch.ones(3, 2), selected="11.1")
    (shown,) = show(open_page(), explorer)
    tree = shown.locator.get_by_role("tree").bounding_box()
    chosen = shown.locator.locator("[role=treeitem][aria-selected=true]").bounding_box()
    assert tree["y"] <= chosen["y"] and chosen["y"] + chosen["height"] <= tree["y"] + tree["height"]
    guides = shown.locator.get_by_role("treeitem").evaluate_all(
        "(items) => items.map((item) => parseFloat(getComputedStyle(item).backgroundSize))"
    )
    assert guides == [16 * each.layer.depth for each in explorer.exploration.layers], "a line for each level"
