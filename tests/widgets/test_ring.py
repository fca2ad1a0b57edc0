"""An all-reduce by ring: each exchange against the sums themselves, and the player that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.graphs.model import Timeline
from tests.widgets.pages import SHOWN, drawn, open_file, press


def shown(story: Timeline, step: int, name: str) -> list[Any]:
    """What is shown of all chunks: those of a worker, then those of the next."""
    state = story.state(step)
    return [state[node.element][name] for node in story.graph.nodes]


@pytest.mark.parametrize(("count", "length"), [(2, 2), (3, 7), (5, 5), (8, 3)])
def test_each_chunk_is_the_sum_over_the_workers_that_its_dots_name(count: int, length: int) -> None:
    rows = np.random.default_rng(count).integers(-99, 99, (count, length))
    story = torch.ring(torch.tensor(rows))
    exchanges = [step for step in story if step.kind == "travel"]
    assert len(exchanges) == 2 * (count - 1) == sum(step.kind in ("value", "copy") for step in story)
    for step in exchanges:
        sent = [change.value for change in step.changes if change.field == "flow"]
        parts = [len(re.findall(r"\d+", text)) for text in map(str, sent)]
        assert sum(parts) == length, "together one row: 1/n of its numbers by each of n workers"
        assert max(parts) - min(parts) <= 1 and {text[0] for text in sent} == {*"ABCDEFGH"[:count]}
    pieces = np.array_split(rows, count, axis=1)
    for step in range(len(story)):
        cells = zip(shown(story, step, "value"), shown(story, step, "dots"), list(range(count)) * count)
        for text, filled, chunk in cells:
            total = pieces[chunk][[each == "●" for each in filled]].sum(0)
            assert [int(found) for found in re.findall(r"-?\d+", text.replace("−", "-"))] == total.tolist()
    halfway = [step.kind for step in story].index("turn")
    complete = [shown(story, step, "status").count("complete") for step in (0, halfway, -1)]
    assert complete == [0, count, count**2]


def test_what_has_no_ring_is_said() -> None:
    for wrong in ([[1, 2]], [[1], [2, 3]], [[]] * 2, [[1]] * 9, [1, 2], [], [["a"], ["b"]]):
        with pytest.raises(ValueError, match=r"ring\(\) takes .*rows of"):
            torch.ring(wrong)
    assert torch.ring([[np.nan], [1.0]]).state(-1)["n0"]["value"] == "nan"


def test_the_player_shows_every_state(open_page: Callable[..., Any], tmp_path: Path) -> None:
    story = torch.ring([[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    page = open_file(open_page(), story, tmp_path)
    words = page.locator(".ak-player").inner_text()
    assert page.locator("[data-field=dots]").first.text_content() == "●○○"
    for step in range(len(story)):
        assert page.evaluate(SHOWN) == drawn(story, step)
        words += "\n" + page.locator(".ak-caption").inner_text()
        press(page, "ArrowRight")
    assert {"Reduce-scatter", "All-gather"} <= set(words.splitlines())
    press(page, "Home", "ArrowDown")
    page.get_by_role("button", name="Show as table").click()
    words += page.locator(".ak-main").inner_text()
    assert "Workers" in words and not re.search("(?i)gradient|backward|upstream|loss|derivative|leaf", words)
    asked = "What is the value of A of worker 1?"
    press(page, "Home", "ArrowRight")
    page.get_by_role("button", name="Predict").click()
    press(page, "Escape", "ArrowRight")
    assert page.locator(".ak-ask").inner_text() == asked
