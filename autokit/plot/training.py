"""A training run is drawn as a figure: loss, learning rate, and the gradient and updates of each layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from autokit.draw.escape import visible
from autokit.graphs.training import History
from autokit.plot.figures import (
    ALARM,
    BLUE,
    DASHES,
    FAINT,
    INK,
    QUIET,
    SERIES,
    figure,
    scale_by_powers,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LAYERS = 12
_SMOOTH = 60


def training(history: History) -> Figure:
    """Draw a run on four axes; a learning rate that is always the same takes none."""
    with style():
        if history.constant_rate:
            made, (loss, norms, ratios) = figure(10.4, 3.4, 1, 3)
        else:
            made, (loss, rate, norms, ratios) = figure(9.6, 6.2, 2, 2)
            rate.plot(range(1, len(history.rates) + 1), history.rates, color=BLUE)
            rate.set(title="Learning rate", xlabel="step")
            rate.set_ylim(bottom=0)
        _loss(loss, history)
        _layers(norms, history, history.norms, "Gradient norm per layer")
        _layers(ratios, history, history.ratios, "Update ÷ weights per layer")
        ratios.axhline(1e-3, color=QUIET, linewidth=0.8, dashes=(2, 3))
        if history.layers:
            norms.legend(loc="best", handlelength=2.4)
        if history.alarm:
            made.suptitle(visible(history.alarm), color=ALARM, fontsize=10, x=0.01, ha="left", wrap=True)
    return made


def _loss(axes: Axes, history: History) -> None:
    """The losses, the last one marked: its number is what is told of the run."""
    steps = np.arange(1, len(history.losses) + 1)
    values = np.asarray(history.losses, float)
    wide = max(1, len(values) // _SMOOTH)
    axes.plot(steps, values, color=FAINT if wide > 1 else BLUE, linewidth=1.0 if wide > 1 else 1.6)
    if wide > 1:
        kernel = np.ones(wide) / wide
        axes.plot(steps[wide - 1 :], np.convolve(values, kernel, "valid"), color=BLUE)
    axes.plot(steps[-1:], values[-1:], "o", color=INK, markersize=4)
    if history.powers:
        scale_by_powers(axes)
    axes.set(title=history.loss_title, xlabel="step")


def _layers(axes: Axes, history: History, rows: Sequence[Sequence[float]], title: str) -> None:
    table = np.asarray(rows, float).reshape(len(rows), len(history.layers))
    for place, name in enumerate(history.layers[:_MOST_LAYERS]):
        colour, dash = SERIES[place % len(SERIES)], DASHES[place // len(SERIES) % len(DASHES)]
        axes.plot(history.sampled, table[:, place], color=colour, linestyle=dash, label=visible(name))
    scale_by_powers(axes)
    left_out = len(history.layers) - _MOST_LAYERS
    axes.set(
        ylabel="powers of ten",
        title=title + (f" (the first {_MOST_LAYERS})" if left_out > 0 else ""),
        xlabel="step",
    )


def spreads(values: Sequence[float]) -> bool:
    """Whether powers of ten tell more than even steps: all above zero, and far apart.

    >>> spreads([0.001, 1.0]), spreads([0.5, 1.0]), spreads([0.0, 1.0])
    (True, False, False)
    """
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) > 30 * min(finite)
