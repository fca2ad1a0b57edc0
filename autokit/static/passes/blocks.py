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
    nodes: list[Node] = []
    run: list[Node] = []
    said = []

    def close() -> None:
        if len(run) >= SHORTEST:
            said.append(f"{len(run)} calls in blocks")
            for node in run:
                node.block = _block_length(node.value.size)
        nodes.extend(run)
        run.clear()

    for node in graph.nodes:
        is_large = _is_large(node)
        waits = is_large or node.kind in ("const", "input", "number", "state", "view")
        reads = not is_large and any([operand in run for operand in node.operands()])
        if not waits or reads or is_large and run and run[-1].shape != node.shape:
            close()
        (run if is_large else nodes).append(node)
    close()
    graph.nodes = nodes
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
