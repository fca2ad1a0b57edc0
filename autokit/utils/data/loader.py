"""The loader: goes through a dataset in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from autokit import random
from autokit.utils.data.collate import default_collate, default_convert
from autokit.utils.data.dataset import IterableDataset, gatherer
from autokit.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed


class DataLoader:
    """Batches of a dataset, in order or shuffled; each ``for`` over it is one epoch.

    Parameters
    ----------
    dataset : Dataset
        Anything with ``__getitem__`` and ``__len__``, or an :class:`IterableDataset`.
    batch_size : int or None
        Samples in a batch; None gives the samples alone.
    shuffle : bool
        Go through the samples in a new random order each time.
    sampler, batch_sampler : iterable, optional
        The order to go by, of indices or of lists of indices, in place of ``shuffle``.
    num_workers : int
        Only 0: samples are loaded by the program itself.
    collate_fn : callable, optional
        Makes a batch of a list of samples; :func:`default_collate` by default.
    drop_last : bool
        Leave out a last batch that is not full.
    generator : Generator, optional
        Draws the order, in place of the default generator.
    pin_memory, timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers
        Accepted for PyTorch's sake; they concern workers and GPUs.

    Raises
    ------
    ValueError
        If options contradict each other, the batch size is not positive, or
        an empty dataset is to be shuffled.

    Examples
    --------
    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    >>> len(DataLoader(range(5), batch_size=2, drop_last=True))
    2
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: random.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to load in this process."
            )
        if num_workers > 0:
            raise NotImplementedError(
                f"autokit loads data in one process: use num_workers=0 in place of num_workers={num_workers}"
            )
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            for option, value in (
                ("shuffle", shuffle),
                ("sampler", sampler),
                ("batch_sampler", batch_sampler),
            ):
                if value:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {option} option, but got "
                        f"{option}={value}. Such a dataset has an order of its own."
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                    "drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.generator = generator
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its workers even where there are none: the stream must go on alike.
        draw_seed(self.generator or random.default_generator)
        return self._in_stream() if isinstance(self.dataset, IterableDataset) else self._by_index()

    def _by_index(self) -> Iterator[Any]:
        dataset, collate = self.dataset, self.collate_fn
        if self.batch_sampler is None:
            for index in self.sampler:
                yield collate(dataset[index])
            return
        # Taking a batch out of an array in one go is far faster than stacking samples.
        gather = gatherer(dataset) if collate is default_collate else None
        for indices in self.batch_sampler:
            yield gather(indices) if gather else collate([dataset[index] for index in indices])

    def _in_stream(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        """How many batches an epoch has."""
        if isinstance(self.dataset, IterableDataset):
            total = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return total
            return total // self.batch_size if self.drop_last else -(-total // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
