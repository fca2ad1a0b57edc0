"""Recorded computations in the player: a fan-out, and tensors that broadcast."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets.payload import payload
from tests.widgets import timelines
from tests.widgets.pages import SHOWN, drawn, open_file, press


def fan_out() -> Timeline:
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(-2.0, requires_grad=True)
    return ak.record(a * b + a * a)


def broadcast() -> Timeline:
    ak.manual_seed(0)
    x, w, b = ak.randn(3, 2), ak.randn(2, 4, requires_grad=True), ak.randn(4, requires_grad=True)
    return ak.record((x @ w + b).relu().mean())


def in_forward_mode() -> Timeline:
    ak.manual_seed(0)
    x, w, b = ak.randn(3, 2), ak.randn(2, 4, requires_grad=True), ak.tensor(2.0, requires_grad=True)
    return ak.record((x @ w * b + b).mean(), mode="forward", wrt=b)


@pytest.mark.parametrize("make", [fan_out, broadcast, in_forward_mode])
def test_every_step_is_pythons(
    open_page: Callable[..., Any], tmp_path: Path, make: Callable[[], Timeline]
) -> None:
    story = make()
    page = open_file(open_page(), story, tmp_path)
    heights = set()
    for step in range(len(story)):
        assert page.evaluate(SHOWN) == drawn(story, step)
        assert page.locator(".ak-sentence").inner_text() == story.steps[step].sentence
        heights.add(page.locator(".ak-player").bounding_box()["height"])
        press(page, "ArrowRight")
    assert len(heights) == 1


def chain() -> Timeline:
    y = x = ak.tensor(0.0, requires_grad=True)
    for _ in range(100):
        y = y + x
    return ak.record(y)


@pytest.mark.parametrize("make", [fan_out, broadcast, chain, timelines.product])
def test_under_a_kilobyte_a_step(make: Callable[[], Timeline]) -> None:
    story = make()
    assert len(json.dumps(payload(story)["_timeline"], ensure_ascii=False).encode()) < 1000 * len(story)


def test_each_value_and_each_contribution_is_asked_for_once(module_page: Any) -> None:
    story = fan_out()
    asked = module_page.evaluate(
        "t => [...player.questions(t)].map(([k, q]) => [q.element, q.answer])", payload(story)["_timeline"]
    )
    computed = [step for step in story if step.kind == "value"]
    travelled = [step for step in story if step.kind == "travel"]
    assert len(asked) == len(computed) + len(travelled) == 3 + 6
    told = [(change.element, change.value) for step in (*computed, *travelled) for change in step.changes]
    assert all(tuple(pair) in told for pair in asked)


def test_tangents_go_forward(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_file(open_page(), in_forward_mode(), tmp_path)
    press(page, "End", "ArrowDown")
    seen = """part => [...document.querySelectorAll(`[data-status="tangent"] [data-part="${part}"]`)]
      .map(each => getComputedStyle(each).visibility)"""
    assert set(page.evaluate(seen, "arrow")) == {"visible"}
    assert set(page.evaluate(seen, "return")) == {"hidden"}
    panel = page.locator(".ak-panel").inner_text()
    assert "Tangent" in panel and "Gradient" not in panel


def test_a_tangent_is_asked_for_by_its_factors(module_page: Any) -> None:
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(-2.0, requires_grad=True)
    story = payload(ak.record(a * b, mode="forward", wrt=b))["_timeline"]
    asked = module_page.evaluate("t => [...player.questions(t).values()].map(each => each.text)", story)
    assert "What comes to v2 from b: local derivative × tangent?" in asked


def test_an_element_lights_up_with_those_that_made_it(open_page: Callable[..., Any], tmp_path: Path) -> None:
    ak.manual_seed(0)
    x, w = ak.randn(2, 3), ak.randn(3, 4, requires_grad=True)
    x.name, w.name = "x", "w"
    product = x @ w
    product.name = "product"
    story = ak.record((product**2).sum())
    page = open_file(open_page(), story, tmp_path)
    names = {node.name: node.element for node in story.graph.nodes}
    press(page, "End")
    page.locator(f'[data-element="{names["product"]}"]').click()
    cell = page.locator(".ak-panel table").first.locator("td").nth(6)
    cell.focus()
    lit = """name => [...document.querySelectorAll(`[data-element="${name}"] .ak-lit`)].map((frame) => {
      const { x, y, width } = frame.getBBox();
      const heat = frame.parentNode.querySelector("rect").getBBox();
      return [Math.round((y - heat.y) / width), Math.round((x - heat.x) / width), frame.dataset.lit];
    })"""
    assert page.evaluate(lit, names["x"]) == [[1, k, "made of"] for k in range(3)]
    assert page.evaluate(lit, names["w"]) == [[k, 2, "made of"] for k in range(3)]
    assert page.evaluate(lit, names["product"]) == [[1, 2, "made"]]
    assert " · " in page.locator(".ak-sum").first.inner_text()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(lit, names["x"]) == [[0, k, "made of"] for k in range(3)]
    page.locator(".ak-panel table").nth(1).locator("td").nth(0).focus()
    assert page.evaluate(lit, names["product"])[-1] == [0, 0, "made"]
    page.locator(".ak-player").focus()
    assert page.locator(".ak-lit").count() == 0
