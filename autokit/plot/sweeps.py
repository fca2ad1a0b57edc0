"""A sweep is drawn as a line for each setting, with its seeds faint; two settings also as a heatmap."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.draw.escape import visible, xml
from autokit.draw.themes import ON_EITHER
from autokit.func.trials import Sweep, in_words, mean_of
from autokit.graphs.summary import number
from autokit.plot.figures import ALARM, DASHES, SERIES, figure, figure_html, scale_by_powers, style
from autokit.plot.training import spreads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE = "#4f8fd0"
"""In pixels, on a light page and on a dark one: the more of it, the larger the number."""


def figure_of(made: Sweep) -> Figure:
    """Draw the sweep; trials of a single value are points, and a line joins a setting's seeds."""
    settings = made.settings()
    two = bool(settings) and len(settings[0][0]) == 2
    with style():
        drawn, axes = figure(10.0 if two else 6.4, 3.6 + 0.09 * len(settings), 1, 2 if two else 1)
        _lines(axes[0], made)
        drawn.legend(loc="outside lower center", ncols=4 if two else 3, handlelength=2.6)
        if two:
            _map(axes[1], settings, made.mode)
    return drawn


def _lines(axes: Axes, made: Sweep) -> None:
    """Each setting's mean over its seeds, step by step as far as all go, and the seeds."""
    curved = any(len(row["curve"]) > 1 for row in made.rows)
    looks = itertools.cycle(itertools.product(DASHES, SERIES))
    for (setting, rows), (dash, colour) in zip(made.settings(), looks):
        curves = [row["curve"] if curved else [row["value"] for row in rows] for row in rows]
        if not any(curves):
            continue  # they failed
        mean = [float(np.mean(values)) for values in zip(*filter(None, curves))]
        for curve in curves if curved else []:
            axes.plot(range(1, len(curve) + 1), curve, color=colour, linewidth=0.8, alpha=0.35)
        steps = range(1, len(mean) + 1) if curved else [row["seed"] for row in rows]
        label = visible(in_words(setting))
        axes.plot(steps, mean, color=colour, linestyle=dash, label=label, marker="" if curved else "o")
    if spreads([value for row in made.rows for value in row["curve"]]):
        scale_by_powers(axes)
    axes.locator_params(axis="x", integer=True)
    axes.set(title="Mean over the seeds" if curved else "Value", xlabel="step" if curved else "seed")


def _map(axes: Axes, settings: list[Any], mode: str) -> None:
    """The mean values over two settings; the best is in bold."""
    from matplotlib.colors import LinearSegmentedColormap

    down, across = settings[0][0]
    rows, columns = (list(dict.fromkeys(str(each[name]) for each, _ in settings)) for name in (down, across))
    table = np.full((len(rows), len(columns)), np.nan)
    for setting, trials in settings:
        table[rows.index(str(setting[down])), columns.index(str(setting[across]))] = mean_of(trials)
    finite = table[np.isfinite(table)]
    best = (min if mode == "min" else max)(finite, default=None)
    colours = LinearSegmentedColormap.from_list("amounts", [(_BLUE, 0.05), (_BLUE, 0.85)])
    axes.imshow(table, cmap=colours, norm="log" if spreads(list(finite)) else None, aspect="auto")
    for (y, x), value in np.ndenumerate(table):
        told, colour = (number(value), ON_EITHER) if np.isfinite(value) else ("×", ALARM)
        weight = "bold" if value == best else "normal"
        axes.text(x, y, told, color=colour, ha="center", va="center", fontweight=weight)
    axes.set_xticks(range(len(columns)), map(visible, columns))
    axes.set_yticks(range(len(rows)), map(visible, rows))
    axes.set(title="Mean of the last values", xlabel=visible(across), ylabel=visible(down))
    axes.spines[:].set_visible(False)


def mimebundle(made: Sweep) -> dict[str, Any]:
    """The table, and above it the figure where matplotlib is installed."""
    with suppress(ModuleNotFoundError):
        picture = figure_html(figure_of(made), made.title)
        return {"text/plain": repr(made), "text/html": f"{picture}<pre>{xml(repr(made))}</pre>"}
    return {"text/plain": repr(made)}
