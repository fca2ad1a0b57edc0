"""Sequences of different lengths in one batch: padded to the longest, or packed without padding.

A packed batch holds all first elements, then all second ones, and so on, so
that a recurrent layer takes each time in one step and computes no padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autokit import dtypes
from autokit.devices import beside, made_beside, to_numpy
from autokit.missing import names_of
from autokit.ops.create import as_tensor
from autokit.ops.errors import require_tensor
from autokit.ops.filled import number
from autokit.ops.join import cat
from autokit.ops.operands import fitting
from autokit.tensor import Tensor, new_tensor

__getattr__ = names_of("torch.nn.utils.rnn")


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences without padding; made by :func:`pack_sequence` and :func:`pack_padded_sequence`.

    Attributes
    ----------
    data : Tensor
        All elements, time after time.
    batch_sizes : Tensor
        How many sequences reach each time.
    sorted_indices, unsorted_indices : Tensor or None
        How the sequences were sorted by length, and the way back.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, tuple | list) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with its data moved or converted, as by ``Tensor.to``."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self._with(self.data.float())

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self._with(self.data.double())

    def half(self) -> PackedSequence:
        """The same in float16."""
        return self._with(self.data.half())

    def long(self) -> PackedSequence:
        """The same in int64."""
        return self._with(self.data.long())

    def int(self) -> PackedSequence:
        """The same in int32."""
        return self._with(self.data.int())

    def cpu(self) -> PackedSequence:
        """The same in main memory."""
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> PackedSequence:
        """The same on a GPU."""
        return self.to(device)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def _with(self, data: Tensor) -> PackedSequence:
        return type(self)(data, *self[1:])


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes ``permutation``."""
    if permutation is None:
        return None
    require_tensor("invert_permutation", permutation, "permutation", 1)
    places = to_numpy(permutation.array)
    if places.ndim != 1 or places.dtype.kind not in "ui" or np.any(np.sort(places) != np.arange(places.size)):
        raise RuntimeError(
            f"index out of bounds: a permutation has each of 0 to {places.size - 1} once, and this is "
            f"{permutation.tolist()}"
        )
    return new_tensor(beside(permutation.array, np.argsort(places)))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Take the padding out of a batch.

    Parameters
    ----------
    input : Tensor
        Of shape (T, B, ...), or (B, T, ...) if ``batch_first``.
    lengths : Tensor or sequence of int
        The length of each sequence; without ``enforce_sorted`` there may be fewer lengths than sequences,
        and only the first sequences are taken.
    batch_first : bool
        Whether the batch is the first dimension.
    enforce_sorted : bool
        Insist that the longest come first; else they are sorted here.

    Raises
    ------
    RuntimeError
        If the lengths do not fit, or are not sorted where they must be.

    Examples
    --------
    >>> import autokit as torch
    >>> pack_padded_sequence(torch.tensor([[1, 2, 3], [4, 5, 0]]), [3, 2], batch_first=True)
    PackedSequence(data=tensor([1, 4, 2, 5, 3]), batch_sizes=tensor([2, 2, 1]), sorted_indices=None, \
unsorted_indices=None)
    """
    require_tensor("_pack_padded_sequence", input, "input", 1)
    _require_flag("_pack_padded_sequence", batch_first, 3)
    if not input.numel():
        raise RuntimeError(f"Cannot pack empty tensors. The input is of shape {list(input.shape)}")
    counts = as_tensor(lengths, dtype=dtypes.BY_NUMPY[np.dtype(np.int64)]).array
    if counts.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {counts.ndim}D: one length each"
        )
    batch_dim = 0 if batch_first else 1
    times, batch = input.size(1 - batch_dim), input.size(batch_dim)
    if counts.size > batch or (enforce_sorted and counts.size < batch):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} (batch_size={batch})"
        )
    if not counts.size:
        raise RuntimeError("Cannot pack empty tensors. No lengths are given")
    if counts.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    order = None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        counts = counts[order]
    elif (counts[1:] > counts[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement"
        )
    if counts[0] > times:
        raise RuntimeError(f"the longest of 'lengths' is {counts[0]}, but the batch has {times} times")
    sizes = (counts > np.arange(counts[0])[:, None]).sum(axis=1)
    columns = np.arange(batch) if order is None else order
    if batch_first:
        places = np.concatenate([columns[:size] * times + time for time, size in enumerate(sizes)])
    else:
        places = np.concatenate([time * batch + columns[:size] for time, size in enumerate(sizes)])
    data = input.flatten(0, 1).index_select(0, new_tensor(beside(input.array, places)))
    return PackedSequence(data, new_tensor(sizes), None if order is None else new_tensor(order))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad a packed batch again.

    Parameters
    ----------
    sequence : PackedSequence
        The batch.
    batch_first : bool
        Whether the batch is to be the first dimension.
    padding_value : float
        What stands where a sequence has ended.
    total_length : int, optional
        Pad to this many times.

    Returns
    -------
    padded : Tensor
        Of shape (T, B, ...), or (B, T, ...) if ``batch_first``.
    lengths : Tensor
        The length of each sequence.
    """
    _require_flag("_pad_packed_sequence", batch_first, 3)
    sizes = sequence.batch_sizes.array
    times = len(sizes) if total_length is None else total_length
    if times < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    if not hasattr(times, "__index__"):
        raise TypeError(
            "_pad_packed_sequence(): argument 'total_length' (position 5) must be int, not "
            f"{type(times).__name__}: it counts the times of the result, but is {times!r}"
        )
    data, batch = sequence.data, int(sizes[0])
    places = np.full((times, batch), len(data))  # the row after the last, which is the padding
    starts = np.cumsum(sizes) - sizes
    for time, (start, size) in enumerate(zip(starts, sizes)):
        places[time, :size] = np.arange(start, start + size)
    lengths = (sizes > np.arange(batch)[:, None]).sum(axis=1)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices.array
        places, lengths = places[:, back], lengths[back]
    if batch_first:
        places = places.T
    value = number(padding_value, "_pad_packed_sequence", "padding_value", 4)
    padding = _rows_of(value, data, data.shape[1:])
    padded = cat([data, padding]).index_select(0, new_tensor(beside(data.array, places.reshape(-1))))
    return padded.reshape(*places.shape, *data.shape[1:]), new_tensor(lengths)


