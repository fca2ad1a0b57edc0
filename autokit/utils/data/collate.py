"""From a list of samples to one batch: numbers and tensors are stacked, containers are gone into."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.ops.create import as_tensor, tensor
from autokit.ops.join import stack
from autokit.tensor import Tensor, new_tensor

TEXTS_AND_OBJECTS = "SUO"
"""Kinds of array that are no numbers; of any other one becomes a tensor, or is refused for what it is."""


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch from samples of the same make.

    Tensors, NumPy arrays and numbers become one tensor with a new first
    dimension; containers of samples become a container of batches of the
    same type, but tuples a list; strings stay in a list.  Python floats
    become float64.

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
        if not isinstance(batch, list | tuple):
            raise TypeError(
                "stack(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                f"{type(batch).__name__}: a batch is a list of samples"
            )
        return _stack(batch, "tensor")
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind not in TEXTS_AND_OBJECTS:
        return _stack([_of_array(sample) for sample in batch], "array")
    if isinstance(first, float):
        return _numbers(batch, dtypes.BY_NAME["float64"])
    if isinstance(first, int):
        return _numbers(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _of_its_kind(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        lengths = [len(sample) for sample in batch]
        if len(set(lengths)) > 1:
            odd = next(place for place, length in enumerate(lengths) if length != lengths[0])
            raise RuntimeError(
                "each element in list of batch should be of equal size: "
                f"sample 0 of the batch has {lengths[0]} items and sample {odd} has {lengths[odd]}"
            )
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return _of_its_kind(first, columns)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}. "
        + (
            "Give the dataset transform=transforms.ToTensor(), which makes tensors of pictures."
            if type(first).__module__.startswith("PIL.")
            else "Give the DataLoader a collate_fn that knows what to do with it."
        )
    )


def default_convert(data: Any) -> Any:
    """A sample alone, without batching: NumPy arrays become tensors, containers are gone into."""
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind not in TEXTS_AND_OBJECTS:
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _of_its_kind(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _of_its_kind(data, [default_convert(item) for item in data])
    return data


def _of_its_kind(sample: Any, content: Any) -> Any:
    """``content`` in the container type of ``sample``; but of a plain tuple comes a list, as in PyTorch."""
    if hasattr(sample, "_fields"):
        return type(sample)(*content)
    if isinstance(sample, tuple) or type(sample) in (dict, list):
        return content
    try:
        if isinstance(sample, MutableMapping | MutableSequence):  # with what else it holds
            clone = copy(sample)
            for key, value in content.items() if isinstance(content, dict) else enumerate(content):
                clone[key] = value
            return clone
        return type(sample)(content)  # type: ignore[call-arg]
    except TypeError:  # a type that is not made from its content
        return content


def _numbers(batch: Sequence[Any], dtype: dtypes.dtype | None = None) -> Tensor:
    """One tensor of numbers; what is none, as a missing value's None, is refused with its place."""
    if set(map(type, batch)) <= {int, float, bool}:
        array = np.array(batch)
        if array.dtype.kind in "ib" and dtype is None:
            return new_tensor(array)
        if array.dtype.kind == "f" and dtype is not None:
            return new_tensor(array)
    try:
        return tensor(list(batch), dtype=dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        odd = next((place for place, sample in enumerate(batch) if not isinstance(sample, int | float)), 0)
        where = f"sample {odd} of the batch is {batch[odd]!r:.60}, where sample 0 is {batch[0]!r}"
        raise type(error)(f"{error} [{where}]" if odd else str(error)) from error


def _of_array(sample: Any) -> Tensor:
    known = isinstance(sample, np.ndarray | np.generic) and sample.dtype in dtypes.BY_NUMPY
    return new_tensor(np.asarray(sample)) if known else as_tensor(sample)


def _stack(tensors: Sequence[Tensor], kind: str) -> Tensor:
    for place, sample in enumerate(tensors):
        if not isinstance(sample, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {type(sample).__name__}: "
                f"sample {place} of the batch is {sample!r:.60}, where sample 0 is a tensor"
            )
    arrays = [tensor.array for tensor in tensors]
    expected, dtype = arrays[0].shape, arrays[0].dtype
    alike = bool(expected)
    for place, array in enumerate(arrays):
        if array.shape != expected:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(expected)} at entry 0 and "
                f"{list(array.shape)} at entry {place}. A batch is one {kind} of all its samples: "
                "give them one shape, as by padding or cropping, or give the DataLoader a collate_fn."
            )
        if array.dtype is not dtype:
            alike = False
    if alike and not any([tensor._requires_grad for tensor in tensors]):
        return new_tensor(np.concatenate(arrays).reshape(len(arrays), *expected))
    return stack(list(tensors))
