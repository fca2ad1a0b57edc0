"""Parallel loading, in the program's process: it starts workers, distributes batches to them, and ends them.

There is one connection for each worker.  Processes share no lock and no queue, so a worker that is killed at
any moment disturbs no other one; the program notices by the end of the connection.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from autokit.utils.data import transport
from autokit.utils.data.worker import GRACE, Cargo, Result, Task, work

if TYPE_CHECKING:
    from autokit.utils.data.dataloader import DataLoader

_MOMENT = 1.0
"""Seconds in which a process that a signal tells to end does so."""


def context_of(given: Any) -> Any:
    """The way to start processes: ``given``, or fork on Linux, where it is safe, and else the system's own.

    A fork needs no pickling, and has what a notebook has defined.
    """
    if given is None or isinstance(given, str):
        return multiprocessing.get_context(given or ("fork" if sys.platform == "linux" else None))
    return given


class Workers:
    """The worker processes of one loader.

    They end when :meth:`close` is called, when nobody holds this object any more, and with the program.
    """

    def __init__(self, loader: DataLoader[Any], cargo: Cargo, seed: int) -> None:
        self.count, self.prefetch = loader.num_workers, loader.prefetch_factor or 2
        self.in_order, self.timeout = loader.in_order, loader.timeout or None
        self.epoch = 0
        self.is_open = True
        context = context_of(loader.multiprocessing_context)
        self._forks = context.get_start_method() == "fork"
        self._processes: list[Any] = []
        self._connections: list[Connection] = []
        self._end = weakref.finalize(self, _end, self._processes, self._connections, os.getpid())
        try:
            for worker_id in range(self.count):
                self._start(context, cargo, seed, worker_id)
        except BaseException:
            self.close(grace=0)
            raise

    def _start(self, context: Any, cargo: Cargo, seed: int, worker_id: int) -> None:
        ours, theirs = context.Pipe()
        inherited = [*self._connections, ours] if self._forks else []
        process = context.Process(
            target=work, args=(theirs, inherited, cargo, seed, worker_id, self.count), daemon=True
        )
        try:
            with warnings.catch_warnings():
                # What a fork takes over of other threads is no lock that a worker needs.
                warnings.filterwarnings("ignore", ".*use of fork\\(\\) may lead", DeprecationWarning)
                process.start()
        except Exception as error:
            ours.close()
            if not self._forks:
                error.add_note(_PICKLED)
            raise
        finally:
            theirs.close()
        self._processes.append(process)
        self._connections.append(ours)

    def close(self, grace: float = GRACE) -> None:
        """End the processes: they may finish their batches within ``grace`` seconds."""
        self.is_open = False
        if self._end.detach():
            _end(self._processes, self._connections, os.getpid(), grace)

    # ------------------------------------------------------------ one pass through the data

    def results(self, indices: Iterator[Any], persistent: bool) -> Iterator[Result]:
        """What the workers load of ``indices``, in this order unless the loader said otherwise.

        They begin at once, and unless they are ``persistent`` end when this has been gone through.
        """
        self.epoch += 1
        return self._received(_Deal(self, indices), persistent)

    def _received(self, deal: _Deal, persistent: bool) -> Iterator[Result]:
        try:
            while deal.out:
                result = deal.next_result()
                if result is not None:
                    yield result
        except (WorkerError, KeyboardInterrupt):
            self.close(grace=0)
            raise
        finally:
            if not persistent:
                self.close()

    def send(self, worker_id: int, task: Task) -> None:
        """Give a worker a task."""
        try:
            self._connections[worker_id].send(task)
        except OSError:
            raise self._lost(worker_id) from None

    def receive(self, worker_ids: list[int]) -> tuple[int, Result]:
        """The next result of one of these workers, and whose it is; RuntimeError where none comes."""
        places = {self._connections[worker_id]: worker_id for worker_id in worker_ids}
        ends = {self._processes[worker_id].sentinel: worker_id for worker_id in worker_ids}
        ready = wait([*places, *ends], self.timeout)
        if not ready:
            raise WorkerError(
                f"DataLoader timed out after {self.timeout} seconds. A worker takes longer than that for a "
                "batch, or hangs; what it does is seen best with num_workers=0."
            )
        # What a worker sent before its end is still read.
        arrived = [connection for connection in places if connection in ready or connection.poll()]
        if not arrived:
            raise self._lost(ends[ready[0]])  # type: ignore[index]
        worker_id = places[arrived[0]]
        try:
            return worker_id, transport.receive(arrived[0])
        except (EOFError, OSError):
            raise self._lost(worker_id) from None

    def _lost(self, worker_id: int) -> WorkerError:
        process = self._processes[worker_id]
        process.join(_MOMENT)
        code = process.exitcode
        if code is None or code >= 0:
            why = f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with exit code {code}. "
            return WorkerError(why + (_HERE if self._forks else _MAIN))
        why = f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)}. "
        is_memory = -code == getattr(signal, "SIGKILL", None)
        return WorkerError(why + (_MEMORY if is_memory else _HERE))


def batch_of(result: Result) -> Any:
    """The batch, or the exception that a worker met in its place."""
    if result.failure is not None:
        raise result.failure.as_error()
    return result.batch


class WorkerError(RuntimeError):
    """A worker that cannot be worked with any more."""


_HERE = "num_workers=0 runs the same code in the program itself, where a fault is easier to find."
_MEMORY = "A system that runs out of memory does so: try fewer workers, or smaller batches."
_PICKLED = (
    "A worker that is not forked gets the dataset, collate_fn and worker_init_fn by pickling: define them at "
    "the top of a module, and use no lambda; or use multiprocessing_context='fork'."
)
_MAIN = (
    "A worker that is not forked runs the main program's file anew: what starts the loading must stand under "
    "`if __name__ == '__main__':`, and what a notebook defines must be moved to a .py file and imported from "
    "there. Or use multiprocessing_context='fork'."
)


class _Deal:
    """Which worker loads which batch: one after the other, each with ``prefetch`` batches ahead."""

    def __init__(self, workers: Workers, indices: Iterator[Any]) -> None:
        self._workers, self._indices, self._epoch = workers, indices, workers.epoch
        self.out: dict[int, int] = {}
        """By the number of a batch, the worker that loads it."""
        self._in_work = [True] * workers.count  # a worker whose stream has ended gets nothing more
        self._turn = self._dealt = 0
        for _ in range(workers.prefetch * workers.count):
            self._deal()

    def next_result(self) -> Result | None:
        """The next batch or failure; None where a worker's stream has ended."""
        workers = self._workers
        if workers.epoch != self._epoch or not workers.is_open:
            raise RuntimeError(
                "another pass over this DataLoader has begun, and persistent workers serve one at a time: "
                "leave persistent_workers=False for loops inside each other"
            )
        while True:
            asked = [self.out[min(self.out)]] if workers.in_order else sorted(set(self.out.values()))
            worker_id, result = workers.receive(asked)
            if result.epoch == self._epoch:  # else it is left from a pass that was broken off
                break
        if result.ended:
            self._in_work[worker_id] = False
            self.out = {number: who for number, who in self.out.items() if who != worker_id}
            self._deal()
            return None
        del self.out[result.number]
        self._deal()
        return result

    def _deal(self) -> None:
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        worker_id = self._next_worker()
        if worker_id is None:
            return
        self._workers.send(worker_id, Task(self._epoch, self._dealt, indices))
        self.out[self._dealt] = worker_id
        self._dealt += 1

    def _next_worker(self) -> int | None:
        busy = list(self.out.values())
        for _ in range(self._workers.count):
            worker_id, self._turn = self._turn, (self._turn + 1) % self._workers.count
            if self._in_work[worker_id] and (
                self._workers.in_order or busy.count(worker_id) < self._workers.prefetch
            ):
                return worker_id
        return None


def _end(processes: list[Any], connections: list[Connection], owner: int, grace: float = GRACE) -> None:
    """End processes: by telling them, then by signals to those that go on nevertheless."""
    if os.getpid() != owner:  # a forked process has no say over its siblings
        return
    for connection in connections:
        with suppress(OSError):
            connection.send(None)
        connection.close()
    try:
        _join(processes, grace)
    finally:  # even where an interrupt ends the waiting
        for process in processes:
            if process.is_alive():
                process.terminate()
        _join(processes, _MOMENT)
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()
            process.close()
    processes.clear()
    connections.clear()


def _join(processes: list[Any], seconds: float) -> None:
    until = time.monotonic() + seconds
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
