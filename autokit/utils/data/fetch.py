"""Getting the samples of one batch out of a dataset: the same in the program and in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

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
    at_once = together(dataset) or (lambda indices: [dataset[index] for index in indices])
    # Taking a batch out of an array in one go is far faster than stacking samples.
    gather = gatherer(dataset) if collate is default_collate else None
    if gather is None:
        return lambda indices: collate(at_once(indices))
    # A sampler may give anything; what is no plain number means another thing among others than by itself.
    return lambda indices: (
        gather(indices) if _PLAIN.issuperset(map(type, indices)) else collate(at_once(indices))
    )


_PLAIN = {int, np.int64}


def _next(stream: Iterator[Any], indices: Any, batched: bool, drop_last: bool) -> Any:
    if not batched:
        return next(stream)
    batch = list(islice(stream, len(indices)))
    if not batch or (drop_last and len(batch) < len(indices)):
        raise StopIteration
    return batch
