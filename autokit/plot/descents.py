"""The ways of several optimizers over a loss, and how the loss fell along each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from autokit.graphs.descents import Descents
from autokit.plot.figures import DASHES, MARKERS, PAPER, SERIES, figure, style
from autokit.plot.functions import contour
from autokit.plot.training import spreads

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def descents(made: Descents, step: int) -> Figure:
    """Draw the ways up to ``step``, beside the losses of all steps."""
    with style():
        drawn, (field, losses) = figure(10.0, 4.2, 1, 2)
        values = np.asarray(made.values)
        lines = [np.linspace(low, high, values.shape[1 - axis]) for axis, (low, high) in enumerate(made.ends)]
        contour(field, lines[0].tolist(), lines[1].tolist(), values, made.names)
        for place, path in enumerate(made.paths):
            colour, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
            dash = DASHES[place // len(SERIES) % len(DASHES)]
            x, y = zip(*path.points[: step + 1])
            field.plot(x, y, color=PAPER, linewidth=3.6, zorder=2)
            field.plot(x, y, color=colour, linestyle=dash, zorder=3)
            field.plot(x[-1], y[-1], marker, color=colour, markeredgecolor=PAPER, markersize=9, zorder=4)
            losses.plot(range(len(path.losses)), path.losses, color=colour, linestyle=dash)
            losses.plot(step, path.losses[step], marker, color=colour, markersize=7, label=path.name)
        field.set(xlim=made.ends[0], ylim=made.ends[1], title=f"After {step} steps")
        if spreads([loss for path in made.paths for loss in path.losses]):
            losses.set_yscale("log")
        losses.set(xlabel="step", title="Loss")
        losses.legend(loc="best")
    return drawn
