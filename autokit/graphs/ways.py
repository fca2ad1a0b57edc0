"""The contribution of each path from the result to a value: the sum over all paths is its gradient.

For numbers the contribution is the product of the local derivatives along the path.  For tensors, the
derivatives of the operations are run for the gradient that comes along this path alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autokit.graphs.backward import Backward
from autokit.graphs.capture import Capture
from autokit.graphs.model import Edge, Node, Ways
from autokit.graphs.summary import in_reach, number, summarize

MOST = 6
"""A value with more ways than this is not told of."""

_RUNS, _ELEMENTS = 400, 4_000_000
"""Nor is any where it took more runs of rules, or more elements went through them."""

_Path = tuple[int, ...]


def told_ways(captured: Capture, backward: Backward, seed: Any) -> tuple[Ways, ...]:
    """For each value with several ways what comes along each, where that is no product of numbers."""
    graph, origins = captured.graph, captured.origins
    into: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        if edge.requires_grad:
            into.setdefault(edge.target, []).append(edge)
    root = backward.root
    counts = _counts(graph.nodes, into, root)
    tensors = _through_tensors(graph.nodes, into, root)
    asked = {id for id, count in counts.items() if 1 < count <= MOST and id in tensors}
    below = _leading_to(graph.edges, asked)
    found: dict[int, list[tuple[_Path, np.ndarray]]] = {}
    waiting: list[tuple[int, Any, _Path]] = [(root.id, in_reach(seed), ())] if asked else []
    runs, elements = 0, 0
    while waiting:
        id, gradient, path = waiting.pop()
        if id in asked:
            found.setdefault(id, []).append((path, gradient))
        edges = [edge for edge in into.get(id, ()) if edge.source in below]
        if not edges:
            continue
        runs, elements = runs + 1, elements + np.size(gradient)
        if runs > _RUNS or elements > _ELEMENTS or not origins[id].may_run:
            return ()
        sent = origins[id].send(gradient)
        waiting += [(e.source, sent[e.slot], (*path, e.id)) for e in reversed(edges) if e.slot in sent]
    told = (_ways(graph.nodes[id], ways, backward) for id, ways in sorted(found.items()))
    return tuple(ways for ways in told if ways is not None)


def _counts(nodes: Sequence[Node], into: dict[int, list[Edge]], root: Node) -> dict[int, int]:
    """How many ways lead from the root to each value."""
    counts = {root.id: 1}
    for node in reversed(nodes):
        for edge in into.get(node.id, ()) if node.id in counts else ():
            counts[edge.source] = counts.get(edge.source, 0) + counts[node.id]
    return counts


def _through_tensors(nodes: Sequence[Node], into: dict[int, list[Edge]], root: Node) -> set[int]:
    """The values that are tensors, or that some way reaches through one."""
    found = {node.id for node in nodes if node.shape}
    for node in reversed(nodes):
        if node.id in found and node.id <= root.id:
            found.update(edge.source for edge in into.get(node.id, ()))
    return found


def _leading_to(edges: Iterable[Edge], asked: set[int]) -> set[int]:
    """The values that were made from those asked for, and these."""
    found = set(asked)
    for edge in edges:  # in the order of their targets
        if edge.source in found:
            found.add(edge.target)
    return found


def _ways(node: Node, ways: list[tuple[_Path, np.ndarray]], backward: Backward) -> Ways | None:
    """The ways to ``node``; None where they do not add up, as after a hook that changed a gradient."""
    arrays = [array.astype(np.float64) for _, array in ways]
    parts = [sent.astype(np.float64) for _, sent in backward.contributions.get(node.id, ())]
    whole: Any = sum(parts) if parts else np.zeros_like(arrays[0])
    if not np.allclose(sum(arrays), whole, rtol=1e-3, atol=1e-6, equal_nan=True):
        return None
    sums, total = [float(array.sum()) for array in arrays], float(whole.sum())
    several = np.size(whole) > 1
    return Ways(
        node=node.id,
        paths=tuple(path for path, _ in ways),
        contributions=tuple(summarize(array).text for _, array in ways),
        sums=tuple(map(number, sums)) if several else (),
        total=number(total) if several else "",
    )
