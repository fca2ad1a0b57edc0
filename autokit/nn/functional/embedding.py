"""Embeddings: vectors for words and other things that are counted."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from autokit.autograd.modes import no_grad
from autokit.devices import beside, to_numpy
from autokit.dtypes import FLOATS
from autokit.meta_array import is_meta, zeros_for
from autokit.ops import embedding as rules
from autokit.ops.errors import describe
from autokit.ops.gpu.arrays import ask
from autokit.ops.gpu.bounds import outside, refuse_outside
from autokit.ops.guards import guards
from autokit.ops.inplace import mark_changed
from autokit.ops.norm import norm
from autokit.ops.recording import apart
from autokit.ops.unusual import carefully, on_its_tensors_gpu
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor


@carefully
@guards("input")
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
    RuntimeError
        On the way back, if the gradient is to be both sparse and scaled.
    """
    rows = weight.size(0) if padding_idx or weight.array.ndim else 0
    if padding_idx and not -rows <= padding_idx < rows:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} of {rows}")
    if weight.array.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D: {describe(weight)}; embedding takes (input, weight)")
    index = input.array
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {input.dtype.name} instead: {describe(input)}; convert with .long()"
        )
    if index.size and not rows:
        raise RuntimeError(
            "index_select(): self indexing axis dim should be positive: there are no rows in "
            f"{describe(weight)}"
        )
    refuse_outside(index, 0, rows, partial(_no_such_row, rows, ref(input)))
    if max_norm is not None:
        _shorten(weight, index, max_norm, norm_type)
    padding = -1 if padding_idx is None else padding_idx % max(rows, 1)
    index = apart(index, weight._requires_grad)
    return rules.embedding(
        weight, index=index, padding=padding, by_frequency=scale_grad_by_freq, sparse=bool(sparse)
    )


def _no_such_row(rows: int, input: ref[Tensor], wrong: int) -> IndexError:
    tensor = input()
    among = "the indices" if tensor is None else describe(tensor)
    return IndexError(f"index out of range in self: the rows are 0 to {rows - 1}, and {wrong} is in {among}")


def _shorten(weight: Tensor, index: Any, max_norm: float, norm_type: float) -> None:
    """Shorten the rows of ``weight`` that are read and longer than ``max_norm``; nothing is recorded."""
    table = weight.array
    if is_meta(table):
        return
    read = np.unique(index)
    with no_grad():
        lengths = norm(new_tensor(table[read]), norm_type, -1, True).array
    factors = np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1)
    table[read] *= factors.astype(table.dtype)
    mark_changed(weight)


