"""Arrows for the gradients get space: gaps between columns are widened, and each flow gets a place in one.

Each gap becomes as wide as what flows there needs, and everything beyond moves
by as much; so nothing ever changes its order.  All of it for arrows that run to
the right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from autokit.draw.layered import nondecreasing
from autokit.draw.layout import Placement
from autokit.draw.shapes import Point

Ends = tuple[int, int]
Extent = tuple[int, int]
"""The first and the last column that something takes."""

_AIR, _BESIDE_FRAME, _BETWEEN = 6.0, 4.0, 8.0
_LEAST, _SLOPE, _MOST = 28.0, 0.15, 66.0
"""A gap without flows is so wide at least, and wider by a part of how far its arrows rise or fall."""


@dataclass(frozen=True)
class Roomy:
    """A placement with room for what flows.

    ``stations`` are the places on the arrows, and ``pieces`` each arrow's
    curve in two: to its station, and from there on.
    """

    placement: Placement
    stations: tuple[Point, ...]
    pieces: tuple[tuple[Sequence[Point], Sequence[Point]], ...]


def make_room(
    placement: Placement,
    sizes: Sequence[Point],
    arrows: Sequence[Ends],
    flows: Sequence[Point],
    frames: Sequence[tuple[Sequence[int], float]],
    tight: bool = False,
) -> Roomy:
    """Open or close the gaps of ``placement``, and find a place on each arrow.

    Parameters
    ----------
    placement : Placement
    sizes : sequence of (width, height)
        Of the boxes.
    arrows : sequence of (source, target)
    flows : sequence of (width, height)
        What each arrow carries; no size where it carries nothing.
    frames : sequence of (members, reach)
        For each frame its boxes, and how far it reaches out from them.
    tight : bool
        Whether gaps grow no wider where arrows rise or fall by much.
    """
    columns = _Columns(placement, sizes)
    zones = columns.zones([(columns.extent(members), reach) for members, reach in frames])
    # A flow stands just before the box that it comes from: there few arrows are side by side.
    gaps = [max(columns.of[target] - 1, 0) for _, target in arrows]
    wanted = [_LEAST] * len(zones)
    for gap, (along, _), (source, target) in zip(gaps, flows, arrows, strict=True):
        rise = 0.0 if tight else abs(placement.centres[source][1] - placement.centres[target][1])
        if zones:
            wanted[gap] = max(wanted[gap], min(_LEAST + _SLOPE * rise, _MOST))
            wanted[gap] = max(wanted[gap], along + zones[gap][2] if along else 0.0)
    wider = [need - (right - left) for need, (left, right, _) in zip(wanted, zones, strict=True)]
    move = _moved(columns, wider)
    centres = tuple((move(x), y) for x, y in placement.centres)
    curves = _in_order([tuple((move(x), y) for x, y in curve) for curve in placement.curves], arrows)
    borders = zip(columns.right, columns.left[1:])
    middles = [
        (move(start) + left - start + move(end) + right - end) / 2
        for (start, end), (left, right, _) in zip(borders, zones)
    ]
    halves = []
    for i, (source, target) in enumerate(arrows):
        whole = curves[i] or (centres[source], centres[source], centres[target], centres[target])
        halves.append(split(whole, middles[gaps[i]] if middles else whole[0][0]))
    stations = _apart([onward[0] for _, onward in halves], gaps, flows)
    pieces = tuple(
        ((*to[:-1], station), (station, *onward[1:]))
        for (to, onward), station in zip(halves, stations, strict=True)
    )
    return Roomy(replace(placement, centres=centres, curves=curves), tuple(stations), pieces)


def _in_order(curves: list[tuple[Point, ...]], arrows: Sequence[Ends]) -> tuple[tuple[Point, ...], ...]:
    """The curves, those between the same two boxes from top to bottom."""
    twins: dict[Ends, list[int]] = {}
    for i, ends in enumerate(arrows):
        twins.setdefault(ends, []).append(i)
    ordered = list(curves)
    for members in twins.values():
        if len(members) > 1:
            sorted_ones = sorted((curves[i] for i in members), key=lambda curve: sum(y for _, y in curve))
            for i, curve in zip(members, sorted_ones, strict=True):
                ordered[i] = curve
    return tuple(ordered)


class _Columns:
    """The columns in which the boxes stand: for each box which ``of`` them, and their borders."""

    def __init__(self, placement: Placement, sizes: Sequence[Point]) -> None:
        self.of = [0] * len(sizes)
        self.left: list[float] = []
        self.right: list[float] = []
        last = float("-inf")
        for i in sorted(range(len(sizes)), key=lambda i: placement.centres[i][0]):
            x, wide = placement.centres[i][0], sizes[i][0]
            if x - last > 1:
                self.left.append(x - wide / 2)
                self.right.append(x + wide / 2)
                last = x
            self.of[i] = len(self.left) - 1
            self.left[-1] = min(self.left[-1], x - wide / 2)
            self.right[-1] = max(self.right[-1], x + wide / 2)

    def extent(self, members: Sequence[int]) -> Extent:
        """The columns that the boxes ``members`` take."""
        places = [self.of[i] for i in members]
        return min(places), max(places)

    def zones(self, frames: Sequence[tuple[Extent, float]]) -> list[tuple[float, float, float]]:
        """Between each two columns the stretch that is free of frames' borders, and the air that it needs."""
        out, into = [0.0] * len(self.left), [0.0] * len(self.left)
        for (first, last), reach in frames:
            out[last], into[first] = max(out[last], reach), max(into[first], reach)
        return [
            (
                self.right[gap] + out[gap],
                self.left[gap + 1] - into[gap + 1],
                sum(_BESIDE_FRAME if border else _AIR for border in (out[gap], into[gap + 1])),
            )
            for gap in range(len(self.left) - 1)
        ]


