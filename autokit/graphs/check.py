"""Two gradients to compare with the engine's: central differences, and the wrong one without adding up.

For central differences, (f(x + h) − f(x − h)) / 2h, the forward evaluation runs again in float64 from the
values that the graph has kept, with an element of a leaf moved a little to either side. The wrong gradient is
that of a pass in which each contribution replaces the one before, by ``=`` in place of ``+=``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import beside, on_a_gpu
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import Capture
from autokit.graphs.model import Node
from autokit.graphs.run import Run
from autokit.graphs.summary import VALUES_SHOWN, in_reach

STEP = 1e-6
"""How far an element is moved, for values around 1: float64 leaves about ten digits of the difference."""

_WIDE = np.dtype(np.float64)
_HALF_READ = frozenset({"cholesky", "eigh"})
"""Of a symmetric matrix these read one half, while their derivatives speak of both."""

_OPERATIONS_REPLAYED = 200
_RUNS = 5000
"""How many operations are run again for one leaf at most, to look at each of its elements alone."""


def central_differences(captured: Capture, root: Any, seed: Any) -> dict[Tensor, np.ndarray]:
    """For each leaf the slopes of the output, weighted by ``seed``: its gradient, had without a derivative.

    Of a leaf with many elements only the sum of that, a single number: all its elements move together.
    Leaves are left out where a value was not kept, or the graph is large; and all where a custom function
    takes part, which may print or stop in a debugger, or one that reads half of a matrix.
    """
    runs = [origin for origin in captured.origins if isinstance(origin, Run)]
    known = all(origin is not None for origin in captured.origins)
    told = not any("ctx" in run.settings or run.name in _HALF_READ for run in runs)
    if len(runs) > _OPERATIONS_REPLAYED or not (known and told):
        return {}
    slopes = {}
    for leaf, node in zip(captured.origins, captured.graph.nodes):
        if node.kind != "leaf" or node.value is None:
            continue
        size, step = leaf.array.size, _step(leaf.array)
        moves = [step]
        if size * len(runs) <= _RUNS and (size <= VALUES_SHOWN or not on_a_gpu(leaf.array)):
            moves = list(beside(step * np.eye(size).reshape(size, *leaf.array.shape), leaf.array))
        changes = [
            _replay(captured, root, leaf, move) - _replay(captured, root, leaf, -move) for move in moves
        ]
        found = [float((change * seed.astype(_WIDE)).sum()) / (2 * step) for change in changes]
        slopes[leaf] = np.array(found).reshape(leaf.array.shape if len(moves) == size else ())
    return slopes


def _step(array: Any) -> float:
    """How far to move the elements of ``array``: little beside the smallest of them that is not 0."""
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    return min(STEP, 1e-4 * float(sizes.min())) if sizes.size else STEP


def _replay(captured: Capture, root: Any, moved: Tensor, by: Any) -> Any:
    """The output's value with the leaf ``moved`` by ``by``."""
    values: dict[Any, Any] = {}
    incoming: dict[int, list[int]] = {}
    for edge in captured.graph.edges:
        incoming.setdefault(edge.target, []).append(edge.source)
    for node, origin in zip(captured.graph.nodes, captured.origins):
        if isinstance(origin, Run):
            operands = [values[source] for source in incoming[node.id]]
            # A cast to fewer digits would throw away those that the difference needs.
            values[node.id] = origin.compute(operands, _WIDE)
        elif isinstance(origin, Tensor):
            array = origin.array
            wide = array.astype(_WIDE) if array.dtype.kind == "f" else array
            values[node.id] = wide + by if origin is moved else wide
        else:
            values[node.id] = _WIDE.type(origin) if isinstance(origin, float) else origin
    return values[captured.ids[root]]


def by_assignment(captured: Capture, root: Node, seed: Any) -> dict[int, np.ndarray]:
    """The wrong gradients that ``=`` for ``+=`` would give, by node: only the last contribution stays.

    Empty where an operation may not be run for that.
    """
    slots = {(edge.target, edge.slot): edge.source for edge in captured.graph.edges if edge.requires_grad}
    gradients = {root.id: in_reach(seed)}
    for id in range(root.id, -1, -1):
        run = captured.origins[id]
        if not isinstance(run, Run) or id not in gradients:
            continue
        if not run.may_run:
            return {}
        for slot, sent in run.send(gradients[id]).items():
            gradients[slots[id, slot]] = sent
    return gradients
