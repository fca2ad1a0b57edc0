"""Memory that an operation would read and write at once: refused where PyTorch refuses it.

Written over in part, an operand would change while it is read, so that the
result depends on the order of the steps: ``x[1:].add_(x[:-1])`` is a running
sum in one order.  As PyTorch does, this looks at the stretches of memory that
operands take up, and lets those pass that have gaps, as ``x[::2]`` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autokit.batches.batch import Batch
from autokit.devices import address_of
from autokit.ops.errors import describe
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_ALL = (
    "cat column_stack concat concatenate cross dstack gather hstack index_add index_copy index_put "
    "index_reduce index_select masked_select mode nonzero put row_stack scatter scatter_add "
    "scatter_reduce stack take take_along_dim vstack"
)
ALL = frozenset(_ALL.split())
"""Operations that look elements up, so that none of these may be written to, not even its own place."""

_NONE = (
    "addbmm addmm addmv addr all amax amin any argmax argmin baddbmm bmm bucketize cholesky_inverse "
    "cholesky_solve cummax cummin det diag dot frobenius_norm histc index_fill inner inv inverse kthvalue "
    "ldexp log_softmax logsumexp masked_fill masked_scatter matmul mean median mm mv mvlgamma nanmean "
    "nanmedian nanquantile nansum norm pinv prod quantile renorm searchsorted softmax solve std sum "
    "svdvals tensordot topk tril triu var vdot vecdot"
)
NONE = frozenset(_NONE.split())
"""Operations that have read all of their operands when they begin to write."""

FILL = frozenset(("index_fill", "index_put", "masked_fill", "tril", "triu"))
"""Operations that may write to an element more than once, as an expanded tensor's."""


def refuse_overlap(function: str, written: Tensor, operands: Iterable[Any]) -> None:
    """Raise where ``function`` cannot write to ``written`` because that shares memory with an operand."""
    for operand in operands:
        if isinstance(operand, Tensor):
            if share_memory(written.array, operand.array):
                _refuse(function, written, operand)
        elif operand.__class__ in (list, tuple):
            refuse_overlap(function, written, operand)


def share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays were made from the same memory, be it from parts that have nothing in common."""
    base = a.base
    if base is None:
        return a is b or b.base is a
    return base is b.base or base is b


def _refuse(function: str, written: Tensor, operand: Tensor) -> None:
    a, b = written.array, operand.array
    if function in NONE or a.__class__ is Batch or not (a.size and b.size and is_dense(a) and is_dense(b)):
        return
    begin, other = address_of(a), address_of(b)
    same = begin == other and a.nbytes == b.nbytes and a.shape == b.shape and _steps(a) == _steps(b)
    if begin < other + b.nbytes and other < begin + a.nbytes and (function in ALL or not same):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
            "single memory location. Please clone() the tensor before performing the operation. It is "
            f"{describe(operand)}, which shares memory with {describe(written)}."
        )


def _steps(array: Any) -> list[int]:
    """The strides that are ever taken."""
    return [step for step, size in zip(array.strides, array.shape) if size > 1]


def is_dense(array: Any) -> bool:
    """Whether the elements fill a stretch of memory, each its own place, in whatever order."""
    if array.flags.c_contiguous:
        return True
    filled = array.itemsize
    for step, size in sorted(zip(array.strides, array.shape)):
        if size > 1:
            if step != filled:
                return False
            filled *= size
    return True


def repeats(array: Any) -> bool:
    """Whether one place in memory is several elements, as in an expanded tensor."""
    return (
        0 in array.strides
        and array.size > 1
        and any(size > 1 and not step for size, step in zip(array.shape, array.strides))
    )


def overlaps_itself(array: Any) -> bool:
    """Whether one place in memory may be several elements, as in an expanded tensor or in windows."""
    if array.flags.c_contiguous or array.size < 2:
        return False
    reach = 0
    for step, size in sorted([(abs(step), size) for step, size in zip(array.strides, array.shape)]):
        if size > 1:
            if step < reach + array.itemsize:
                return True
            reach += step * (size - 1)
    return False


def warn_of_expanded(function: str, accumulate: bool) -> None:
    """Warn that ``function`` writes to an expanded tensor, where PyTorch does; refuse to ``accumulate``."""
    if accumulate:
        raise RuntimeError(
            f"unsupported operation: {function}_ cannot accumulate in an expanded tensor, of which more than "
            "one element refers to a single memory location. Please clone() the tensor before performing "
            "the operation."
        )
    if function in ("index_fill", "index_put", "masked_fill"):
        warn(
            f"Use of {function}_ on expanded tensors is deprecated. Please clone() the tensor before "
            "performing this operation. This also applies to advanced indexing e.g. tensor[indices] = tensor"
        )


def change(array: Any, made: Any) -> None:
    """Write ``made`` over ``array``; where one place is several elements, what is new there stays."""
    if overlaps_itself(array):
        new = differ(array, made)
        array[new] = made[new]
    else:
        array[...] = made


def differ(array: Any, made: Any) -> Any:
    """Where two arrays have other elements, or zeros of other signs, and not both NaN."""
    unknown_still = (made != made) & (array != array)
    apart = made != array
    if array.dtype.kind in "fc" and made.dtype.kind in "fc":
        for part in (np.real, np.imag) if array.dtype.kind == "c" else (np.real,):
            apart = apart | (np.signbit(part(made)) != np.signbit(part(array)))
    return apart & ~unknown_still
