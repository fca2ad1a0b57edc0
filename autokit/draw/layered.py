"""A small layered layout of a graph, for machines on which Graphviz cannot run.

The classic four steps: give each rectangle a column, so that arrows point to
the right; put a bend into an arrow at each column that it crosses; order each
column by the average place of its neighbours; then slide everything as near
to its neighbours as it can go.  No step recurses, none draws lots.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]

_ORDER_SWEEPS, _SLIDE_SWEEPS = 12, 12
_BEND = 12.0  # the height that an arrow takes where it passes through a column


def layered(
    sizes: Sequence[Point], edges: Sequence[tuple[int, int]], gap: Point
) -> tuple[list[Point], list[list[Point]]]:
    """Centres of the rectangles, and control points of the edges (source, target)."""
    rank = ranks(len(sizes), edges)
    nodes: list[Point] = list(sizes)
    routes: list[list[int]] = []  # for each edge, what it passes: source, bends, target
    for source, target in edges:
        route = [source]
        for column in range(rank[source] + 1, rank[target]):
            route.append(len(nodes))
            nodes.append((0.0, _BEND))
            rank.append(column)
        routes.append([*route, target])

    before: list[list[int]] = [[] for _ in nodes]
    after: list[list[int]] = [[] for _ in nodes]
    for route in routes:
        for left, right in pairwise(route):
            if rank[left] < rank[right]:
                before[right].append(left)
                after[left].append(right)
    columns: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for node in range(len(nodes)):
        columns[rank[node]].append(node)

    _order(columns, before, after)
    y = _slide(columns, before, after, [height for _, height in nodes], gap[1])
    spans = _spans(columns, nodes, gap[0])
    centres = [((spans[rank[i]][0] + spans[rank[i]][1]) / 2, y[i]) for i in range(len(sizes))]
    return centres, [_curve(route, rank, y, spans) for route in routes]


def ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The column of each node: as early as can be, then as late as its arrows do not grow longer by it."""
    leaving: list[list[int]] = [[] for _ in range(count)]
    arriving = [0] * count
    for source, target in edges:
        if source != target:
            leaving[source].append(target)
            arriving[target] += 1
    missing, rank, order = list(arriving), [0] * count, []
    ready = deque(node for node in range(count) if not missing[node])
    while ready:
        node = ready.popleft()
        order.append(node)
        for target in leaving[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for node in reversed(order):
        if leaving[node] and arriving[node] <= len(leaving[node]):
            rank[node] = max(rank[node], min(rank[target] for target in leaving[node]) - 1)
    return rank


def _order(columns: list[list[int]], before: list[list[int]], after: list[list[int]]) -> None:
    """Sort each column by the average place of its neighbours, sweeping right and left."""
    place = {node: float(i) for column in columns for i, node in enumerate(column)}
    for sweep in range(_ORDER_SWEEPS):
        rightwards = sweep % 2 == 0
        neighbours = before if rightwards else after
        for column in columns if rightwards else reversed(columns):
            average = {
                node: sum(place[n] for n in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else place[node]
                for node in column
            }
            column.sort(key=average.__getitem__)
            for i, node in enumerate(column):
                place[node] = float(i)


def _slide(
    columns: list[list[int]],
    before: list[list[int]],
    after: list[list[int]],
    heights: list[float],
    gap: float,
) -> list[float]:
    """The y of each node: near the mean of its neighbours, in its column's order, a gap apart."""
    y = [0.0] * len(heights)
    for column in columns:
        top = -sum(heights[node] + gap for node in column) / 2
        for node in column:
            y[node] = top + heights[node] / 2
            top += heights[node] + gap
    for sweep in range(_SLIDE_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted, offset, offsets = [], 0.0, []
            for previous, node in zip([None, *column], column, strict=False):
                if previous is not None:
                    offset += (heights[previous] + heights[node]) / 2 + gap
                near = before[node] + after[node]
                mean = sum(y[n] for n in near) / len(near) if near else y[node]
                wanted.append(mean - offset)
                offsets.append(offset)
            for node, base, offset in zip(column, nondecreasing(wanted), offsets, strict=True):
                y[node] = base + offset
    return y


def nondecreasing(wanted: list[float]) -> list[float]:
    """The nearest sequence, by squares, that never falls: neighbours that would cross share their mean."""
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            total, count = total + blocks[-1][0], count + blocks[-1][1]
            blocks.pop()
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


def _spans(columns: list[list[int]], nodes: list[Point], gap: float) -> list[Point]:
    spans, left = [], 0.0
    for column in columns:
        right = left + max((nodes[node][0] for node in column), default=0.0)
        spans.append((left, right))
        left = right + gap
    return spans


def _curve(route: list[int], rank: list[int], y: list[float], spans: list[Point]) -> list[Point]:
    """Straight through each column that it crosses, and an S between two columns."""
    points: list[Point] = [(spans[rank[route[0]]][1], y[route[0]])]
    for node in route[1:]:
        (x0, y0), (x1, y1) = points[-1], (spans[rank[node]][0], y[node])
        middle = (x0 + x1) / 2
        points += [(middle, y0), (middle, y1), (x1, y1)]
        if node != route[-1]:
            x2 = spans[rank[node]][1]
            points += [(x1 + (x2 - x1) / 3, y1), (x2 - (x2 - x1) / 3, y1), (x2, y1)]
    return points
