"""Linear maps along single dimensions: each new element is a weighted sum of a few old ones.

Padding with a reflection, resizing an image and averaging over windows differ only in which elements they
read and how much each counts.  Such a map is a matrix with few entries in a row, and its derivative is the
transpose of that matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autokit.base.devices import beside
from autokit.engine.operation import derivative, on, operation
from autokit.ops.names import Names


@dataclass(frozen=True)
class AxisMap:
    """A map along one dimension: element r of the result is Σₖ ``weights[r, k]`` · a[``columns[r, k]``].

    Attributes
    ----------
    axis : int
        The dimension, counted from the end.
    size : int
        How many elements there were.
    columns : array of int
        Which of them each new element reads, (new size, terms).
    weights : array or None
        How much they count; None where they count once.
    """

    axis: int
    size: int
    columns: np.ndarray
    weights: np.ndarray | None = None

    def __call__(self, a: Any) -> Any:
        """``a`` mapped.

        >>> halves = AxisMap(-1, 4, np.array([[0, 1], [2, 3]]), np.full((2, 2), 0.5))
        >>> halves(np.array([1.0, 3.0, 5.0, 9.0]))
        array([2., 7.])
        """
        total = None
        for term in range(self.columns.shape[1]):
            part = a[along(self.axis, self.columns[:, term], a)]
            if self.weights is not None:
                weights = self.weights[:, term].astype(a.dtype).reshape((-1,) + (1,) * (-self.axis - 1))
                part = part * beside(weights, a)
            total = part if total is None else total + part
        return total

    def transposed(self) -> AxisMap:
        """The map of the gradients, from the new elements to the old."""
        rows, terms = self.columns.shape
        weights = np.ones((rows, terms)) if self.weights is None else self.weights
        read = self.columns.reshape(-1)
        order, counts = read.argsort(kind="stable"), np.bincount(read, minlength=self.size)
        place = np.arange(max(counts.max(initial=1), 1))
        used = place < counts[:, np.newaxis]
        first = np.cumsum(counts) - counts
        chosen = order[np.where(used, first[:, np.newaxis] + place, 0)]
        return AxisMap(self.axis, rows, chosen // terms, np.where(used, weights.reshape(-1)[chosen], 0.0))


def along(axis: int, places: np.ndarray, a: Any) -> tuple[Any, ...]:
    """The index of ``places`` along a dimension counted from the end: a slice where they are evenly apart."""
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if len(places) and step > 0 and (np.diff(places) == step).all():
        chosen: Any = slice(int(places[0]), int(places[-1]) + 1, step)
    else:
        chosen = beside(places, a)
    return (..., chosen, *(slice(None),) * (-axis - 1))


def picking(axis: int, size: int, places: Sequence[int] | np.ndarray) -> AxisMap:
    """The map that reads the elements at ``places``."""
    return AxisMap(axis, size, np.asarray(places, np.int64).reshape(-1, 1))


@operation(
    "resample",
    "weighted sums of {a}",
    a=derivative(
        "the same weights, transposed",
        lambda g, maps: on(resample, g, maps=tuple([each.transposed() for each in reversed(maps)])),
    ),
)
def resample(a, /, maps):
    """``a`` mapped along several dimensions, one after another."""
    for each in maps:
        a = each(a)
    return a


NAMES = Names()