def _moved(columns: _Columns, wider: Sequence[float]) -> Callable[[float], float]:
    """Where a place along the arrows goes when the gaps grow wider: evenly on within a gap."""
    before = [0.0]
    for more in wider:
        before.append(before[-1] + more)

    def move(x: float) -> float:
        gap = bisect_left(columns.right, x) - 1
        if gap < 0 or not wider:
            return x
        if gap >= len(wider):
            return x + before[-1]
        start, end = columns.right[gap], columns.left[gap + 1]
        part = min(1.0, (x - start) / (end - start)) if end > start else 1.0
        return x + before[gap] + part * wider[gap]

    return move


def _apart(wanted: Sequence[Point], gaps: Sequence[int], flows: Sequence[Point]) -> list[Point]:
    """The places nearest to those wanted at which nothing that flows lies on another."""
    places = list(wanted)
    sharing: dict[int, list[int]] = {}
    for i, (gap, flow) in enumerate(zip(gaps, flows, strict=True)):
        if flow[0]:
            sharing.setdefault(gap, []).append(i)
    for members in sharing.values():
        members.sort(key=lambda i: (round(wanted[i][1], 1), i))
        offset, offsets = 0.0, [0.0]
        for one, other in pairwise(members):
            offset += (flows[one][1] + flows[other][1]) / 2 + _BETWEEN
            offsets.append(offset)
        bases = nondecreasing([wanted[i][1] - at for i, at in zip(members, offsets, strict=True)])
        for i, base, at in zip(members, bases, offsets, strict=True):
            places[i] = wanted[i][0], base + at
    return places


def split(curve: Sequence[Point], x: float) -> tuple[list[Point], list[Point]]:
    """A Bézier curve that runs to the right, in two at ``x``: one begins where the other ends."""
    ends = [point[0] for point in curve[3::3]]
    piece = 3 * min(bisect_left(ends, x), len(ends) - 1)
    a, b, c, d = curve[piece : piece + 4]
    low, high = 0.0, 1.0
    for _ in range(16):
        t = (low + high) / 2
        here = (1 - t) ** 3 * a[0] + 3 * t * (1 - t) * ((1 - t) * b[0] + t * c[0]) + t**3 * d[0]
        low, high = (t, high) if here < x else (low, t)
    ab, bc, cd = _part(a, b, low), _part(b, c, low), _part(c, d, low)
    abc, bcd = _part(ab, bc, low), _part(bc, cd, low)
    at = _part(abc, bcd, low)
    return [*curve[:piece], a, ab, abc, at], [at, bcd, cd, d, *curve[piece + 4 :]]


def _part(one: Point, other: Point, t: float) -> Point:
    return one[0] + t * (other[0] - one[0]), one[1] + t * (other[1] - one[1])
