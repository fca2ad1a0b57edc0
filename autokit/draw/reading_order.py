"""Among several layouts the most readable one is chosen: few arrows cross, and operands are in order.

An engine that may choose puts ``b`` above ``a`` in a picture of ``a · b`` as
gladly as below.  So it is asked several times: freely, with all operands in
their order, and with those that nothing is computed from before; and each
answer is also looked at upside down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from autokit.draw.layout import Placement, Plan

_ASKED_AGAIN = 60
"""A plan with more rectangles is laid out once: it would take several times the time."""


def in_reading_order(plan: Plan, place: Callable[[Plan], Placement]) -> Placement:
    """The answer of ``place`` to ``plan`` that crosses least, then keeps most to the order of operands."""
    answers = [place(plan)]
    arriving = _arriving(plan)
    joining = {target for target, arrows in arriving.items() if len(arrows) > 1}
    given = {t for t in joining if not any(plan.arrows[i].source in arriving for i in arriving[t])}
    if len(plan.sizes) <= _ASKED_AGAIN:
        wishes = {plan.ordered | each for each in (joining, given)} - {plan.ordered}
        answers += [place(replace(plan, ordered=wish)) for wish in sorted(wishes, key=len)]
        crossings = [_crossings(plan, each) for each in answers]
        answers = [each for each, count in zip(answers, crossings) if count == min(crossings)]
    if not any(arrow.leaves or arrow.arrives for arrow in plan.arrows):
        answers += [_upside_down(each) for each in answers]
    return min(answers, key=lambda each: (*_swapped(plan, each, arriving), _out_of_line(plan, each)))


def _arriving(plan: Plan) -> dict[int, list[int]]:
    """The arrows to each rectangle, by their places in the plan."""
    arriving: dict[int, list[int]] = {}
    for i, arrow in enumerate(plan.arrows):
        arriving.setdefault(arrow.target, []).append(i)
    return arriving


def _upside_down(placed: Placement) -> Placement:
    return replace(
        placed,
        centres=tuple((x, -y) for x, y in placed.centres),
        curves=tuple(tuple((x, -y) for x, y in curve) for curve in placed.curves),
    )


def _swapped(plan: Plan, placed: Placement, arriving: dict[int, list[int]]) -> tuple[int, int]:
    """How many pairs of operands arrive the wrong way around: where it matters, and where it does not."""
    counts = [0, 0]
    for target, arrows in arriving.items():
        heights = [_height(plan, placed, i) for i in arrows]
        counts[target not in plan.ordered] += _inversions(heights)
    return counts[0], counts[1]


def _height(plan: Plan, placed: Placement, i: int) -> float:
    """Where an arrow comes from, seen from the rectangle that it points to."""
    curve = placed.curves[i]
    return (
        curve[-4][1] + curve[-3][1] + curve[-2][1] if curve else 3 * placed.centres[plan.arrows[i].source][1]
    )


def _out_of_line(plan: Plan, placed: Placement) -> int:
    """How many pairs of neighbours in a column stand the wrong way around."""
    columns: dict[int, list[float]] = {}
    for x, y in placed.centres:
        columns.setdefault(round(x), []).append(y)
    return sum(map(_inversions, columns.values()))


def _inversions(heights: Sequence[float]) -> int:
    """How many neighbours fall where they should rise."""
    return sum(after < before - 0.5 for before, after in pairwise(heights))


def _crossings(plan: Plan, placed: Placement) -> int:
    """How many arrows cross each other, as far as they neither begin nor end at one rectangle."""
    pieces, owners = [], []
    for i, arrow in enumerate(plan.arrows):
        (x, y), (to, level) = placed.centres[arrow.source], placed.centres[arrow.target]
        way = [(x, y + arrow.leaves), *placed.curves[i][3:-1:3], (to, level + arrow.arrives)]
        pieces += [(*start, *end) for start, end in pairwise(way)]
        owners += [(i, arrow.source, arrow.target)] * (len(way) - 1)
    if not pieces:
        return 0
    x0, y0, x1, y1 = np.array(pieces).T
    own, source, target = np.array(owners).T
    strangers = (source[:, None] != source) & (target[:, None] != target)

    def side(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """On which side of each piece the points ``x``, ``y`` lie."""
        turn: np.ndarray = (x1 - x0)[:, None] * (y - y0[:, None]) - (y1 - y0)[:, None] * (x - x0[:, None])
        return np.sign(np.where(np.abs(turn) < 1e-6, 0, turn))

    apart = side(x0, y0) * side(x1, y1)
    crossing = (apart < 0) & (apart.T < 0) & strangers
    return len({(int(own[i]), int(own[j])) for i, j in np.argwhere(crossing)}) // 2
