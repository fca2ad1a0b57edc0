"""A compiled step beside the eager one, from the same state and on the same example."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.generator import STREAMS
from autokit.engine.tensor import Tensor
from autokit.static.errors import StaticError, described
from autokit.static.graph import found_in
from autokit.static.interpret import node_by_node

TOLERANCE = 1e-5
"""How far two numbers may be apart, relative to the largest in their tensor: sums have another order."""


def compare_with_eager(step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise unless the compiled ``step`` and its function agree on results and on states."""
    plan, arrays = step.plan_for(args, kwargs)
    trace = plan.trace
    before = Snapshot(trace)
    try:
        expected = _named_values(trace, step.function(*args, **kwargs))
        before.restore()
        computed = _named_values(trace, plan(arrays, (args, kwargs)))
        before.restore()
        for name, value in expected.items():
            if _differ(value, computed[name]):
                where = _first_difference(trace, step.trace(args, kwargs), arrays)
                raise StaticError(f"{name} of the static graph is not that of the eager run.{where}")
    finally:
        before.restore()


def _first_difference(trace: Any, now: Any, arrays: list[Any]) -> str:
    """The first node of a trace that computes something else than in a trace of the function as it is now."""
    for (node, value), new in zip(node_by_node(trace.graph, arrays), now.graph.nodes):
        is_same_call = (node.kind, node.name, node.shape) == (new.kind, new.name, new.shape)
        if not is_same_call or node.dtype is not None and _differ(new.value, value):
            return (
                f"\n  {described(new.line)}\n  {node!r}, {node.name}, is the first node that differs: the "
                "function depends on something that a graph fixes, such as a number of Python's that "
                "changes. Pass it as an argument; .explain() lists what is fixed."
            )
    return " Its nodes compute the same: the code that is made of them is wrong, a mistake in autokit."


def _named_values(trace: Any, result: Any) -> dict[str, Any]:
    """Copies of the results of a run, and of all states after it."""
    tensors = [(f"result {place}", each) for place, each in enumerate(found_in(result, Tensor | np.ndarray))]
    tensors += [(node.label, tensor) for tensor, node in trace.states]
    arrays = [(name, getattr(each, "array", each)) for name, each in tensors]
    return {name: np.array(to_numpy(array)) for name, array in arrays if array is not None}


def _differ(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype.kind != "f":
        return not np.array_equal(one, other)
    largest = np.abs(one[np.isfinite(one)]).max(initial=1e-30)
    return not np.allclose(one, other, 0, TOLERANCE * largest, equal_nan=True)


class Snapshot:
    """What a run changes: arrays, gradients and random streams."""

    def __init__(self, trace: Any) -> None:
        self.tensors = [(each, each.array, each._grad) for each in trace.tracing.states]
        grads = [grad.array for _, _, grad in self.tensors if grad is not None]
        self.arrays = [(each, each.copy()) for each in [*grads, *[array for _, array, _ in self.tensors]]]
        generators = {*STREAMS.values(), *trace.tracing.generators}
        self.streams = [(each, copy.deepcopy(vars(each))) for each in generators]

    def restore(self) -> None:
        """Put everything back."""
        for tensor, array, grad in self.tensors:
            tensor.array, tensor._grad = array, grad
        for array, values in self.arrays:
            array[...] = values
        for generator, state in self.streams:
            vars(generator).update(copy.deepcopy(state))
