"""One operation's way back run alone: what it sends to its operands for any gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.autograd.node import Node as EngineNode
from autokit.autograd.saved import fetch_arrays
from autokit.batches import Batch
from autokit.current_gpu import computing_beside
from autokit.devices import beside, on_a_gpu
from autokit.graphs.model import Graph, Node
from autokit.graphs.summary import in_reach
from autokit.ops.unbroadcast import unbroadcast


def contributions(origin: EngineNode, gradient: Any) -> dict[int, np.ndarray]:
    """What the operation sends back along each of its slots when ``gradient`` arrives."""
    way, sent = origin.way, {}
    there = array_on_a_gpu(origin)
    if there is not None:
        gradient = beside(there, gradient)
    with computing_beside(gradient):
        for slot, vjp, fetch, *_ in way.rules:
            target = None if way.joint else origin.sources[slot]
            made = vjp(gradient, *(fetch_arrays(origin, fetch, target) if fetch else ()))
            places = [(place, one) for place, one in enumerate(made)] if way.joint else [(slot, made)]
            for place, one in places:
                if one is None or not way.learns[place]:
                    continue
                source = origin.sources[place]
                shape = (source if isinstance(source, EngineNode) else source.array).shape
                sent[place] = in_reach(unbroadcast(one if on_a_gpu(one) else np.asarray(one), tuple(shape)))
    return sent


def array_on_a_gpu(origin: EngineNode) -> Any:
    """An array of a GPU that the operation made or was given, None where it computed on the CPU."""
    return next(filter(on_a_gpu, _arrays(origin)), None)


def _arrays(origin: EngineNode) -> list[Any]:
    """What the operation made and was given."""
    return [origin.output, *(operand.array for operand in origin.operands if operand is not None)]


def may_run(origin: Any) -> bool:
    """Whether an operation may be run for the picture.

    A learner's own may print, or stop in a debugger; one of a ``vmap`` takes samples for a gradient.
    """
    is_ours = isinstance(origin, EngineNode) and origin.operation.forward is not None
    return is_ours and not is_of_samples(origin)


def is_of_samples(origin: Any) -> bool:
    """Whether an operation took or made the samples of a ``vmap``, all at once."""
    return isinstance(origin, EngineNode) and any(each.__class__ is Batch for each in _arrays(origin))


def by_assignment(graph: Graph, origins: Sequence[Any], root: Node, seed: Any) -> dict[int, np.ndarray]:
    """The wrong gradients that ``=`` for ``+=`` would give, by node: only the last contribution stays.

    Empty where an operation may not be run for that.
    """
    slots = {(edge.target, edge.slot): edge.source for edge in graph.edges if edge.requires_grad}
    gradients = {root.id: in_reach(seed)}
    for node in reversed(graph.nodes):
        if node.kind != "operation" or node.id not in gradients or node.symbol == "…":
            continue
        if not may_run(origins[node.id]):
            return {}
        for slot, sent in contributions(origins[node.id], gradients[node.id]).items():
            source = slots.get((node.id, slot))
            if source is not None:
                gradients[source] = sent
    return gradients
