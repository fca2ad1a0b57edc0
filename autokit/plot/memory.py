"""The bytes that a graph keeps alive, drawn step by step: forward they pile up, backward they are freed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autokit.engine.tensor import Tensor
from autokit.graphs.layers import size_text
from autokit.graphs.memory import memory as measured
from autokit.plot.figures import BLUE, FAINT, INK, ORANGE, QUIET, axes_for, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def memory(loss: Tensor, ax: Axes | None = None) -> Axes:
    """Draw how many bytes are alive at each operation, on the way to ``loss`` and on the way back.

    From below: the parameters and the data, which are there all the time; the saved tensors, which pile up
    forward and are freed backward; and the gradients.  Results that nobody saves are not counted, nor what
    your own variables hold, nor what runs inside of a checkpointed part or a Function.

    Parameters
    ----------
    loss : Tensor
        Before ``backward()``, which frees what this counts; nothing changes.
    ax : Axes, optional
        Where to draw; left out, new axes.

    Returns
    -------
    Axes

    Raises
    ------
    RuntimeError
        If ``loss`` has no graph, or a backward pass has freed it.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(100, requires_grad=True)
    >>> memory(x.exp().exp().sum()).get_title()
    'At most 2.0 kB are alive'
    """
    found = measured(loss)
    count = len(found.operations)
    places = [place + 0.5 for place in range(-1, 2 * count)]
    axes = axes_for(ax, 7.0, 3.6)
    with style():
        ground = [0.0] * (2 * count)
        bands = [([found.given] * (2 * count), FAINT, "parameters and data")]
        bands += [([*found.saved], BLUE, "saved for the way back"), ([*found.gradients], ORANGE, "gradients")]
        for values, colour, words in bands:
            top = [low + value for low, value in zip(ground, values)]
            axes.stairs(top, places, baseline=ground, fill=True, color=colour, label=words)
            ground = top
        axes.axvline(count - 0.5, color=INK, linewidth=1.0, dashes=(4, 3))
        for middle, words in ((0.25, "forward →"), (0.75, "→ backward")):
            axes.text(middle, 1.01, words, transform=axes.transAxes, ha="center", color=QUIET, fontsize=9)
        if count <= 12:
            names = [*found.operations, *reversed(found.operations)]
            axes.set_xticks(range(2 * count), names, rotation=60, ha="right")
        axes.yaxis.set_major_formatter(lambda value, _: size_text(round(value)))
        axes.set(xlim=(places[0], places[-1]), ylim=(0, max(ground) * 1.05), xlabel="operation")
        axes.set_title(f"At most {size_text(found.peak)} are alive", pad=18)
        axes.legend(loc="upper left")
    return axes
