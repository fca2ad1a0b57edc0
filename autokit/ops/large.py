"""Sums, differences, products and quotients of large arrays, shared among threads, and beside shorter ones.

NumPy computes these in one call, at the speed of the memory, and on one thread.
Where there are more, and Numba is installed, a compiled loop does the same on
all of them: the same number for each element, as each is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.ops.blocks import BLOCK, MANY, as_they_lie
from autokit.ops.native import is_large, shared
from autokit.threads import get_count


def _lie_alike(a: Any, b: Any) -> bool:
    """Whether it may pay to share ``a`` and ``b``: both are large, in one piece, and of one shape."""
    return (
        a.size >= MANY
        and a.__class__ is b.__class__ is np.ndarray
        and is_large(a)
        and a.dtype == b.dtype
        and a.shape == b.shape
        and a.flags.c_contiguous
        and b.flags.c_contiguous
        and get_count() > 1
    )


def _shared(native: str, plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        if _lie_alike(a, b):
            into = np.empty(a.shape, a.dtype)
            if shared(native, (a.reshape(-1), b.reshape(-1), into.reshape(-1)), (0, 1, 2), BLOCK):
                return into
        if b.__class__ is np.ndarray and _is_one_number(a):  # the gradient of a sum
            return _as_large(plain(a.flat[0], b), a)
        if _repeat(a, b):
            with as_they_lie(max(a.shape[-1], b.shape[-1])):
                return plain(a, b)
        return plain(a, b)

    return apply


def _negative(a: Any) -> Any:
    return _as_large(np.negative(a.flat[0]), a) if _is_one_number(a) else np.negative(a)


def _is_one_number(a: Any) -> bool:
    """Whether ``a`` is large and one number, repeated, with which NumPy computes slowly."""
    return a.size >= MANY and a.__class__ is np.ndarray and not any(a.strides)


def _as_large(made: Any, a: Any) -> Any:
    """``made`` from one number of ``a``, as if from all of them."""
    return np.broadcast_to(made, a.shape) if made.size < a.size else made


def _repeat(a: Any, b: Any) -> bool:
    """Whether rows of the one meet a row of the other, or a number for each, again and again."""
    return a.__class__ is b.__class__ is np.ndarray and a.shape != b.shape and bool(a.ndim and b.ndim)


SHARED: dict[Any, Callable[..., Any]] = {
    np.add: _shared("native_arithmetic.add", np.add),
    np.subtract: _shared("native_arithmetic.subtract", np.subtract),
    np.multiply: _shared("native_arithmetic.multiply", np.multiply),
    np.divide: _shared("native_arithmetic.divide", np.divide),
    np.negative: _negative,
}
"""What computes the same as each function where arrays are large."""

add = SHARED[np.add]


def add_to(into: Any, a: Any) -> Any:
    """``into + a``, in the memory of ``into`` where it has its own: a number of NumPy's has none."""
    if not (
        _lie_alike(into, a)
        and shared("native_arithmetic.add_to", (into.reshape(-1), a.reshape(-1)), (0, 1), BLOCK)
    ):
        into = add_in_place(into, a)
    return into


def add_in_place(into: Any, a: Any) -> Any:
    """``into += a``, also for a sparse ``a``, which CuPy's arrays do not take in place."""
    try:
        into += a
    except TypeError:
        into = np.add(into, a, out=into)
    return into
