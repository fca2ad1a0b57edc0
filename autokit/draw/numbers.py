"""A small tensor as its numbers, each in a cell that is coloured by its sign and size."""

from __future__ import annotations

import math

from autokit.draw.escape import xml
from autokit.draw.heatmap import level_of
from autokit.draw.metrics import FONT, width
from autokit.draw.themes import MUTED, PAPER, ink_on_shade, shade
from autokit.graphs.model import Summary
from autokit.graphs.written import written

_HIGH, _WIDEST, _GAP, _EDGE = 30.0, 760.0, 26.0, 10.0


def numbers(summary: Summary) -> tuple[str, float] | None:
    """The drawing of a tensor by its numbers, and its width; None where they are too many, or not kept."""
    columns, blocks = written(summary)
    if not blocks:
        return None
    values = iter(summary.values or ())
    largest = max((abs(value) for value in summary.values or () if math.isfinite(value)), default=0.0) or 1.0
    wide = math.ceil(max(width(each, 15) for block in blocks.values() for each in block)) + 18.0
    count, above = max(map(len, blocks.values())), 20 if "" not in blocks else 0
    across, down = columns * wide + _GAP, math.ceil(count / columns) * _HIGH + above + _GAP
    beside = max(1, int((_WIDEST + _GAP) // across))
    parts = []
    for block, (label, told) in enumerate(blocks.items()):
        left, top = _EDGE + block % beside * across, _EDGE + block // beside * down
        parts.append(f'<text x="{left:g}" y="{top + 14:g}" font-size="13" fill="{MUTED}">{label}</text>')
        for place, text in enumerate(told):
            x, y = left + place % columns * wide, top + above + place // columns * _HIGH
            level = level_of(next(values), largest)
            cell = f'width="{wide - 2:g}" height="28" rx="3" fill="{shade(level)}"'
            ink = f'font-size="15" fill="{ink_on_shade(level)}" text-anchor="end"'
            parts.append(f'<rect x="{x + 1:g}" y="{y + 1:g}" {cell}/>')
            parts.append(f'<text x="{x + wide - 9:g}" y="{y + 20:g}" {ink}>{text}</text>')
    full = 2 * _EDGE - _GAP + min(beside, len(blocks)) * across
    size = f'width="{full:g}" height="{2 * _EDGE - _GAP + math.ceil(len(blocks) / beside) * down:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{xml(FONT)}">'
    return f'{head}<rect {size} rx="8" fill="{PAPER}"/>{"".join(parts)}</svg>', full
