"""Embeddings: a whole number, which may stand for a word, selects a row of a table of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, require_tensor
from autokit.engine.inplace import mark_changed
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu.lacking import require_inside
from autokit.ops.index import add_at
from autokit.ops.names import Names


def _into_table(g: Any, index: Any, shape: Any, padding: int | None, by_frequency: bool) -> Any:
    if padding is not None or by_frequency:
        places = index.array if isinstance(index, Tensor) else index
        counts = (places != padding).astype(np.float64)
        if by_frequency:
            counts /= module_of(places).bincount(places.reshape(-1), minlength=shape[0])[places]
        counts = counts[..., np.newaxis].astype(np.float32 if g.dtype.itemsize < 8 else np.float64)
        g = g * (new_tensor(counts) if isinstance(g, Tensor) else counts)
    return on(add_rows, g, index, rows=shape[0])


@operation(
    "rows",
    "rows of {weight}",
    weight=derivative("1 at the rows read", _into_table),
    words={"weight": "Each row of {weight} adds up the upstream gradients of the places that read it"},
    mixed=True,
    name="embedding",
)
def read_rows(weight, index, /, padding=None, by_frequency=False):
    """The rows of ``weight`` at ``index``."""
    return np.take(weight, index, axis=0)


@operation(
    "rows",
    "{a} added to the rows of a table",
    a=derivative("the rows again", lambda g, index: on(read_rows, g, index)),
    mixed=True,
    backward="EmbeddingBackwardBackward0",
)
def add_rows(a, index, /, rows):
    """A table of ``rows`` rows, to which the rows of ``a`` are added at ``index``."""
    table = np.zeros_like(a, shape=(rows, a.shape[-1]), order="C")
    add_at(table, (index.reshape(-1),), a.reshape((index.size, a.shape[-1])))
    return table


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
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

    Examples
    --------
    >>> import autokit as torch
    >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5]])
    >>> embedding(torch.tensor([1, 1, 0]), table)
    tensor([[1.0000, 1.5000],
            [1.0000, 1.5000],
            [0.0000, 0.5000]])
    """
    require_tensor("embedding", input)
    require_tensor("embedding", weight, "weight", 1)
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D: {describe(weight)}; embedding takes (input, weight)")
    if input.array.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {describe(input)}; convert it with .long()"
        )
    rows = weight.shape[0]
    require_inside(
        input.array,
        0,
        rows,
        lambda wrong: IndexError(
            f"index out of range in self: the rows are 0 to {rows - 1}, and {wrong} is in {describe(input)}"
        ),
    )
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} of {rows}")
        padding_idx %= rows
    if max_norm is not None:
        read = np.unique(input.array)
        lengths = np.linalg.norm(weight.array[read], norm_type, axis=1, keepdims=True)
        factors = np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1)
        weight.array[read] *= factors.astype(weight.array.dtype)
        mark_changed(weight)
    return read_rows(weight, input, padding=padding_idx, by_frequency=scale_grad_by_freq)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A 1 in the place that each element of ``tensor`` names, and zeros, in a new last dimension.

    Without ``num_classes`` there are as many places as the largest element asks for.

    Examples
    --------
    >>> import autokit as torch
    >>> one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    require_tensor("one_hot", tensor, "tensor")
    array = tensor.array
    if array.dtype != np.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {describe(tensor)}"
        )
    if num_classes < 1 and not array.size:
        raise RuntimeError("Can not infer total number of classes from empty tensor: give num_classes")
    classes = int(array.max()) + 1 if num_classes < 1 else num_classes
    require_inside(
        array,
        0,
        classes,
        lambda wrong: RuntimeError(
            f"Class values must be non-negative and smaller than num_classes, {classes}: {wrong} is in "
            f"{describe(tensor)}"
        ),
    )
    return new_tensor((array[..., np.newaxis] == module_of(array).arange(classes)).astype(np.int64))


NAMES = Names(functional="embedding one_hot")
