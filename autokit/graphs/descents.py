""":func:`descend` runs several optimizers on a loss of two numbers, and records their paths as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.engine.modes import enable_grad
from autokit.engine.tensor import Tensor
from autokit.graphs.evaluation import Evaluation
from autokit.graphs.summary import number
from autokit.ops.create import tensor
from autokit.optim import SGD, Adam, Optimizer

USUAL: Mapping[str, Any] = {
    "SGD": (SGD, {"lr": 0.01}),
    "SGD with momentum": (SGD, {"lr": 0.01, "momentum": 0.9}),
    "Adam": (Adam, {"lr": 0.1}),
}
"""What is compared where nobody says."""

Maker = Callable[[list[Tensor]], Optimizer]


@dataclass(frozen=True)
class Path:
    """The way of one optimizer: its ``points``, the loss at each, and the gradient there."""

    name: str
    points: tuple[tuple[float, float], ...]
    losses: tuple[float, ...]
    gradients: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Descents:
    """The ways of several optimizers over one loss.

    ``ends`` are the lowest and highest of each of the two numbers in the picture, and ``values`` the loss
    over a grid between them: one row for each height, from low to high.
    """

    names: tuple[str, str]
    paths: tuple[Path, ...]
    ends: tuple[tuple[float, float], tuple[float, float]]
    values: tuple[tuple[float, ...], ...]

    @property
    def steps(self) -> int:
        """How many steps each took."""
        return len(self.paths[0].points) - 1


def descend(
    loss: Callable[..., Any],
    optimizers: Iterable[Any] | Mapping[str, Any],
    start: Sequence[float],
    steps: int,
    names: tuple[str, str],
    ends: Sequence[Sequence[float]] | None = None,
    grid: int = 61,
) -> Descents:
    """Let each optimizer take ``steps`` steps from ``start``.

    Raises
    ------
    TypeError
        If an optimizer is neither a class of them nor a function that makes one.
    ValueError
        If there are no optimizers or no steps, or the start is not two finite numbers.
    """
    evaluation = Evaluation(loss, names)
    paths = ways(evaluation, optimizers, start, steps)
    sides = _sides(paths) if ends is None else _checked(ends)
    lines = [np.linspace(low, high, grid) for low, high in sides]
    values = evaluation.over(lines[0].tolist(), lines[1].tolist())
    return Descents(names, paths, sides, tuple(tuple(map(float, row)) for row in values))


def ways(
    evaluation: Evaluation,
    optimizers: Iterable[Any] | Mapping[str, Any],
    start: Sequence[float],
    steps: int,
) -> tuple[Path, ...]:
    """The way of each optimizer from ``start``; errors are those of :func:`descend`."""
    chosen = _makers(optimizers)
    if not chosen:
        raise ValueError("descent() needs an optimizer, as in descent(loss, [optim.SGD])")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"steps is how many steps each optimizer takes, 1 or more, got {steps!r}")
    place = tuple(float(each) for each in start)
    if len(place) != 2 or not all(map(math.isfinite, place)):
        first, second = evaluation.names
        raise ValueError(f"start is two numbers, one for {first} and one for {second}, got {start!r}")
    return tuple(_path(evaluation, name, maker, place, steps) for name, maker in chosen)


def _path(
    evaluation: Evaluation,
    label: str,
    maker: Maker,
    start: tuple[float, ...],
    steps: int,
) -> Path:
    parameters = [tensor(each, requires_grad=True) for each in start]
    for name, parameter in zip(evaluation.names, parameters):
        parameter.name = name
    optimizer = maker(parameters)
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"{label} should make an Optimizer of the parameters, and gave {type(optimizer).__name__}"
        )
    points, losses, gradients = [], [], []

    def closure() -> Tensor:
        optimizer.zero_grad()
        with enable_grad():
            value: Tensor = evaluation.loss(parameters)
            value.backward()
        return value

    for step in range(steps + 1):
        value = closure()
        points.append((parameters[0].item(), parameters[1].item()))
        losses.append(float(value.item()))
        slopes = [0.0 if each.grad is None else float(each.grad.item()) for each in parameters]
        gradients.append((slopes[0], slopes[1]))
        if step < steps:
            optimizer.step(closure)  # type: ignore[attr-defined]
    return Path(label, tuple(points), tuple(losses), tuple(gradients))


def _makers(optimizers: Iterable[Any] | Mapping[str, Any]) -> list[tuple[str, Maker]]:
    if isinstance(optimizers, Mapping):
        given = [(str(name), _maker(each)) for name, each in optimizers.items()]
    else:
        given = [(_label(each), _maker(each)) for each in optimizers]
    seen: dict[str, int] = {}
    named = []
    for name, maker in given:
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{name} ({seen[name]})", maker))
    return named


def _maker(each: Any) -> Maker:
    if isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Mapping):
        method, settings = each
        return lambda parameters: method(parameters, **settings)
    if callable(each):
        return each  # type: ignore[no-any-return]
    raise TypeError(
        "an optimizer is a class, as optim.SGD, a pair (optim.SGD, {'lr': 0.1}), or a function of the "
        f"parameters that makes one; got {type(each).__name__}"
    )


def _label(each: Any) -> str:
    if isinstance(each, tuple):
        settings = ", ".join(
            f"{name} {number(value) if isinstance(value, int | float) else value}"
            for name, value in each[1].items()
        )
        return f"{each[0].__name__} · {settings}"
    name = getattr(each, "__name__", type(each).__name__)
    return "optimizer" if name == "<lambda>" else name


def _sides(paths: Iterable[Path]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the ways go, with some room around; what runs away is not followed."""
    sides = []
    for axis in (0, 1):
        values = np.array([point[axis] for path in paths for point in path.points])
        values = values[np.isfinite(values)]
        start = float(values[0])
        near = values[np.abs(values - start) <= 12 * max(float(np.median(np.abs(values - start))), 0.5)]
        low, high = float(near.min()), float(near.max())
        air = 0.2 * (high - low) or 1.0
        sides.append((float(f"{low - air:.4g}"), float(f"{high + air:.4g}")))
    widest = max(high - low for low, high in sides)
    grown = []
    for low, high in sides:
        # A picture much flatter than wide hides what lies beside the ways.
        more = max(0.0, 0.5 * widest - (high - low)) / 2
        grown.append((float(f"{low - more:.4g}"), float(f"{high + more:.4g}")))
    return grown[0], grown[1]


def _checked(ends: Sequence[Sequence[float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    sides = [tuple(map(float, each)) for each in ends]
    if len(sides) != 2 or not all(len(e) == 2 and all(map(math.isfinite, e)) and e[0] < e[1] for e in sides):
        raise ValueError(f"ends is ((low, high), (low, high)), one pair for each number, got {ends!r}")
    return (sides[0][0], sides[0][1]), (sides[1][0], sides[1][1])
