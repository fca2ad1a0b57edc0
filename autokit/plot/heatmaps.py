"""A matrix is drawn as a heatmap: zero has the middle colour, blue is above and orange below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.errors import describe
from autokit.draw.escape import visible
from autokit.engine.tensor import Tensor
from autokit.graphs.summary import number
from autokit.plot.figures import ALARM, axes_for, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN = 200
"""Up to so many numbers are written into their cells."""


def heatmap(values: Any, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw a vector or a matrix, one cell for each number.

    Zero is pale, what is above it blue, what is below orange, told apart in every form of colour blindness;
    the numbers of a small matrix stand in their cells, and one that is not finite is a red ×.

    Parameters
    ----------
    values : Tensor or array
        Of one or two dimensions.
    ax : Axes, optional
        Where to draw; left out, new axes.
    title : str, optional

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If ``values`` has no or more than two dimensions, or no elements.

    Examples
    --------
    >>> import autokit as torch
    >>> heatmap(torch.eye(3)).images[0].get_array().shape
    (3, 3)
    """
    array = to_numpy(values.array) if isinstance(values, Tensor) else np.asarray(values)
    if array.ndim not in (1, 2) or not array.size:
        what = describe(values) if isinstance(values, Tensor) else f"an array of shape {array.shape}"
        raise ValueError(f"heatmap() draws numbers in one or two dimensions, and got {what}")
    table = np.atleast_2d(array).astype(np.float64)
    finite = np.abs(table[np.isfinite(table)])
    most = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    axes = axes_for(ax, 1.2 + min(8.0, 0.55 * table.shape[1]), 0.8 + min(6.0, 0.55 * table.shape[0]))
    with style():
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("autokit", ["#bf5700", "#f3f4f6", "#2166ac"])
        drawn = axes.imshow(
            table, cmap=colours, vmin=-most, vmax=most, aspect="equal", interpolation="nearest"
        )
        bar = axes.figure.colorbar(drawn, ax=axes, fraction=0.05, pad=0.03)
        bar.outline.set_visible(False)
        for row, column in zip(*np.nonzero(~np.isfinite(table))):
            axes.text(column, row, "×", color=ALARM, ha="center", va="center", fontweight="bold")
        if table.size <= _WRITTEN:
            for (row, column), value in np.ndenumerate(table):
                if np.isfinite(value):
                    ink = "#ffffff" if abs(value) > 0.55 * most else "#1f2933"
                    text = f"{value:.3g}" if abs(value) >= 1e-3 or value == 0 else number(value)
                    axes.text(column, row, text, color=ink, ha="center", va="center", fontsize=8)
        axes.set_title(visible(title))
        axes.set_xticks(_ticks(table.shape[1]))
        axes.set_yticks(_ticks(table.shape[0]) if array.ndim == 2 else [])
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0)
    return axes


def _ticks(count: int) -> list[int]:
    return list(range(0, count, max(1, -(-count // 12))))
