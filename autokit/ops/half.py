"""Half precision: float16 and bfloat16 are stored in 16 bits, and computed in float32.

Every operation on them takes its operands as float32, and rounds its result
once, as PyTorch does; so does every derivative, whose results the engine
rounds to the operands' dtype.  Sums, means and products of matrices thereby
add up in float32, and a function that is made of several steps loses nothing
between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.dtypes import FLOATS, HALVES

FLOAT32 = np.dtype(np.float32)


def widened(value: Any) -> Any:
    """``value`` as float32 where it is an array of half precision, or a sequence of such."""
    if value.__class__ in (list, tuple):
        return value.__class__([widened(each) for each in value])
    return value.astype(FLOAT32) if getattr(value, "dtype", None) in HALVES else value


def in_float32(forward: Callable[..., Any], mixed: bool) -> Callable[..., Any]:
    """The rule ``forward`` for arrays of half precision, or some of it where the operation is ``mixed``."""

    def compute(*arrays: Any, **settings: Any) -> Any:
        made = forward(*map(widened, arrays), **settings)
        halves = [array.dtype for array in arrays if array.dtype in HALVES]
        whole = mixed and any(array.dtype.kind in FLOATS and array.dtype not in HALVES for array in arrays)
        return made if whole or not halves or made.dtype != FLOAT32 else made.astype(halves[0])

    return compute


def derivative_in_float32(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative ``vjp`` where gradient and values are of half precision."""

    def compute(*values: Any) -> Any:
        return vjp(*map(widened, values))

    return compute
