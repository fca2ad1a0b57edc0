"""Operands of which PyTorch keeps a copy of its own, so that a change in place comes too late to matter.

Before it multiplies batches of matrices PyTorch writes them one after the
other, if they do not lie so, and it divides a number by taking the reciprocal
first: the way back then needs what was made, and the operand may be changed.
Here no copy is made unless the operand really is changed while the graph is
there, and only then; its storage knows the nodes to be told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.memory import Storage
from autokit.ops.recording import storage_of
from autokit.tensor import Tensor


def outlives(result: Tensor, operands: dict[int, Tensor]) -> Tensor:
    """``result``, whose way back uses the elements that ``operands``, by their places, have now."""
    node = result._node
    if node is not None:
        for place, operand in operands.items():
            if place not in node.way.spare and operand.array.__class__ is np.ndarray:
                storage_of(operand).add_keeper(node, place)
    return result


def outliving(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``function``, whose first operand may be changed in place before the way back."""

    @wraps(function)
    def apply(input: Tensor, *arguments: Any, **settings: Any) -> Tensor:
        return outlives(function(input, *arguments, **settings), {0: input})

    return apply


def keep_elements(storage: Storage) -> None:
    """Copy what nodes need of the memory of ``storage``, which is changed next."""
    from autokit.ops.packing import Packed, keep

    keepers, storage.keepers = storage.keepers, []
    for known, place in keepers:
        node: Node | None = known()
        if node is None or node.freed or isinstance((node.saved or {}).get(place), Packed):
            continue
        operand = node.operand(place)
        if operand is not None and (operand._storage is None or operand._storage.modified <= node.sequence):
            keep(node, place, Packed(operand, operand.detach(), _copy, _itself))


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone()


def _itself(tensor: Tensor) -> Tensor:
    return tensor


# ---------------------------------------------------------------- what PyTorch copies


def reads_as_one(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether dimensions of these sizes can be read as one, without a copy."""
    expected: int | None = None
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size != 1:
            if expected is not None and stride != expected:
                return False
            expected = stride * size
    return True


def is_copied(array: Any, groups: Iterable[Sequence[int]]) -> bool:
    """Whether ``array`` must be copied to have one dimension for each of these groups of its dimensions."""
    return not all(
        reads_as_one([array.shape[dim] for dim in group], [array.strides[dim] for dim in group])
        for group in groups
    )


def of_product(result: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """``result``, a product of batches of matrices, beside which those that PyTorch copies may be changed."""
    if result._node is None or not result.array.__class__ is a.array.__class__ is np.ndarray:
        return result
    left, right = a.array, b.array
    if left.flags.c_contiguous and right.flags.c_contiguous and left.shape[:-2] == right.shape[:-2]:
        return result
    second = left.ndim < right.ndim or (left.ndim == right.ndim == 3 and left.shape[0] == 1)
    larger, smaller = (b, a) if second else (a, b)
    single = smaller.array.ndim == 3 == larger.array.ndim and smaller.array.shape[0] == 1
    if smaller.array.ndim <= 2 or single:
        turned = np.swapaxes(right, -1, -2) if second else left
        in_rows = reads_as_one(turned.shape[:-1], turned.strides[:-1])
        if smaller._requires_grad or (left.ndim != 2 and in_rows and not single):
            # It is one product, of all rows with one matrix.
            return result if in_rows else outlives(result, {int(second): larger})
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return outlives(
        result, {place: each for place, each in enumerate((a, b)) if not _in_step(each.array, batch)}
    )


def _in_step(array: Any, batch: tuple[int, ...]) -> bool:
    """Whether the matrices of ``array`` lie in memory in equal steps, repeated as ``batch`` has it."""
    repeated = np.broadcast_to(array, (*batch, *array.shape[-2:]))
    return reads_as_one(batch, repeated.strides[:-2])
