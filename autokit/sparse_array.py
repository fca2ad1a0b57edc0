"""What a sparse array holds: some elements, and their places, on one device.

What is computed with it is in :mod:`autokit.ops.sparse_array`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np


class Sparse:
    """An array of ``shape`` that is 0 but at some places.

    Parameters
    ----------
    indices : array of int64, of shape (dimensions, count)
        The places, along the first dimensions; a place that is named twice holds the sum.
    values : array, of shape (count, ...)
        What stands there: numbers, or arrays along the other dimensions.
    shape : tuple of int
    coalesced : bool
        The places are in order, and none is named twice.
    """

    __slots__ = ("coalesced", "indices", "shape", "values")

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], coalesced: bool = False) -> None:
        self.indices, self.values, self.shape = indices, values, tuple(shape)
        self.coalesced = coalesced or values.shape[0] < 2

    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.values.itemsize)
    nbytes = property(lambda self: self.values.nbytes + self.indices.nbytes)

    def with_values(self, values: Any) -> Self:
        """Other values at the same places."""
        return type(self)(self.indices, values, self.shape, self.coalesced)

    def with_parts(self, change: Callable[[Any], Any]) -> Self:
        """The same with places and values as ``change`` makes them, such as copies on another device."""
        return type(self)(change(self.indices), change(self.values), self.shape, self.coalesced)

    def __reduce__(self) -> Any:  # how pickle keeps it
        return type(self), (self.indices, self.values, self.shape, self.coalesced)
