"""The elements of a small tensor, written as they are read: matrix by matrix."""

from __future__ import annotations

from itertools import product

from autokit.graphs.model import Summary
from autokit.graphs.summary import with_minus

MOST = 100
"""So many elements are written down."""

_LONGEST, _FOLDED = 20, 10


def written(summary: Summary) -> tuple[int, dict[str, list[str]]]:
    """How many elements a row has, and the texts of each matrix by its place; none where they are too many.

    Matrices of a tensor with more than two dimensions have a place; a long vector has rows of ten.
    """
    values, shape = summary.values, summary.shape
    if not values or not shape or len(values) > MOST:
        return 0, {}
    columns = shape[-1]
    if columns > _LONGEST:
        if len(shape) > 1:
            return 0, {}
        columns = _FOLDED
    told = [with_minus(f"{value:.4g}") for value in values]
    if summary.dtype == "bool":
        told = [str(bool(value)) for value in values]
    places = [*product(*map(range, shape[:-2]))]
    count = len(told) // len(places)
    blocks = {}
    for place, index in enumerate(places):
        label = str([*index]) if index else ""
        blocks[label] = told[place * count : (place + 1) * count]
    return columns, blocks
