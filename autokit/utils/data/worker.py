"""A worker process: it makes the batches that it is told to, until the program closes the connection."""

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
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from autokit import random
from autokit.settings import set_num_threads
from autokit.utils.data import transport, worker_info
from autokit.utils.data.dataset import IterableDataset
from autokit.utils.data.fetch import fetcher

GRACE = 2.0  # seconds in which a worker that is no longer needed may finish its batch


@dataclass(frozen=True)
class Task:
    """Batch ``number`` of the pass ``epoch``, made of the samples at ``indices``."""

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

    The exception itself may hold anything, so it stays in the worker.
    """

    def __init__(self, error: Exception, worker_id: int) -> None:
        self.kind = _importable(type(error))
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        self.words = (
            f"Caught {type(error).__name__} in DataLoader worker process {worker_id}.\nOriginal "
            + "".join(lines)
        )

    def as_error(self) -> Exception:
        """An exception of the type that the worker met, or RuntimeError where that type takes no text."""
        try:
            return self.kind(_Verbatim(self.words) if issubclass(self.kind, KeyError) else self.words)
        except Exception:
            return RuntimeError(self.words)


class _Verbatim(str):
    """A text that a KeyError, which shows the repr of its key, shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def _importable(kind: type[Exception]) -> type[Exception]:
    """``kind``, or its nearest ancestor that the program can find too."""
    for ancestor in kind.__mro__:
        try:
            if pickle.loads(pickle.dumps(ancestor)) is ancestor:
                return ancestor
        except Exception:
            continue
    return RuntimeError


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
    strangers: list[Connection],
    cargo: Cargo | _Packed,
    seed: int,
    worker_id: int,
    num_workers: int,
) -> None:
    """What the process does; ``strangers`` are the program's ends of connections, inherited by a fork."""
    for stranger in strangers:
        stranger.close()
    _forget_the_programs_signals()
    tasks = _Tasks(connection)
    settled, epoch, ended = None, -1, False
    for task in iter(tasks.next, None):
        if task.epoch != epoch:
            epoch, ended = task.epoch, False
            try:
                settled = settled or _settle_in(cargo, seed, worker_id, num_workers)
                make = fetcher(settled.dataset, settled.collate, settled.batched, settled.drop_last)
            except Exception as error:
                make = _raising(error)
        if ended:
            continue
        try:
            result = Result(epoch, task.number, batch=make(task.indices))
        except Exception as error:
            ended = isinstance(error, StopIteration) and _streams(settled)
            failure = None if ended else Failure(error, worker_id)
            result = Result(epoch, task.number, failure=failure, ended=ended)
        if not tasks.answer(result, worker_id):
            return


def _streams(cargo: Cargo | None) -> bool:
    return cargo is not None and isinstance(cargo.dataset, IterableDataset)


def _raising(error: Exception) -> Callable[[Any], Any]:
    def make(indices: Any) -> Any:
        raise error

    return make


class _Tasks:
    """The worker's end of the connection.

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
            while True:
                self._waiting.put(self._connection.recv())
        except (EOFError, OSError):
            self._closed.set()
            self._waiting.put(None)
        threading.Event().wait(GRACE)
        os._exit(1)

    def next(self) -> Task | None:
        task = self._waiting.get()
        return None if self._closed.is_set() else task

    def answer(self, result: Result, worker_id: int) -> bool:
        """Send a result, or why it cannot be sent; False where nobody listens any more."""
        try:
            message = transport.packed(result)
        except Exception as error:
            error.add_note("A batch is pickled on its way from a worker to the program: this one cannot be.")
            message = transport.packed(Result(result.epoch, result.number, failure=Failure(error, worker_id)))
        try:
            transport.send(self._connection, message)
        except (BrokenPipeError, ConnectionError):
            return False
        return True


def _forget_the_programs_signals() -> None:
    """Leave Ctrl-C to the program, and end on SIGTERM whatever the program does on it."""
    signal.set_wakeup_fd(-1)  # of an event loop, as in a notebook, that a signal here must not wake
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while the process started


def _settle_in(cargo: Cargo | _Packed, seed: int, worker_id: int, num_workers: int) -> Cargo:
    if isinstance(cargo, _Packed):
        cargo = cargo.open()
    set_num_threads(1)
    own = seed + worker_id
    python_random.seed(own)
    random.manual_seed(own)
    # NumPy's generator is the same as Python's, so it needs another seed, mixed as PyTorch does.
    entropy = [worker_id, seed & 0xFFFFFFFF, seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
    worker_info.this_worker = worker_info.WorkerInfo(worker_id, num_workers, own, cargo.dataset)
    if cargo.init is not None:
        cargo.init(worker_id)
    return cargo
