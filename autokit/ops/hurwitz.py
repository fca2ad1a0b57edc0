"""Hurwitz' zeta function, of which Riemann's and the polygamma functions are made.

References
----------
.. [1] M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.ops.approximations import BERNOULLI, FAR, in_float64


@in_float64
def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' ζ(x, q) = Σ (k + q)^−x; x above 1.

    Left of 0 the terms below 0 are a part of the series from 1 − q mod 1, with another sign where x is odd.
    """
    q = q.astype(np.float64)
    x, q = np.broadcast_arrays(x, q)
    pole = (q <= 0) & (q == np.floor(q))
    undefined = (x < 1) | ((q < 0) & ~pole & (x != np.floor(x))) | np.isnan(x)
    safe = np.where((x > 1) & ~pole & ~undefined, q, 1.0)
    left = safe < 0
    total = _right_of_0(x, np.where(left, safe - np.floor(safe), safe))
    if left.any():
        before = np.where(left, np.floor(safe) + 1 - safe, 1.0)
        beyond = _right_of_0(x, np.where(left, 1 - safe, 1.0))
        first = _right_of_0(x, before)
        even, odd = total + first - beyond, total - first + beyond  # at a half the odd one's first two cancel
        total = np.where(left, np.where(x % 2 == 0, even, odd), total)
        total = np.where(left & np.isinf(x), np.inf, total)
    total = np.where(undefined, np.nan, total)
    return np.where((x == 1) | pole & ~(x < 1), np.inf, total)


def _right_of_0(x: Any, q: Any) -> Any:
    """ζ(x, q) for q above 0, by Euler and Maclaurin, 23.2.3 of [1]_."""
    safe, total = q, np.zeros_like(q)
    power = np.where(x > 1, x, 2.0)
    while (near := safe < FAR).any():
        total = np.where(near, total + safe**-power, total)
        safe = np.where(near, safe + 1, safe)
    at_infinity, term = total, safe**-power
    total = total + term * safe / (power - 1) + term / 2
    factor = np.where(term == 0, 0, power / safe)
    for n, bernoulli in enumerate(BERNOULLI, 1):
        total = total + term * factor * bernoulli / math.factorial(2 * n)
        factor = factor * (power + 2 * n - 1) * (power + 2 * n) / (safe * safe)
    return np.where(np.isinf(x), np.where(q <= 1, at_infinity, np.nan), total)
