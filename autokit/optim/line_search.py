r"""A line search finds how far to go in a direction: here, by the strong Wolfe conditions.

Along a direction of descent, a step of length :math:`t` is accepted if the loss falls by a fair part of what
the slope at the start promises, and if the slope is much flatter at its end:

.. math::
    f(t) \le f(0) + c_1 t f'(0) \quad \text{and} \quad |f'(t)| \le c_2 |f'(0)|

The search takes longer steps until such a step lies between the last two, and then narrows this bracket by
the minimum of the cubic through its ends.

References
----------
J. Nocedal and S. J. Wright, "Numerical optimization", 2nd edition, Springer 2006, algorithms 3.5 and 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A place on the line: its distance t, the loss and its gradient there, and the slope along the line."""

    t: float
    loss: float
    gradient: Any
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Place],
    start: Place,
    t: float,
    longest: float,
    most_evaluations: int,
    tolerance_change: float = 1e-9,
    c1: float = 1e-4,
    c2: float = 0.9,
) -> tuple[Place, int]:
    """A place that fulfils the conditions, or the best one found, and the number of evaluations.

    Parameters
    ----------
    evaluate : callable
        Gives the place at a length.
    start : Place
        Where the line starts, at length 0.
    t : float
        The length to try first.
    longest : float
        The largest element of the direction: brackets whose ends differ by less than ``tolerance_change``
        are not narrowed any more.
    most_evaluations : int
        How often the bracket may be moved and narrowed.
    """

    def too_high(place: Place) -> bool:
        return place.loss > start.loss + c1 * place.t * start.slope

    def flat_enough(place: Place) -> bool:
        return abs(place.slope) <= -c2 * start.slope

    before, here = start, evaluate(t)
    tries = 0
    while tries < most_evaluations:
        if too_high(here) or (tries > 1 and here.loss >= before.loss):
            break
        if flat_enough(here):
            return here, tries + 1
        if here.slope >= 0:
            break
        t = cubic_minimum(before, here, here.t + 0.01 * (here.t - before.t), 10 * here.t)
        before, here = here, evaluate(t)
        tries += 1
    else:
        before = start

    bracket = [before, here]
    low = _lower(bracket)
    stuck = False
    while tries < most_evaluations:
        left, right = sorted(place.t for place in bracket)
        if (right - left) * longest < tolerance_change:
            break
        t = cubic_minimum(bracket[0], bracket[1], left, right)
        # Close to an end for the second time, or at it: go a tenth of the bracket inwards.
        margin = 0.1 * (right - left)
        close = min(right - t, t - left) < margin
        if close and (stuck or t >= right or t <= left):
            t = right - margin if right - t < t - left else left + margin
            close = False
        stuck = close

        here = evaluate(t)
        tries += 1
        high = 1 - low
        if too_high(here) or here.loss >= bracket[low].loss:
            bracket[high] = here
            low = _lower(bracket)
            continue
        if flat_enough(here):
            return here, tries + 1
        if here.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = here
    return bracket[low], tries + 1


def cubic_minimum(one: Place, other: Place, left: float, right: float) -> float:
    """Where the cubic with the losses and slopes of two places has its minimum.

    It is kept between ``left`` and ``right``, and is the middle between these where there is none.
    """
    if one.t > other.t:
        one, other = other, one
    middle = (left + right) / 2
    if one.t == other.t:
        return middle
    bend = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.t - other.t)
    square = bend**2 - one.slope * other.slope
    if not 0 <= square < math.inf:
        return middle
    root = math.sqrt(square)
    span = other.slope - one.slope + 2 * root
    if not span:
        return middle
    minimum = other.t - (other.t - one.t) * ((other.slope + root - bend) / span)
    return min(max(minimum, left), right)


def _lower(bracket: list[Place]) -> int:
    return 0 if bracket[0].loss <= bracket[1].loss else 1
