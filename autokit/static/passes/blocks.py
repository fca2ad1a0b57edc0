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

from functools import cache
from itertools import groupby

from autokit.static.calls import is_ufunc
from autokit.static.graph import Graph, Node

LARGE = 1 << 17
"""Arrays of so many elements are computed in blocks."""

LONGEST = 16384
"""The most elements of a block."""

SHORTEST = 4
"""Shorter runs stay as they are: what they spare is less than the loop takes."""


def group_into_blocks(graph: Graph) -> tuple[Graph, str]:
    """Mark neighbours that are elementwise calls on large arrays of one shape with a block's length."""
    graph = graph.copy()
    lengths = {node: _length_of_blocks(node) for node in graph.nodes}
    # What is given comes first, and parts no neighbours.
    if any(lengths.values()):
        graph.nodes.sort(key=lambda node: node.kind not in ("const", "input", "number", "state"))
    said = []
    for (length, _), run in groupby(graph.nodes, lambda node: (lengths[node], node.shape)):
        nodes = list(run)
        if length and len(nodes) >= SHORTEST:
            said.append(f"{len(nodes)} calls in blocks")
            for node in nodes:
                node.block = length
    return graph, "; ".join(said)


def _length_of_blocks(node: Node) -> int:
    """How many elements a block of this call has, so that all have as many; 0 if it is not to have any."""
    if not is_ufunc(node) or node.value.size < LARGE:
        return 0
    if any([operand.shape not in ((), node.shape) for operand in node.operands()]):
        return 0
    return _largest_divisor(node.value.size)


@cache
def _largest_divisor(size: int) -> int:
    lengths = range(LONGEST, LONGEST // 2, -1)
    return next((length for length in lengths if size % length == 0), 0)
