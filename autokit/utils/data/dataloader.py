"""A data loader iterates over a dataset in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic

from autokit.base.doors import shown
from autokit.base.generator import Generator
from autokit.utils.data.collate import default_collate, default_convert, fetcher
from autokit.utils.data.dataset import IterableDataset, Sample, by_type
from autokit.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, batches_of, draw_seed

if TYPE_CHECKING:
    from autokit.utils.data.workers import Workers


_ORDER = "batch_size, shuffle, sampler, and drop_last"


def _refuse(*contradictions: tuple[Any, str]) -> None:
    """Raise for the first condition that holds, with its words."""
    for holds, words in contradictions:
        if holds:
            raise ValueError(words)


class Batches(map):  # type: ignore[type-arg]
    """One pass through the data: each batch is computed when it is asked for.

    A ``map`` goes on after an exception, with the next batch, as PyTorch does;
    and no frame of its own keeps it, and with it the workers, in a traceback.
    """

    __repr__ = by_type
    _loader: DataLoader[Any]

    def __new__(cls, fetch: Callable[[Any], Any], items: Iterable[Any], loader: DataLoader[Any]) -> Batches:
        """The results of ``fetch`` of the ``items``."""
        batches = super().__new__(cls, fetch, items)
        batches._loader = loader
        return batches

    def __len__(self) -> int:
        """How many batches the whole pass has."""
        return len(self._loader)


class DataLoader(Generic[Sample]):
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
        How many processes load batches ahead while the program computes; 0: the program loads them itself.
    collate_fn : callable, optional
        Makes a batch of a list of samples; :func:`default_collate` by default.
    drop_last : bool
        Leave out a last batch that is not full.
    pin_memory, pin_memory_device
        Without effect: a copy to the GPU takes the same time from all memory here.
    timeout : float
        Seconds to wait for a batch from a worker; 0 waits as long as it takes.
    worker_init_fn : callable, optional
        Called in each worker with its number, before it loads anything.
    multiprocessing_context : str or context, optional
        How workers are started: ``"fork"``, which is the way on Linux, ``"spawn"`` or ``"forkserver"``.
    generator : Generator, optional
        Draws the order and the seed of the workers, in place of the default generator.
    prefetch_factor : int, optional
        Batches that each worker loads ahead: 2 by default.
    persistent_workers : bool
        Keep the workers from one epoch to the next.
    in_order : bool
        Give batches in the sampler's order, and not in that in which workers get them done.

    Raises
    ------
    ValueError
        If options contradict each other, the batch size is not positive, or
        an empty dataset is to be shuffled.

    Notes
    -----
    A worker draws its random numbers from a seed of its own, which comes from
    ``generator``: the same seed gives the same batches.  An exception in a
    worker is raised in the program, with the worker's traceback in its text.
    Workers end with the loop, also where ``break``, an exception or an
    interrupt ends it.

    A fork stops the matrix products that other threads are in the middle of
    (a limit of the OpenBLAS in NumPy): begin a loop with workers where no other
    thread computes, or use ``multiprocessing_context="spawn"``.

    Examples
    --------
    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    >>> len(DataLoader(range(5), batch_size=2, drop_last=True))
    2
    >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2, num_workers=2)]
    [[0, 1], [2, 3], [4]]
    """

    __repr__ = by_type
    _repr_mimebundle_ = shown
    _workers: Workers | None = None  # those that persist

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
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        is_stream, has_batches = isinstance(dataset, IterableDataset), batch_sampler is not None
        other_order = batch_size != 1 or shuffle or sampler is not None or drop_last
        _refuse(
            (is_stream and (shuffle or sampler or has_batches), "an IterableDataset has an order of its own"),
            (sampler is not None and shuffle, "sampler option is mutually exclusive with shuffle"),
            (has_batches and other_order, f"batch_sampler option is mutually exclusive with {_ORDER}"),
            (batch_size is None and drop_last, "batch_size=None option is mutually exclusive with drop_last"),
            (num_workers < 0, "num_workers option should be non-negative; 0 loads in this process"),
            (timeout < 0, "timeout option should be non-negative; 0 waits as long as it takes"),
            (timeout and not num_workers, "timeout option is for workers: let num_workers > 0"),
            (
                prefetch_factor and not num_workers,
                "prefetch_factor option is for workers: let num_workers > 0",
            ),
            (
                prefetch_factor is not None and prefetch_factor < 1,
                "prefetch_factor option should be positive",
            ),
            (persistent_workers and not num_workers, "persistent_workers option needs num_workers > 0"),
            (multiprocessing_context and not num_workers, "multiprocessing_context needs num_workers > 0"),
        )
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.multiprocessing_context = multiprocessing_context

    def __iter__(self) -> Iterator[Any]:
        indices = self._indices()
        if self.num_workers:
            return self._in_parallel(indices)
        # PyTorch draws a seed for its workers even where there are none: the stream must go on alike.
        draw_seed(self.generator)
        fetch = fetcher(self.dataset, self.collate_fn, self.batch_sampler is not None, self.drop_last)
        return Batches(fetch, indices, self)

    def _in_parallel(self, indices: Iterator[Any]) -> Iterator[Any]:
        from autokit.utils.data.worker import Cargo
        from autokit.utils.data.workers import Workers, batch_of

        workers = self._workers
        if workers is None or not workers.is_open:
            batched = self.batch_sampler is not None
            cargo = Cargo(self.dataset, self.collate_fn, self.worker_init_fn, batched, self.drop_last)
            workers = Workers(self, cargo, draw_seed(self.generator))
            self._workers = workers if self.persistent_workers else None
        return Batches(batch_of, workers.results(indices, self.persistent_workers), self)

    def _indices(self) -> Iterator[Any]:
        """What each batch is to be of; of a stream only how many samples."""
        if isinstance(self.dataset, IterableDataset):
            return repeat(None if self.batch_size is None else range(self.batch_size))
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __len__(self) -> int:
        """How many batches an epoch has."""
        if isinstance(self.dataset, IterableDataset):
            total = len(self.dataset)  # type: ignore[arg-type]
            return total if self.batch_size is None else batches_of(total, self.batch_size, self.drop_last)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
