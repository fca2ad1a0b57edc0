"""A sweep: a training with every setting of a grid and several seeds, on a cluster or in processes here."""

from __future__ import annotations

import json
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import nullcontext, suppress
from typing import Any

from autokit.distributed.cluster import Cluster
from autokit.func import trials
from autokit.func.trials import Job, Row, Sweep


def sweep(
    train: Callable[..., Any],
    grid: Mapping[str, Iterable[Any]],
    seeds: int | Iterable[int] = 1,
    file: str | os.PathLike[str] | None = None,
    cluster: Cluster | None = None,
    mode: str = "min",
) -> Sweep:
    """Train with every setting of a grid and every seed, several at a time, and compare.

    Each trial calls ``manual_seed(seed)``, ``numpy.random.seed(seed)`` and ``random.seed(seed)`` and then
    ``train(**setting)``, so it is the same wherever and whenever it runs, and the same by hand. A trial that
    raises, or whose process dies, is a row with its traceback, and the others go on. An interrupt ends the
    trials that run, and gives those that are done.

    Parameters
    ----------
    train : callable
        Returns the value to compare, or a list of values, as of the losses, whose last is compared.
    grid : dict
        For each keyword of ``train`` the values to try.
    seeds : int or iterable of int
        How many seeds, counted from 0, or which.
    file : path-like, optional
        Each row goes into this file of JSON lines as it comes. Trials that are there already are read and
        do not run again, except those that failed.
    cluster : Cluster, optional
        Where to run, one trial at a time on each engine; left out, in processes of this machine, one for each
        processor, which are forked, so not on Windows. If an engine dies, the engines are started anew, and
        the trials that ran are run again at the end, one by one; one that ends its engine then, too, has
        failed.
    mode : {"min", "max"}
        Whether the lowest value is the best, as of losses, or the highest.

    Returns
    -------
    Sweep
        Prints as a table of means and standard deviations over the seeds; a notebook shows its figure.

    Raises
    ------
    ValueError
        If the grid or the seeds are empty, or ``file`` is no sweep's, or that of another function, one
        whose source has changed, or another grid.
    TypeError
        If ``train`` does not take these keywords.

    Examples
    --------
    >>> import autokit as ak
    >>> def train(lr):
    ...     w = ak.randn(())
    ...     return [float(w := w * (1 - 2 * lr)) ** 2 for step in range(20)]
    >>> found = ak.sweep(train, {"lr": [0.1, 0.4]}, seeds=2)
    >>> found.best, len(found.rows)
    ({'lr': 0.4}, 4)
    """
    if mode not in ("min", "max"):
        raise ValueError(f'sweep(): mode is "min" or "max", not {mode!r}')
    stopped = ""
    jobs = trials.jobs_of(train, grid, seeds)
    head = trials.head_of(train, grid)
    with nullcontext() if file is None else open(file, "a+b") as kept:
        rows = {} if kept is None else trials.rows_in(kept, head)
        waiting = [job for job in jobs if trials.key(*job) not in rows]
        workers: Any = trials.Processes(train) if cluster is None else _Engines(train, cluster)
        try:
            for (setting, seed), outcome in _outcomes(workers, waiting, len(jobs)):
                line = json.dumps({"setting": setting, "seed": seed, **outcome}, default=trials.plain)
                rows[trials.key(setting, seed)] = json.loads(line)
                if kept is not None:
                    kept.write(line.encode() + b"\n")
                    kept.flush()
        except KeyboardInterrupt:
            stopped = ", stopped"
        finally:
            workers.stop()
    done = [rows[known] for job in jobs if (known := trials.key(*job)) in rows]
    read = f", {len(jobs) - len(waiting)} of them read from the file" if len(waiting) < len(jobs) else ""
    return Sweep(f"{head['sweep']}: {len(done)} of {len(jobs)} trials{read}{stopped}", done, mode)


def _outcomes(workers: Any, jobs: list[Job], total: int) -> Iterator[tuple[Job, Row]]:
    """What becomes of each job, as it comes; None of a worker is a job whose engine died."""
    waiting, suspects, again = deque(jobs), deque[Job](), list[Job]()
    with _bar(total, total - len(jobs)) as bar:
        while waiting or suspects or workers.running:
            while waiting and len(workers.running) < workers.count:
                workers.start(waiting.popleft())
            if suspects and not workers.running:  # alone, so that who ends an engine now is known
                workers.start(suspects.popleft())
            for job, outcome in workers.finished():
                if outcome is None and job not in again:
                    again.append(job)
                    suspects.append(job)
                    continue
                yield job, outcome or trials.failed("Its engine died, and once more when it ran alone.")
                if bar is not None:
                    bar.update()


def _bar(total: int, done: int) -> Any:
    """A bar of the progress; none where tqdm is missing."""
    with suppress(ModuleNotFoundError):
        from tqdm.auto import tqdm

        return tqdm(total=total, initial=done, unit="trial")
    return nullcontext()


class _Engines:
    """The engines of a cluster, with a trial on each at a time."""

    def __init__(self, train: Callable[..., Any], cluster: Cluster) -> None:
        import cloudpickle

        self._packed = cloudpickle.dumps(train)  # with the variables of the notebook that it uses
        self.running: dict[Any, Job] = {}
        self._cluster = cluster
        self._connect()

    def _connect(self) -> None:
        self.count = len(self._cluster)
        if not self.count:
            raise RuntimeError(f"sweep(): {self._cluster} has no engines; ak.cluster() starts some")
        self._view = self._cluster.client.load_balanced_view()

    def start(self, job: Job) -> None:
        """Begin a trial on an engine that has none."""
        self.running[self._view.apply_async(trials.run_trial, self._packed, job)] = job

    def finished(self) -> Iterator[tuple[Job, Row | None]]:
        """Wait for trials that have ended; where an engine has died, all that ran have no outcome."""
        from ipyparallel.error import RemoteError

        futures.wait(self.running, 0.2, futures.FIRST_COMPLETED)
        died = len(self._cluster) < self.count
        for result in [each for each in self.running if each.ready()]:
            try:
                outcome = result.get()
            except RemoteError as error:
                if error.ename not in ("EngineError", "KeyboardInterrupt"):
                    raise  # as where autokit is not installed there
                outcome, died = None, True
            yield self.running.pop(result), outcome
        if died:
            if self._cluster.profile is None:  # mpiexec ends the other engines, too
                yield from ((job, None) for job in self.running.values())
                self.running.clear()
                self._cluster.restart()
            self._connect()

    def stop(self) -> None:
        """Interrupt the trials that run."""
        if self.running:
            self._cluster.client.send_signal(signal.SIGINT, block=True)
