"""The route of an arrow is as smooth as possible, and leads through no box.

A layout engine gives a route. Several curves follow it, from the smoothest one to the engine's own, and the
first that keeps clear of all boxes is drawn.  This file assumes arrows that run to the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from autokit.draw.shapes import Point

Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle."""

_NEAR, _BESIDE = 7.0, 42.0
_CLEAR = 7.0  # from a box that an arrow passes, where that can be
_FINE = 2.0


def choose(
    start: Point,
    end: Point,
    station: Point,
    carries: bool,
    pieces: Sequence[Sequence[Point]],
    walls: Sequence[Bounds],
    homes: tuple[Bounds, Bounds],
) -> tuple[Point, list[Point]]:
    """Where the flow of an arrow stands, and the control points of its Bézier curve.

    Parameters
    ----------
    start, end : Point
        On the borders of the two boxes.
    station : Point
        The place that is kept for the flow.
    carries : bool
        Whether there is a flow to keep the place for.
    pieces : sequence of curves
        The engine's own, to the station and from there on.
    walls : sequence of Bounds
        The boxes.
    homes : pair of Bounds
        The two boxes at its ends.
    """
    ways: list[tuple[Point, list[Point]]] = []
    for way in _ways(start, end, station, carries, pieces, homes):
        if not crosses(way[1], walls, _CLEAR, homes) and not crosses(way[1], homes):
            return way
        ways.append(way)
    return next((way for way in ways if not crosses(way[1], walls)), ways[-1])


def _ways(
    start: Point,
    end: Point,
    station: Point,
    carries: bool,
    pieces: Sequence[Sequence[Point]],
    homes: tuple[Bounds, Bounds],
) -> Iterator[tuple[Point, list[Point]]]:
    to, onward = pieces
    bends = [_bends(to), _bends(onward)]
    halfway = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if not carries or max(abs(station[0] - halfway[0]), abs(station[1] - halfway[1])) < _NEAR:
        yield halfway, route(start, end, [])
    if not carries:
        yield station, route(start, end, bends[0] + bends[1])
    yield station, route(start, end, [*bends[0], (None, station, None), *bends[1]])
    if not carries:
        turns = [point for _, point, _ in bends[0] + bends[1]]
        for straight in (turns[-1:], turns[:1] + turns[-1:]) if turns else ():
            yield station, route(start, end, _turning_late(start, end, straight))
    yield station, along((start, *to[1:]), (*onward[:-1], end))
    # From where the engine leaves the one box to where it meets the other, short of their corners.
    first, last = (
        (x, _between(y, home)) for (x, _), (_, y), home in zip((start, end), (to[0], onward[-1]), homes)
    )
    yield station, along((first, *to[1:]), (*onward[:-1], last))


def _turning_late(start: Point, end: Point, straight: Sequence[Point]) -> list[Bend]:
    """Bends that leave the one box, and come to the other, in an S just beside it; straight between them."""
    ahead = (start[0] + _BESIDE, straight[0][1]), (end[0] - _BESIDE, straight[-1][1])
    return [(None, point, None) for point in ahead]


def _between(y: float, home: Bounds) -> float:
    return min(max(y, home[1] + 6), home[3] - 6)


Bend = tuple[Point | None, Point, Point | None]
"""A point that a curve passes, between the control points before and after it; None where they are free."""


def _bends(curve: Sequence[Point]) -> list[Bend]:
    """What the engine's curve passes between its ends."""
    return [(curve[k - 1], curve[k], curve[k + 1]) for k in range(3, len(curve) - 1, 3)]


def route(start: Point, end: Point, bends: list[Bend]) -> list[Point]:
    """A smooth Bézier curve from ``start`` to ``end`` by way of ``bends``: level at both ends.

    It never turns back: a bend that does not lie further along is passed by.
    """
    way: list[Bend] = [(None, start, None)]
    for bend in bends:
        if way[-1][1][0] + 6 < bend[1][0] < end[0] - 6:
            way.append(bend)
    way.append((None, end, None))
    slopes = [0.0, *(_slope(a[1], b[1], c[1]) for a, b, c in zip(way, way[1:], way[2:])), 0.0]
    points = [start]
    for k, ((_, p, leaving), (arriving, q, _)) in enumerate(pairwise(way)):
        dx = q[0] - p[0]
        # An S between level ends looks best with long handles, a curve in passing with a third.
        out, back = (dx / 2 if slope == 0 else dx / 3 for slope in slopes[k : k + 2])
        points.append(leaving or (p[0] + out, p[1] + out * slopes[k]))
        points.append(arriving or (q[0] - back, q[1] - back * slopes[k + 1]))
        points.append(q)
    return points


def _slope(before: Point, here: Point, after: Point) -> float:
    """How steeply to pass ``here``: level where the way turns, so that it never swings beyond its bends."""
    one, other = ((q[1] - p[1]) / (q[0] - p[0]) for p, q in ((before, here), (here, after)))
    return 0.0 if one * other <= 0 else 3 * one * other / (one + other)


def along(to: Sequence[Point], onward: Sequence[Point]) -> list[Point]:
    """Two curves as one, straight across the place that is kept for the flow between them."""
    return [*to, to[-1], onward[0], *onward]


def crosses(
    points: Sequence[Point], walls: Sequence[Bounds], air: float = -0.5, but: Sequence[Bounds] = ()
) -> bool:
    """Whether a Bézier curve runs through a rectangle ``but`` some, or comes as near to one as ``air``."""
    walls = [wall for wall in _near(points, walls, air) if wall not in but]
    for k in range(0, len(points) - 1 if walls else 0, 3):
        piece = points[k : k + 4]
        for wall in _near(piece, walls, air):
            if _enters(piece, (wall[0] - air, wall[1] - air, wall[2] + air, wall[3] + air)):
                return True
    return False


def _near(points: Sequence[Point], walls: Sequence[Bounds], air: float) -> list[Bounds]:
    """The rectangles that the smallest rectangle around ``points`` reaches."""
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    left, right, top, bottom = min(xs) - air, max(xs) + air, min(ys) - air, max(ys) + air
    return [w for w in walls if w[0] < right and left < w[2] and w[1] < bottom and top < w[3]]


def _enters(piece: Sequence[Point], wall: Bounds) -> bool:
    """Whether a piece of a curve does: halves of it are looked at until they are clear of it, or tiny."""
    left, top, right, bottom = wall
    waiting = [tuple(piece)]
    while waiting:
        a, b, c, d = waiting.pop()
        low, high = min(a[0], b[0], c[0], d[0]), max(a[0], b[0], c[0], d[0])
        upper, lower = min(a[1], b[1], c[1], d[1]), max(a[1], b[1], c[1], d[1])
        if low >= right or high <= left or upper >= bottom or lower <= top:
            continue
        if high - low < _FINE and lower - upper < _FINE:
            return True
        ab, bc, cd = _middle(a, b), _middle(b, c), _middle(c, d)
        abc, bcd = _middle(ab, bc), _middle(bc, cd)
        half = _middle(abc, bcd)
        if left < half[0] < right and top < half[1] < bottom:
            return True
        waiting += [(a, ab, abc, half), (half, bcd, cd, d)]
    return False


def _middle(one: Point, other: Point) -> Point:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
