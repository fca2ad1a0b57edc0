"""The stand-in's cuBLAS: products of batches, of operands that lie as they are said to.

cuBLAS counts by columns.  It reads no element beyond those that it is told of,
and neither does this.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tests.gpu.standin.notes import launches

CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT = 68, 70, -1
CUDA_TYPES = {"CUDA_R_32F": 0, "CUDA_R_64F": 1, "CUDA_R_16F": 2}
_DTYPES = {0: np.float32, 1: np.float64, 2: np.float16}


def gemmStridedBatchedEx(handle: Any, *given: Any) -> None:
    """C = α · op(A) · op(B) + β · C, for each of a batch."""
    turns_a, turns_b, rows, columns, inner, alpha, a, a_type, a_line, a_step = given[:10]
    b, b_type, b_line, b_step, beta, c, c_type, c_line, c_step, count, compute, algorithm = given[10:]
    wide = np.float64 if compute == CUBLAS_COMPUTE_64F else np.float32
    assert _number(alpha, wide) == 1 and _number(beta, wide) == 0 and algorithm == CUBLAS_GEMM_DEFAULT
    assert a_type == b_type == c_type and (c_type == 1) == (wide is np.float64)
    first = _matrices(a, a_type, *((inner, rows) if turns_a else (rows, inner)), a_line, a_step, count)
    second = _matrices(b, b_type, *((columns, inner) if turns_b else (inner, columns)), b_line, b_step, count)
    first = first.swapaxes(1, 2) if turns_a else first
    second = second.swapaxes(1, 2) if turns_b else second
    made = _matrices(c, c_type, rows, columns, c_line, c_step, count)
    made[...] = first.astype(wide) @ second.astype(wide)
    launches.append("matmul")


def _matrices(address: int, kind: int, rows: int, columns: int, line: int, step: int, count: int) -> Any:
    """A batch of matrices by columns, ``line`` elements from each column to the next."""
    assert line >= max(rows, 1)
    dtype = np.dtype(_DTYPES[kind])
    size = step * (count - 1) + line * (columns - 1) + rows
    memory = np.frombuffer((ctypes.c_byte * (size * dtype.itemsize)).from_address(address), dtype)
    strides = tuple(each * dtype.itemsize for each in (step, 1, line))
    return np.lib.stride_tricks.as_strided(memory, (count, rows, columns), strides)


def _number(address: int, kind: Any) -> float:
    return float(np.frombuffer((ctypes.c_byte * np.dtype(kind).itemsize).from_address(address), kind)[0])
