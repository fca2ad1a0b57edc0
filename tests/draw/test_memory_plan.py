"""The picture of a memory plan: every value has its bar, to scale, and says what it is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from autokit.draw import memory_plan
from autokit.static.graph import Graph
from autokit.static.memory import Plan
from autokit.static.traced import Tape
from tests.static.programs import trained_step
from tests.support import require


def bars(drawn: str) -> list[list[float]]:
    """The rectangle of each value in the picture."""
    groups = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}g")
    return [[float(group[1].attrib[name]) for name in ("x", "y", "width", "height")] for group in groups]


def test_each_value_has_a_bar_of_its_bytes_and_calls_and_no_two_overlap() -> None:
    plan = trained_step()[0].memory
    drawn = bars(memory_plan.svg(plan))
    assert len(drawn) == len(plan.places) > 10 and drawn == sorted(drawn, key=lambda bar: bar[0])
    scale = [height / place.nbytes for (*_, height), place in zip(drawn, plan.places.values())]
    assert max(scale) - min(scale) < 0.002
    for (x, y, width, height), (x2, y2, width2, height2) in combinations(drawn, 2):
        shared = min(x + width, x2 + width2) - max(x, x2), min(y + height, y2 + height2) - max(y, y2)
        assert min(shared) < 0.01


def test_it_is_told_in_words_and_names_are_escaped() -> None:
    plan = trained_step()[0].memory
    words, html = plan._repr_mimebundle_().values()
    assert f'alt="{words}"' in html
    assert f"in {plan.size:,} bytes; without reuse they need {plan.total:,}." in words
    assert "dot in linear (backward): float32[6, 8], 192 bytes, from call" in words
    tape = Tape()
    tape.operation = '<script>"&'
    tape.graph.outputs = [(tape.given("input", np.ones(50), "x") + 1).node]
    assert "<script>" not in memory_plan.svg(Plan(tape.graph))
    assert bars(memory_plan.svg(Plan(Graph()))) == []


def test_it_is_saved_in_each_form_and_theme(tmp_path: Path) -> None:
    require("matplotlib")
    plan = trained_step()[0].memory
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        plan.save(tmp_path / f"plan{ending}")
        assert (tmp_path / f"plan{ending}").read_bytes().startswith(start)
    plan.save(tmp_path / "dark.svg", theme="dark")
    light, dark = [
        re.findall('"(#.{6})"', (tmp_path / f"{name}.svg").read_text()) for name in ("plan", "dark")
    ]
    assert len(light) == len(dark) and not {*light} & {*dark}, "each colour has a dark one"
    with pytest.raises(ValueError, match=r"should end in one of"):
        plan.save(tmp_path / "plan.gif")
