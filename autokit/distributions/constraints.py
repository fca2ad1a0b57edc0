"""A constraint is a set of numbers, vectors or matrices in which the parameters or the values must lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Constraint(NamedTuple):
    """A set: in words, and as a test of the elements of an array, or of its last ``event_dim`` dimensions."""

    words: str
    check: Callable[[Any], Any]
    event_dim: int = 0

    def __repr__(self) -> str:
        return self.words


def _is_positive_definite(a: Any) -> Any:
    symmetric = np.isclose(a, np.swapaxes(a, -1, -2), atol=1e-6).all((-1, -2))
    return symmetric & (np.linalg.eigvalsh(a) > 0).all(-1)


def _is_cholesky_factor(a: Any) -> Any:
    return (np.tril(a) == a).all((-1, -2)) & (np.diagonal(a, 0, -2, -1) > 0).all(-1)


def interval(low: Any, high: Any) -> Constraint:
    """The numbers from ``low`` to ``high``."""
    return Constraint(f"from {low} to {high}", lambda a: (low <= a) & (a <= high))


real = Constraint("a real number", lambda a: a == a)
positive = Constraint("above 0", lambda a: a > 0)
nonnegative = Constraint("0 or more", lambda a: a >= 0)
unit_interval = interval(0, 1)
boolean = Constraint("0 or 1", lambda a: (a == 0) | (a == 1))
simplex = Constraint(
    "a vector of chances that sum to 1", lambda a: (a >= 0).all(-1) & (abs(a.sum(-1) - 1) < 1e-6), 1
)
positive_definite = Constraint("a symmetric positive definite matrix", _is_positive_definite, 2)
lower_cholesky = Constraint("lower triangular with a positive diagonal", _is_cholesky_factor, 2)
