"""The part of a graph that is drawn: the whole graph, or as much as fits on a page, with a note on the rest.

Beyond some 150 boxes a picture helps nobody.  So modules fold into one box
each, inner ones first, and then what repeats; see :mod:`autokit.draw.fold`.
What does not fit even then is left out: from the outputs backwards, newest
first, each with the leaves and constants that it reads, until the page is
full.  What is left out is counted and said, in the picture, in its
alternative text and in the table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from autokit.draw.fold import Fold, fold, is_end, unfold
from autokit.graphs.model import Edge, Graph, Node

LIMIT = 150
"""How many boxes a picture holds at most."""


@dataclass(frozen=True)
class Part:
    """What is drawn, and what is not.

    ``edges`` are those between the ``nodes``; ``bundles`` those that touch a
    fold, one for each pair of boxes; ``cut`` holds one edge for each box that
    reads something left out; ``left_out`` says how much that is.  ``depth``
    is how many levels of modules stand open, None for all; ``opened`` names
    those that stand open besides.  ``numbers`` are the names of constants that
    have no box, since formulas say them, by their ids, and ``said`` the edges
    from these.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    cut: tuple[Edge, ...]
    left_out: str
    folds: tuple[Fold, ...] = ()
    bundles: tuple[Edge, ...] = ()
    depth: int | None = None
    opened: frozenset[str] = frozenset()
    numbers: Mapping[int, str] = field(default_factory=dict)
    said: tuple[Edge, ...] = ()

    def boxes(self) -> dict[int, int]:
        """For the id of each node that is drawn, or folded, the place of its box: nodes first, then folds."""
        place = {node.id: i for i, node in enumerate(self.nodes)}
        for i, folded in enumerate(self.folds, len(self.nodes)):
            place.update(dict.fromkeys(folded.nodes, i))
        return place


def part(
    graph: Graph,
    limit: int = LIMIT,
    depth: int | None = None,
    opened: Collection[str] = (),
    constants: bool = True,
) -> Part:
    """The part of ``graph`` that fits into ``limit`` boxes, with ``depth`` levels of modules open.

    The folds that are ``opened``, by their ids as :func:`autokit.draw.fold.ranges` has them, come on top.
    Without ``constants`` the numbers that formulas say have no boxes.
    """
    if limit < 1:
        raise ValueError(f"limit is how many boxes to draw, at least 1, got {limit}")
    numbers = {} if constants else _numbers(graph)
    said = tuple(edge for edge in graph.edges if edge.source in numbers)
    if numbers:
        graph = replace(graph, nodes=tuple(node for node in graph.nodes if node.id not in numbers))
    known = {node.id: node for node in graph.nodes}
    edges = [edge for edge in graph.edges if edge.source in known and edge.target in known]
    folds, depth = fold(graph, edges, limit, graph.view.depth if depth is None else depth)
    if opened:
        closed, folds = folds, unfold(graph, edges, folds, opened)
        limit += sum(len(one.nodes) - 1 for one in closed) - sum(len(one.nodes) - 1 for one in folds)
        open_paths = {one.title for one in closed} - {one.title for one in folds}
    else:
        open_paths = set()
    home = {id: box for box, folded in enumerate(folds) for id in folded.nodes}
    count = len(known) - len(home) + len(folds)
    kept = set(known) if count <= limit else _newest(graph, edges, limit, home)
    kept_folds = [folded for folded in folds if folded.nodes[-1] in kept]
    cut: dict[tuple[int, int], Edge] = {}
    bundles: dict[tuple[int, int], Edge] = {}
    inside = []
    for edge in edges:
        source, target = (home.get(id, -1 - id) for id in (edge.source, edge.target))
        if edge.target not in kept or source == target:
            continue
        if edge.source not in kept:
            cut.setdefault((0, target), edge)
        elif source < 0 and target < 0:
            inside.append(edge)
        else:
            bundles.setdefault((source, target), edge)
    nodes = tuple(node for node in graph.nodes if node.id in kept and node.id not in home)
    lost = [node for node in graph.nodes if node.id not in kept]
    return Part(
        nodes,
        tuple(inside),
        tuple(cut.values()),
        _count(lost),
        tuple(kept_folds),
        tuple(bundles.values()),
        depth,
        frozenset(open_paths),
        numbers,
        said,
    )


def _numbers(graph: Graph) -> dict[int, str]:
    """The names of the program's numbers that the formula of each operation that uses them says, by id."""
    found = {node.id: node.name for node in graph.nodes if node.is_number}
    formulas = {node.id: node.formula for node in graph.nodes}
    for edge in graph.edges if found else ():
        words = re.escape(found.get(edge.source, ""))
        if words and not re.search(rf"(?<![\w.]){words}(?![\w.])", formulas.get(edge.target, "")):
            del found[edge.source]
    return found


def _newest(graph: Graph, edges: list[Edge], limit: int, home: dict[int, int]) -> set[int]:
    """The nodes behind the newest ``limit`` boxes."""
    ends = {node.id for node in graph.nodes if is_end(node)}
    beside: dict[int, list[int]] = {}  # the leaves and constants of each operation
    for edge in edges:
        if edge.source in ends:
            beside.setdefault(edge.target, []).append(edge.source)
        if edge.target in ends:
            beside.setdefault(edge.source, []).append(edge.target)
    kept: set[int] = set()
    boxes: set[int] = set()

    def keep(id: int) -> None:
        box = home.get(id, -1 - id)
        if box in boxes or len(boxes) < limit:
            boxes.add(box)
            kept.add(id)

    newest = graph.nodes if graph.nodes[0].kind == "backward" else tuple(reversed(graph.nodes))
    for node in newest:
        if node.id not in ends:
            for id in (node.id, *beside.get(node.id, ())):
                keep(id)
        if len(boxes) >= limit:
            break
    # Few operations and very many leaves: the newest of those fill the page.
    for node in newest:
        keep(node.id)
    return kept


def _count(lost: list[Node]) -> str:
    operations = sum(not is_end(node) for node in lost)
    inputs = len(lost) - operations
    words = [f"{operations:,} earlier operation{'s' * (operations != 1)}"] if operations else []
    if inputs:
        words.append(f"{inputs:,} input{'s' * (inputs != 1)}")
    return " and ".join(words)
