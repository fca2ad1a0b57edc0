"""Matrices are drawn as heatmaps: zero has no colour, green is above and purple below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.errors import describe
from autokit.draw.escape import visible
from autokit.draw.themes import ON_BOTH, ON_EITHER
from autokit.engine.tensor import Tensor
from autokit.graphs.summary import number, with_minus
from autokit.plot.figures import ALARM, axes_for, grid_for, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN = 200
"""Up to so many numbers are written into their cells."""

_ROOM, _WIDE = 0.34, 0.46
"""And only into cells of so many inches: with two digits, and with three."""

_BLANKS = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥"})
"""How a token of air is shown."""


def heatmap(values: Any, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw a vector or a matrix, one cell for each number.

    Zero is blank, what is above it green, what is below purple, told apart in every form of colour blindness;
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
    table = _table(values, "heatmap")
    rows, columns = table.shape
    cell = min(0.55, 8.0 / columns, 6.0 / rows)
    axes = axes_for(ax, cell * (columns + 0.1 * max(rows, columns)) + 1.0, cell * rows + 0.8)
    with style():
        _map(axes, table, _most([table]), title)
        if rows == 1:
            axes.set_yticks([])
        _bar(axes)
    return axes


def heatmaps(
    values: Any, axes: Sequence[Axes] | None = None, titles: Sequence[str] = (), columns: int = 8
) -> list[Axes]:
    """Draw several matrices in a grid, all in one scale of colours, as the filters of a layer.

    Parameters
    ----------
    values : Tensor, array, or sequence of these
        Matrices, or one tensor of three dimensions: ``network[0].weight.reshape(16, 8, 8)``.
    axes : sequence of Axes, optional
        Where to draw, one for each matrix; left out, new ones.
    titles : sequence of str
        One for each matrix; left out, their numbers.
    columns : int
        How many stand side by side at most.

    Returns
    -------
    list of Axes

    Raises
    ------
    ValueError
        If there is nothing to draw, or another number of titles or axes than of matrices.

    Examples
    --------
    >>> import autokit as torch
    >>> [ax.get_title() for ax in heatmaps(torch.ones(3, 2, 2))]
    ['0', '1', '2']
    """
    tables = [_table(each, "heatmaps") for each in values]
    titles = titles or [str(place) for place in range(len(tables))]
    if not tables or len(titles) != len(tables) or (axes is not None and len(axes) != len(tables)):
        given = "" if axes is None else f", {len(axes)} axes"
        raise ValueError(
            f"heatmaps() needs a title and axes for each matrix, and got {len(tables)} matrices, "
            f"{len(titles)} titles{given}"
        )
    high, wide = (max(table.shape[side] for table in tables) for side in (0, 1))
    side = 0.22 if max(high, wide) > 4 else 0.5
    size = max(1.0, min(2.6, side * wide)), max(1.0, min(2.6, side * high)) + 0.3
    axes = grid_for(len(tables), columns, *size) if axes is None else axes
    most = _most(tables)
    with style():
        for ax, table, title in zip(axes, tables, titles):
            _map(ax, table, most, title)
            ax.set(xticks=[], yticks=[])
        _bar(axes[min(columns, len(axes)) - 1])
    return list(axes)


def attention(
    weights: Any,
    tokens: Sequence[str],
    axes: Sequence[Axes] | None = None,
    asking: Sequence[str] | None = None,
) -> list[Axes]:
    """Draw who attends to whom: a row for each token that asks, and how its weight of 1 is spread.

    Parameters
    ----------
    weights : Tensor or array
        Of shape ``(rows, tokens)``, or ``(heads, rows, tokens)``: as softmax gives them.
    tokens : str or sequence of str
        What stands at the columns, and at the rows too; a space is shown as ``␣``.
    axes : sequence of Axes, optional
        Where to draw, one for each head; left out, new ones.
    asking : str or sequence of str, optional
        What stands at the rows, where that is another text.

    Returns
    -------
    list of Axes
        One for each head.

    Raises
    ------
    ValueError
        If the weights have other sizes than there are tokens.

    Examples
    --------
    >>> import autokit as torch
    >>> (ax,) = attention(torch.tensor([[1.0, 0.0], [0.3, 0.7]]), ["to", "be"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['to', 'be']
    """
    array = array_of(weights)
    across = [visible(token.translate(_BLANKS)) for token in tokens]
    down = across if asking is None else [visible(token.translate(_BLANKS)) for token in asking]
    heads = array.reshape(-1, *array.shape[-2:]) if array.ndim >= 2 else array
    if heads.shape[1:] != (len(down), len(across)) or not heads.size:
        raise ValueError(
            f"attention() needs a weight for each of {len(down)} tokens that ask and {len(across)} that are "
            f"asked, and got weights of shape {array.shape}"
        )
    if axes is None:
        cell = 0.42 if max(len(down), len(across)) <= 12 else 0.2
        axes = grid_for(len(heads), 4, 1.2 + cell * len(across), 1.2 + cell * len(down))
    with style():
        for place, (ax, table) in enumerate(zip(axes, heads.astype(np.float64), strict=True)):
            _map(ax, table, 1.0, f"head {place}" if len(heads) > 1 else "", weights=True)
            ax.set_xticks(range(len(across)), across, rotation=0 if max(map(len, across)) < 4 else 60)
            ax.set_yticks(range(len(down)), down)
            ax.set(xlabel="looks at", ylabel="the token" if place == 0 else "")
        _bar(axes[-1], 0.0)
    return list(axes)


def array_of(values: Any) -> np.ndarray:
    """The numbers of a tensor, or of what NumPy reads, on the CPU."""
    return to_numpy(values.array) if isinstance(values, Tensor) else np.asarray(values)


def _table(values: Any, caller: str) -> np.ndarray:
    array = array_of(values)
    if array.ndim not in (1, 2) or not array.size:
        what = describe(values) if isinstance(values, Tensor) else f"an array of shape {array.shape}"
        raise ValueError(f"{caller}() draws numbers in one or two dimensions, and got {what}")
    return np.atleast_2d(array).astype(np.float64)


def _most(tables: Sequence[np.ndarray]) -> float:
    """Where the scale of colours ends, above and below 0."""
    sizes = [np.abs(table[np.isfinite(table)]).max(initial=0.0) for table in tables]
    return float(max(sizes)) or 1.0


def _map(axes: Axes, table: np.ndarray, most: float, title: str, weights: bool = False) -> None:
    """One matrix on ``axes``, with numbers in its cells where there are few of them.

    ``weights`` are written as shares of 1, and a share of 0 not at all.
    """
    axes.imshow(table, cmap=sign_colours(), vmin=-most, vmax=most, aspect="equal", interpolation="nearest")
    frame = axes.get_window_extent()
    cell = min(frame.width / table.shape[1], frame.height / table.shape[0]) / axes.figure.dpi
    written = table.size <= _WRITTEN and cell >= _ROOM
    for (row, column), value in np.ndenumerate(table):
        if not np.isfinite(value):
            axes.text(column, row, "×", color=ALARM, ha="center", va="center", fontweight="bold")
        elif written and (value or not weights):
            ink = ON_EITHER
            text = f"{value:.2f}" if weights else _written(value, 3 if cell >= _WIDE else 2)
            axes.text(column, row, text, color=ink, ha="center", va="center", fontsize=8)
    axes.set_title(visible(title))
    axes.set_xticks(_ticks(table.shape[1]))
    axes.set_yticks(_ticks(table.shape[0]))
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


def _bar(axes: Axes, lowest: float | None = None) -> None:
    """The scale of colours beside the map on ``axes``, and as tall as the map, whatever room there is."""
    (drawn,) = axes.images
    rows, columns = drawn.get_size()
    width = 0.05 * max(rows, columns) / columns
    beside = axes.inset_axes((1 + width, 0, width, 1))
    bar = axes.figure.colorbar(drawn, cax=beside)
    bar.outline.set_visible(False)
    low, high = drawn.get_clim()
    low = low if lowest is None else lowest
    beside.set_ylim(low, high)
    bar.set_ticks([low, high] if rows < 3 else [low, (low + high) / 2, high])
    bar.ax.yaxis.set_major_formatter(lambda value, _: _written(value))


def _written(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}g}" if 1e-3 <= abs(value) < 1e3 or value == 0 else number(value)
    return with_minus(text)


def sign_colours() -> Any:
    """matplotlib's colours from minus to plus: the nearer to zero, the more of the page is seen through."""
    from matplotlib.colors import LinearSegmentedColormap

    plus, minus = ON_BOTH
    ends = [(0.0, (minus, 1.0)), (0.5, (minus, 0.0)), (0.5, (plus, 0.0)), (1.0, (plus, 1.0))]
    return LinearSegmentedColormap.from_list("signs", ends)


def _ticks(count: int) -> list[int]:
    return list(range(0, count, max(1, -(-count // 12))))
