"""Embeddings: vectors for words and other things that are counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.autograd.modes import no_grad
from autokit.nn.functional.loss import require_tensors
from autokit.ops import embedding as rules
from autokit.ops.errors import describe
from autokit.ops.inplace import mark_changed
from autokit.ops.norm import norm
from autokit.tensor import Tensor, new_tensor


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of ``weight`` that ``input`` names, in a new last dimension.

    Parameters
    ----------
    input : Tensor
        Row numbers, int64 or int32.
    weight : Tensor
        The table, of shape (rows, width).
    padding_idx : int, optional
        A row that gets no gradient.
    max_norm : float, optional
        Rows that are read and longer than this are first shortened to it, in the table itself.
    norm_type : float
        Which p-norm measures their length.
    scale_grad_by_freq : bool
        Divide each row's gradient by how often the row was read.

    Raises
    ------
    IndexError
        If there is no such row.
    NotImplementedError
        For ``sparse`` gradients.
    """
    require_tensors("embedding", input=input, weight=weight)
    if weight.array.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D: {describe(weight)}; embedding takes (input, weight)")
    rows = weight.array.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} of {rows}")
    if sparse:
        raise _no_sparse("embedding")
    index = input.array
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {input.dtype.name} instead: {describe(input)}; convert with .long()"
        )
    if index.size and not (index.min() >= 0 and index.max() < rows):
        raise IndexError(f"index out of range in self: the rows are 0 to {rows - 1}, in {describe(input)}")
    if max_norm is not None:
        _shorten(weight, index, max_norm, norm_type)
    padding = -1 if padding_idx is None else padding_idx % rows
    return rules.embedding(weight, index=index, padding=padding, by_frequency=scale_grad_by_freq)


def _no_sparse(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: gradients are dense here, an array of the table's shape; leave out sparse=True, and the "
        "numbers are the same"
    )


def _shorten(weight: Tensor, index: Any, max_norm: float, norm_type: float) -> None:
    """Shorten the rows of ``weight`` that are read and longer than ``max_norm``; nothing is recorded."""
    table = weight.array
    read = np.unique(index)
    with no_grad():
        lengths = norm(new_tensor(table[read]), norm_type, -1, True).array
    factors = np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1)
    table[read] *= factors.astype(table.dtype)
    mark_changed(weight)
