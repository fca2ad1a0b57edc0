"""Linear maps along single dimensions: each new element is a weighted sum of a few old ones.

Padding with a reflection, resizing an image and averaging over adaptive
regions differ only in which elements they read and how much each counts.  Such
a map is a sparse matrix, and its derivative the transpose of that matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import module_of, with_channels_as
from autokit.ops.gpu.arrays import is_on_cpu, like
from autokit.ops.gpu.runs import equally_long
from autokit.ops.gpu.ufuncs import reduceat
from autokit.ops.operation import derivative, on, operation


class AxisMap(NamedTuple):
    """A sparse matrix in compressed rows, and the dimension along which it acts.

    Row r sums the elements ``columns[starts[r]:starts[r + 1]]``, each times its weight.
    """

    axis: int
    size: int
    starts: np.ndarray
    columns: np.ndarray
    weights: np.ndarray | None

    def transposed(self) -> AxisMap:
        """The map of the gradients, from the new dimension to the old."""
        counts = np.diff(self.starts)
        rows = np.repeat(np.arange(len(counts)), counts)
        order = np.argsort(self.columns, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=self.size))])
        weights = None if self.weights is None else self.weights[order]
        return AxisMap(self.axis, len(counts), starts, rows[order], weights)


def picking(axis: int, size: int, columns: Sequence[int] | np.ndarray) -> AxisMap:
    """The map that reads the elements ``columns``, one for each row."""
    return AxisMap(axis, size, np.arange(len(columns) + 1), np.asarray(columns, np.int64), None)


def weighing(axis: int, size: int, columns: np.ndarray, weights: np.ndarray, used: Any = True) -> AxisMap:
    """The map whose row r sums the elements ``columns[r]`` times ``weights[r]``, where they are ``used``."""
    used = np.broadcast_to(used, weights.shape)
    starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return AxisMap(axis, size, starts, columns[used], weights[used])


def averaging(axis: int, size: int, count: int) -> AxisMap:
    """The map that averages ``count`` regions, as equal as can be, that cover the dimension."""
    firsts, ends = adaptive_regions(size, count)
    lengths = ends - firsts
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - firsts, lengths)
    return AxisMap(axis, size, starts, columns, 1 / np.repeat(lengths, lengths))


def adaptive_regions(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each of ``count`` regions begins and ends; neighbours overlap where ``count`` does not divide."""
    places = np.arange(count)
    return places * size // max(count, 1), -((places + 1) * -size // max(count, 1))


_UNROLLED = 16
"""Up to so many elements to a row, a pass over the rows for each is faster than one over all elements."""


def _weighed(a: Any, axis: int, columns: np.ndarray, weights: np.ndarray | None) -> Any:
    """What stands at ``columns``, one or several to a row, along ``axis``, each times its weight."""
    xp = module_of(a)
    taken = a.take(xp.asarray(columns), axis=axis)
    if weights is None:
        return taken
    return taken * xp.asarray(weights.astype(a.dtype).reshape(columns.shape + (1,) * (a.ndim - axis - 1)))


def apply(a: Any, one: AxisMap) -> Any:
    """``a`` mapped along a dimension."""
    xp, axis = module_of(a), one.axis % a.ndim
    counts = np.diff(one.starts)

    def read(chosen: slice) -> Any:
        return _weighed(a, axis, one.columns[chosen], None if one.weights is None else one.weights[chosen])

    if one.weights is None and (counts == 1).all():
        return read(slice(None))
    even = None if is_on_cpu(a) else equally_long(one.starts, one.columns, one.weights)
    if even is not None:
        return _weighed(a, axis, *even).sum(axis=axis + 1)
    if len(counts) and counts[0] and counts[0] <= _UNROLLED and (counts == counts[0]).all():
        total = read(slice(0, None, int(counts[0])))
        for place in range(1, int(counts[0])):
            total += read(slice(place, None, int(counts[0])))
        return total
    shape = list(a.shape)
    shape[axis] = len(counts)
    total = like(np.zeros_like, a, shape=tuple(shape))
    filled = counts > 0
    if filled.any() and a.size:
        rows = (slice(None),) * axis + (xp.asarray(filled),)
        total[rows] = reduceat(np.add, read(slice(None)), xp.asarray(one.starts[:-1][filled]), axis)
    return total


_FEWEST = {"AdaptiveAvgPool3DBackward0": 6}
"""Dimensions from which a result follows its operand in having the channels last, where these are not 4."""


@operation(
    "resample",
    "weighted sums of {a}",
    a=derivative(
        "the same weights, transposed",
        lambda g, maps, node: on(
            resample, g, maps=tuple([each.transposed() for each in reversed(maps)]), node=node
        ),
    ),
    backward=lambda node: node.settings["node"],  # type: ignore[index]
    linear=True,
)
def resample(a, /, maps, node):
    """``a`` mapped along several dimensions in turn; ``node`` is PyTorch's name of the backward node."""
    input, half = a, a.dtype == np.float16  # which is summed in single precision, as PyTorch does
    if half:
        a = a.astype(np.float32)
    for each in maps:
        a = apply(a, each)
    return with_channels_as(input, a.astype(np.float16) if half else a, _FEWEST.get(node, 4))
