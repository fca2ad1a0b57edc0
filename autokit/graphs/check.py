"""A check of gradients that knows no derivative: central differences over the recorded operations.

The forward evaluation is run again from what the graph kept, in float64, with
an element of a leaf moved a little to either side:  (f(x + h) − f(x − h)) / 2h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.autograd.node import Node as EngineNode
from autokit.current_gpu import beside_it, computing_beside, on_its_gpu
from autokit.devices import beside, on_a_gpu
from autokit.graphs.capture import Capture
from autokit.graphs.summary import VALUES_SHOWN
from autokit.ops.normalize import statistics_of
from autokit.tensor import Tensor

STEP = 1e-6
"""How far an element is moved, for values around 1: float64 leaves about ten digits of the difference."""

_OPERATIONS_REPLAYED = 200
_RUNS = 5000
"""How many operations are run again for one leaf at most, to look at each of its elements alone."""


def central_differences(taken: Capture, root: Any, seed: Any) -> dict[Tensor, np.ndarray]:
    """For each leaf the slopes of the output, weighted by ``seed``: its gradient, had without a derivative.

    Of a leaf with many elements only the sum of that, a single number: all its elements move together.
    Leaves are left out where a value was not kept, or the graph is large; and all
    where a custom function takes part, which may print or stop in a debugger, or where an operation
    was handed what another computation found in its operand, as the factors of a decomposition.
    """
    operations = [origin for origin in taken.origins if isinstance(origin, EngineNode)]
    if len(operations) > _OPERATIONS_REPLAYED or any(origin is None for origin in taken.origins):
        return {}
    if any(made.operation.forward is None for made in operations):  # a learner's own, not to be run unasked
        return {}
    if any("found" in (made.settings or {}) for made in operations):
        return {}
    leaves = [
        origin
        for origin, node in zip(taken.origins, taken.graph.nodes)
        if isinstance(origin, Tensor) and node.kind == "leaf" and node.value is not None
    ]
    with computing_beside(seed):
        weight = np.conjugate(seed.astype(_wide(seed.dtype)))
    slopes = {}
    for leaf in leaves:
        size, step = leaf.array.size, _step(leaf.array)
        if size * len(operations) <= _RUNS and (size <= VALUES_SHOWN or not on_a_gpu(leaf.array)):
            moves = list(beside(leaf.array, step * np.eye(size).reshape(size, *leaf.array.shape)))
        else:
            moves = [step]
        slope: Any = 0
        for direction in (1, 1j) if leaf.array.dtype.kind == "c" else (1,):
            found = [
                _change(
                    _replay(taken, root, leaf, move, direction),
                    _replay(taken, root, leaf, move, -direction),
                    weight,
                )
                for move in moves
            ]
            slope = slope + np.array(found, np.float64) * direction / (2 * step)
        slopes[leaf] = slope.reshape(leaf.array.shape if len(moves) == size else ())
    return slopes


@beside_it
def _change(above: Any, below: Any, weight: Any) -> float:
    return float(np.real((above - below) * weight).sum())


def _wide(dtype: Any) -> Any:
    """The dtype of double precision, real or complex as ``dtype`` is."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


@beside_it
def _step(array: Any) -> float:
    """How far to move the elements of ``array``: little beside the smallest of them that is not 0."""
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    return min(STEP, 1e-4 * float(sizes.min())) if sizes.size else STEP


def _replay(taken: Capture, root: Any, moved: Tensor, by: Any, direction: complex) -> Any:
    """The output's value with the leaf ``moved`` by ``by`` in this direction, as -1 or 1j."""
    values: dict[Any, Any] = {}
    incoming: dict[int, list[int]] = {}
    for edge in taken.graph.edges:
        incoming.setdefault(edge.target, []).append(edge.source)
    for node, origin in zip(taken.graph.nodes, taken.origins):
        if isinstance(origin, EngineNode):
            operands = [values[source] for source in incoming[node.id]]
            settings = {**(origin.settings or {})}
            if "dtype" in settings:  # a cast would throw away the digits that the difference needs
                settings["dtype"] = _wide(settings["dtype"])
            statistics = settings.get("statistics")
            if statistics is not None and not statistics.fixed:  # the mean moves with the input
                settings["statistics"] = statistics_of(operands[0], settings["groups"])
            values[node.id] = on_its_gpu(origin.operation.forward, operands)(*operands, **settings)
        elif origin is not None:
            array = origin.array
            with computing_beside(array):
                wide = array.astype(_wide(array.dtype)) if array.dtype.kind in "fc" else array
                values[node.id] = wide + direction * by if origin is moved else wide
    return values[taken.ids[root]]
