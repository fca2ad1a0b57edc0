"""Running sums and products of large arrays of float32, in float64, faster than NumPy's own.

``ufunc.accumulate`` waits for each sum before it begins the next.  Here
neighbouring columns are summed at once; and a row is cut into short runs,
which are all summed at once, and then take over what came before them [1]_.

References
----------
.. [1] G. E. Blelloch, "Prefix sums and their applications", Carnegie Mellon University, 1990.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from autokit.ops.blocks import BLOCK, loop_over_rows, pieces

_FEWEST = 16_384
"""Elements from which this pays."""

_WIDE = 256
"""Columns from which one call of NumPy for each row pays."""

_RUN = 8
_MODERATE = 1e-36, 1e36
"""No product of ``_RUN`` numbers between these leaves the range of float64."""


def accumulated(ufunc: Any, a: Any, axis: int, reverse: bool) -> Any:
    """``np.add`` or ``np.multiply`` accumulated, from the end if ``reverse``; None where NumPy is as fast."""
    if a.__class__ is not np.ndarray or a.dtype != np.float32 or a.size < _FEWEST:
        return None
    axis %= a.ndim
    length, columns = a.shape[axis], math.prod(a.shape[axis + 1 :])
    if not a.flags.c_contiguous or length < 2 * _RUN or 1 < columns < _WIDE:
        return None
    if columns == 1 and ufunc is np.multiply and not _is_moderate(a):
        return None
    out = np.empty_like(a)
    cubes = [array.reshape(-1, length, columns) for array in (a, out)]
    if ufunc is np.add and _by_a_loop(cubes, reverse):
        return out
    if reverse:
        cubes = [cube[:, ::-1] for cube in cubes]
    if columns > 1:
        _by_columns(ufunc, *cubes)
    else:
        _by_runs(ufunc, *[cube[:, :, 0] for cube in cubes])
    return out


def _by_a_loop(cubes: list[Any], reverse: bool) -> bool:
    """Whether a compiled loop wrote the running sums."""
    if cubes[0].shape[2] == 1:
        return loop_over_rows(
            "native_sums.running_sums", *[cube[:, :, 0] for cube in cubes], others=(reverse,)
        )
    return loop_over_rows("native_sums.running_sums_of_columns", *cubes, others=(reverse,))


def _is_moderate(a: Any) -> bool:
    """Whether products of a few elements neither overflow nor vanish, unless one of them is 0."""
    sizes = np.abs(a)
    smallest, largest = _MODERATE
    return bool(sizes.max() <= largest and not np.any((sizes < smallest) & (sizes > 0)))


def _by_columns(ufunc: Any, cube: Any, out: Any) -> None:
    for matrix, into in zip(cube, out):
        state = np.array(matrix[0], np.float64)
        into[0] = state
        for row, result in zip(matrix[1:], into[1:]):
            ufunc(state, row, out=state)
            result[...] = state


def _by_runs(ufunc: Any, rows: Any, out: Any) -> None:
    length = rows.shape[1]
    whole = length // _RUN * _RUN

    for piece in pieces(len(rows), max(BLOCK // length, 1)):
        part, into = rows[piece], out[piece]
        runs = part[:, :whole].reshape(len(part), -1, _RUN)
        # The first elements of all runs, then the second ones, and so on.
        running = np.empty((_RUN, len(part), whole // _RUN))
        running[...] = runs.transpose(2, 0, 1)
        for before, here in pairwise(running):
            ufunc(before, here, out=here)
        ends = ufunc.accumulate(running[-1], axis=1)
        carried = np.full_like(ends, ufunc.identity)
        carried[:, 1:] = ends[:, :-1]
        ufunc(running, carried, out=running)
        into[:, :whole].reshape(runs.shape)[...] = running.transpose(1, 2, 0)
        if whole < length:
            rest = np.concatenate([ends[:, -1:], part[:, whole:]], axis=1)
            into[:, whole:] = ufunc.accumulate(rest, axis=1)[:, 1:]
