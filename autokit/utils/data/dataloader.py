"""The loader: goes through a dataset in batches."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, Generic

from autokit import cuda, random
from autokit.shown import by_type
from autokit.utils.data.collate import default_collate, default_convert
from autokit.utils.data.dataset import IterableDataset, Sample
from autokit.utils.data.fetch import fetcher
from autokit.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

if TYPE_CHECKING:
    from autokit.utils.data.workers import Workers

_SETTLED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
"""What cannot be set any more once a loader is made, as others were made from it."""


class Batches(map):  # type: ignore[type-arg]
    """One pass through the data: each batch is made when it is asked for.

    A ``map`` goes on after an exception, with the next batch, as PyTorch does;
    and no frame of its own keeps it, and with it the workers, in a traceback.
    """

    __repr__ = by_type

    def __new__(cls, make: Callable[[Any], Any], each: Iterable[Any], loader: DataLoader[Any]) -> Batches:
        """The results of ``make`` of ``each``."""
        batches = super().__new__(cls, make, each)
        batches._loader = loader
        return batches

    _loader: DataLoader[Any]

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
    pin_memory, pin_memory_device
        Accepted for PyTorch's sake: a copy to the GPU takes the same time from all memory here.  Without a
        GPU it is warned of.

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

    _workers: Workers | None = None  # those that persist
    _promised: int | None = None  # what len() said of a stream
    _is_made = False

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
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if isinstance(dataset, IterableDataset):
            _check_stream(shuffle, sampler, batch_sampler)
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
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made and name in _SETTLED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized: "
                "make a new DataLoader"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started: what was given, a name as the context of that name."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, given: Any) -> None:
        self._context = given
        if given is None:
            return
        if self.num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                f"got num_workers={self.num_workers}"
            )
        from autokit.utils.data.workers import context_of

        self._context = context_of(given)

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory and not cuda.is_available():
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
                "won't be used.",
                stacklevel=2,
            )
        if self.num_workers:
            return self._in_parallel()
        if self.timeout:
            raise AssertionError(
                f"timeout={self.timeout} is for workers: num_workers=0 leaves nothing to wait for"
            )
        # PyTorch draws a seed for its workers even where there are none: the stream must go on alike.
        draw_seed(self.generator)
        return self._held_to_its_length(self._one_by_one())

    def _one_by_one(self) -> Batches:
        fetch = fetcher(self.dataset, self.collate_fn, self.batch_sampler is not None, self.drop_last)
        return Batches(fetch, self._indices(), self)

    def _in_parallel(self) -> Iterator[Any]:
        from autokit.utils.data.worker import Cargo
        from autokit.utils.data.workers import Workers, batch_of, context_of

        indices = self._indices()
        workers = self._workers
        if workers is None or not workers.is_open:
            cargo = Cargo(
                self.dataset,
                self.collate_fn,
                self.worker_init_fn,
                self.batch_sampler is not None,
                self.drop_last,
            )
            workers = Workers(
                cargo,
                self.num_workers,
                2 if self.prefetch_factor is None else self.prefetch_factor,
                draw_seed(self.generator),
                context_of(self.multiprocessing_context),
                self.in_order,
                self.timeout,
            )
            self._workers = workers if self.persistent_workers else None
        results = workers.results(indices, self.persistent_workers)
        return self._held_to_its_length(Batches(batch_of, results, self))

    def _indices(self) -> Iterator[Any]:
        """What each batch is to be made of; of a stream only how many samples."""
        if isinstance(self.dataset, IterableDataset):
            return repeat(None if self.batch_size is None else range(self.batch_size))
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def _held_to_its_length(self, batches: Batches) -> Batches:
        """The same batches; a stream that gives more of them than ``len(loader)`` said is warned of."""
        promised, counted = self._promised, count(1)
        if promised is None:
            return batches

        def watched(batch: Any) -> Any:
            if (given := next(counted)) > promised:
                more = "each worker goes through all of it unless it asks get_worker_info() for its part. "
                warnings.warn(
                    f"Length of IterableDataset {type(self.dataset).__name__} was reported to be {promised} "
                    f"batches (when accessing len(dataloader)), but {given} have been fetched. "
                    + (f"With num_workers={self.num_workers}, {more}" if self.num_workers else ""),
                    stacklevel=2,
                )
            return batch

        return Batches(watched, batches, self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from autokit.draw.table import table_bundle
        from autokit.graphs.tables import loader_table

        return table_bundle(loader_table(self))

    def __len__(self) -> int:
        """How many batches an epoch has."""
        if isinstance(self.dataset, IterableDataset):
            total = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is not None:
                total = total // self.batch_size if self.drop_last else -(-total // self.batch_size)
            self._promised = total
            return total
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if isinstance(num_workers, bool) or not isinstance(num_workers, int):
        raise TypeError(f"num_workers is a number of processes, but it is {num_workers!r}")
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to load in this process."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative; timeout=0 waits as long as it takes")
    if prefetch_factor is not None:
        if num_workers == 0:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to "
                "enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if prefetch_factor < 1:
            raise ValueError(f"prefetch_factor option should be positive: it is {prefetch_factor}")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if num_workers > cores:
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number "
            f"of worker in current system is {cores}, as many as it has cores: more may be slower.",
            stacklevel=3,
        )


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    for option, value in (
        ("shuffle", shuffle or None),
        ("sampler", sampler),
        ("batch_sampler", batch_sampler),
    ):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {option} option, but got "
                f"{option}={value}. Such a dataset has an order of its own."
            )
