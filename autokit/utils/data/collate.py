"""From a list of samples to one batch: numbers and tensors are stacked, containers are gone into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.tensor import Tensor, new_tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch from samples of the same make.

    Tensors, NumPy arrays and numbers become one tensor with a new first
    dimension; tuples, lists and dicts become lists and dicts of batches;
    strings stay in a list.  Python floats become float64.

    Raises
    ------
    RuntimeError
        If tensors have unequal shapes, or lists unequal lengths; names them.
    TypeError
        If samples are of a type that cannot be put together.

    Examples
    --------
    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _stack(batch, "tensor")
    if isinstance(first, np.ndarray | np.number | np.bool_) and first.dtype in dtypes.BY_NUMPY:
        return _stack([new_tensor(np.asarray(sample)) for sample in batch], "array")
    if isinstance(first, float):
        return new_tensor(np.array(batch, np.float64))
    if isinstance(first, int):
        return new_tensor(_numbers(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        lengths = [len(sample) for sample in batch]
        if len(set(lengths)) > 1:
            odd = next(place for place, length in enumerate(lengths) if length != lengths[0])
            raise RuntimeError(
                "each element in list of batch should be of equal size: "
                f"sample 0 of the batch has {lengths[0]} items and sample {odd} has {lengths[odd]}"
            )
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}. Give the DataLoader a collate_fn that knows what to do with it."
    )


def default_convert(sample: Any) -> Any:
    """A sample alone, without batching: NumPy arrays become tensors, containers are gone into."""
    if isinstance(sample, np.ndarray | np.generic) and sample.dtype in dtypes.BY_NUMPY:
        return new_tensor(np.asarray(sample))
    if isinstance(sample, Mapping):
        return {key: default_convert(value) for key, value in sample.items()}
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*map(default_convert, sample))
    if isinstance(sample, tuple | list):
        return [default_convert(item) for item in sample]
    return sample


def _numbers(batch: Sequence[Any]) -> np.ndarray:
    array = np.array(batch)
    return array.astype(dtypes.get_default_dtype().numpy) if array.dtype.kind in dtypes.FLOATS else array


def _stack(tensors: Sequence[Tensor], kind: str) -> Tensor:
    from autokit.ops.join import stack

    expected = tensors[0].array.shape
    for place, tensor in enumerate(tensors):
        if tensor.array.shape != expected:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(expected)} at entry 0 and "
                f"{list(tensor.array.shape)} at entry {place}. A batch is one {kind} of all its samples: "
                "give them one shape, as by padding or cropping, or give the DataLoader a collate_fn."
            )
    return stack(list(tensors))
