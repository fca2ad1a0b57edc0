"""The paths of several optimizers on a loss, and the loss along each of them, as a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.draw.escape import visible
from autokit.graphs.descents import Descents, Path
from autokit.graphs.words import counted
from autokit.plot.figures import DASHES, MARKERS, PAPER, SERIES, figure, scale_by_powers, style
from autokit.plot.functions import contour
from autokit.plot.training import spreads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEAR = 8
"""Marks so near to each other, in px, overlap."""


def descents(made: Descents, step: int) -> Figure:
    """Draw the ways and their losses up to ``step``."""
    with style():
        race = _Race(made)
        race.show(step)
    return race.figure


class _Race:
    """The figure, with what moves from step to step."""

    def __init__(self, made: Descents) -> None:
        self.paths = made.paths
        self.figure, (field, losses) = figure(10.0, 4.2, 1, 2)
        values = np.asarray(made.values)
        lines = [np.linspace(low, high, values.shape[1 - axis]) for axis, (low, high) in enumerate(made.ends)]
        contour(field, lines[0].tolist(), lines[1].tolist(), values, made.names)
        self.ways = [self._way(field, losses, place, path) for place, path in enumerate(made.paths)]
        self.title = field.set_title("After 0 steps", y=1.0)  # where it stays
        field.set(xlim=made.ends[0], ylim=made.ends[1])
        if spreads([loss for path in made.paths for loss in path.losses]):
            scale_by_powers(losses)
        losses.set(xlabel="step", title="Loss")
        losses.legend(loc="best")
        losses.set(xlim=losses.get_xlim(), ylim=losses.get_ylim())  # where all steps have room

    @staticmethod
    def _way(field: Any, losses: Any, place: int, path: Path) -> tuple[Any, ...]:
        """On the contour a halo, the way so far and where it is; and where it is on the curve of losses."""
        colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
        dash = DASHES[place // len(SERIES) % len(DASHES)]
        (halo,) = field.plot([], [], color=PAPER, linewidth=3.6, zorder=2)
        (line,) = field.plot([], [], color=colour, linestyle=dash, zorder=3)
        mark = {"color": colour, "marker": marker, "linestyle": "none"}
        (dot,) = field.plot([], [], **mark, markeredgecolor=PAPER, markersize=9, zorder=4)
        (curve,) = losses.plot(range(len(path.losses)), path.losses, color=colour, linestyle=dash)
        (now,) = losses.plot([], [], **mark, markersize=7, label=visible(path.name))
        return halo, line, dot, curve, now

    def show(self, step: int) -> None:
        """Let each way go up to ``step``."""
        self.title.set_text(f"After {counted(step, 'step')}")
        for (halo, line, dot, curve, now), path in zip(self.ways, self.paths, strict=True):
            x, y = zip(*path.points[: step + 1])
            halo.set_data(x, y)
            line.set_data(x, y)
            dot.set_data(x[-1:], y[-1:])
            curve.set_data(range(step + 1), path.losses[: step + 1])
            now.set_data([step], [path.losses[step]])
        for size, marks in zip((9, 7), ([way[2] for way in self.ways], [way[4] for way in self.ways])):
            places = [mark.axes.transData.transform(mark.get_xydata()[0]) for mark in marks]
            for mark, scale in zip(marks, nested(places)):
                mark.set_markersize(size * scale)


def nested(places: Sequence[Sequence[float]]) -> list[float]:
    """How large to draw marks at places in px: what later ones cover is larger, and looks out below them.

    >>> nested([(0, 0), (3, 0), (50, 0)])
    [1.6, 1.0, 1.0]
    """
    over = [sum(math.dist(one, other) < _NEAR for other in places[k + 1 :]) for k, one in enumerate(places)]
    return [1 + 0.6 * count for count in over]
