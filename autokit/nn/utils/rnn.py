"""Sequences of different lengths form a batch: padded to the longest one, or packed without padding.

A packed batch holds all first elements, then all second ones, and so on, so that a recurrent layer computes
all elements of one time in one step, and no padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autokit.base.devices import beside, to_numpy
from autokit.base.dtypes import BY_NAME
from autokit.base.errors import require_tensor
from autokit.base.missing import absent
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.create import as_tensor, full
from autokit.ops.join import cat

__getattr__ = absent("torch.nn.utils.rnn")


class PackedSequence(NamedTuple):
    """A batch of sequences without padding; see :func:`pack_sequence` and :func:`pack_padded_sequence`.

    Attributes
    ----------
    data : Tensor
        All elements, time after time.
    batch_sizes : Tensor
        How many sequences reach each time.
    sorted_indices, unsorted_indices : Tensor or None
        The order of the sequences by length, and the inverse order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with its data moved or converted, as by ``Tensor.to``."""
        return self._replace(data=self.data.to(*args, **kwargs))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Leave the padding of a batch out.

    Parameters
    ----------
    input : Tensor
        Of shape (T, B, ...), or (B, T, ...) if ``batch_first``.
    lengths : Tensor or sequence of int
        The length of each sequence.
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
    require_tensor("pack_padded_sequence", input)
    if not input.numel():
        raise RuntimeError(f"Cannot pack empty tensors. The input is of shape {list(input.shape)}")
    counts = to_numpy(as_tensor(lengths, dtype=BY_NAME["int64"]).array)
    batch, times = input.shape[:2] if batch_first else input.shape[1::-1]
    if counts.shape != (batch,):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} (batch_size={batch})"
        )
    if counts.min() <= 0 or counts.max() > times:
        raise RuntimeError(
            f"Length of all samples has to be greater than 0, and at most {times}, the length of the batch; "
            f"but the lengths are {counts.tolist()}"
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
    sizes = (counts > np.arange(counts[0])[:, None]).sum(axis=1)
    columns = np.arange(batch) if order is None else order
    if batch_first:
        places = np.concatenate([columns[:size] * times + time for time, size in enumerate(sizes)])
    else:
        places = np.concatenate([time * batch + columns[:size] for time, size in enumerate(sizes)])
    data = _rows(input.flatten(0, 1), places)
    if order is None:
        return PackedSequence(data, new_tensor(sizes))
    return PackedSequence(data, new_tensor(sizes), new_tensor(order), new_tensor(np.argsort(order)))


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
    data, sizes = sequence.data, to_numpy(sequence.batch_sizes.array)
    times, batch = total_length or len(sizes), int(sizes[0])
    if times < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    places = np.full((times, batch), len(data))  # the row after the last, which is the padding
    starts = np.cumsum(sizes) - sizes
    for time, (start, size) in enumerate(zip(starts, sizes)):
        places[time, :size] = np.arange(start, start + size)
    lengths = (sizes > np.arange(batch)[:, None]).sum(axis=1)
    if sequence.unsorted_indices is not None:
        back = to_numpy(sequence.unsorted_indices.array)
        places, lengths = places[:, back], lengths[back]
    return _padded(data, places.T if batch_first else places, padding_value), new_tensor(lengths)


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
    parts = list(sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    for place, part in enumerate(parts):
        require_tensor("pad_sequence", part, "sequences", place)
    shapes = {tuple(part.shape[1:]) for part in parts}
    if len(shapes) > 1:
        raise RuntimeError(
            "The size of the sequences may differ in their first dimension alone, but the others are of "
            f"sizes {sorted(shapes)}"
        )
    lengths = np.array([len(part) for part in parts])
    starts = np.cumsum(lengths) - lengths
    times = np.arange(lengths.max())[:, None]
    if padding_side == "left":
        times = times - (lengths.max() - lengths)
    places = np.where((times >= 0) & (times < lengths), starts + times, lengths.sum())
    return _padded(cat(parts), places.T if batch_first else places, padding_value)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each by itself and without its padding."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(batch, lengths.tolist(), strict=True)]


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


def _rows(data: Tensor, places: np.ndarray) -> Tensor:
    return data.index_select(0, new_tensor(beside(places, data.array)))


def _padded(data: Tensor, places: np.ndarray, value: float) -> Tensor:
    """The rows of ``data`` at ``places``; the row after the last is the padding."""
    shape = tuple(data.shape[1:])
    padding = full((1, *shape), value, dtype=data.dtype, device=data.device)
    return _rows(cat([data, padding]), places.reshape(-1)).reshape(*places.shape, *shape)
