"""What happens in a training run, measured as it goes: :class:`Watch`.

The loss and the learning rate are noted at each step.  What costs more is taken at every so many steps: for
each layer the norm of its gradient, how far the update moved its weights, and how many of its units are dead.
An optimizer's own hooks say when a step begins and ends, so nothing is measured in between.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import finalize, ref

import numpy as np

from autokit.autograd.modes import thread
from autokit.autograd.node import Node
from autokit.current_gpu import beside_it, computing_beside
from autokit.devices import copied, to_numpy
from autokit.graphs.summary import number
from autokit.nn.module import Module
from autokit.ops.sparse_array import SparseArray
from autokit.optim.optimizer import Optimizer
from autokit.tensor import Tensor

RECTIFIERS = frozenset({"relu", "relu6", "threshold"})
"""Operations whose units are dead when they give 0 for every sample of a batch."""

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


class Watch:
    """Measures how ``optimizer`` trains ``model``; call ``step(loss)`` after each ``optimizer.step()``.

    Parameters
    ----------
    model : Module
    optimizer : Optimizer
    every : int
        At every so many steps the layers are measured, the first among them.
    """

    def __init__(self, model: Module, optimizer: Optimizer, every: int = 10) -> None:
        if not isinstance(model, Module):
            raise TypeError(f"monitor(): argument 'model' must be a Module, not {type(model).__name__}")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"monitor(): argument 'optimizer' must be an Optimizer, not {type(optimizer).__name__}"
            )
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
        self.history = History(tuple(self._names.values()), tuple(name for name, _ in self._layers))
        self._before: list[list[Any]] = []
        self._norms: tuple[float, ...] = ()
        self._ratios: tuple[float, ...] = ()
        self._dead: dict[str, tuple[int, int]] = {}
        self._handles = [
            optimizer.register_step_pre_hook(self._step_begins),
            optimizer.register_step_post_hook(self._step_ends),
        ]
        self._due = True
        self._looker = _looker(self)
        finalize(self, _forget, self._looker)  # nobody need close what nobody holds any more
        self._look_at_units(True)

    def step(self, loss: Tensor | float) -> None:
        """Note what happened since the step before."""
        history = self.history
        value = float(to_numpy(loss.array).reshape(())) if isinstance(loss, Tensor) else float(loss)
        history.losses.append(value)
        history.rates.append(float(self.optimizer.param_groups[0]["lr"]))
        count = len(history.losses)
        if self._due:
            self._look_at_units(False)
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
                self._look_at_units(True)

    def close(self) -> None:
        """Look no more: the model and the optimizer are as if nobody had watched."""
        for handle in self._handles:
            handle.remove()
        self._look_at_units(False)
        self._due = False

    # ------------------------------------------------------------ around an optimizer's step

    def _step_begins(self, *_: Any) -> None:
        if not self._due:
            return
        self._norms = tuple(_norm(each._grad for each in own) for _, own in self._layers)
        self._before = [[copied(each.array) for each in own] for _, own in self._layers]

    def _step_ends(self, *arguments: Any) -> None:
        if not self._before:
            return
        ratios = []
        for (_, own), before in zip(self._layers, self._before):
            size = math.sqrt(sum(map(_squares, before)))
            for each, old in zip(own, before):
                with computing_beside(old):
                    old -= each.array  # in the copy's own memory
            moved = math.sqrt(sum(map(_squares, before)))
            ratios.append(moved / size if size else _NOTHING)
        self._ratios, self._before = tuple(ratios), []

    # ------------------------------------------------------------ units

    def _look_at_units(self, look: bool) -> None:
        state = thread.state
        others = tuple(watch for watch in state.watchers if watch is not self._looker)
        if look or len(others) < len(state.watchers):
            state.watchers = (*others, self._looker) if look else others

    def _count_dead(self, node: Node) -> None:
        if node.operation.name not in RECTIFIERS or len(node.shape) < 2 or node.shape[0] < 2:
            return
        values = node.output
        if values is None:  # a large one, of which the way back needs the input alone
            operand = node.operand(0)
            if operand is None:
                return
            values = operand.array
        with computing_beside(values):
            alive = (values > 0 if node.output is None else values).any(axis=(0, *range(2, values.ndim)))
            dead = int(alive.size - alive.sum())
        module = node.scope[1]() if node.scope is not None else None
        name = self._names.get(id(module), node.operation.name)
        self._dead[name] = dead, int(alive.size)

    # ------------------------------------------------------------ the alarm

    def _alarm(self, step: int, value: float, loss: Tensor | float) -> str:
        told = f"Step {step:,}: the loss is {number(value)}."
        if isinstance(loss, Tensor) and loss._node is not None:
            for node in sorted(_behind(loss._node), key=lambda each: each.sequence):
                if node.output is not None and not _finite(node.output):
                    module = node.scope[1]() if node.scope is not None else None
                    place = self._names.get(id(module), "")
                    where = f"in {place}, " if place and module is not self.model else ""
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


def _looker(watch: Watch) -> Callable[[Node], None]:
    """What the engine calls with each new node; it does not keep the watch alive."""
    known = ref(watch)

    def look(node: Node) -> None:
        alive = known()
        if alive is not None:
            alive._count_dead(node)

    return look


def _forget(looker: Callable[[Node], None]) -> None:
    state = thread.state
    if looker in state.watchers:
        state.watchers = tuple(watch for watch in state.watchers if watch is not looker)


def _name(path: str, module: Module) -> str:
    kind = type(module).__name__
    return f"{path} · {kind}" if path else kind


def _numbers(values: Any) -> Any:
    """The elements of ``values``: of a sparse gradient those that are not 0."""
    return values.coalesce().values if values.__class__ is SparseArray else values


@beside_it
def _squares(values: Any) -> float:
    flat = _numbers(values).ravel()
    return float(np.vdot(flat, flat).real)


def _norm(gradients: Iterator[Tensor | None]) -> float:
    squares = [_squares(each.array) for each in gradients if each is not None]
    return math.sqrt(sum(squares)) if squares else 0.0


@beside_it
def _finite(values: Any) -> bool:
    with suppress(TypeError):  # of whole numbers all are
        return bool(np.isfinite(_numbers(values)).all())
    return True


def _behind(end: Node) -> list[Node]:
    """The nodes behind ``end``, itself among them."""
    found, waiting = {end}, [end]
    while waiting:
        for source in waiting.pop().sources:
            if isinstance(source, Node) and source not in found:
                found.add(source)
                waiting.append(source)
    return list(found)
