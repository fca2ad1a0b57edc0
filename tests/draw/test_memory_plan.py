"""The picture of a memory plan: every value has its bar, to scale, and says what it is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import autokit as torch
from autokit.draw import memory_plan
from autokit.static.graph import Graph
from autokit.static.memory import plan_memory
from autokit.static.traced import Tape
from tests.static.programs import trained_step
from tests.support import require


@pytest.fixture(scope="module")
def plan() -> Any:
    return trained_step()[0].memory


def bars(drawn: str) -> list[tuple[str, float, float, float, float]]:
    """For each value in the picture what it says, and its rectangle."""
    found = []
    for group in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}g"):
        title, rect = group[0], group[1]
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((str(title.text), x, y, width, height))
    return found


def test_each_value_has_a_bar_of_its_bytes_and_calls_and_no_two_overlap(plan: Any) -> None:
    drawn = bars(memory_plan.svg(plan))
    assert len(drawn) == len(plan.places) > 10
    scale = {round(height / place.nbytes, 3) for (*_, height), place in zip(drawn, plan.places.values())}
    assert max(scale) - min(scale) < 0.002
    starts = [x for _, x, *_ in drawn]
    assert starts == sorted(starts), "calls run from left to right"
    for at, (said, x, y, width, height) in enumerate(drawn):
        for other, x2, y2, width2, height2 in drawn[:at]:
            shared = min(x + width, x2 + width2) - max(x, x2), min(y + height, y2 + height2) - max(y, y2)
            assert min(shared) < 0.01, (said, other)


def test_it_is_told_in_words(plan: Any) -> None:
    forms = plan._repr_mimebundle_()
    alt = re.search(r'alt="([^"]*)"', forms["text/html"])
    assert alt is not None and alt[1] == forms["text/plain"]
    assert f"in {plan.size:,} bytes; without reuse they need {plan.total:,}." in alt[1]
    assert "dot in linear (backward): float32[6, 8], 192 bytes, from call" in alt[1]


def test_names_are_escaped_and_an_empty_plan_is_drawn() -> None:
    tape = Tape()
    tape.operation = '<script>"&'
    tape.graph.outputs = [(tape.given("input", torch.ones(50).numpy(), "x") + 1).node]
    drawn = memory_plan.svg(plan_memory(tape.graph))
    assert "<script>" not in drawn and len(bars(drawn)) == 1
    assert bars(memory_plan.svg(plan_memory(Graph()))) == []


def test_it_is_saved_in_each_form_and_theme(plan: Any, tmp_path: Path) -> None:
    require("matplotlib")
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        plan.save(tmp_path / f"plan{ending}")
        assert (tmp_path / f"plan{ending}").read_bytes().startswith(start)
    plan.save(tmp_path / "dark.svg", theme="dark")
    light = re.findall(r'"(#\w{6})"', (tmp_path / "plan.svg").read_text("utf-8"))
    dark = re.findall(r'"(#\w{6})"', (tmp_path / "dark.svg").read_text("utf-8"))
    assert len(light) == len(dark) and not {*light} & {*dark}, "each colour has a dark one"
    with pytest.raises(ValueError, match=r"should end in one of"):
        plan.save(tmp_path / "plan.gif")
