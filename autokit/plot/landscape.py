"""The loss landscape: the loss around a model's weights, along random directions scaled to its filters.

References
----------
H. Li, Z. Xu, G. Taylor, C. Studer and T. Goldstein, *Visualizing the Loss Landscape of Neural Nets*, NeurIPS
2018.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.base.devices import beside, to_numpy
from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.graphs.layers import expect
from autokit.nn.module import Module
from autokit.plot.figures import BLUE, INK, axes_for, style
from autokit.plot.functions import contour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def directions(model: Module, count: int, seed: int) -> list[list[np.ndarray]]:
    """Random directions in the space of the parameters, each filter as long as the model's own.

    A filter is what makes one output: a row of a matrix, a kernel of a convolution.  Vectors, such as biases
    and the weights of a normalization, stay as they are.
    """
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        direction = []
        for parameter in model.parameters():
            weights = to_numpy(parameter.array)
            drawn = generator.standard_normal(weights.shape)
            if weights.ndim < 2:
                direction.append(np.zeros(weights.shape))
                continue
            around = tuple(range(1, weights.ndim))
            own = np.sqrt((weights.astype(np.float64) ** 2).sum(around, keepdims=True))
            length = np.sqrt((drawn**2).sum(around, keepdims=True))
            direction.append(drawn * own / np.where(length > 0, length, 1.0))
        made.append(direction)
    return made


def loss_landscape(
    model: Module,
    loss: Callable[[], Tensor],
    ax: Axes | None = None,
    *,
    dimensions: int = 2,
    reach: float = 1.0,
    points: int = 21,
    seed: int = 0,
) -> Axes:
    """Draw the loss around the model's weights: a contour over two random directions, or a curve along one.

    Each direction is normalized filter by filter to the length of the model's own weights (Li et al. 2018),
    so that pictures of different models can be compared.  The weights are as before when it returns.

    Parameters
    ----------
    model : Module
    loss : callable
        Takes nothing, and returns the loss of ``model`` as it is, as ``lambda: criterion(model(x), y)``.
    ax : Axes, optional
        Where to draw; left out, new axes.
    dimensions : {2, 1}
    reach : float
        How far to go each way, as a part of the weights' own length.
    points : int
        How many along each direction, an odd number, so that the model itself is one of them.
    seed : int
        Of the directions: the same seed draws the same picture.  The generator of autokit is not asked.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If ``model`` is no module.
    ValueError
        If ``dimensions``, ``reach`` or ``points`` is out of range, or there is no weight to move.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> model, x = nn.Linear(2, 1), torch.ones(4, 2)
    >>> loss_landscape(model, lambda: model(x).pow(2).mean(), points=5).get_title()
    'Loss around the weights'
    """
    expect(model, Module, "loss_landscape")
    if dimensions not in (1, 2):
        raise ValueError(f"dimensions is 1 or 2, got {dimensions!r}")
    if not reach > 0:
        raise ValueError(f"reach is how far to go, above 0, got {reach!r}")
    if points < 3 or points % 2 == 0:
        raise ValueError(f"points is an odd number, 3 or more, got {points!r}")
    moves = directions(model, dimensions, seed)
    if not any(each.any() for each in moves[0]):
        raise ValueError("the model has no weights of two or more dimensions to move")
    steps = np.linspace(-reach, reach, points)
    values = _around(model, loss, moves, steps)
    axes = axes_for(ax, 5.4, 4.2)
    with style():
        if dimensions == 2:
            contour(axes, steps.tolist(), steps.tolist(), values, ("direction 1", "direction 2"), True)
            axes.plot([0], [0], "o", color=INK, zorder=4)
        else:
            axes.plot(steps, values, color=BLUE)
            axes.plot([0], [values[points // 2]], "o", color=INK)
            axes.set(xlabel="direction 1", ylabel="loss")
        axes.set_title("Loss around the weights")
    return axes


def _around(
    model: Module, loss: Callable[[], Tensor], moves: list[list[np.ndarray]], steps: np.ndarray
) -> np.ndarray:
    """The loss at each point; the weights, and the buffers that a run changes, are as before."""
    parameters: list[Any] = list(model.parameters())
    kept = [(each, each.array.copy()) for each in (*parameters, *model.buffers())]
    values = []
    try:
        with no_grad():
            for place in np.ndindex(*[len(steps)] * len(moves)):
                # The last direction goes up the rows.
                amounts = [steps[k] for k in reversed(place)]
                for (each, old), *along in zip(kept, *moves):
                    moved = sum(amount * way for amount, way in zip(amounts, along))
                    each.array[...] = old + beside(moved, old)
                values.append(float(to_numpy(loss().array).reshape(())))
                for buffer, old in kept[len(parameters) :]:
                    buffer.array[...] = old
    finally:
        for each, old in kept:
            each.array[...] = old
    return np.asarray(values).reshape([len(steps)] * len(moves))
