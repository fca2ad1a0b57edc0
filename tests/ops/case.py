"""One case: a public function, a call of it, and the arrays of its tensors, drawn the same each time."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np


class Case(NamedTuple):
    """One call, and the arrays of its tensors."""

    name: str
    call: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    named_alike: bool = True
    """Whether the result's node has PyTorch's name; where PyTorch takes several steps it may not."""


_counters: dict[str, Iterator[int]] = {}


def _random() -> np.random.RandomState:
    """A generator of its own for each array: a new case leaves those of other files as they were."""
    file = Path(sys._getframe(2).f_code.co_filename).stem
    if file not in _counters:
        _counters[file] = count(crc32(file.encode()))
    return np.random.RandomState(next(_counters[file]) % 2**32)


def R(*shape: int) -> np.ndarray:
    """Real numbers of both signs, none near 0."""
    random = _random()
    return np.where(random.uniform(size=shape) < 0.5, -1, 1) * random.uniform(0.2, 2, shape)


def P(*shape: int) -> np.ndarray:
    """Positive numbers."""
    return _random().uniform(0.3, 2, shape)


def I(*shape: int) -> np.ndarray:  # noqa: E743 - beside R, P and B
    """Integers."""
    return _random().randint(-4, 5, shape)


def B(*shape: int) -> np.ndarray:
    """Bools."""
    return _random().uniform(size=shape) < 0.5


def case(name: str, call: Callable[..., Any], *arrays: Any) -> Case:
    return Case(name, call, tuple(np.asarray(array) for array in arrays))


def otherwise(*parts: Any) -> Case:
    """A case whose node is not called as PyTorch's."""
    return case(*parts)._replace(named_alike=False)


def flat(result: Any) -> list[Any]:
    """What a call gave: one value, or those in nested tuples and lists."""
    return [part for each in result for part in flat(each)] if isinstance(result, tuple | list) else [result]


def call(library: Any, case: Case, tensors: list[Any]) -> Any:
    """What ``case`` gives on these tensors of ``library``; of warnings nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.call(library, *tensors)
