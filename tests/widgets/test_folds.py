"""Folded boxes in the player: they open by click and by key as long as Python is there, and close again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets import Player, folds
from autokit.widgets.folds import packed_folds
from tests.widgets import timelines
from tests.widgets.pages import SHOWN, drawn, open_file, press, violations


@pytest.fixture
def loop() -> Timeline:
    x, w = ak.tensor(0.5, requires_grad=True), ak.tensor(0.9, requires_grad=True)
    y = x
    for _ in range(80):
        y = (y * w).tanh() + x
    return ak.record(y)


def joined(page: Any, player: Player) -> None:
    """Show ``player`` on a page, whose questions it answers as in a notebook."""

    def to_python(question: dict[str, Any]) -> None:
        player._answer(None, question, None)

    page.expose_function("toPython", to_python)
    traits = {name: player.get_state()[name] for name in player.get_state() if name not in ("_esm", "_css")}
    traits = {name: value for name, value in traits.items() if not name.startswith("_anywidget")}
    page.evaluate(
        """async ({ code, css, traits }) => {
          document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
          document.documentElement.lang = "en";
          const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
          const listeners = new Map();
          const tell = (name) => [...(listeners.get("change:" + name) ?? [])].forEach((call) => call());
          window.model = {
            get: (name) => traits[name],
            set(name, value) { if (traits[name] !== value) { traits[name] = value; tell(name); } },
            save_changes() {},
            send(question) { window.toPython(question); },
            hear(now) { Object.assign(traits, now); Object.keys(now).forEach(tell); },
            on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
            off: (event, call) => listeners.set(event, listeners.get(event).filter((c) => c !== call)),
          };
          const el = document.body.appendChild(document.createElement("main"));
          module.default.render({ model: window.model, el });
        }""",
        {"code": str(player._esm), "css": str(player._css), "traits": traits},
    )


def heard(page: Any, player: Player, opened: int) -> None:
    """Wait until Python has as many folds open, and let the page hear of it."""
    for _ in range(100):
        if len(player._opened) == opened:
            break
        page.wait_for_timeout(20)
    assert len(player._opened) == opened
    traits = {name: getattr(player, name) for name in ("_opened", "_shortened", "_svg")}
    page.evaluate("(now) => window.model.hear(now)", traits)


def test_a_fold_opens_by_click_and_by_key_and_closes_again(
    open_page: Callable[..., Any], loop: Timeline
) -> None:
    page, player = open_page(reduced_motion="reduce"), Player(loop)
    joined(page, player)
    folded = page.evaluate(SHOWN)
    page.locator(".ak-player").focus()
    press(page, "0")  # so that all of it is seen
    page.locator("[data-part=fold]").first.click()
    heard(page, player, 1)
    once = page.evaluate(SHOWN)
    assert len(once) > len(folded)
    page.locator(".ak-player").focus()
    press(page, "End", "Enter")
    heard(page, player, 2)
    twice = page.evaluate(SHOWN)
    assert len(twice) > len(once)
    whole = drawn(loop, len(loop) - 1)
    assert {name: twice[name] for name in folded} == {name: whole[name] for name in folded}
    assert all(fields["status"] == "final" for name, fields in twice.items() if name[0] == "n")
    assert violations(page) == []
    page.get_by_text("Fold again").click()
    heard(page, player, 1)
    press(page, "Backspace")
    heard(page, player, 0)
    assert page.evaluate(SHOWN).keys() == folded.keys()
    assert page.get_by_text("Fold again").get_attribute("aria-disabled") == "true"


def test_in_a_saved_file_folds_open_and_close_without_a_network(
    open_page: Callable[..., Any], loop: Timeline, tmp_path: Path
) -> None:
    page, asked = open_page(reduced_motion="reduce", offline=True), []
    page.on("request", lambda request: asked.append(request.url))
    open_file(page, loop, tmp_path)
    sizes = [len(page.evaluate(SHOWN))]

    def redrawn() -> None:
        page.wait_for_function(
            "count => document.querySelectorAll('[data-element]').length !== count", arg=sizes[-1]
        )
        sizes.append(len(page.evaluate(SHOWN)))

    press(page, "0")
    page.locator("[data-part=fold]").first.click()
    redrawn()
    page.locator(".ak-player").focus()
    press(page, "End", "Enter")
    redrawn()
    assert sizes[0] < sizes[1] < sizes[2]
    whole, shown = drawn(loop, len(loop) - 1), page.evaluate(SHOWN)
    assert all(shown[name] == whole[name] for name in whole.keys() & shown.keys())
    assert all(fields["status"] == "final" for name, fields in shown.items() if name[0] == "n")
    page.get_by_text("Fold again").click()
    redrawn()
    press(page, "Backspace")
    redrawn()
    assert sizes[3:] == [sizes[1], sizes[0]] and len(asked) == 1


def test_a_saved_file_stays_small(loop: Timeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = packed_folds(loop)
    assert len(told) > 3 and told[0]["opened"] == [] and told[2]["opened"][:1] == told[1]["opened"]
    monkeypatch.setattr(folds, "WEIGHT", sum(len(each["packed"]) for each in told[:3]))
    assert packed_folds(loop) == told[:3]
    assert packed_folds(timelines.product()) == []


def test_a_picture_without_folds_has_no_word_of_them(page: Any) -> None:
    assert not page.locator(".ak-folding").is_visible()
