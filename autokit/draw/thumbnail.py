"""The small picture of a tensor: a heatmap of its values, or a histogram if there are too many."""

from __future__ import annotations

from autokit.draw.heatmap import HEIGHT, LARGEST, WIDTH, Heatmap, cells, heatmap
from autokit.draw.histogram import Histogram, bars, histogram
from autokit.graphs.model import Summary


def thumbnail(
    summary: Summary | None, width: float = WIDTH, height: float = HEIGHT, largest: float = LARGEST
) -> Heatmap | Histogram | None:
    """What shows ``summary`` at a glance; None for a single number and where nothing was kept."""
    return heatmap(summary, width, height, largest) or histogram(summary, width, height * 0.7)


def picture(thumb: Heatmap | Histogram, x: float, y: float) -> str:
    """The SVG elements of a thumbnail whose upper left corner is at ``x``, ``y``."""
    return bars(thumb, x, y) if isinstance(thumb, Histogram) else cells(thumb, x, y)
