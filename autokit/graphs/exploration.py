""":func:`explore_layers` records, layer by layer, what a model computes from one input, as plain data.

The model runs once, in evaluation mode, and a backward pass that changes nothing computes the gradients.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.errors import describe
from autokit.engine.modes import enable_grad, recording
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import OPERATIONS_DRAWN, Builder
from autokit.graphs.evaluation import Gradients
from autokit.graphs.layers import Layer, as_found, called, expect, summary, tensors_in, with_shapes_to_come
from autokit.graphs.model import Graph
from autokit.graphs.names import Names, namespaces_in_sight
from autokit.graphs.run import rehearse
from autokit.graphs.summary import summarize
from autokit.nn.module import Module

BINS = 24


@dataclass(frozen=True)
class Spread:
    """How the numbers of a tensor are spread.

    ``counts`` of the finite ones lie in equal parts of the way from ``minimum`` to ``maximum``; ``zeros`` is
    the share that is exactly 0, and ``bad`` how many are not finite.
    """

    shape: tuple[int, ...]
    minimum: float
    maximum: float
    mean: float
    deviation: float
    zeros: float
    bad: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Weights:
    """A parameter of a layer: its shape, its norm, and that of its gradient, or None where it gets none."""

    name: str
    shape: tuple[int, ...]
    norm: float
    gradient_norm: float | None


@dataclass(frozen=True)
class Explored:
    """A layer, what its first call gave, and the gradient that came back there; None where there is none."""

    layer: Layer
    activation: Spread | None
    gradient: Spread | None
    weights: tuple[Weights, ...]


@dataclass(frozen=True)
class Exploration:
    """A model's layers in their order, and the graph of its run."""

    layers: tuple[Explored, ...]
    graph: Graph


def explore_layers(
    model: Module, inputs: tuple[Any, ...], loss: Callable[[Any], Tensor] | None = None
) -> Exploration:
    """Run ``model`` once on ``inputs``, and say what happens in each layer.

    The gradients are those of ``loss(output)``, and of the sum of all outputs where no loss is given.

    Raises
    ------
    TypeError
        If ``model`` is no module, or there is no tensor to begin the way back with.
    RuntimeError
        If ``forward`` fails; names the layer and what it was given.
    """
    expect(model, Module, "explore")
    model = with_shapes_to_come(model)
    table = summary(model, *inputs)
    outputs: dict[int, Tensor] = {}

    def note(module: Module, _: Any, output: Any) -> None:
        for first in tensors_in(output):
            outputs.setdefault(id(module), first)
            break

    with ExitStack() as stack:
        for around in (as_found(model), called(model, None, note), enable_grad(), recording()):
            stack.enter_context(around)
        output = model(*inputs)
        end = _end(output, loss)
        captured = Builder(
            Names([{"output": output}, *namespaces_in_sight(), _arguments(model, inputs)])
        ).build([end], OPERATIONS_DRAWN)
        seen, found = Gradients(captured), {}
        if end._node is not None:
            found = rehearse(end._node, np.ones_like(end.array), seen)
    modules = dict(model.named_modules(remove_duplicate=False))
    layers = []
    for layer in table.layers:
        module = modules[layer.path]
        result = outputs.get(id(module))
        place = None if result is None else captured.ids.get(result._node or result)
        arrived = None if place is None else seen.gradients.get(place)
        own = () if layer.shared else module._parameters.items()
        layers.append(
            Explored(
                layer,
                None if result is None else spread(to_numpy(result.array)),
                None if arrived is None else spread(to_numpy(arrived)),
                tuple(_weights(name, each, found) for name, each in own if each is not None),
            )
        )
    nodes = tuple(
        replace(node, gradient=summarize(to_numpy(seen.gradients[node.id])))
        if node.id in seen.gradients
        else node
        for node in captured.graph.nodes
    )
    return Exploration(tuple(layers), replace(captured.graph, nodes=nodes))


def spread(values: np.ndarray) -> Spread | None:
    """How ``values`` are spread; None for none at all.

    >>> spread(np.array([0.0, 1.0, 3.0, 0.0])).zeros
    0.5
    """
    if not values.size:
        return None
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if not finite.size:
        return Spread(values.shape, math.nan, math.nan, math.nan, math.nan, 0.0, int(wide.size), ())
    low, high = float(finite.min()), float(finite.max())
    counts = (
        np.histogram(finite, BINS, (low, high))[0] if 0 < high - low < math.inf else np.array([finite.size])
    )
    mean, deviation, zeros = float(finite.mean()), float(finite.std()), float((wide == 0).mean())
    bad = int(wide.size - finite.size)
    return Spread(values.shape, low, high, mean, deviation, zeros, bad, tuple(counts.tolist()))


def _weights(name: str, parameter: Tensor, found: dict[Any, Any]) -> Weights:
    gradient = found.get(parameter)
    norm = None if gradient is None else float(np.linalg.norm(to_numpy(gradient).ravel()))
    return Weights(
        name, tuple(parameter.shape), float(np.linalg.norm(to_numpy(parameter.array).ravel())), norm
    )


def _end(output: Any, loss: Callable[[Any], Tensor] | None) -> Tensor:
    """Where the way back begins."""
    if loss is not None:
        end = loss(output)
        if not isinstance(end, Tensor) or end.array.size != 1:
            what = describe(end) if isinstance(end, Tensor) else type(end).__name__
            raise TypeError(f"explore(): loss(output) should be a Tensor of one element, and is {what}")
        return end
    first = output
    while isinstance(first, tuple | list) and first:
        first = first[0]
    if not isinstance(first, Tensor):
        raise TypeError(
            f"explore(): the model gives {type(output).__name__}: say with loss= which number of it to follow"
        )
    return first if first.array.size == 1 else first.sum()


def _arguments(model: Module, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """What the model's ``forward`` calls its inputs."""
    try:
        return dict(inspect.signature(model.forward).bind(*inputs).arguments)
    except (TypeError, ValueError):
        return {"input": inputs[0]} if inputs else {}
