"""A function of one number is drawn as a curve with its tangent, one of two as contours with its gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from autokit.draw.themes import CARD
from autokit.graphs.summary import number, with_minus
from autokit.plot.figures import BLUE, FAINT, INK, ORANGE, PAPER, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 14


def levels(values: np.ndarray, count: int = _LEVELS) -> list[float]:
    """Where the lines of a contour run: evenly, or by powers where the values lie far apart.

    >>> levels(np.array([0.0, 1.0, 2.0, 3.0]), 2)
    [1.0, 2.0]
    """
    finite = values[np.isfinite(values)]
    if not finite.size or not finite.max() > finite.min():
        return []
    low, high = float(finite.min()), float(finite.max())
    inner = np.arange(1, count + 1) / (count + 1)
    typical = float(np.median(finite)) - low
    if typical * 8 < high - low and typical > 0:
        # Most of the picture lies low: steps that grow show the valley as well as its walls.
        return [low + float(step) for step in (high - low) * inner**2.5]
    return [low + float(step) for step in (high - low) * inner]


def curve(
    axes: Axes,
    points: Sequence[float],
    values: Sequence[float],
    names: tuple[str, str],
    at: tuple[float, float, float],
    beyond: tuple[float, float] | None = None,
) -> None:
    """Draw values over points, and at ``at``, a place with its value and slope, the tangent.

    ``names`` are those of the input and of the function, ``beyond`` a second place with its value, to which a
    secant leads.
    """
    (place, value, slope), name = at, names[0]
    axes.plot(points, values, color=BLUE, zorder=2)
    axes.set(xlabel=name, ylabel=f"{names[1]}({name})", xlim=(min(points), max(points)))
    limits = axes.get_ylim()
    if math.isfinite(value) and math.isfinite(slope):
        ends = np.array([min(points), max(points)])
        axes.plot(ends, value + slope * (ends - place), color=ORANGE, dashes=(5, 3), linewidth=1.4, zorder=3)
        axes.plot([place], [value], "o", color=INK, zorder=4)
        axes.set_title(f"slope {number(slope)} at {name} = {number(place)}")
        if beyond is not None:
            secant = (beyond[1] - value) / (beyond[0] - place)
            axes.plot(ends, value + secant * (ends - place), color=INK, dashes=(1.5, 1.5), linewidth=1.4)
            axes.plot([beyond[0]], [beyond[1]], "o", color=INK, mfc=PAPER, zorder=4)
    axes.set_ylim(limits)


def contour(
    axes: Axes,
    across: Sequence[float],
    up: Sequence[float],
    values: np.ndarray,
    names: Sequence[str],
    labelled: bool = False,
) -> None:
    """Draw the lines on which a function of two numbers has one value; ``labelled`` writes some of these."""
    if lines := levels(values):
        smooth = finer(values)
        columns, rows = (np.linspace(at[0], at[-1], n) for at, n in zip((across, up), smooth.shape[::-1]))
        count = len(lines)
        shades = [(BLUE, 1 - 0.75 * place / count) for place in range(count)]
        drawn = axes.contour(columns, rows, smooth, levels=lines, colors=shades, linewidths=1.0, zorder=1)
        if labelled:
            axes.clabel(
                drawn, lines[::3], fontsize=7, fmt=lambda level: with_minus(f"{level:.3g}"), colors=INK
            )
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_facecolor(CARD)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    axes.tick_params(color=QUIET)


def finer(values: np.ndarray) -> np.ndarray:
    """A grid with two points more between each and the next, on curves of Catmull and Rom: contours bend.

    >>> finer(np.array([[0.0, 3.0], [0.0, 3.0]]))[0].round(6).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    with np.errstate(invalid="ignore"):
        for _ in range(2):  # down, and after a turn across
            before, after = 2 * values[:1] - values[1:2], 2 * values[-1:] - values[-2:-1]
            a, b, c, d = (np.vstack([before, values, after])[k : k + len(values) - 1] for k in range(4))
            parts = [
                b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
                for t in (0.0, 1 / 3, 2 / 3)
            ]
            between = np.stack(parts, axis=1).reshape(-1, values.shape[1])
            values = np.vstack([between, values[-1:]]).T
    return values


def arrow(axes: Axes, place: tuple[float, float], gradient: tuple[float, float]) -> None:
    """Draw the gradient's direction at ``place``, of one length: a sixth of the picture."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    axes.plot([place[0]], [place[1]], "o", color=INK, zorder=4)
    end = arrow_end(place, gradient, (x0, x1), (y0, y1))
    if end is not None:
        axes.annotate("", end, place, arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 2.0}, zorder=5)
    axes.set(xlim=(x0, x1), ylim=(y0, y1))


def arrow_end(
    place: tuple[float, float],
    gradient: tuple[float, float],
    across: tuple[float, float],
    up: tuple[float, float],
) -> tuple[float, float] | None:
    """Where the arrow ends; None where the gradient is zero or not finite.

    >>> arrow_end((0.0, 0.0), (2.0, 0.0), (-3.0, 3.0), (-3.0, 3.0))
    (1.0, 0.0)
    """
    # The same direction in the plane of a and b, and as long as a sixth of the picture where it points.
    wide, high = (across[1] - across[0]) / 6, (up[1] - up[0]) / 6
    length = math.hypot(gradient[0] / wide, gradient[1] / high)
    if not math.isfinite(length) or not length:
        return None
    scale = 1 / length
    return place[0] + gradient[0] * scale, place[1] + gradient[1] * scale
