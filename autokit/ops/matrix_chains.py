"""Products of several matrices, in the order that costs least, and powers of one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.formats import contiguous_format
from autokit.ops.convert import clone
from autokit.ops.errors import describe, require_all_tensors
from autokit.ops.linalg import matmul, mm
from autokit.ops.matrices import (
    c_name,
    require_square,
)
from autokit.ops.names import Names
from autokit.ops.operators import mul
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of a chain of matrices, in the order of multiplication that takes the fewest steps.

    The first and the last may be vectors.  The order is found by dynamic programming [1]_.

    References
    ----------
    .. [1] T. H. Cormen, C. E. Leiserson, R. L. Rivest, C. Stein,
       "Introduction to Algorithms", section on matrix-chain multiplication.
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    _check_chain(tensors)
    first, last = tensors[0].array.ndim == 1, tensors[-1].array.ndim == 1
    if first:
        tensors[0] = tensors[0].unsqueeze(0)
    if last:
        tensors[-1] = tensors[-1].unsqueeze(1)
    for place, (a, b) in enumerate(pairwise(tensors)):
        if a.array.shape[1] != b.array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes {list(a.array.shape)} and "
                f"{list(b.array.shape)} cannot be multiplied: {describe(a)} and {describe(b)}"
            )
    product = _in_order(tensors, _best_splits(tensors), 0, len(tensors) - 1)
    if first:
        product = product.squeeze(0)
    return product.squeeze(-1) if last else product


def _check_chain(tensors: list[Any]) -> None:
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}"
            )
        low = 1 if place in (0, len(tensors) - 1) else 2
        if not low <= tensor.array.ndim <= 2:
            wanted = "1D or 2D" if low == 1 else "2D"
            raise RuntimeError(
                f"multi_dot(): tensor {place} must be {wanted} but got {tensor.array.ndim}D: "
                f"{describe(tensor)}"
            )
        if tensor.array.dtype != tensors[0].array.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{c_name(tensors[0])} and tensor {place} {c_name(tensor)}"
            )


def _best_splits(tensors: list[Tensor]) -> dict[tuple[int, int], int]:
    """For each stretch of the chain, the matrix after which it is best cut in two."""
    sizes = [tensors[0].array.shape[0], *(tensor.array.shape[1] for tensor in tensors)]
    count = len(tensors)
    cost = {(place, place): 0 for place in range(count)}
    splits = {}
    for length in range(1, count):
        for low in range(count - length):
            high = low + length
            steps = {
                cut: cost[low, cut] + cost[cut + 1, high] + sizes[low] * sizes[cut + 1] * sizes[high + 1]
                for cut in range(low, high)
            }
            splits[low, high] = min(steps, key=steps.__getitem__)
            cost[low, high] = steps[splits[low, high]]
    return splits


def _in_order(tensors: list[Tensor], splits: dict[tuple[int, int], int], low: int, high: int) -> Tensor:
    if low == high:
        return tensors[low]
    cut = splits[low, high]
    return mm(_in_order(tensors, splits, low, cut), _in_order(tensors, splits, cut + 1, high))


def chain_matmul(*matrices: Any) -> Tensor:
    """As :func:`multi_dot`, the matrices given one by one."""
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors."
    )
    require_all_tensors(matrices, "chain_matmul(a, b, c); torch.linalg.multi_dot([a, b, c]) takes a list")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.array.ndim != 2:
            raise RuntimeError(
                f"Tensor dimension is {matrix.array.ndim}, expected 2 instead: {describe(matrix)}"
            )
    return multi_dot(matrices) if len(matrices) > 1 else matrices[0]


def matrix_power(input: Tensor, n: int) -> Tensor:
    """A square matrix times itself, ``n`` times; the inverse's power where ``n`` is negative.

    Found by squaring, in about log₂ n products.

    Raises
    ------
    LinAlgError
        If ``n`` is negative and the matrix is singular.
    """
    require_square("linalg.matrix_power", input)
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise TypeError(f"matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    if n < 0:
        from autokit.ops.inverses import inv

        return matrix_power(inv(input), -n) if n < -1 else inv(input)
    if n == 0:
        identity = module_of(input).eye(input.array.shape[-1], dtype=input.array.dtype)
        identity = np.broadcast_to(identity, input.array.shape)
        return mul(input, 0) + new_tensor(identity) if input.requires_grad else new_tensor(identity.copy())
    if n == 1:
        return clone(input, memory_format=contiguous_format)
    result, square = None, input
    while True:
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
        if not n:
            return result  # type: ignore[return-value]
        square = matmul(square, square)


NAMES = Names(functions="chain_matmul", both="matrix_power")
