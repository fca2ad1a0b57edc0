"""Counts drawn by rejection: numbers are proposed until one is accepted.

How many even numbers a draw takes depends on what they are, so each method
asks ``draw()`` for them one at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

Draw = Callable[[], float]


def poisson(draw: Draw, rates: list[float]) -> Iterator[int]:
    """How many events happen, at each of the ``rates``.

    Below 10 even numbers are multiplied until their product falls under exp(-rate); from 10 on it is
    Hörmann's transformed rejection.

    References
    ----------
    W. Hörmann, "The transformed rejection method for generating Poisson random variables",
    Insurance: Mathematics and Economics 12, 1993.
    """
    for rate in rates:
        if not 0 <= rate < math.inf:
            raise RuntimeError(
                f"invalid Poisson rate, expected rate to be non-negative and finite, but it is {rate}"
            )
        if rate == 0:
            yield 0
        elif rate < 10:
            yield _poisson_by_products(draw, math.exp(-rate))
        else:
            yield _poisson_by_rejection(draw, rate)


def _poisson_by_products(draw: Draw, limit: float) -> int:
    count, product = 0, draw()
    while product > limit:
        count += 1
        product *= draw()
    return count


def _poisson_by_rejection(draw: Draw, rate: float) -> int:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)
    log_rate = math.log(rate)
    while True:
        u = draw() - 0.5
        v = draw()
        edge = 0.5 - abs(u)
        if edge == 0:
            continue
        count = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= quick:
            return count
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        height = _log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b)
        if height <= -rate + count * log_rate - math.lgamma(count + 1):
            return count


def binomial(draw: Draw, counts: list[float], chances: list[float]) -> Iterator[float]:
    """How many of so many trials succeed.

    Where fewer than 10 successes are expected, the trials from one success to the next are drawn until
    the trials are used up; else it is Hörmann's transformed rejection with squeeze.

    References
    ----------
    W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and
    Simulation 46, 1993.
    """
    for count, chance in zip(counts, chances, strict=True):
        if not count >= 0:
            raise RuntimeError(f"binomial: the count of trials must be 0 or more, but it is {count}")
        if not 0 <= chance <= 1:
            raise RuntimeError(f"binomial: a probability lies between 0 and 1, but it is {chance}")
        if count == 0 or chance in (0, 1) or count == math.inf:
            yield count * chance if chance else 0
            continue
        rarer = min(chance, 1 - chance)
        method = _binomial_by_rejection if count * rarer >= 10 else _binomial_by_gaps
        successes = method(draw, count, rarer)
        yield successes if chance <= 0.5 else count - successes


def _binomial_by_gaps(draw: Draw, count: float, chance: float) -> float:
    log_failure = math.log1p(-chance)
    successes, trials = 0, 0.0
    while True:
        trials += math.ceil(quotient) if math.isfinite(quotient := _log(draw()) / log_failure) else math.inf
        if trials > count:
            return successes
        successes += 1


def _binomial_by_rejection(draw: Draw, count: float, chance: float) -> float:
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    centre = count * chance + 0.5
    quick = 0.92 - 4.2 / b
    odds = chance / (1 - chance)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + 1) * chance)
    while True:
        u = draw() - 0.5
        v = draw()
        edge = 0.5 - abs(u)
        if edge == 0:
            continue
        k = math.floor((2 * a / edge + b) * u + centre)
        if k < 0 or k > count:
            continue
        if edge >= 0.07 and v <= quick:
            return k
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(count - mode)
            - _stirling_tail(k)
            - _stirling_tail(count - k)
        )
        if _log(v * alpha / (a / (edge * edge) + b)) <= bound:
            return k


def gamma(draw: Draw, normal: Draw, shapes: list[float]) -> Iterator[float]:
    """Numbers from gamma distributions of rate 1, by Marsaglia and Tsang's cube of a normal number.

    Shapes below 1 are raised by 1, and the number is multiplied by a power of an even one.  The constants
    are rounded as PyTorch's are.

    References
    ----------
    G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on
    Mathematical Software 26, 2000.
    """
    for shape in shapes:
        if shape == 0:
            yield 0.0
            continue
        scale = (1 - draw()) ** (1 / shape) if shape < 1 else 1.0
        d = shape + (shape < 1) - _THIRD
        yield scale * d * _gamma_cube(draw, normal, d)


_THIRD = 0.3333333432674408
_SQUEEZE = 0.03310000151395798


def _gamma_cube(draw: Draw, normal: Draw, d: float) -> float:
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal()
        if 1 + c * x <= 0:
            continue
        v = (1 + c * x) ** 3
        u = 1 - draw()
        if u < 1 - _SQUEEZE * x**4 or _log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
            return v


_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: float) -> float:
    """log k! less Stirling's formula for it."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
