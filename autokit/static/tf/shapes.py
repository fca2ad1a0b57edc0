"""Shapes of TensorFlow 1's tensors, in which some sizes are unknown until a session feeds them.

While a graph is defined, a size that a placeholder leaves open is one of :data:`OPEN`, so that autokit's
functions compute shapes as they always do; whatever is a multiple of such a prime is unknown. A session
computes with the sizes that are fed, so nothing but what is printed depends on these primes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autokit.base import dtypes
from autokit.static.graph import Node
from autokit.static.traced import Traced

OPEN = (211, 223, 227, 229, 233)
"""For each dimension the size that stands for an unknown one."""

_NAMES = {"float": "float32", "double": "float64", "int": "int32", float: "float32", int: "int32"}


class Dimension(int):
    """A size; −1 where it is unknown."""

    @property
    def value(self) -> int | None:
        """The size, or None."""
        return None if self < 0 else int(self)

    def __str__(self) -> str:
        return "?" if self < 0 else int.__repr__(self)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


class TensorShape:
    """A shape in which some sizes, or all of it, may be unknown.

    Examples
    --------
    >>> shape = TensorShape.of((211, 64))
    >>> shape, shape.as_list(), shape[1].value
    (TensorShape([Dimension(None), Dimension(64)]), [None, 64], 64)
    """

    def __init__(self, dims: Any) -> None:
        self.dims = None if dims is None else [Dimension(-1 if each is None else each) for each in dims]

    @classmethod
    def of(cls, shape: tuple[int, ...] | None) -> TensorShape:
        """The shape of an example, in which the primes of :data:`OPEN` stand for unknown sizes."""
        if shape is None:
            return cls(None)
        return cls([None if size and any([size % prime == 0 for prime in OPEN]) else size for size in shape])

    @property
    def ndims(self) -> int | None:
        """How many dimensions there are, or None."""
        return None if self.dims is None else len(self.dims)

    def as_list(self) -> list[int | None]:
        """The sizes, None where one is unknown."""
        if self.dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return [each.value for each in self.dims]

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of ``shape`` can be fed where this shape is asked for."""
        if self.dims is None:
            return True
        return len(self.dims) == len(shape) and all(
            [want < 0 or want == size for want, size in zip(self.dims, shape)]
        )

    def __len__(self) -> int:
        return len(self.as_list())

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dims or [])

    def __getitem__(self, place: Any) -> Any:
        self.as_list()
        return TensorShape(self.dims[place]) if isinstance(place, slice) else self.dims[place]  # type: ignore[index]

    def __eq__(self, other: Any) -> bool:
        return self.dims == (other.dims if isinstance(other, TensorShape) else list(other))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        if self.dims is None:
            return "<unknown>"
        return "(" + ", ".join(map(str, self.dims)) + (",)" if len(self.dims) == 1 else ")")

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"


def different(shapes: list[TensorShape], product: bool) -> tuple[int, int] | None:
    """The two sizes on account of which two shapes do not fit, in a matrix product or in broadcasting."""
    if len(shapes) != 2 or None in [each.dims for each in shapes]:
        return None
    one, other = [list(each) for each in shapes]
    pairs = (
        [(one[-1], other[-2])] if product and min(len(one), len(other)) > 1 else zip(one[::-1], other[::-1])
    )
    for a, b in pairs:
        if a != b and -1 not in (a, b) and (product or 1 not in (a, b)):
            return a, b
    return None


def as_numpy(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for TensorFlow's, which may be a name; ``"float"`` is float32."""
    return dtypes.as_dtype(_NAMES.get(dtype, dtype)).numpy


def converted(value: Any, dtype: Any = None) -> np.ndarray:
    """``value`` as an array; Python's numbers become float32 and int32, as TensorFlow's do."""
    if dtype is not None:
        return np.array(value, as_numpy(dtype))
    array = np.array(value)
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
