"""Shapes of TensorFlow 1's tensors, in which some sizes are unknown until a session feeds them.

While a graph is defined, a size that a placeholder leaves open is one of :data:`OPEN`, so that autokit's
functions compute shapes as they always do; whatever is a multiple of such a prime is unknown. A session
computes with the sizes that are fed, so nothing but what is printed depends on these primes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.static.graph import Node
from autokit.static.traced import Traced

OPEN = (211, 223, 227, 229, 233, 239, 241, 251)
"""For each dimension the size that stands for an unknown one."""

_NAMES = {"float": "float32", "double": "float64", "int": "int32", float: "float32", int: "int32"}


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
    >>> shape = TensorShape.of((211, 64))
    >>> shape, shape.as_list(), shape[1].value
    ((?, 64), [None, 64], 64)
    """

    dims: Any = None

    @classmethod
    def of(cls, shape: tuple[int, ...] | None) -> TensorShape:
        """The shape of an example, in which the primes of :data:`OPEN` stand for unknown sizes."""
        found = cls([UNKNOWN if _is_open(size) else Dimension(size) for size in shape or ()])
        found.dims = None if shape is None else list(found)
        return found

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


def _is_open(size: int) -> bool:
    return size > 0 and any([size % prime == 0 for prime in OPEN])


def different(one: TensorShape, other: TensorShape, product: bool) -> tuple[int, int] | None:
    """The two sizes on account of which two shapes do not fit, in a matrix product or in broadcasting."""
    pairs = [(one[-1], other[-2:][0])] if product else zip(one[::-1], other[::-1])
    return next(((a, b) for a, b in pairs if a != b and not {1, UNKNOWN} & {a, b}), None)


def as_numpy(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for TensorFlow's, which may be a name; ``"float"`` is float32."""
    return dtypes.as_dtype(_NAMES.get(dtype, dtype)).numpy


def converted(value: Any, dtype: Any = None) -> np.ndarray:
    """``value`` as an array; Python's numbers become float32 and int32, as TensorFlow's do."""
    if dtype is not None:
        return np.array(value, as_numpy(dtype))
    array = np.array(value)
    if array.dtype.kind == "O":
        raise TypeError(f"Failed to convert object of type {type(value).__name__} to Tensor: {value!r}")
    if array.dtype.kind in "US":
        return np.array(np.char.encode(array) if array.dtype.kind == "U" else array)
    of_numpy = isinstance(value, np.ndarray | np.generic)
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    return array if of_numpy or narrow is None else array.astype(narrow)


def sizes_of(shape: Any) -> tuple[int, ...]:
    """A shape, in which sizes may come from ``tf.shape``, as numbers."""
    if hasattr(shape, "array"):
        return tuple(known(shape).reshape(-1).tolist())
    return tuple([int(known(size)) for size in ([shape] if isinstance(shape, int) else shape)])


def known(value: Any) -> Any:
    """The numbers of a tensor that does not depend on what is fed, drawn or trained."""
    if not hasattr(value, "array"):
        return value
    waiting = [value.array.node] if isinstance(value.array, Traced) else []
    while waiting:
        node: Node = waiting.pop()
        if node.kind not in ("const", "call", "view"):
            raise ValueError(
                f"a shape has to be known before the run, and this one depends on {node.label or node.name}"
            )
        waiting += node.operands()
    return value.array.node.value if isinstance(value.array, Traced) else value.array
