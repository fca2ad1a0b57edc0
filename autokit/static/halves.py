"""A static graph in two halves: a function's results, and later, on request, their gradients.

A compiled ``forward`` returns tensors on which the program calls ``backward()`` itself. Both computations are
traced together; what the second half needs of the first becomes further outputs of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.autograd import grad
from autokit.engine.function import Function, once_differentiable
from autokit.engine.tensor import Tensor, new_tensor
from autokit.static.traced import Tape


class Halves:
    """The second half: from the gradients of results to those of leaves.

    Attributes
    ----------
    graph : Graph
        Its inputs are the saved values, and then the gradient of each result in ``places``.
    places : list of int
        Which outputs of the first half have a gradient.
    saved : slice
        Which outputs of the first half are saved values.
    leaves : list of Tensor
        Whose gradients are computed: those on which a result depends.
    """

    def __init__(self, tape: Tape, results: Sequence[tuple[int, Tensor]], leaves: list[Tensor]) -> None:
        first, tape.phase = tape.graph, "backward"
        self.places = [place for place, _ in results]
        zeros = [np.zeros_like(result.array.node.value) for _, result in results]
        given = [tape.given("input", zero, f"gradient {place}") for place, zero in zip(self.places, zeros)]
        seeds = [each.node for each in given]
        gradients = grad(
            [result for _, result in results], leaves, list(map(new_tensor, given)), allow_unused=True
        )
        self.leaves = [leaf for leaf, gradient in zip(leaves, gradients) if gradient is not None]
        ends = [gradient.array.node for gradient in gradients if gradient is not None]
        later = {*seeds}
        for node in first.nodes:
            if not later.isdisjoint(node.operands()):
                later.add(node)
        read = {*ends}.union(*[node.operands() for node in later])
        saved = [each for each in first.nodes if each in read - later and each.kind != "const"]
        self.graph = second = first.copy()
        twins = dict(zip(first.nodes, second.nodes))
        for node in saved:
            twin = twins[node]
            twin.kind, twin.name, twin.label = "input", "input", f"saved {node.id}"
            twin.function, twin.args, twin.settings = None, (), {}
        second.inputs = [twins[node] for node in (*saved, *seeds)]
        second.outputs, second.states, second.updates = [twins[node] for node in ends], [], {}
        second.nodes = second.needed([*second.inputs, *second.outputs])
        del first.inputs[-len(seeds) :]
        first.nodes[:] = [node for node in first.nodes if node not in later]
        self.saved = slice(len(first.outputs), len(first.outputs) + len(saved))
        first.outputs += saved

    def apply(self, run: Any, back: Any, arrays: list[Any], leaves: list[Tensor]) -> Any:
        """The outputs of the first half as tensors whose gradients the second half computes."""
        return _Static.apply(self, run, back, arrays, *leaves)


class _Static(Function):
    """The node of a static graph in an eager one."""

    @staticmethod
    def forward(ctx: Any, halves: Halves, run: Any, back: Any, arrays: list[Any], *leaves: Tensor) -> Any:
        """Run the first half."""
        outputs = run(*arrays)
        ctx.halves, ctx.back, ctx.kept = halves, back, outputs[halves.saved]
        results = tuple(map(new_tensor, outputs[: halves.saved.start]))
        ctx.mark_non_differentiable(
            *[each for place, each in enumerate(results) if place not in halves.places]
        )
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the second half."""
        halves = ctx.halves
        given = [gradients[place].array for place in halves.places]
        return (None,) * 4 + tuple(map(new_tensor, ctx.back(*ctx.kept, *given)))