@on_its_tensors_gpu
@guards("input")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or largest of the rows of ``weight`` that each bag names, without all rows side by side.

    Parameters
    ----------
    input : Tensor
        Row numbers: of shape (bags, length), or all bags in one dimension, with ``offsets``.
    weight : Tensor
        The table, of shape (rows, width).
    offsets : Tensor, optional
        Where in ``input`` each bag begins; an empty bag gives zeros.
    max_norm, norm_type, scale_grad_by_freq
        As in :func:`embedding`.
    mode : str
        ``"sum"``, ``"mean"`` or ``"max"``.
    per_sample_weights : Tensor, optional
        A factor for each row read, in the shape of ``input``; only for sums.
    include_last_offset : bool
        ``offsets`` says where the last bag ends, too.
    padding_idx : int, optional
        A row that counts in no bag.

    Returns
    -------
    Tensor
        Of shape (bags, width).

    Raises
    ------
    ValueError, RuntimeError, NotImplementedError
        If shapes, dtypes or settings do not fit, or there is no such row.
    """
    if weight.array.dtype == np.int64 and input.array.dtype.kind in FLOATS:
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
            "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`."
        )
        input, weight = weight, input
    if per_sample_weights is not None and per_sample_weights.array.shape != input.array.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    if weight.array.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.array.ndim}")
    if weight.is_meta:
        input, offsets = _with_elements(input), _with_elements(offsets)
    starts, end = _starts_of_bags(input, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max: it is {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if sparse and mode == "max":
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}')."
        )
    index = apart(input.array.reshape(-1), weight._requires_grad)
    _check_rows(input, weight, per_sample_weights, padding_idx)
    if max_norm is not None:
        _shorten(weight, index, max_norm, norm_type)
    sizes = np.diff(np.append(starts, end))
    bags = len(sizes)
    bag = beside(index, np.repeat(np.arange(bags), sizes))
    index = index[:end]
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)[:end]
    if padding_idx is not None:
        counts = index != padding_idx % len(weight.array)
        index, bag = index[counts], bag[counts]
        factors = None if factors is None else factors[new_tensor(counts)]
    if mode == "max":
        winners, full = rules.largest_of_bags(zeros_for(weight.array), index, bag, bags)
        return rules.embedding_bag_max(weight, winners=winners, full=full)
    if factors is None:
        each = np.ones_like(weight.array, shape=index.shape)
        if mode == "mean" and bags:
            each /= np.bincount(bag, minlength=bags)[bag].astype(each.dtype)
        factors = new_tensor(each)
    return rules.embedding_bag(
        weight,
        factors,
        index=index,
        bag=bag,
        bags=bags,
        by_frequency=scale_grad_by_freq,
        sparse=bool(sparse),
    )


def _with_elements(tensor: Any) -> Any:
    """``tensor`` with zeros for elements that are not there: only shapes are asked for then."""
    return new_tensor(zeros_for(tensor.array)) if isinstance(tensor, Tensor) and tensor.is_meta else tensor


def _starts_of_bags(input: Tensor, offsets: Tensor | None, include_last: bool) -> tuple[Any, int]:
    """Where each bag begins in the flat input, and where the last one ends."""
    shape, size = input.array.shape, input.array.size
    if len(shape) == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        return np.arange(shape[0]) * shape[1], size
    if len(shape) != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(shape)}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None: say where in the input each bag begins")
    if offsets.array.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor: {describe(offsets)}")
    _require_row_numbers(offsets, "offsets")
    starts = to_numpy(offsets.array)
    if include_last and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
            f"0. However, got {starts[0]}"
        )
    if starts.size and starts[-1] > size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {size} but got offsets[-1] of {starts[-1]}"
        )
    if (np.diff(starts) < 0).any():
        raise RuntimeError(f"offsets must not decrease, as each bag begins where one ends: {starts.tolist()}")
    if include_last:
        return starts[:-1], int(starts[-1])
    return starts, size if starts.size else 0


def _check_rows(
    input: Tensor, weight: Tensor, per_sample_weights: Tensor | None, padding_idx: int | None
) -> None:
    """Raise where the rows that bags name are not there, or dtypes do not fit."""
    rows = len(weight.array)
    _require_row_numbers(input, "indices")
    if weight.array.dtype.kind not in FLOATS:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
            f"BFloat16, Float, Double; but got {weight.dtype.name} instead: {describe(weight)}"
        )
    if per_sample_weights is not None and per_sample_weights.array.dtype != weight.array.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but {describe(weight)} is to go with {describe(per_sample_weights)}"
        )
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got "
            f"{padding_idx}"
        )
    index = input.array.reshape(-1)
    wrong = outside(index, 0, rows)
    if wrong is not None:
        place = ask(np.flatnonzero((index < 0) | (index >= rows))[0])
        raise RuntimeError(
            f"Index {place} of input takes value {wrong} which is not in the valid range [0, {rows})"
        )


def _require_row_numbers(tensor: Tensor, argument: str) -> None:
    if tensor.array.dtype.kind != "i" or tensor.array.dtype.itemsize < 4:
        raise RuntimeError(
            f"Expected tensor for argument #1 '{argument}' to have one of the following scalar types: Long, "
            f"Int; but got {tensor.dtype.name} instead: {describe(tensor)}; convert with .long()"
        )
