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

from autokit.static.calls import is_ufunc
from autokit.static.graph import Graph, Node

LARGE = 1 << 17
"""Arrays of so many elements are computed in blocks."""

LONGEST = 8192
"""The most elements of a block."""

SHORTEST = 4
"""Shorter runs stay as they are: what they spare is less than the loop takes."""


def group_into_blocks(graph: Graph) -> str:
    """Bring elementwise calls on large arrays of one shape together, and mark them with a block's length."""
    grouping = _Grouping()
    for node in graph.nodes:
        grouping.take(node)
    grouping.close()
    graph.nodes = grouping.nodes
    return "; ".join(grouping.said)


class _Grouping:
    """A walk through a graph that collects the calls of a run, and the views that look into their results."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.run: list[Node] = []
        self.views: list[Node] = []
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
            self.nodes.append(node)

    def close(self) -> None:
        """End the run, which the views into its results follow."""
        if len(self.run) >= SHORTEST:
            self.said.append(f"{len(self.run)} calls in blocks")
            for node in self.run:
                node.block = _block_length(node.value.size)
        self.nodes += [*self.run, *self.views]
        self.run, self.views = [], []


def _is_large(node: Node) -> bool:
    """Whether this call can be computed in blocks, and is large enough to be."""
    if not is_ufunc(node) or node.value.size < LARGE or not _block_length(node.value.size):
        return False
    return all(operand.shape in ((), node.shape) for operand in node.operands())


def _block_length(size: int) -> int:
    """How many elements a block has, so that all have as many; 0 if there is no such number."""
    lengths = range(LONGEST, LONGEST // 2, -1)
    return next((length for length in lengths if size % length == 0), 0)
