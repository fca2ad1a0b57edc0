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


def test_a_matrix_keeps_its_rows() -> None:
    heat = heatmap(summarize(np.zeros((2, 3))))
    assert heat is not None and (heat.rows, heat.columns) == (2, 3)


@pytest.mark.parametrize(
    "shape, grid",
    [
        ((4, 1, 3, 3), (4, 9)),
        ((2, 4, 3, 3), (8, 9)),
        ((2, 8, 8), (16, 8)),
        ((24, 3), (24, 3)),
        ((1, 8, 8), (8, 8)),
    ],
)
def test_small_matrices_in_a_stack_are_a_row_each(shape: tuple[int, ...], grid: tuple[int, int]) -> None:
    heat = heatmap(summarize(np.arange(np.prod(shape)).reshape(shape)))
    assert heat is not None and (heat.rows, heat.columns) == grid
    assert list(heat.values) == list(range(int(np.prod(shape))))


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


def test_what_is_not_finite_looks_like_nothing_else() -> None:
    heat = heatmap(summarize(np.array([1.0, np.nan, np.inf, -1.0, 10**30])))
    assert heat is not None and "#6b7280" in cells(heat, 0, 0)
    assert heatmap(Summary("", (2,), "int64", (10**400, -(10**400)))) is not None


def test_only_zero_looks_like_zero() -> None:
    heat = heatmap(Summary("", (3,), "float32", (0.0, 1e-30, 1.0)))
    assert heat is not None
    assert len(set(re.findall(r'fill="(#\w+)"', cells(heat, 0, 0)))) == 3
