"""The style of the charts, and the image with a description in words that a notebook shows for a chart."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from autokit.draw import themes
from autokit.draw.escape import visible
from autokit.draw.image import image
from autokit.draw.required import require_matplotlib
from autokit.plot.themes import inked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, FAINT, PAPER = themes.INK, themes.MUTED, "#d5dae0", themes.PAPER
BLUE, ORANGE, ALARM, SERIES = themes.FORWARD, themes.BACKWARD, themes.ALARM, themes.SERIES
DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.prop_cycle": f"cycler(color={SERIES})",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "font.family": ["DejaVu Sans"],
    "svg.hashsalt": "autokit",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """Inside, matplotlib draws as autokit's pictures look; afterwards as before."""
    require_matplotlib()
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of our own that no global list holds, and its axes in reading order."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), dpi=96, layout="constrained")
    return made, [*made.subplots(rows, columns, squeeze=False).ravel()]


@cache
def chart_class() -> type[Figure]:
    """The class of figures that a notebook shows in its own theme."""
    from matplotlib.figure import Figure

    class Chart(Figure):
        def _ipython_display_(self) -> None:
            from IPython.display import display

            titles = [axes.get_title() for axes in self.axes]
            words = visible(", ".join(["A chart", *filter(None, titles)]))
            shown = {"text/plain": words, "text/html": figure_html(self, words)}
            display(shown, raw=True)  # type: ignore[no-untyped-call]

    return Chart


def axes(width: float = 6.4, height: float = 4.0) -> Axes:
    """Empty axes for a chart of one's own, which a notebook shows in its own theme, light or dark.

    ``width`` and ``height`` are inches.

    Examples
    --------
    >>> curve = axes()
    >>> lines = curve.plot([1.0, 0.5, 0.25], label="loss")
    >>> print(curve.set_xlabel("step").get_text())
    step
    """
    return grid_for(1, 1, width, height)[0]


def axes_for(given: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The axes that the caller passed in, or new ones."""
    return axes(width, height) if given is None else given


def grid_for(count: int, columns: int, width: float, height: float) -> list[Axes]:
    """So many new axes of one size, ``columns`` in a row at most, of a figure that a notebook shows."""
    require_matplotlib()
    from matplotlib import pyplot

    pyplot.draw_if_interactive()  # loads the backend: what it sets for the session has to outlast our style
    columns = max(1, min(columns, count))
    rows = max(1, -(-count // columns))
    size = width * columns, height * rows
    with style():
        made = pyplot.subplots(
            rows, columns, figsize=size, layout="compressed", squeeze=False, FigureClass=chart_class()
        )[1]
    for ax in made.ravel()[count:]:
        ax.set_visible(False)
    return list(made.ravel()[:count])


def scale_by_powers(axes: Axes, which: str = "y") -> None:
    """Let the numbers on an axis grow by powers of ten, written without mathematical type."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = axes.yaxis if which == "y" else axes.xaxis
    low, high = axis.get_view_interval()
    near = low > 0 and high / low < 100  # few whole powers of ten
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if near else (1.0,)))
    axis.set_major_formatter(lambda value, _: power_text(value))
    axis.set_minor_formatter(NullFormatter())


def power_text(value: float) -> str:
    """A number on an axis of powers.

    >>> power_text(100.0), power_text(0.02), power_text(1e-7), power_text(2e6)
    ('100', '0.02', '10⁻⁷', '2·10⁶')
    """
    if not value or 1e-3 <= abs(value) < 1e4:
        return f"{value:g}"
    digits, _, power = f"{value:.0e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{'' if digits == '1' else f'{digits}·'}10{raised}"


def figure_html(made: Figure, words: str) -> str:
    """The figure as an ``<img>`` that holds the whole SVG, with ``words`` for who does not see it."""
    return image(figure_svg(made), visible(words), made.get_figwidth() * 96)


def figure_svg(made: Figure) -> str:
    """The figure as SVG, the same on every run."""
    file = io.StringIO()
    with style():
        inked(made).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
