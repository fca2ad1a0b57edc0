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

from itertools import groupby

from autokit.static.calls import is_ufunc
from autokit.static.graph import Graph, Node

LARGE = 1 << 17
"""Arrays of so many elements are computed in blocks."""

LONGEST = 8192
"""The most elements of a block."""

SHORTEST = 4
"""Shorter runs stay as they are: what they spare is less than the loop takes."""


def group_into_blocks(graph: Graph) -> str:
    """Mark neighbours that are elementwise calls on large arrays of one shape with a block's length."""
    if any(map(_is_large, graph.nodes)):  # what is given comes first, and parts no neighbours
        graph.nodes.sort(key=lambda node: node.kind not in ("const", "input", "number", "state"))
    said = []
    for shape, run in groupby(graph.nodes, lambda node: node.shape if _is_large(node) else None):
        nodes = list(run)
        if shape is not None and len(nodes) >= SHORTEST:
            said.append(f"{len(nodes)} calls in blocks")
            for node in nodes:
                node.block = _block_length(node.value.size)
    return "; ".join(said)


def _is_large(node: Node) -> bool:
    """Whether this call can be computed in blocks, and is large enough to be."""
    if not is_ufunc(node) or node.value.size < LARGE or not _block_length(node.value.size):
        return False
    return all([operand.shape in ((), node.shape) for operand in node.operands()])


def _block_length(size: int) -> int:
    """How many elements a block has, so that all have as many; 0 if there is no such number."""
    lengths = range(LONGEST, LONGEST // 2, -1)
    return next((length for length in lengths if size % length == 0), 0)
