"""The part of a graph that is drawn: all of it, or what fits on a page and a word on the rest.

Beyond some 150 boxes a picture helps nobody.  The rule is plain: from the
outputs backwards, newest operation first, each with the leaves and constants
that it reads, until the page is full.  What is left out is counted and said,
in the picture, in its alternative text and in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from autokit.graphs.model import Edge, Graph, Node

LIMIT = 150
"""How many boxes a picture holds at most."""


@dataclass(frozen=True)
class Part:
    """What is drawn, and what is not.

    ``edges`` are those between the ``nodes``; ``cut`` holds one edge for each
    node that reads something left out; ``left_out`` says how much that is.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    cut: tuple[Edge, ...]
    left_out: str


def part(graph: Graph, limit: int = LIMIT) -> Part:
    """The part of ``graph`` that fits into ``limit`` boxes."""
    if limit < 1:
        raise ValueError(f"limit is how many boxes to draw, at least 1, got {limit}")
    known = {node.id: node for node in graph.nodes}
    edges = [edge for edge in graph.edges if edge.source in known and edge.target in known]
    kept = set(known) if len(known) <= limit else _newest(graph, edges, limit)
    cut: dict[int, Edge] = {}
    inside = []
    for edge in edges:
        if edge.target in kept:
            if edge.source in kept:
                inside.append(edge)
            else:
                cut.setdefault(edge.target, edge)
    nodes = tuple(node for node in graph.nodes if node.id in kept)
    lost = [node for node in graph.nodes if node.id not in kept]
    return Part(nodes, tuple(inside), tuple(cut.values()), _count(lost))


def _newest(graph: Graph, edges: list[Edge], limit: int) -> set[int]:
    reads: dict[int, list[int]] = {}
    for edge in edges:
        reads.setdefault(edge.target, []).append(edge.source)
    inputs = {node.id for node in graph.nodes if node.kind != "operation"}
    kept: set[int] = set()
    for node in reversed(graph.nodes):
        if node.kind == "operation":
            for id in (node.id, *(id for id in reads.get(node.id, ()) if id in inputs)):
                if len(kept) < limit:
                    kept.add(id)
        if len(kept) >= limit:
            return kept
    # Few operations and very many leaves: the newest of those fill the page.
    for node in reversed(graph.nodes):
        if len(kept) < limit:
            kept.add(node.id)
    return kept


def _count(lost: list[Node]) -> str:
    operations = sum(node.kind == "operation" for node in lost)
    inputs = len(lost) - operations
    words = [f"{operations:,} earlier operation{'s' * (operations != 1)}"] if operations else []
    if inputs:
        words.append(f"{inputs:,} input{'s' * (inputs != 1)}")
    return " and ".join(words)
