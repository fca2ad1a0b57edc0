"""Gaussian elimination: a matrix as a permutation, a lower and an upper triangle, P L U."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import module_of


def lu_arrays(a: Any) -> tuple[Any, Any]:
    """L below and U on and above the diagonal of one array, and the rows swapped at each step, from 1.

    The larger element of a column is the pivot, as in LAPACK's ``getrf``.
    """
    *lead, rows, columns = a.shape
    steps = min(rows, columns)
    lu = a.reshape((math.prod(lead), rows, columns)).copy()
    pivots = np.zeros_like(a, shape=(len(lu), steps), dtype=np.int32)
    each = module_of(lu).arange(len(lu))
    for step in range(steps):
        largest = step + sizes(lu[:, step:, step]).argmax(axis=1)
        pivots[:, step] = largest + 1
        lu[each, step], lu[each, largest] = lu[each, largest], lu[each, step]
        pivot = lu[:, step, step, None]
        lu[:, step + 1 :, step] /= np.where(pivot == 0, 1, pivot)
        lu[:, step + 1 :, step + 1 :] -= lu[:, step + 1 :, step, None] * lu[:, None, step, step + 1 :]
    return lu.reshape(a.shape), pivots.reshape((*lead, steps))


def sizes(a: Any) -> Any:
    """The sizes that choose a pivot: of complex numbers |Re| + |Im|, as in LAPACK."""
    return np.abs(a.real) + np.abs(a.imag) if a.dtype.kind == "c" else np.abs(a)


def order_of_rows(pivots: Any, rows: int) -> Any:
    """Which row of the matrix each row of L U is, after all swaps."""
    order = np.zeros_like(pivots, np.int64, shape=(*pivots.shape[:-1], rows)) + module_of(pivots).arange(rows)
    for step in range(pivots.shape[-1]):
        other = pivots[..., step, None].astype(np.int64) - 1
        taken = np.take_along_axis(order, other, axis=-1)
        np.put_along_axis(order, other, order[..., step, None], axis=-1)
        order[..., step, None] = taken
    return order
