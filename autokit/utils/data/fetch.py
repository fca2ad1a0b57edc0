"""Getting the samples of one batch out of a dataset: the same in the program and in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from autokit.utils.data.collate import default_collate
from autokit.utils.data.dataset import IterableDataset, gatherer, together

Collate = Callable[[Any], Any]


def fetcher(dataset: Any, collate: Collate, batched: bool, drop_last: bool) -> Callable[[Any], Any]:
    """A function from what the sampler gives to a batch; it raises StopIteration where a stream ends.

    ``batched`` says that the sampler gives lists of indices; from a stream, only how many there are counts.
    """
    if isinstance(dataset, IterableDataset):
        stream: Iterator[Any] = iter(dataset)
        return lambda indices: collate(_next(stream, indices, batched, drop_last))
    if not batched:
        return lambda index: collate(dataset[index])
    # Taking a batch out of an array in one go is far faster than stacking samples.
    gather = gatherer(dataset) if collate is default_collate else None
    if gather is not None:
        return gather
    at_once = together(dataset)
    if at_once is not None:
        return lambda indices: collate(at_once(indices))
    return lambda indices: collate([dataset[index] for index in indices])


def _next(stream: Iterator[Any], indices: Any, batched: bool, drop_last: bool) -> Any:
    if not batched:
        return next(stream)
    batch = list(islice(stream, len(indices)))
    if not batch or (drop_last and len(batch) < len(indices)):
        raise StopIteration
    return batch
