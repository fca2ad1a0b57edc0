"""A static graph in two halves: a function's results, and later, on request, their gradients.

A compiled ``forward`` returns tensors on which the program calls ``backward()`` itself. Both computations are
traced together; what the second half needs of the first becomes further outputs of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        Whose gradients are computed, and ``reached`` says of which there are any.
    """

    def __init__(self, tape: Tape, results: Sequence[tuple[int, Tensor]], leaves: list[Tensor]) -> None:
        self.places, self.leaves = [place for place, _ in results], leaves
        first, tape.phase = tape.graph, "backward"
        seeds = [
            tape.given("input", np.zeros_like(result.array.node.value), f"gradient {place}")
            for place, result in results
        ]
        found = grad(
            [result for _, result in results], leaves, list(map(new_tensor, seeds)), allow_unused=True
        )
        ends = [each.array.node for each in found if each is not None]
        self.reached = [each is not None for each in found]
        del first.inputs[-len(seeds) :]
        nodes = [seed.node for seed in seeds]
        later = _depending_on(first, nodes)
        self.graph = Graph()
        self._saved: dict[Node, Node] = {}
        self._constants: dict[Node, Node] = {}
        calls = [node for node in first.nodes if node in later and node not in nodes]
        for node in calls:
            table = {operand: self._save(operand) for operand in node.operands() if operand not in later}
            node.args, node.settings = substitute(node.args, table), substitute(node.settings, table)
        self.graph.outputs = [end if end in later else self._save(end) for end in ends]
        self.graph.inputs = [*self._saved.values(), *nodes]
        self.graph.nodes = [*self._constants.values(), *self.graph.inputs, *calls]
        first.nodes[:] = [node for node in first.nodes if node not in later]
        self.saved = slice(len(first.outputs), len(first.outputs) + len(self._saved))
        first.outputs += self._saved

    def _save(self, node: Node) -> Node:
        """The second half's node for one of the first: a constant again, or an input with its value."""
        known = self._constants if node.kind == "const" else self._saved
        if node not in known:
            kind = "const" if node.kind == "const" else "input"
            known[node] = Node(node.id, kind, kind, value=node.value, label=f"saved {node.id}")
        return known[node]

    def apply(
        self, run: Callable[..., Any], back: Callable[..., Any], arrays: list[Any], leaves: list[Tensor]
    ) -> Any:
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
        found = iter(ctx.back(*ctx.kept, *given))
        return (None,) * 4 + tuple(
            [new_tensor(next(found)) if reached else None for reached in halves.reached]
        )


def _depending_on(graph: Graph, sources: list[Node]) -> set[Node]:
    """The nodes that are computed from ``sources``, and these."""
    found = set(sources)
    for node in graph.nodes:
        if any([operand in found for operand in node.operands()]):
            found.add(node)
    return found
