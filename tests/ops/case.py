"""One case: a public function, a call of it, and the arrays of its tensors, drawn the same each time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """One call, and the arrays of its tensors."""

    name: str
    call: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    named_alike: bool = True
    """Whether the result's node has PyTorch's name; where PyTorch takes several steps it may not."""


_seeds = count(1).__next__


def R(*shape: int) -> np.ndarray:
    """Real numbers of both signs, none near 0."""
    random = np.random.RandomState(_seeds())
    return np.where(random.uniform(size=shape) < 0.5, -1, 1) * random.uniform(0.2, 2, shape)


def P(*shape: int) -> np.ndarray:
    """Positive numbers."""
    return np.random.RandomState(_seeds()).uniform(0.3, 2, shape)


def I(*shape: int) -> np.ndarray:  # noqa: E743 - beside R, P and B
    """Integers."""
    return np.random.RandomState(_seeds()).randint(-4, 5, shape)


def B(*shape: int) -> np.ndarray:
    """Bools."""
    return np.random.RandomState(_seeds()).uniform(size=shape) < 0.5


def case(name: str, call: Callable[..., Any], *arrays: Any) -> Case:
    return Case(name, call, tuple(np.asarray(array) for array in arrays))


def otherwise(*parts: Any) -> Case:
    """A case whose node is not called as PyTorch's."""
    return case(*parts)._replace(named_alike=False)
