"""Weighted sums of runs on a GPU: by runs that are made equally long, and so are the rows of a matrix.

CuPy has no ``reduceat`` for sums of runs of several lengths that would not add
at places, one element after the other.
"""

from __future__ import annotations

import numpy as np

_TIMES, _PADS = 4, 60
"""Runs are made equally long where that takes at most so many times the elements, and pads in a run."""


def equally_long(
    starts: np.ndarray, columns: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The columns and weights of each run as matrices; None where that would take much more memory.

    Run r has the elements from ``starts[r]`` up to ``starts[r + 1]``.  One that is too short has its last
    element several times, with 1/2, 1/4, … of the weight, which adds up exactly: a weight of 0 would make
    NaN of an infinite element.
    """
    counts = np.diff(starts)
    longest = int(counts.max(initial=0))
    pads = longest - counts
    if not longest or not counts.all() or longest * len(counts) > _TIMES * len(columns) or pads.max() > _PADS:
        return None
    place = np.arange(longest)
    taken = starts[:-1, None] + np.minimum(place, counts[:, None] - 1)
    weights = np.ones(len(columns)) if weights is None else weights
    halvings = np.clip(place - counts[:, None] + 2, 0, pads[:, None])
    return columns[taken], weights[taken] * 0.5**halvings
