"""Blocks: elementwise calls on large arrays run together, some thousand elements at a time.

A large array does not fit into the processor's cache, so each call reads its operands from memory and writes
its result back. Where calls follow one another block by block, what one writes is in the cache when the next
one reads it; and what only these calls read never leaves it. Compilers call this *loop fusion* and *strip
mining*.

References
----------
M. E. Wolf and M. S. Lam, "A data locality optimizing algorithm", PLDI 1991.
"""

from __future__ import annotations

from operator import getitem

from autokit.static.calls import Blocks, is_ufunc
from autokit.static.graph import Graph, Node
from autokit.static.passes.rewriting import Rewriting

LARGE = 1 << 17
"""Arrays of so many elements are computed in blocks."""

SHORTEST = 4
"""Shorter runs stay as they are: what they spare is less than the loop takes."""


def group_into_blocks(graph: Graph) -> str:
    """Make one node of each run of elementwise calls on large arrays of one shape."""
    grouping = _Grouping(graph)
    for node in list(graph.nodes):
        grouping.take(node)
    grouping.close()
    graph.nodes = grouping.new.nodes
    graph.replace(grouping.parts)
    return "; ".join(grouping.said)


class _Grouping:
    """A walk through a graph that collects the calls of a run, and the views that look into their results."""

    def __init__(self, graph: Graph) -> None:
        self.users = graph.users()
        self.kept = {*graph.outputs, *graph.updates.values()}
        self.new = Rewriting(graph)
        self.run: list[Node] = []
        self.views: list[Node] = []
        self.parts: dict[Node, Node] = {}
        self.said: list[str] = []

    def take(self, node: Node) -> None:
        """Let ``node`` join the run, or come before it, or after."""
        operands = node.operands()
        if _is_large(node) and not any(operand in self.views for operand in operands):
            if self.run and self.run[-1].shape != node.shape:
                self.close()
            self.run.append(node)
        elif node.kind == "view" and any(each in self.run or each in self.views for each in operands):
            self.views.append(node)
        else:
            if node.kind not in ("const", "input", "number", "state", "view"):
                self.close()
            self.new.nodes.append(node)

    def close(self) -> None:
        """End the run: it becomes one node, followed by those of its values that are read outside of it."""
        run, views, inside = self.run, self.views, set(self.run)
        self.run, self.views = [], []
        if len(run) < SHORTEST:
            self.new.nodes += [*run, *views]
            return
        results = [node for node in run if node in self.kept or not inside.issuperset(self.users[node])]
        blocks = Blocks(run, results)
        values = tuple([node.value for node in results])
        whole = self.new._add(run[0], "call", "blocks", blocks, tuple(blocks.operands), {}, values)
        for place, node in enumerate(results):
            self.parts[node] = self.new._add(node, "call", "part", getitem, (whole, place), {}, node.value)
        self.new.nodes += views
        self.said.append(f"{len(run)} calls in blocks, of which {len(results)} values are kept")


def _is_large(node: Node) -> bool:
    """Whether this call can be computed in blocks, and is large enough to be."""
    return (
        is_ufunc(node)
        and node.value.size >= LARGE
        and all(operand.shape in ((), node.shape) for operand in node.operands())
    )
