"""Charts of a model: the size of the gradients in its layers, and the distribution of its activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.draw.escape import visible
from autokit.engine.tensor import Tensor
from autokit.graphs.exploration import Spread, explore_layers
from autokit.graphs.layers import expect
from autokit.graphs.summary import with_minus
from autokit.nn.module import Module
from autokit.plot.figures import (
    ALARM,
    BLUE,
    ORANGE,
    QUIET,
    axes_for,
    grid_for,
    scale_by_powers,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LAYERS = 12


def gradient_flow(model: Module, ax: Axes | None = None) -> Axes:
    """Draw how large the gradients of each parameter are, after ``loss.backward()``.

    For each parameter, in the model's order, a bar to the mean of the gradient's absolute values and a mark
    at the largest.  Where the bars fall from right to left, gradients vanish on their way back.

    Parameters
    ----------
    model : Module
        Whose parameters have a ``.grad``; those without one are left out, and named.
    ax : Axes, optional
        Where to draw; left out, new axes.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If ``model`` is no module.
    RuntimeError
        If no parameter has a gradient.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> layer = nn.Linear(3, 2)
    >>> layer(torch.ones(1, 3)).sum().backward()
    >>> [text.get_text() for text in gradient_flow(layer).get_xticklabels()]
    ['weight', 'bias']
    """
    expect(model, Module, "gradient_flow")
    learning = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    found = [(name, np.abs(to_numpy(each._grad.array))) for name, each in learning if each._grad is not None]
    found = [(name, sizes) for name, sizes in found if sizes.size]
    if not found:
        raise RuntimeError("no parameter has a gradient: call loss.backward() before gradient_flow(model)")
    means = [float(sizes.mean()) for _, sizes in found]
    most = [float(sizes.max()) for _, sizes in found]
    axes = axes_for(ax, max(4.8, 0.45 * len(found) + 1.5), 4.0)
    with style():
        places = range(len(found))
        axes.bar(places, means, width=0.7, color=BLUE, label="mean of |gradient|")
        axes.plot(places, most, "_", color=ORANGE, markersize=14, markeredgewidth=2, label="largest")
        for place, size in enumerate(means):
            if not np.isfinite(size):
                axes.text(place, 0, "×", color=ALARM, ha="center", va="bottom", fontweight="bold")
        if any(0 < size < np.inf for size in means):
            scale_by_powers(axes)
        axes.set_xticks(list(places), [visible(name) for name, _ in found], rotation=40, ha="right")
        axes.set(title="Gradient flow", ylabel="size of the gradient")
        axes.legend(loc="best")
        if without := [name for name, each in learning if each._grad is None]:
            words = f"without a gradient: {', '.join(without[:4])}{' …' if len(without) > 4 else ''}"
            axes.text(0.01, 0.99, visible(words), transform=axes.transAxes, va="top", fontsize=8, color=QUIET)
    return axes


def activations(model: Module, *inputs: Any, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw how the outputs of each innermost layer are spread: a histogram for each.

    Parameters
    ----------
    model : Module
        It runs once, in evaluation, and stays as it was.
    *inputs : Tensor
        What ``forward`` takes.
    axes : sequence of Axes, optional
        Where to draw, one for each layer; left out, new ones in rows of four.

    Returns
    -------
    list of Axes
        One for each layer that gave a tensor, in the model's order; the first twelve where they are new.

    Raises
    ------
    ValueError
        If there are fewer axes than layers.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> model = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
    >>> [ax.get_title() for ax in activations(model, torch.ones(4, 3))]
    ['0 · Linear', '1 · ReLU']
    """
    return _histograms(model, inputs, None, axes, lambda each: each.activation, BLUE)


def activation_gradients(
    model: Module,
    *inputs: Any,
    loss: Callable[[Any], Tensor] | None = None,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """As :func:`activations`, for the gradients that come back to these outputs.

    They are those of ``loss(output)``; where no loss is given, of the sum of the outputs.
    """
    return _histograms(model, inputs, loss, axes, lambda each: each.gradient, ORANGE)


def _histograms(
    model: Module,
    inputs: tuple[Any, ...],
    loss: Callable[[Any], Tensor] | None,
    axes: Sequence[Axes] | None,
    take: Callable[[Any], Spread | None],
    colour: str,
) -> list[Axes]:
    layers = explore_layers(model, inputs, loss).layers
    innermost = [each for place, each in enumerate(layers) if not _has_children(layers, place)]
    shown = [(each.layer, found) for each in innermost if (found := take(each)) is not None]
    if axes is None:
        shown = shown[:_MOST_LAYERS]
        axes = grid_for(len(shown), 4, 2.7, 2.2)
    elif len(axes) < len(shown):
        raise ValueError(f"there are {len(shown)} layers to draw, and {len(axes)} axes")
    with style():
        for ax, (layer, found) in zip(axes, shown):
            edges = np.linspace(found.minimum, found.maximum, len(found.counts) + 1)
            if len(found.counts) < 2:
                edges = np.array([found.minimum - 0.5, found.minimum + 0.5]) if found.counts else edges
            if found.counts:
                ax.stairs(found.counts, edges, fill=True, color=colour)
            words = f"mean {with_minus(f'{found.mean:.3g}')}, ± {found.deviation:.3g}"
            words += f", {100 * found.zeros:.3g} % are 0" if found.zeros else ""
            words += f", {found.bad:,} not finite" if found.bad else ""
            ax.set_title(visible(f"{layer.path} · {layer.kind}" if layer.path else layer.kind))
            ax.set_xlabel(words, fontsize=8, color=ALARM if found.bad else QUIET)
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)
    return list(axes[: len(shown)])


def _has_children(layers: Sequence[Any], place: int) -> bool:
    return place + 1 < len(layers) and layers[place + 1].layer.depth > layers[place].layer.depth
