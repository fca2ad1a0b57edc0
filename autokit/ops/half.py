"""Half precision: float16 and bfloat16 are stored in 16 bits, and computed in float32.

Every operation on them takes its operands as float32, and rounds its result
once, as PyTorch does; so does every derivative, whose results the engine
rounds to the operands' dtype.  Sums, means and products of matrices thereby
add up in float32, and a function that is made of several steps loses nothing
between them.

On a GPU products of float16 matrices stay as they are: its tensor cores take
float16, add up in float32 and round once, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.devices import on_a_gpu
from autokit.dtypes import FLOATS, HALVES

FLOAT32 = np.dtype(np.float32)

_PRODUCTS = {
    *("mm", "bmm", "matmul", "folded_mm", "affine", "addmm", "baddbmm"),
    *("convolution", "convolution_with_bias"),
    *("transposed_convolution", "transposed_convolution_with_bias"),
    *("convolution_by_input", "convolution_by_weight", "attention_of_heads", "attention"),
}
"""The operations that tensor cores compute."""


def widened(value: Any) -> Any:
    """``value`` as float32 where it is an array of half precision, or a sequence of such."""
    if value.__class__ in (list, tuple):
        return value.__class__([widened(each) for each in value])
    return value.astype(FLOAT32) if getattr(value, "dtype", None) in HALVES else value


def wide(value: Any) -> Any:
    """``value`` in float32 where it is float16, in lines that are a GPU's kernel, too."""
    return value.astype(FLOAT32) if value.dtype == np.float16 else value


def in_dtype(value: Any, dtype: Any) -> Any:
    """``value`` in ``dtype``, itself where it is, in such lines."""
    return value if value.dtype == dtype else value.astype(dtype)


def _fit_tensor_cores(values: tuple[Any, ...]) -> bool:
    arrays = [value for value in values if hasattr(value, "dtype")]
    return all(array.dtype == np.float16 for array in arrays) and any(map(on_a_gpu, arrays))


def in_float32(forward: Callable[..., Any], mixed: bool, name: str) -> Callable[..., Any]:
    """The rule ``forward`` for arrays of half precision, or some of it where the operation is ``mixed``."""
    is_product = name in _PRODUCTS

    def compute(*arrays: Any, **settings: Any) -> Any:
        if is_product and _fit_tensor_cores(arrays):
            return forward(*arrays, **settings)
        made = forward(*map(widened, arrays), **settings)
        halves = [array.dtype for array in arrays if array.dtype in HALVES]
        whole = mixed and any(array.dtype.kind in FLOATS and array.dtype not in HALVES for array in arrays)
        return made if whole or not halves or made.dtype != FLOAT32 else made.astype(halves[0])

    return compute


def derivative_in_float32(vjp: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The derivative ``vjp`` where gradient and values are of half precision."""
    is_product = name in _PRODUCTS

    def compute(*values: Any) -> Any:
        if is_product and _fit_tensor_cores(values):
            return vjp(*values)
        return vjp(*map(widened, values))

    return compute
