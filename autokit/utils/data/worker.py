"""A worker process loads the batches that the program asks for, until the program ends it."""

from __future__ import annotations

import os
import pickle
import queue
import random as python_random
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import random
from autokit.base.settings import set_num_threads
from autokit.utils.data import transport
from autokit.utils.data.collate import fetcher
from autokit.utils.data.dataset import IterableDataset

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

GRACE = 2.0
"""Seconds in which a worker that is no longer needed may finish its batch."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker can ask about itself: its ``id`` of ``num_workers``, its ``seed``, its ``dataset``."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_this_worker: WorkerInfo | None = None


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
    return _this_worker


@dataclass(frozen=True)
class Task:
    """Batch ``number`` of the pass ``epoch``: the samples at ``indices``."""

    epoch: int
    number: int
    indices: Any


@dataclass(frozen=True)
class Result:
    """The batch of a task, or a failure in its place, or neither where the worker's stream has ``ended``."""

    epoch: int
    number: int
    batch: Any = None
    failure: Failure | None = None
    ended: bool = False


class Failure:
    """An exception on its way to the program: its type and, in words, its traceback.

    The exception itself may hold anything, so it stays in the worker, and so does a type that is not
    Python's: of that the nearest ancestor that is goes over.
    """

    def __init__(self, error: Exception, worker_id: int) -> None:
        self.kind: type = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        head = f"Caught {type(error).__name__} in DataLoader worker process {worker_id}.\nOriginal "
        self.words = head + "".join(lines)

    def as_error(self) -> Exception:
        """An exception of the type that the worker met, or RuntimeError where that type takes no text."""
        try:
            return self.kind(_Verbatim(self.words))
        except TypeError:
            return RuntimeError(self.words)


class _Verbatim(str):
    """A text that a KeyError, which shows the repr of its key, shows as it is."""

    def __repr__(self) -> str:
        return str(self)


@dataclass
class Cargo:
    """What a worker works with.

    Where it is pickled, since the process is not forked, it is unpickled by the worker itself, which can
    tell the program what went wrong.
    """

    dataset: Any
    collate: Callable[[Any], Any]
    init: Callable[[int], None] | None
    batched: bool
    drop_last: bool

    def __reduce__(self) -> Any:
        from multiprocessing.reduction import ForkingPickler

        return _Packed, (bytes(ForkingPickler.dumps(tuple(vars(self).values()))),)


class _Packed:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def open(self) -> Cargo:
        try:
            return Cargo(*pickle.loads(self.content))
        except Exception as error:
            error.add_note(
                "A worker that is not forked imports everything anew, and what a notebook or `python -c` "
                "defines it cannot find: move it to a .py file and import it from there, or use "
                "multiprocessing_context='fork'."
            )
            raise


def work(
    connection: Connection,
    inherited: list[Connection],
    cargo: Cargo | _Packed,
    seed: int,
    worker_id: int,
    count: int,
) -> None:
    """What the process does; ``inherited`` are the program's ends of connections, which a fork copied."""
    for end in inherited:
        end.close()
    _leave_signals_to_the_program()
    tasks = _Tasks(connection)
    settled: Cargo | None = None
    epoch, ended = -1, False
    for task in iter(tasks.next, None):
        if task.epoch != epoch:
            epoch, ended = task.epoch, False
            try:
                settled = settled or _settle_in(cargo, seed, worker_id, count)
                fetch = fetcher(settled.dataset, settled.collate, settled.batched, settled.drop_last)
            except Exception as error:
                fetch = _raising(error)
        if ended:
            continue
        try:
            result = Result(epoch, task.number, batch=fetch(task.indices))
        except Exception as error:
            is_stream = settled is not None and isinstance(settled.dataset, IterableDataset)
            ended = is_stream and isinstance(error, StopIteration)
            failure = None if ended else Failure(error, worker_id)
            result = Result(epoch, task.number, failure=failure, ended=ended)
        if not _answer(connection, result, worker_id):
            return


def _raising(error: Exception) -> Callable[[Any], Any]:
    def fetch(indices: Any) -> Any:
        raise error

    return fetch


class _Tasks:
    """What the program sends.

    A thread of its own reads, so that the program, when it sends, never waits for a batch to be done, and
    so that a worker whose program is gone ends even in the middle of a long one.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while (task := self._connection.recv()) is not None:
                self._waiting.put(task)
        except (EOFError, OSError):
            pass
        self._closed.set()
        self._waiting.put(None)
        threading.Event().wait(GRACE)
        os._exit(1)

    def next(self) -> Task | None:
        task = self._waiting.get()
        return None if self._closed.is_set() else task


def _answer(connection: Connection, result: Result, worker_id: int) -> bool:
    """Send a result, or why it cannot be sent; False where nobody listens any more."""
    try:
        message = transport.packed(result)
    except Exception as error:
        error.add_note("A batch is pickled on its way from a worker to the program: this one cannot be.")
        message = transport.packed(Result(result.epoch, result.number, failure=Failure(error, worker_id)))
    try:
        transport.send(connection, message)
    except OSError:
        return False
    return True


def _leave_signals_to_the_program() -> None:
    """Leave Ctrl-C to the program, and end on SIGTERM whatever the program does on it."""
    signal.set_wakeup_fd(-1)  # of an event loop, as in a notebook, that a signal here must not wake
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _settle_in(cargo: Cargo | _Packed, seed: int, worker_id: int, num_workers: int) -> Cargo:
    global _this_worker
    if isinstance(cargo, _Packed):
        cargo = cargo.open()
    set_num_threads(1)
    python_random.seed(seed + worker_id)
    random.manual_seed(seed + worker_id)
    # NumPy's generator is the same as Python's, so it needs another seed, mixed as PyTorch does.
    entropy = [worker_id, seed & 0xFFFFFFFF, seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
    _this_worker = WorkerInfo(worker_id, num_workers, seed + worker_id, cargo.dataset)
    if cargo.init is not None:
        cargo.init(worker_id)
    return cargo
