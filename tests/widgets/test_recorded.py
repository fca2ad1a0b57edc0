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


@pytest.mark.parametrize("make", [fan_out, broadcast])
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
