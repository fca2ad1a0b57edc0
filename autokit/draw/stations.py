"""A station is an operation with its parameters as small boxes at its sides: one rectangle for a layout.

So the main line of a network is as long as it has operations, and a parameter stands where it is used.  All
of it for arrows that run to the right: the sides are then above and below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autokit.draw.part import Part
from autokit.draw.shapes import Point
from autokit.graphs.model import Edge

_MOST = 4
_BETWEEN = 12.0
_INSET = 12.0  # of an arrow from the corners of a box


def at_the_side(drawn: Part) -> dict[int, list[Edge]]:
    """For each operation, by its id, the edges from those leaves that stand at its side.

    These are tensors that this operation alone uses: parameters of a module, or leaves beside an operand that
    is computed, or is data.
    """
    nodes = {node.id: node for node in drawn.nodes}
    arriving: dict[int, list[Edge]] = {}
    for edge in (*drawn.edges, *drawn.bundles, *drawn.cut):
        arriving.setdefault(edge.target, []).append(edge)
    users = Counter(edge.source for edges in arriving.values() for edge in edges)
    leaves = {node.id for node in drawn.nodes if node.kind == "leaf" and node.shape}
    found = {}
    for target, edges in arriving.items():
        given = [edge for edge in edges if edge.source in leaves]
        if len(given) == len(edges):
            given = [edge for edge in given if nodes[edge.source].module]
        beside = [edge for edge in given if users[edge.source] == 1]
        if target in nodes and 0 < len(beside) <= _MOST:
            found[target] = beside
    return found


@dataclass(frozen=True)
class Station:
    """The boxes that a layout engine takes for one: its size, and for each box its centre, from its own.

    The first of them is the operation, or the first operation of a row.
    """

    size: Point
    centres: Mapping[int, Point]


def row(boxes: Sequence[int], sizes: Sequence[Point], gaps: Sequence[float]) -> Station:
    """Operations side by side, each a gap after the one before it."""
    total = sum(sizes[i][1] for i in boxes) + sum(gaps)
    y, centres = -total / 2, {}
    for i, gap in zip(boxes, (*gaps, 0.0), strict=True):
        centres[i] = 0.0, y + sizes[i][1] / 2
        y += sizes[i][1] + gap
    return Station((max(sizes[i][0] for i in boxes), total), centres)


def last_row(drawn: Part, beside: Mapping[int, Sequence[Edge]]) -> list[Edge]:
    """The last edges of the longest way, as far back as values have one user and no parameters."""
    edges = (*drawn.edges, *drawn.bundles, *drawn.cut)
    users = Counter(edge.source for edge in edges)
    operations = {node.id for node in drawn.nodes if node.kind == "operation"} - beside.keys()
    depth: dict[int, int] = {}
    arriving: dict[int, list[Edge]] = {}
    for edge in sorted(edges, key=lambda edge: edge.target):
        depth[edge.target] = max(depth.get(edge.target, 0), depth.get(edge.source, 0) + 1)
        if {edge.source, edge.target} <= operations and users[edge.source] == 1:
            arriving.setdefault(edge.target, []).append(edge)
    found: list[Edge] = []
    at = max(depth, key=lambda id: depth[id], default=-1)
    while at in arriving:
        found.append(max(arriving[at], key=lambda edge: depth.get(edge.source, 0)))
        at = found[-1].source
    return found[::-1]


def station(main: int, sides: Sequence[int], sizes: Sequence[Point], gap: float, below: bool) -> Station:
    """The box ``main`` with the boxes ``sides`` around it, half of them above; of one more there or below."""
    half = (len(sides) + (not below)) // 2
    above, under = sides[:half], sides[half:]
    wide, high = sizes[main]
    upper, lower = (max((sizes[i][1] + gap for i in row), default=0.0) for row in (above, under))
    middle = upper + high / 2 - (upper + high + lower) / 2
    centres = {main: (0.0, middle)}
    for row, sign in ((above, -1), (under, 1)):
        length = sum(sizes[i][0] + _BETWEEN for i in row) - _BETWEEN
        wide, x = max(wide, length), -length / 2
        for i in row:
            w, h = sizes[i]
            centres[i] = x + w / 2, middle + sign * (high + h + 2 * gap) / 2
            x += w + _BETWEEN
    return Station((wide, upper + high + lower), centres)


def across(side: Point, main: Point, sizes: tuple[Point, Point], shift: float) -> list[Point]:
    """The arrow from a box at the side to the main one, moved along by ``shift``: a Bézier curve."""
    (x, y), (to, level), ((w, h), (wide, high)) = side, main, sizes
    sign = 1 if y < level else -1
    x = min(max(x + shift, x - w / 2 + _INSET), x + w / 2 - _INSET)
    to = min(max(x, to - wide / 2 + _INSET), to + wide / 2 - _INSET)
    start, end = y + sign * h / 2, level - sign * high / 2
    middle = (start + end) / 2
    return [(x, start), (x, middle), (to, middle), (to, end)]
