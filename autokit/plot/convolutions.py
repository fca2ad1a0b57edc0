"""A convolution told in columns: the kernel slides over the input, and what comes back adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.graphs.model import NOT_COMPUTED
from autokit.graphs.summary import with_minus
from autokit.plot.figures import BLUE, INK, ORANGE, QUIET, grid_for, style
from autokit.plot.heatmaps import _map, _most, _table, array_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = (
    "the kernel moves",
    "result so far",
    "gradient · window",
    "kernel's gradient so far",
    "input's gradient so far",
)


def convolution(
    x: Any, kernel: Any, gradient: Any = None, stride: int = 1, padding: int = 0, columns: int = 5
) -> list[Axes]:
    """Draw how ``kernel`` slides over ``x``, forward and back, in a column for each place where it stands.

    Forward, each place gives one element of the result: the sum of the window's elements, each times its
    weight. On the way back each place sends the window, times the gradient of its element, to the kernel:
    there the contributions of all places add up, as all share the weights. And it sends the kernel, times
    that gradient, back to the window.

    Parameters
    ----------
    x, kernel : Tensor or array
        Matrices; dimensions of 1 in front, for a batch or channels, are left out.
    gradient : Tensor or array, optional
        What arrives at the result, in its shape; ones where it is left out.
    stride, padding : int
        How far the kernel moves from place to place, and how many zeros stand around the input.
    columns : int
        How many places to draw at most: the first ones and the last.

    Returns
    -------
    list of Axes
        Row by row, from left to right.

    Raises
    ------
    ValueError
        If they are no matrices, or the kernel is larger than the input, or the gradient has another shape.

    Examples
    --------
    >>> import autokit as torch
    >>> axes = convolution(torch.arange(9.0).reshape(3, 3), torch.ones(2, 2))
    >>> [ax.get_title() for ax in axes[:4]]
    ['place 1 of 4: 8', 'place 2 of 4: 12', 'place 3 of 4: 20', 'place 4 of 4: 24']
    """
    wide, weights = np.pad(_matrix(x), padding) + 0.0, _matrix(kernel)
    views: Any = np.lib.stride_tricks.sliding_window_view(wide, weights.shape)
    windows = views[::stride, ::stride]
    arriving = np.ones((1, 1)) if gradient is None else _matrix(gradient)
    arriving = np.broadcast_to(arriving, windows.shape[:2])
    places = list(np.ndindex(arriving.shape))
    shown = sorted({*range(min(columns - 1, len(places))), len(places) - 1})
    result = np.full(arriving.shape, np.nan)
    by_kernel, by_input = np.zeros_like(weights), np.zeros_like(wide)
    told = []
    for number, (row, column) in enumerate(places):
        corner = row * stride, column * stride
        under = tuple([slice(at, at + size) for at, size in zip(corner, weights.shape)])
        result[row, column] = (windows[row, column] * weights).sum()
        sent = arriving[row, column] * windows[row, column]
        by_kernel += sent
        by_input[under] += arriving[row, column] * weights
        if number in shown:
            title = with_minus(f"place {number + 1} of {len(places)}: {result[row, column]:.4g}")
            tables = wide, result.copy(), sent, by_kernel.copy(), by_input.copy()
            told.append((title, corner, tables))
    return _draw(told, weights)


def _draw(told: list[tuple[Any, ...]], weights: np.ndarray) -> list[Axes]:
    """A column for each place, a row for each kind of table; a row has one scale of colours."""
    axes = grid_for(len(_ROWS) * len(told), len(told), 2.5, 2.4)
    with style():
        for row, called in enumerate(_ROWS):
            most = _most([tables[row] for *_, tables in told])
            for column, (title, corner, tables) in enumerate(told):
                ax = axes[row * len(told) + column]
                _map(ax, tables[row], most, title if row == 0 else "")
                ax.set(xticks=[], yticks=[], ylabel="" if column else called)
                for text in ax.texts:
                    if text.get_text() == "×":
                        text.set_text(NOT_COMPUTED)
                        text.set_color(QUIET)
                if row in (0, len(_ROWS) - 1):
                    _window(ax, corner, weights, ORANGE if row else BLUE)
    return axes


def _window(ax: Axes, corner: tuple[int, int], weights: np.ndarray, colour: str) -> None:
    """A frame where the kernel stands, and in a small input its weights."""
    from matplotlib.patches import Rectangle

    top, left = corner
    high, wide = weights.shape
    ax.add_patch(Rectangle((left - 0.5, top - 0.5), wide, high, fill=False, edgecolor=colour, lw=3))
    if not ax.texts:
        return
    for (row, column), weight in np.ndenumerate(weights):
        text = with_minus(f"×{weight:.2g}")
        place = left + column + 0.42, top + row + 0.42
        ax.text(*place, text, color=INK, ha="right", va="bottom", fontsize=6)


def _matrix(values: Any) -> np.ndarray:
    array = array_of(values)
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    return _table(array, "convolution")
