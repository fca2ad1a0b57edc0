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
    found = {}
    for target, edges in arriving.items():
        leaves = [
            edge
            for edge in edges
            if (source := nodes.get(edge.source)) and source.kind == "leaf" and source.shape
        ]
        flowing = len(leaves) < len(edges)
        beside = [
            edge for edge in leaves if users[edge.source] == 1 and (flowing or nodes[edge.source].module)
        ]
        if target in nodes and 0 < len(beside) <= _MOST:
            found[target] = beside
    return found


@dataclass(frozen=True)
class Station:
    """The boxes that a layout engine takes for one: its size, and for each box its centre, from its own.

    ``port`` is how far below the middle the arrows of the main line arrive and leave.
    """

    size: Point
    centres: Mapping[int, Point]
    port: float = 0.0

    def turned(self) -> Station:
        """The same upside down."""
        return Station(self.size, {box: (x, -y) for box, (x, y) in self.centres.items()}, -self.port)


def station(main: int, sides: Sequence[int], sizes: Sequence[Point], gap: float) -> Station:
    """The box ``main`` with the boxes ``sides`` around it, the first half of them above."""
    half = (len(sides) + 1) // 2
    above, below = sides[:half], sides[half:]
    wide, high = sizes[main]
    upper, lower = (max((sizes[i][1] + gap for i in row), default=0.0) for row in (above, below))
    middle = upper + high / 2 - (upper + high + lower) / 2
    centres = {main: (0.0, middle)}
    for row, sign in ((above, -1), (below, 1)):
        length = sum(sizes[i][0] + _BETWEEN for i in row) - _BETWEEN
        wide, x = max(wide, length), -length / 2
        for i in row:
            w, h = sizes[i]
            centres[i] = x + w / 2, middle + sign * (high + h + 2 * gap) / 2
            x += w + _BETWEEN
    return Station((wide, upper + high + lower), centres, middle)


def across(side: Point, main: Point, sizes: tuple[Point, Point], shift: float) -> list[Point]:
    """The arrow from a box at the side to the main one, moved along by ``shift``: a Bézier curve."""
    (x, y), (to, level), ((w, h), (wide, high)) = side, main, sizes
    sign = 1 if y < level else -1
    x = min(max(x + shift, x - w / 2 + _INSET), x + w / 2 - _INSET)
    to = min(max(x, to - wide / 2 + _INSET), to + wide / 2 - _INSET)
    start, end = y + sign * h / 2, level - sign * high / 2
    middle = (start + end) / 2
    return [(x, start), (x, middle), (to, middle), (to, end)]
