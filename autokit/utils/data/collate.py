"""Samples are collated to a batch: numbers and tensors are stacked, also those inside of containers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NAME
from autokit.engine.tensor import Tensor
from autokit.ops.create import as_tensor, tensor
from autokit.ops.join import stack
from autokit.utils.data.dataset import IterableDataset, gatherer


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch from samples that are alike.

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
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Tensor | int | float) or _holds_numbers(first):
        return _stacked(batch)
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
        return _of_its_kind(first, [default_collate(column) for column in zip(*batch)])
    is_picture = type(first).__module__.startswith("PIL.")
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}. "
        + (
            "Give the dataset transform=transforms.ToTensor(), which makes tensors of pictures."
            if is_picture
            else "Give the DataLoader a collate_fn that puts such samples together."
        )
    )


def default_convert(data: Any) -> Any:
    """A sample alone, without batching: NumPy arrays become tensors, containers are gone into."""
    if _holds_numbers(data):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _of_its_kind(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _of_its_kind(data, [default_convert(item) for item in data])
    return data


def _holds_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "SUO"


def _of_its_kind(sample: Any, content: Any) -> Any:
    """``content`` in the container type of ``sample``; but of a plain tuple comes a list, as in PyTorch."""
    if hasattr(sample, "_fields"):
        return type(sample)(*content)
    if isinstance(sample, tuple):
        return content
    try:
        return type(sample)(content)
    except TypeError:  # a type that cannot be called with its content
        return content


def _stacked(batch: Sequence[Any]) -> Tensor:
    """One tensor of numbers, arrays or tensors; one that is of another kind is refused with its place."""
    first = batch[0]
    plain = isinstance(first, int | float) and not _holds_numbers(first)
    kind: Any = int | float if plain else Tensor | np.ndarray | np.generic | int | float
    for place, sample in enumerate(batch):
        if not isinstance(sample, kind):
            raise TypeError(
                f"default_collate: sample {place} of the batch is {sample!r:.60}, where sample 0 is "
                f"{'a tensor' if isinstance(first, Tensor) else repr(first)[:60]}"
            )
    if plain:
        return tensor(list(batch), dtype=BY_NAME["float64"] if isinstance(first, float) else None)
    try:
        return stack([as_tensor(sample) for sample in batch])
    except RuntimeError as error:
        raise RuntimeError(
            f"{error}. A batch is one tensor of all its samples: give them one shape, as by padding or "
            "cropping, or give the DataLoader a collate_fn"
        ) from None


def fetcher(
    dataset: Any, collate: Callable[[Any], Any], batched: bool, drop_last: bool
) -> Callable[[Any], Any]:
    """A function from what the sampler gives to a batch; it raises StopIteration where a stream ends.

    ``batched`` says that the sampler gives lists of indices; from a stream, only how many there are counts.
    """
    if isinstance(dataset, IterableDataset):
        stream: Iterator[Any] = iter(dataset)
        return lambda indices: collate(_next(stream, indices, batched, drop_last))
    if not batched:
        return lambda index: collate(dataset[index])
    # An array gives the samples of a batch in one go far faster than one by one.
    gather = gatherer(dataset) if collate is default_collate else None
    if gather is None:
        return lambda indices: collate([dataset[index] for index in indices])
    # A sampler may give anything; what is no number means another thing among others than by itself.
    return lambda indices: (
        gather(indices)
        if {int, np.int64}.issuperset(map(type, indices))
        else collate([dataset[index] for index in indices])
    )


def _next(stream: Iterator[Any], indices: Any, batched: bool, drop_last: bool) -> Any:
    if not batched:
        return next(stream)
    batch = list(islice(stream, len(indices)))
    if not batch or (drop_last and len(batch) < len(indices)):
        raise StopIteration
    return batch
