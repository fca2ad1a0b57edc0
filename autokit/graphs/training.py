""":class:`Watch` measures a training run while it goes on, and keeps the figures as plain data.

The loss and the learning rate are measured at each step.  Figures that cost more are measured every few
steps: for each layer the norm of its gradient, how far the update moved its weights, and how many of its
units are silent. The hooks of the optimizer say when a step begins and ends.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import finalize, ref

import numpy as np

from autokit.base.devices import to_numpy
from autokit.engine.detours import DETOURS, Detour
from autokit.engine.modes import thread
from autokit.engine.observed import behind
from autokit.engine.tensor import Tensor
from autokit.graphs.layers import expect
from autokit.graphs.summary import number
from autokit.nn.module import Module
from autokit.optim import Optimizer

RECTIFIERS = frozenset({"relu", "relu6", "threshold"})
"""Operations whose units are silent on a batch when they give 0 for every sample of it."""

_NOTHING = math.nan


@dataclass
class History:
    """A training run in numbers.

    Attributes
    ----------
    modules : tuple of str
        All modules, in the model's order.
    layers : tuple of str
        The modules with weights of their own, in the model's order, as ``"encoder.0 · Linear"``.
    powers : bool or None
        Whether losses are drawn on an axis of powers of ten, from the first step to the last.  Where nobody
        said, the first loss decides: above 0 they are.
    losses, rates : array of float
        The loss and the learning rate of each step.
    sampled : list of int
        The steps, counted from 1, at which the rest was taken.
    norms, ratios : list of tuple of float
        For each of these steps and each layer the Euclidean norm of the gradient, and that of the update
        divided by that of the weights; NaN where there is none.
    dead : dict of str to (int, int)
        For each rectifier at the last of these steps: how many of its units gave 0 for the whole batch, and
        how many it has.
    alarm : str
        Where the first number arose that is not finite, in one sentence; else empty.
    """

    modules: tuple[str, ...]
    layers: tuple[str, ...]
    losses: array[float] = field(default_factory=lambda: array("d"))
    rates: array[float] = field(default_factory=lambda: array("d"))
    sampled: list[int] = field(default_factory=list)
    norms: list[tuple[float, ...]] = field(default_factory=list)
    ratios: list[tuple[float, ...]] = field(default_factory=list)
    dead: dict[str, tuple[int, int]] = field(default_factory=dict)
    alarm: str = ""
    powers: bool | None = None

    @property
    def loss_title(self) -> str:
        """What the chart of the losses is called: it says its scale, and what has no place on it."""
        if not self.powers:
            return "Loss, in even steps"
        outside = sum(loss <= 0 for loss in self.losses)
        return "Loss, in powers of ten" + (f" ({outside:,} at 0 or below are left out)" if outside else "")

    @property
    def constant_rate(self) -> bool:
        """Whether the learning rate has always been the same."""
        return len(set(self.rates)) < 2


class Watch:
    """Measures how ``optimizer`` trains ``model``; call ``step(loss)`` after each ``optimizer.step()``.

    Parameters
    ----------
    model : Module
    optimizer : Optimizer
    every : int
        At every so many steps the layers are measured, the first among them.
    scale : {"powers", "even"}, optional
        The axis of the losses; left out, the first loss decides.
    """

    def __init__(
        self, model: Module, optimizer: Optimizer, every: int = 10, scale: str | None = None
    ) -> None:
        expect(model, Module, "monitor")
        expect(optimizer, Optimizer, "monitor")
        if scale not in (None, "powers", "even"):
            raise ValueError(f"scale is 'powers' or 'even', got {scale!r}")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(
                f"every is how many steps lie between two measurements, 1 or more, got {every!r}"
            )
        self.model, self.optimizer, self.every = model, optimizer, every
        self._names = {id(module): _name(path, module) for path, module in model.named_modules()}
        self._layers = [
            (self._names[id(module)], [each for each in module._parameters.values() if each is not None])
            for module in model.modules()
            if any(each is not None for each in module._parameters.values())
        ]
        self.history = History(
            tuple(self._names.values()),
            tuple(name for name, _ in self._layers),
            powers=None if scale is None else scale == "powers",
        )
        self._before: list[list[Any]] = []
        self._norms: tuple[float, ...] = ()
        self._ratios: tuple[float, ...] = ()
        self._dead: dict[str, tuple[int, int]] = {}
        self._handles = [
            optimizer.register_step_pre_hook(self._step_begins),
            optimizer.register_step_post_hook(self._step_ends),
        ]
        self._due = True
        self._units = _Units(self)
        finalize(self, self._units.look, False)  # nobody need close what nobody holds any more
        self._units.look(True)

    def step(self, loss: Tensor | float) -> None:
        """Note what happened since the step before."""
        history = self.history
        value = float(to_numpy(loss.array).reshape(())) if isinstance(loss, Tensor) else float(loss)
        history.losses.append(value)
        if history.powers is None:
            history.powers = value > 0
        history.rates.append(float(self.optimizer.param_groups[0]["lr"]))
        count = len(history.losses)
        if self._due:
            self._units.look(False)
            history.sampled.append(count)
            nothing = (_NOTHING,) * len(self._layers)
            history.norms.append(self._norms or nothing)
            history.ratios.append(self._ratios or nothing)
            history.dead = self._dead
        if not history.alarm and not (math.isfinite(value) and all(map(math.isfinite, self._norms))):
            history.alarm = self._alarm(count, value, loss)
        self._norms = self._ratios = ()
        if self._due or count % self.every == 0:
            self._due = count % self.every == 0
            if self._due:
                self._dead = {}
                self._units.look(True)

    def close(self) -> None:
        """Look no more: the model and the optimizer are as if nobody had watched."""
        for handle in self._handles:
            handle.remove()
        self._units.look(False)
        self._due = False

    # ------------------------------------------------------------ around an optimizer's step

    def _step_begins(self, *_: Any) -> None:
        if not self._due:
            return
        self._norms = tuple(_norm(each._grad for each in own) for _, own in self._layers)
        self._before = [[each.array.copy() for each in own] for _, own in self._layers]

    def _step_ends(self, *arguments: Any) -> None:
        if not self._before:
            return
        ratios = []
        for (_, own), before in zip(self._layers, self._before):
            size = math.sqrt(sum(map(_squares, before)))
            for each, old in zip(own, before):
                old -= each.array
            moved = math.sqrt(sum(map(_squares, before)))
            ratios.append(moved / size if size else _NOTHING)
        self._ratios, self._before = tuple(ratios), []

    def count_dead(self, operation: str, values: Any) -> None:
        """Count the units of a rectifier that are 0 for every sample."""
        if values.ndim < 2 or len(values) < 2:
            return
        alive = values.any(axis=(0, *range(2, values.ndim)))
        self._dead[self._name_of(thread.state.scope, operation)] = int(alive.size - alive.sum()), alive.size

    def _name_of(self, scope: Any, otherwise: str = "") -> str:
        return self._names.get(id(scope[1]()) if scope is not None else 0, otherwise)

    # ------------------------------------------------------------ the alarm

    def _alarm(self, step: int, value: float, loss: Tensor | float) -> str:
        told = f"Step {step:,}: the loss is {number(value)}."
        if isinstance(loss, Tensor) and loss._node is not None:
            for node in sorted(behind([loss._node]), key=lambda each: each.order):
                results = node.output if isinstance(node.output, tuple) else (node.output,)
                if not all(each is None or _finite(each) for each in results):
                    place = self._name_of(node.scope)
                    where = f"in {place}, " if place and node.scope[1]() is not self.model else ""
                    return (
                        f"{told} The first value that is not finite came {where}from {node.operation.name}."
                    )
        for name, own in reversed(self._layers):
            if any(each._grad is not None and not _finite(each._grad.array) for each in own):
                return f"{told} On the way back the gradient of {name} is the first that is not finite."
        for name, own in self._layers:
            if any(not _finite(each.array) for each in own):
                return f"{told} The weights of {name} are not finite."
        return told


class _Units(Detour):
    """Sees each recorded operation while it is to look; it does not keep the watch alive."""

    def __init__(self, watch: Watch) -> None:
        self.watch = ref(watch)

    def look(self, wanted: bool) -> None:
        """Look from here on, or no more."""
        if wanted and self not in DETOURS:
            self.__enter__()
        elif not wanted and self in DETOURS:
            self.__exit__()

    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Callable[..., Any]) -> Any:
        result = proceed(operands, settings)
        watch = self.watch()
        if watch is not None and operation.name in RECTIFIERS and result._node is not None:
            watch.count_dead(operation.name, result.array)
        return result


def _name(path: str, module: Module) -> str:
    kind = type(module).__name__
    return f"{path} · {kind}" if path else kind


def _squares(values: Any) -> float:
    flat = values.ravel()
    return float(np.vdot(flat, flat))


def _norm(gradients: Iterable[Tensor | None]) -> float:
    squares = [_squares(each.array) for each in gradients if each is not None]
    return math.sqrt(sum(squares)) if squares else 0.0


def _finite(values: Any) -> bool:
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
