"""Shapes of TensorFlow 1's tensors, in which some sizes are unknown until a session feeds them.

While a graph is defined, a size that a placeholder leaves open is one of :data:`OPEN`, so that autokit's
functions compute shapes as they always do; whatever is a multiple of such a prime is unknown. A session
computes with the sizes that are fed, so nothing but what is printed depends on these primes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autokit.base import dtypes

OPEN = (211, 223, 227, 229, 233, 239, 241, 251)
"""For each dimension the size that stands for an unknown one."""

_NAMES = {float: "float32", int: "int32"}


class Dimension(int):
    """A size that is known."""

    value = property(int)


class UnknownDimension:
    """A size that a run feeds; it is no number, so that nothing can compute with it."""

    value = None

    def __repr__(self) -> str:
        return "?"


UNKNOWN = UnknownDimension()


class TensorShape(tuple):
    """A shape in which some sizes may be unknown; ``dims`` is None where all of it is.

    Examples
    --------
    >>> shape = TensorShape([None, 64])
    >>> shape, shape.as_list(), shape[1].value
    ((?, 64), [None, 64], 64)
    """

    dims: list[Any] | None

    def __new__(cls, sizes: Iterable[Any] | None) -> TensorShape:
        """Take None, or a multiple of a prime of :data:`OPEN`, for an unknown size."""
        shape = super().__new__(cls, map(_dimension, sizes or ()))
        shape.dims = None if sizes is None else list(shape)
        return shape

    def as_list(self) -> list[int | None]:
        """The sizes, None where one is unknown."""
        if self.dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return [each.value for each in self]

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of ``shape`` can be fed where this shape is asked for."""
        fits = [want is UNKNOWN or want == size for want, size in zip(self, shape)]
        return self.dims is None or len(self) == len(shape) and all(fits)

    def __repr__(self) -> str:
        return "<unknown>" if self.dims is None else super().__repr__()


def _dimension(size: Any) -> Any:
    number = getattr(size, "value", size)
    is_open = number in (None, -1) or number > 0 and any([number % prime == 0 for prime in OPEN])
    return UNKNOWN if is_open else Dimension(number)


def different(kind: str, shapes: list[TensorShape]) -> tuple[int, int] | None:
    """The two sizes on account of which two shapes do not fit, in a matrix product or in broadcasting."""
    if len(shapes) != 2:
        return None
    one, other = shapes
    pairs = [(one[-1], other[-2:][0])] if kind == "MatMul" else zip(one[::-1], other[::-1])
    return next(((a, b) for a, b in pairs if a != b and not {1, UNKNOWN} & {a, b}), None)


def as_numpy(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for TensorFlow's, which may be a name, or Python's ``float``."""
    return dtypes.as_dtype(_NAMES.get(dtype, dtype)).numpy


def converted(value: Any, dtype: Any = None, shape: Any = None) -> np.ndarray:
    """``value`` as an array; Python's numbers become float32 and int32, as TensorFlow's do.

    One number fills ``shape``.
    """
    if shape is not None:
        array = converted(value, dtype)
        return np.full(shape, array) if array.size == 1 else array.reshape(shape)
    if dtype is not None:
        return np.array(value, as_numpy(dtype))
    array = np.array(value)
    if array.dtype.kind == "O":
        raise TypeError(f"Failed to convert object of type {type(value).__name__} to Tensor: {value!r}")
    if array.dtype.kind == "U":
        return np.array(np.char.encode(array))
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    return array if isinstance(value, np.ndarray | np.generic) or narrow is None else array.astype(narrow)
