"""Batches of matrix products on a GPU, by cuBLAS as it is meant: no operand is copied to be turned round.

CuPy's ``matmul`` copies an operand that does not lie row by row, computes
float16 in float32, which leaves the tensor cores idle, and multiplies a batch
by one matrix in as many small products.  cuBLAS takes operands turned round and
in float16, and a batch by one matrix is one large product of all its rows.

References
----------
"cublasGemmStridedBatchedEx()", in NVIDIA's cuBLAS library user guide.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import contiguous, module_of, on_a_gpu

_ONE, _ZERO = ({kind: np.array(value, kind) for kind in "fd"} for value in (1, 0))
"""The factors of the product and of what stood there before, in the types that are computed in."""


class Operand(NamedTuple):
    """Matrices as cuBLAS sees them: their memory, whether they are turned round, and their strides."""

    array: Any
    turned: bool
    line: int
    matrix: int


def product(a: Any, b: Any, into: Any = None) -> Any:
    """``a @ b``, of arrays of any kind; ``into`` an array that lies row by row, where one is given."""
    if a.__class__ is np.ndarray:
        return np.matmul(a, b, out=into)
    if into is not None:
        return _batched(a, b, into)
    if a.ndim < 3 or not on_a_gpu(a):
        return a @ b
    if b.ndim == 2:
        return (rows_of(a) @ b).reshape((*a.shape[:-1], b.shape[1]))
    if a.dtype != b.dtype or a.shape[:-2] != b.shape[:-2] or a.dtype.char not in "efd" or not a.size * b.size:
        return a @ b
    if a.shape[-1] != b.shape[-2]:
        return a @ b  # which says so
    return _batched(a, b, np.empty_like(a, shape=(*a.shape[:-1], b.shape[-1]), order="C"))


def rows_of(a: Any) -> Any:
    """All rows of a batch of matrices, as one matrix."""
    return a if a.ndim == 2 else a.reshape((math.prod(a.shape[:-1]), a.shape[-1]))


def _batched(a: Any, b: Any, made: Any) -> Any:
    cuda, cublas = module_of(a).cuda, module_of(a).cuda.cublas
    *lead, rows, inner = a.shape
    columns, kind = b.shape[-1], a.dtype.char
    first, second = operand(a), operand(b)
    wide = "d" if kind == "d" else "f"
    dtype = {"e": cuda.runtime.CUDA_R_16F, "f": cuda.runtime.CUDA_R_32F, "d": cuda.runtime.CUDA_R_64F}[kind]
    # To cuBLAS, which goes by columns, row by row is turned round: so it makes (a b)ᵀ = bᵀ aᵀ.
    cublas.gemmStridedBatchedEx(
        cuda.get_cublas_handle(),
        int(second.turned),
        int(first.turned),
        columns,
        rows,
        inner,
        _ONE[wide].ctypes.data,
        *(second.array.data.ptr, dtype, second.line, second.matrix),
        *(first.array.data.ptr, dtype, first.line, first.matrix),
        _ZERO[wide].ctypes.data,
        *(made.data.ptr, dtype, columns, rows * columns),
        math.prod(lead),
        cublas.CUBLAS_COMPUTE_64F if kind == "d" else cublas.CUBLAS_COMPUTE_32F,
        cublas.CUBLAS_GEMM_DEFAULT,
    )
    return made


def operand(array: Any) -> Operand:
    """``array``, of matrices in its last two dimensions, for cuBLAS: a copy where it lies in neither way."""
    *lead, rows, columns = array.shape
    *steps, down, right = (stride // array.itemsize for stride in array.strides)
    matrix = _common_stride(lead, steps)
    if matrix is not None:
        if (right == 1 or columns == 1) and (down >= columns or rows == 1):
            return Operand(array, False, max(down, columns), matrix)
        if (down == 1 or rows == 1) and (right >= rows or columns == 1):
            return Operand(array, True, max(right, rows), matrix)
    return Operand(contiguous(array), False, columns, rows * columns)


def _common_stride(shape: list[int], steps: list[int]) -> int | None:
    """The step from each matrix to the next, through all leading dimensions; None where it varies."""
    found, expected = None, 0
    for size, step in zip(reversed(shape), reversed(steps)):
        if size == 1:
            continue
        if found is None:
            found, expected = step, step * size
        elif step == expected:
            expected *= size
        else:
            return None
    return found or 0
