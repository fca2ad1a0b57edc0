"""Rows and columns: in which loop a call of a graph is computed, and where in memory its operands lie.

A view is no work of its own here: its elements are read where they lie, at an offset and at regular
distances, the *strides*, in the memory of the node that owns them. A call is computed in rows and columns:
the last of its dimensions are the columns, all others together the rows; a vector is one column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from autokit.static.graph import Node, nodes_in


class Region(NamedTuple):
    """The elements of a node in the memory of its ``owner``, of which each lies row by row."""

    owner: Node
    offset: int
    strides: tuple[int, ...]


def region_of(node: Node) -> Region | None:
    """Where the elements of ``node`` lie; None where that depends on numbers, or the dtype is another one."""
    views = []
    while node.kind == "view":
        views.append(node)
        node = node.args[0]
    if not isinstance(node.value, np.ndarray) or not node.value.size:
        return None
    memory = view = np.empty(node.shape or (), node.dtype)
    for each in reversed(views):
        if list(nodes_in((each.args[1:], each.settings))):
            return None
        view = each.function(view, *each.args[1:], **each.settings)  # type: ignore[misc]
    if view.dtype != memory.dtype or not np.may_share_memory(view, memory):
        return None
    starts = [array.__array_interface__["data"][0] for array in (view, memory)]
    size = memory.itemsize
    return Region(node, (starts[0] - starts[1]) // size, tuple([stride // size for stride in view.strides]))


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of an array that lies row by row."""
    return tuple([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])


def broadcast(shape: Sequence[int], strides: Sequence[int], to: Sequence[int]) -> tuple[int, ...]:
    """The strides by which an array is read as one of the shape ``to``: 0 where it is repeated."""
    missing = (0,) * (len(to) - len(shape))
    return (*missing, *[0 if size == 1 else stride for size, stride in zip(shape, strides)])


class Access(NamedTuple):
    """Where the element of row ``i`` and column ``j`` lies in the memory of its owner.

    Each of ``rows`` is a dimension, or several that one stride fits: how many rows it takes to get to the
    next index, how many indices there are, and the stride.
    """

    offset: int
    rows: tuple[tuple[int, int, int], ...]
    step: int

    def text(self, rows: int, in_row: bool = False) -> str:
        """The index as Python, in a loop over so many ``rows``; or only what it is within its row."""
        terms = []
        for below, size, stride in () if in_row else self.rows:
            index = "i" if below == 1 else f"i // {below}"
            index = index if below * size == rows else f"{index} % {size}"
            terms.append(_times(index, stride))
        terms += [_times("j", self.step)] if self.step else []
        terms += [str(self.offset)] if self.offset else []
        return " + ".join(terms) or "0"

    def in_own_row(self, width: int, rows: int, columns: int) -> bool:
        """Whether row ``i`` reads only from row ``i`` of a value with so many elements in each row."""
        ends = (self.offset, self.offset + self.step * (columns - 1))
        inside = min(ends) >= 0 and max(ends) < width
        return inside and (rows == 1 or self.rows == ((1, rows, width),))


def _times(index: str, stride: int) -> str:
    index = index if len(index) == 1 else f"({index})"
    return index if stride == 1 else f"{index} * {stride}"


class Frame:
    """The rows and columns of a call.

    Parameters
    ----------
    sizes : sequence of int
        Of its dimensions.
    strides : sequence of int
        By their size its dimensions are ordered, so that memory is read in its order.
    """

    def __init__(self, sizes: Sequence[int], strides: Sequence[int]) -> None:
        axes = [axis for axis, size in enumerate(sizes) if size > 1]
        self.axes = sorted(axes, key=lambda axis: -strides[axis])
        kept = [sizes[axis] for axis in self.axes]
        self.columns = kept.pop() if len(kept) > 1 else 1
        self.sizes = kept
        self.rows = math.prod(kept)
        self.plain = self.access(0, row_major(sizes))

    def access(self, offset: int, strides: Sequence[int]) -> Access:
        """How an array with these strides, one for each dimension of the call, is read."""
        kept = [strides[axis] for axis in self.axes]
        step = kept.pop() if self.columns > 1 else 0
        rows: list[tuple[int, int, int]] = []
        below = 1
        for size, stride in zip(self.sizes[::-1], kept[::-1]):
            if rows and stride == rows[-1][1] * rows[-1][2]:
                rows[-1] = (rows[-1][0], rows[-1][1] * size, rows[-1][2])
            else:
                rows.append((below, size, stride))
            below *= size
        return Access(offset, tuple([each for each in rows if each[2]][::-1]), step)
