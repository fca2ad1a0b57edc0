"""What a worker process can ask about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows: its ``id`` of ``num_workers``, its ``seed``, its copy of the ``dataset``."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


this_worker: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, which of how many it is; None in the program itself.

    An :class:`IterableDataset` asks for it to give each worker a part of its own: every worker has a
    copy of the dataset, and goes through it from its beginning.

    >>> from autokit.utils.data import DataLoader, IterableDataset
    >>> class Numbers(IterableDataset):
    ...     def __iter__(self):
    ...         worker = get_worker_info()
    ...         return iter(range(worker.id, 8, worker.num_workers))
    >>> loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context="fork")
    >>> [batch.tolist() for batch in loader]
    [[0, 2], [1, 3], [4, 6], [5, 7]]
    >>> get_worker_info() is None
    True
    """
    return this_worker
