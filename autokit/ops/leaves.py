"""Where a backward pass ends: a leaf's gradient is added to its ``.grad``.

It lies in memory as the leaf does, where the leaf fills its memory without
gaps, and else row by row; so that what an optimizer computes with both reads
and writes them in one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous, module_of
from autokit.formats import contiguous_format
from autokit.memory import clock
from autokit.ops.convert import clone
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.inplace import copy_, refuse_change
from autokit.ops.large import add_in_place
from autokit.ops.overlaps import is_dense, repeats
from autokit.ops.recording import storage_of
from autokit.ops.sparse_array import SparseArray
from autokit.tensor import Tensor, new_tensor


def accumulate(leaf: Tensor, gradient: Any) -> None:
    """Add the engine's ``gradient`` to ``.grad``: an array that is ours now, or a tensor with a graph.

    As in PyTorch an array is added where it stands, whatever graph the sum so far has; what needs that
    graph afterwards is refused.  A tensor makes a new sum, so that all of them stay in the graph.
    """
    before = leaf._grad
    if isinstance(gradient, Tensor):
        leaf._grad = _copied_as(leaf.array, gradient) if before is None else before + gradient
    elif before is None:
        leaf._grad = new_tensor(_laid_as(leaf.array, gradient))
    else:
        if 0 in before.array.strides:
            refuse_change(before.detach())
        try:
            before.array = add_in_place(before.array, gradient)
        except ValueError as error:
            raise RuntimeError(
                f"{broadcast_message(before.array.shape, gradient.shape)}: the gradient of {describe(leaf)} "
                "is added to a .grad of another shape; set .grad to None where .data changed its shape"
            ) from error
        storage_of(before).note((next(clock), None, 0))


def refuse_gradient(leaf: Tensor, gradient: Any) -> None:
    """Raise unless ``gradient`` can be assigned to the ``.grad`` of ``leaf``."""
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(gradient).__name__}"
        )
    if gradient is leaf:
        raise RuntimeError("can't assign Variable as its own grad")
    if gradient.array.shape != leaf.array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(gradient.shape)}' to a tensor of size "
            f"'{list(leaf.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
    if gradient.array.dtype != leaf.array.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{gradient.dtype.name}' to a tensor of dtype "
            f"'{leaf.dtype.name}': convert it with .to({leaf.dtype})"
        )


def _laid_as(leaf: Any, gradient: Any) -> Any:
    """``gradient`` as it should lie in memory beside ``leaf``, an array; a sparse one as it is."""
    if gradient.__class__ is SparseArray or leaf.flags.c_contiguous or repeats(leaf) or not is_dense(leaf):
        return contiguous(gradient)
    if gradient.strides == leaf.strides:
        return gradient
    laid = module_of(leaf).empty_like(leaf)
    laid[...] = gradient
    return laid


def _copied_as(leaf: Any, gradient: Tensor) -> Tensor:
    """A recorded copy of ``gradient``, which lies in memory as :func:`_laid_as` says."""
    array = gradient.array
    if not isinstance(array, np.ndarray) or repeats(leaf) or not is_dense(leaf):
        return clone(gradient, memory_format=contiguous_format)
    return copy_(new_tensor(np.empty_like(leaf)), gradient)