def _require_flag(function: str, batch_first: Any, position: int) -> None:
    """Raise unless ``batch_first`` is True or False: a size or a name in its place is a mistake."""
    if not isinstance(batch_first, bool):
        raise TypeError(
            f"{function}(): argument 'batch_first' (position {position}) must be bool, not "
            f"{type(batch_first).__name__}"
        )


def _rows_of(value: float, beside_it: Tensor, shape: Sequence[int]) -> Tensor:
    """One row of ``shape`` with ``value`` everywhere, on the device of a tensor."""
    value = fitting(value, beside_it.array.dtype)
    return new_tensor(made_beside(np.full_like, beside_it.array, fill_value=value, shape=(1, *shape)))


def pad_sequence(
    sequences: Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Put sequences side by side, each padded to the length of the longest.

    Parameters
    ----------
    sequences : iterable of Tensor
        Of shapes (L, ...) that differ in L alone.
    batch_first : bool
        Give (B, T, ...) in place of (T, B, ...).
    padding_value : float
        What stands where a sequence has none.
    padding_side : str
        ``"right"``, or ``"left"`` to pad before the beginning.

    Examples
    --------
    >>> import autokit as torch
    >>> pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if not isinstance(padding_side, str):
        raise TypeError(
            "pad_sequence(): argument 'padding_side' (position 4) must be str, not "
            f"{type(padding_side).__name__}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    parts = list(sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    for place, part in enumerate(parts):
        require_tensor("pad_sequence", part, "sequences", place)
    shape = parts[0].shape[1:]
    for part in parts:
        if part.dim() == 0 or part.shape[1:] != shape:
            raise RuntimeError(
                "The size of the sequences may differ in their first dimension alone, but they are of shapes "
                f"{list(parts[0].shape)} and {list(part.shape)}"
            )
    _require_flag("pad_sequence", batch_first, 2)
    lengths = np.array([len(part) for part in parts])
    starts = np.cumsum(lengths) - lengths
    times = np.arange(lengths.max())[:, None]
    if padding_side == "left":
        times = times - (lengths.max() - lengths)
    value = number(padding_value, "pad_sequence", "padding_value", 3)
    padding = _rows_of(value, parts[0], shape)
    places = np.where((times >= 0) & (times < lengths), starts + times, lengths.sum())
    if batch_first:
        places = places.T
    padded = cat([*parts, padding]).index_select(0, new_tensor(beside(parts[0].array, places.reshape(-1))))
    return padded.reshape(*places.shape, *shape)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each by itself and without its padding."""
    each = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    each.shape[1]
    counts = np.maximum(np.ceil(as_tensor(lengths).array), 0).astype(np.int64)
    return [sequence[:count] for sequence, count in zip(each, counts.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences; they come longest first unless ``enforce_sorted`` is False.

    >>> import autokit as torch
    >>> pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch, each by itself."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
