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
from autokit.static.graph import Graph, Node, substitute
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
        seeds = [tape.given("input", zero, f"gradient {place}") for place, zero in zip(self.places, zeros)]
        del first.inputs[-len(seeds) :]
        ends = grad(
            [result for _, result in results], leaves, list(map(new_tensor, seeds)), allow_unused=True
        )
        self.leaves = [leaf for leaf, end in zip(leaves, ends) if end is not None]
        outputs = [end.array.node for end in ends if end is not None]
        nodes = [seed.node for seed in seeds]
        later = _depending_on(first, nodes)
        calls = [node for node in first.nodes if node in later and node not in nodes]
        operands = [operand for node in calls for operand in node.operands()]
        read = [node for node in dict.fromkeys([*operands, *outputs]) if node not in later]
        saved = {
            node: Node(node.id, "input", "input", value=node.value, label=f"saved {node.id}")
            for node in read
            if node.kind != "const"
        }
        for node in calls:
            node.args, node.settings = substitute(node.args, saved), substitute(node.settings, saved)
        self.graph = Graph()
        self.graph.outputs = [saved.get(node, node) for node in outputs]
        self.graph.inputs = [*saved.values(), *nodes]
        constants = [node for node in read if node.kind == "const"]
        self.graph.nodes = [*constants, *self.graph.inputs, *calls]
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


def _depending_on(graph: Graph, sources: list[Node]) -> set[Node]:
    """The nodes that are computed from ``sources``, and these."""
    found = set(sources)
    for node in graph.nodes:
        if any([operand in found for operand in node.operands()]):
            found.add(node)
    return found
