"""A tensor as a small heatmap: a cell for each number, green above zero, purple below.

Sign is told twice, for those who see no colours: where cells are large enough
a negative one carries a minus, and one that is no finite number a cross.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autokit.draw.themes import FRAME, LEVELS, ink_on_shade, shade
from autokit.graphs.model import Summary

WIDTH, HEIGHT = 72.0, 44.0
"""The room that a thumbnail has, in px."""

LARGEST = 11.0
_SMALLEST, _GLYPH = 1.5, 7.0
_STRIP = 3  # so many times as high as wide is a thin strip


@dataclass(frozen=True)
class Heatmap:
    """The cells of a thumbnail: ``values`` in ``rows`` by ``columns``, each ``cell`` px wide and high."""

    values: tuple[float, ...]
    rows: int
    columns: int
    cell: float

    @property
    def width(self) -> float:
        return self.columns * self.cell

    @property
    def height(self) -> float:
        return self.rows * self.cell


def heatmap(
    summary: Summary | None, width: float = WIDTH, height: float = HEIGHT, largest: float = LARGEST
) -> Heatmap | None:
    """The thumbnail of a tensor; None for a single number and where the values were not kept.

    The last dimension runs along a row; of a stack of small matrices, as the
    filters of a convolution, each is a row, lest it be a thin strip.  What
    would be too thin to see even so is folded into a block, in reading order.
    """
    if summary is None or summary.values is None or not summary.shape or len(summary.values) < 2:
        return None
    count = len(summary.values)
    columns = max(1, summary.shape[-1])
    if len(summary.shape) > 2 and count / columns > _STRIP * columns:
        columns *= max(1, summary.shape[-2])
    rows = math.ceil(count / columns)
    cell = min(width / columns, height / rows, largest)
    if cell < _SMALLEST:
        columns = math.ceil(math.sqrt(count * width / height))
        rows = math.ceil(count / columns)
        cell = min(width / columns, height / rows, largest)
    return Heatmap(tuple(map(float, summary.values)), rows, columns, math.floor(cell * 4) / 4)


def cells(heat: Heatmap, x: float, y: float) -> str:
    """The SVG elements of a thumbnail whose upper left corner is at ``x``, ``y``.

    Cells of one shade are one path of thick strokes, so a thousand numbers take few bytes.
    """
    size = heat.cell
    scale = max((abs(value) for value in heat.values if math.isfinite(value)), default=0.0) or 1.0
    shades: dict[int | None, str] = {}
    ends: dict[int | None, tuple[float, float]] = {}
    minus: dict[str, list[str]] = {}
    cross: list[str] = []
    row_starts = range(0, len(heat.values), heat.columns)
    for row, start in enumerate(row_starts):
        levels = [level_of(value, scale) for value in heat.values[start : start + heat.columns]]
        top = y + row * size
        for first, last, level in _runs(levels):
            left, middle = x + first * size, top + size / 2
            away = f"M{left:.6g} {middle:.6g}"
            if level in ends:
                away = f"m{left - ends[level][0]:.6g} {middle - ends[level][1]:.6g}"
            shades[level] = f"{shades.get(level, '')}{away}h{(last - first) * size:.6g}"
            ends[level] = x + last * size, middle
        if size >= _GLYPH:
            for column, level in enumerate(levels):
                left, middle = x + (column + 0.3) * size, top + 0.5 * size
                if level is None:
                    reach = 0.4 * size
                    down = f"M{left:.6g} {middle - reach / 2:.6g}l{reach:.6g} {reach:.6g}"
                    cross.append(f"{down}m0 {-reach:.6g}l{-reach:.6g} {reach:.6g}")
                elif level < 0:
                    ink = ink_on_shade(level)
                    minus.setdefault(ink, []).append(f"M{left:.6g} {middle:.6g}h{0.4 * size:.6g}")
    parts = [
        f'<path d="{shades[level]}" fill="none" stroke="{shade(level)}"'
        f' stroke-width="{size:g}" shape-rendering="crispEdges"/>'
        for level in sorted(shades, key=lambda level: LEVELS + 1 if level is None else level)
    ]
    strokes = [*sorted(minus.items()), *([(ink_on_shade(None), cross)] if cross else [])]
    parts += [f'<path d="{"".join(d)}" fill="none" stroke="{ink}" stroke-width="1.2"/>' for ink, d in strokes]
    parts.append(
        f'<rect x="{x:.6g}" y="{y:.6g}" width="{heat.width:.6g}" height="{heat.height:.6g}"'
        f' fill="none" stroke="{FRAME}" stroke-width="0.75"/>'
    )
    return "".join(parts)


def level_of(value: float, scale: float) -> int | None:
    """The shade of a value, from minus to plus ``LEVELS``; only zero looks like zero."""
    if not math.isfinite(value):
        return None
    level = math.ceil(abs(value / scale) * LEVELS) if value else 0
    return level if value > 0 else -level


def _runs(levels: Sequence[int | None]) -> list[tuple[int, int, int | None]]:
    """Neighbours of one shade together: first, one past the last, the shade."""
    ends = [place for place in range(1, len(levels)) if levels[place] != levels[place - 1]]
    return [(first, last, levels[first]) for first, last in pairwise([0, *ends, len(levels)])]
