"""The small picture of a tensor: a heatmap, or of many values how many lie in each bin, coloured by sign."""

from __future__ import annotations

from dataclasses import dataclass

from autokit.draw.heatmap import HEIGHT, LARGEST, WIDTH, Heatmap, cells, heatmap
from autokit.draw.themes import GREY, MINUS, PLUS
from autokit.graphs.model import Summary


@dataclass(frozen=True)
class Histogram:
    """``counts`` of values in equal parts of the way from ``low`` to ``high``."""

    counts: tuple[int, ...]
    low: float
    high: float
    width: float
    height: float


def histogram(summary: Summary | None, width: float, height: float) -> Histogram | None:
    """The histogram of a tensor that is too large to show by its values; None for others."""
    if summary is None or not summary.histogram or summary.minimum is None or summary.maximum is None:
        return None
    return Histogram(summary.histogram, summary.minimum, summary.maximum, width, height)


def bars(hist: Histogram, x: float, y: float) -> str:
    """The SVG elements of a histogram whose upper left corner is at ``x``, ``y``; a tick marks zero."""
    wide, most = hist.width / len(hist.counts), max(hist.counts)
    floor = y + hist.height - 3
    sides: dict[str, list[str]] = {MINUS: [], PLUS: []}
    for place, count in enumerate(hist.counts):
        if count:
            middle = hist.low + (place + 0.5) / len(hist.counts) * (hist.high - hist.low)
            tall = max(1.0, count / most * (hist.height - 4))
            sides[MINUS if middle < 0 else PLUS].append(
                f"M{x + place * wide:.6g} {floor:.6g}v{-tall:.6g}h{wide - 0.5:.6g}v{tall:.6g}z"
            )
    parts = [f'<path d="{"".join(d)}" fill="{colour}"/>' for colour, d in sides.items() if d]
    axis = f"M{x:.6g} {floor:.6g}h{hist.width:.6g}"
    if hist.low <= 0 <= hist.high:
        axis += f"M{x - hist.low / (hist.high - hist.low) * hist.width:.6g} {floor:.6g}v3"
    parts.append(f'<path d="{axis}" fill="none" stroke="{GREY}" stroke-width="0.75"/>')
    return "".join(parts)


def thumbnail(
    summary: Summary | None, width: float = WIDTH, height: float = HEIGHT, largest: float = LARGEST
) -> Heatmap | Histogram | None:
    """What shows ``summary`` at a glance; None for a single number and where nothing was kept."""
    return heatmap(summary, width, height, largest) or histogram(summary, width, height * 0.7)


def picture(thumb: Heatmap | Histogram, x: float, y: float) -> str:
    """The SVG elements of a thumbnail whose upper left corner is at ``x``, ``y``."""
    return bars(thumb, x, y) if isinstance(thumb, Histogram) else cells(thumb, x, y)
