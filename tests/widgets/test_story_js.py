"""The pure functions of ``player.js``: the state at a step is Python's, and guesses are judged."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from autokit.graphs.model import Change, Chapter, Graph, Step, Timeline
from autokit.widgets.payload import payload

STATES = """(t) => {
  const at = player.walker(t), order = [...t.steps.keys()], states = [];
  for (const k of [...order, ...order.reverse()]) states[k] = structuredClone(at(k));
  return states;
}"""
"""JavaScript for the state at each step, reached from the left and then, as it is kept, from the right."""


def test_state_is_pythons(module_page: Any, story: Timeline) -> None:
    whole = json.loads(story.to_json())
    lean = payload(story)["_timeline"]
    for form in (whole, lean):
        states = module_page.evaluate(STATES, form)
        assert states == [story.state(k) for k in range(len(story))]


def test_state_is_pythons_whatever_the_changes(module_page: Any) -> None:
    random = Random(0)
    told: dict[str, list[str | int | None]] = {
        "status": ["hidden", "computed", "current"], "value": ["", "1.0", "nan"], "gradient": ["—", "0.0"],
        "pending": [None, 0, 2], "flow": ["", "-inf"],
    }  # fmt: skip

    def changes() -> tuple[Change, ...]:
        fields = random.choices(list(told), k=random.randrange(6))
        return tuple(Change(f"n{random.randrange(4)}", f, random.choice(told[f])) for f in fields)

    for _ in range(30):
        steps = tuple(
            Step("value", "forward", 0, "", changes=changes()) for _ in range(random.randrange(1, 12))
        )
        story = Timeline(Graph((), ()), steps, (Chapter(0, len(steps) - 1, ""),), changes())
        states = module_page.evaluate(STATES, payload(story)["_timeline"])
        assert states == [story.state(k) for k in range(len(story))]


@pytest.mark.parametrize(
    ("guess", "answer", "right"),
    [
        ("300", "300.0", True), ("3e2", "300.0", True), ("302.9", "300.0", True), ("304", "300.0", False),
        ("0,33", "0.3333", True), ("1/3", "0.3333", True), ("−2", "-2.0", True), ("2", "-2.0", False),
        ("0", "0.0", True), ("0.1", "0.0", False), ("nan", "nan", True), ("0", "nan", False),
        ("inf", "inf", True),
        ("-inf", "inf", False), ("5", "inf", False), ("apple", "300.0", False), ("0", "2e-07", False),
    ],
)  # fmt: skip
def test_an_answer_is_right_within_a_percent(module_page: Any, guess: str, answer: str, right: bool) -> None:
    assert module_page.evaluate("([g, a]) => player.isRight(g, a)", [guess, answer]) is right


@pytest.mark.parametrize(
    ("text", "magnitude", "sign"),
    [
        ("20.0", 20, "+"), ("-2e-07", 2e-7, "−"), ("[1.0, -3.0]", 3, "±"), ("−4.0 to −1.0", 4, "−"),
        ("0.0", 0, ""), ("", 0, ""), ("nan", 0, ""), ("all 8.0", 8, "+"), ("−1.6 to 2e−7", 1.6, "±"),
    ],
)  # fmt: skip
def test_flow_is_read_from_its_text(module_page: Any, text: str, magnitude: float, sign: str) -> None:
    assert module_page.evaluate("t => player.flowOf(t)", text) == {"magnitude": magnitude, "sign": sign}
