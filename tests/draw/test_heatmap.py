"""The thumbnail of a tensor."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.draw.heatmap import HEIGHT, WIDTH, cells, heatmap
from autokit.graphs.model import Summary
from autokit.graphs.summary import summarize


@given(
    st.lists(st.integers(1, 1024), min_size=1, max_size=4).filter(lambda shape: 2 <= np.prod(shape) <= 1024)
)
def test_every_value_has_a_cell_and_the_picture_keeps_its_size(shape: list[int]) -> None:
    heat = heatmap(summarize(np.arange(np.prod(shape)).reshape(shape)))
    assert heat is not None
    assert heat.rows * heat.columns >= len(heat.values) > (heat.rows - 1) * heat.columns
    assert heat.width <= WIDTH and heat.height <= HEIGHT
    assert heat.cell >= 1


@pytest.mark.parametrize("array", [np.float32(3), np.zeros((0, 3)), np.zeros(1), np.zeros(5000)])
def test_no_picture_of_a_number_of_nothing_or_of_what_was_not_kept(array: np.ndarray) -> None:
    assert heatmap(summarize(array)) is None
    assert heatmap(None) is None


def test_sign_is_told_by_colour_and_by_a_glyph() -> None:
    def drawn(*values: float) -> str:
        heat = heatmap(Summary("", (len(values),), "float32", values))
        assert heat is not None
        return cells(heat, 0, 0)

    plus, minus = drawn(1.0, 1.0), drawn(-1.0, -1.0)
    assert "stroke-width" in minus.replace('stroke-width="0.75"', "")
    assert "stroke-width" not in plus.replace('stroke-width="0.75"', "")
    assert re.findall(r'fill="(#\w+)"', plus) != re.findall(r'fill="(#\w+)"', minus)
