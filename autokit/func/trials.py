"""The trials of a sweep: a function called with every setting of a grid and every seed, and what it gave.

A trial runs in a process of its own, so that it may die.
"""

from __future__ import annotations

import inspect
import itertools
import json
import multiprocessing.connection
import os
import pickle
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from autokit.base import doors
from autokit.base.generator import manual_seed
from autokit.base.settings import set_num_threads

Row = dict[str, Any]
Job = tuple[dict[str, Any], int]
"""A setting and a seed."""


@dataclass(frozen=True)
class Sweep:
    """The trials of a sweep.  Made by :func:`sweep`; see there.

    Attributes
    ----------
    title : str
        How many trials of which function there are.
    rows : list of dict
        For each trial ``setting``, ``seed``, ``value``, ``curve``, ``seconds`` and ``error``: None, or the
        traceback of a trial that failed; its value is NaN.
    mode : {"min", "max"}
        Which value is best.
    """

    title: str
    rows: list[Row]
    mode: str

    def settings(self) -> list[tuple[dict[str, Any], list[Row]]]:
        """Each setting with the rows of its seeds."""
        found: dict[str, tuple[dict[str, Any], list[Row]]] = {}
        for row in self.rows:
            found.setdefault(key(row["setting"]), (row["setting"], []))[1].append(row)
        return list(found.values())

    @property
    def best(self) -> dict[str, Any]:
        """The setting whose mean value over its seeds is the best; one with NaN or a failure is never."""
        means = [(mean_of(rows), setting) for setting, rows in self.settings()]
        finite = [each for each in means if np.isfinite(each[0])]
        if not finite:
            raise ValueError(f"no setting has a finite value for each of its seeds; {self.title}")
        return (min if self.mode == "min" else max)(finite, key=lambda each: each[0])[1]

    def figure(self) -> Any:
        """A line for each setting, and for two settings a heatmap, as a matplotlib figure."""
        return doors.sweep(self)

    def __repr__(self) -> str:
        lines = [self.title]
        for setting, rows in self.settings():
            spread = f" ± {np.std([row['value'] for row in rows], ddof=1):.2g}" if len(rows) > 1 else ""
            lines.append(f"{in_words(setting)}: {mean_of(rows):.4g}{spread}")
            lines += [
                f"    seed {row['seed']}: {row['error'].splitlines()[-1]}" for row in rows if row["error"]
            ]
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return doors.sweep_bundle(self)


def mean_of(rows: list[Row]) -> float:
    """The mean value of a setting's seeds; NaN where one has failed."""
    return float(np.mean([row["value"] for row in rows]))


def in_words(setting: dict[str, Any]) -> str:
    """A setting in a line.

    >>> in_words({"lr": 0.1, "width": 16})
    'lr=0.1, width=16'
    """
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def jobs_of(train: Callable[..., Any], grid: Mapping[str, Iterable[Any]], seeds: Any) -> list[Job]:
    """Every setting with every seed."""
    columns = {name: list(values) for name, values in grid.items()}
    seeds = list(range(seeds) if isinstance(seeds, int) else seeds)
    if not columns or not all(columns.values()) or not seeds:
        raise ValueError(f"sweep() needs settings with values, and a seed: got {columns}, seeds {seeds}")
    settings = [dict(zip(columns, values)) for values in itertools.product(*columns.values())]
    with suppress(ValueError):  # a function of C has no signature
        inspect.signature(train).bind(**settings[0])
    if len({key(setting) for setting in settings}) < len(settings):
        raise ValueError(f"sweep(): two values of a setting are written alike in a file: {columns}")
    return [(setting, seed) for setting in settings for seed in seeds]


def plain(value: Any) -> Any:
    """What JSON has no form for, in one: a number of NumPy's as Python's, a function by its name."""
    return value.item() if hasattr(value, "item") else getattr(value, "__qualname__", repr(value))


def key(*values: Any) -> str:
    """What tells a setting or a trial from others."""
    return json.dumps(values, default=plain, sort_keys=True)


def head_of(train: Callable[..., Any], grid: Mapping[str, Iterable[Any]]) -> Row:
    """The first line of a file of trials: which function they call, its source as a checksum, and how."""
    source = ""
    with suppress(OSError, TypeError):  # there is none of a function of C
        source = inspect.getsource(train)
    name = getattr(train, "__name__", type(train).__name__)
    return {"sweep": name, "source": crc32(source.encode()), "settings": sorted(grid)}


def rows_in(file: BinaryIO, head: Row) -> dict[str, Row]:
    """The finished trials in a file, whose last line is cut where a killed run left but a part of it."""
    file.seek(0)
    text, lines, end = file.read() or json.dumps(head).encode() + b"\n", [], 0
    for line in text.splitlines(keepends=True):
        try:
            lines.append(json.loads(line if line.endswith(b"\n") else b""))
        except ValueError:
            if end + len(line) < len(text) or not lines:
                raise ValueError(f"{file.name}, line {len(lines) + 1}: this is no row of a sweep") from None
            break
        end += len(line)
    if lines[0] != head:
        raise ValueError(f"{file.name} holds another sweep, {lines[0]}; this is {head}: name another file")
    if not file.tell():
        file.write(text)
    file.truncate(end)
    return {key(row["setting"], row["seed"]): row for row in lines[1:] if row["error"] is None}


def run_trial(train: Any, job: Job) -> Row:
    """Set the seeds, train, and return the row but for setting and seed; ``train`` may be pickled."""
    setting, seed = job
    manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    began = time.perf_counter()
    try:
        function = pickle.loads(train) if isinstance(train, bytes) else train
        curve = _numbers(function(**setting))
    except (Exception, SystemExit):
        return failed(traceback.format_exc())
    return {"value": curve[-1], "curve": curve, "seconds": time.perf_counter() - began, "error": None}


def failed(error: str) -> Row:
    """The row of a trial that has no value, but for setting and seed."""
    return {"value": float("nan"), "curve": [], "seconds": float("nan"), "error": error}


def _numbers(returned: Any) -> list[float]:
    """What a training returns as a list: a number, or several."""
    with suppress(TypeError, ValueError, RuntimeError):
        single = not hasattr(returned, "__len__") or getattr(returned, "ndim", 1) == 0
        if curve := [float(each) for each in ([returned] if single else returned)]:
            return curve
    raise TypeError(f"train() returns a number or a list of numbers, not {returned!r:.200}")


class Processes:
    """A process of this machine for each trial, as many at a time as there are processors."""

    def __init__(self, train: Callable[..., Any]) -> None:
        self.count, self._train = os.cpu_count() or 1, train
        self.running: dict[Any, tuple[Job, Any]] = {}
        self._context = multiprocessing.get_context("fork")  # which takes over what a notebook has defined

    def start(self, job: Job) -> None:
        """Begin a trial."""
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_in_process, args=(theirs, self._train, job))
        process.start()
        theirs.close()
        self.running[ours] = job, process

    def finished(self) -> Iterator[tuple[Job, Row]]:
        """Wait for trials that have ended."""
        pipes: list[Any] = multiprocessing.connection.wait(list(self.running))
        for pipe in pipes:
            job, process = self.running.pop(pipe)
            outcome = None
            with pipe, suppress(EOFError):  # nothing came, and nothing will
                outcome = pipe.recv()
            process.join()
            yield job, outcome or failed(f"Its process ended with exit code {process.exitcode}.")

    def stop(self) -> None:
        """End the trials that run."""
        for _, process in self.running.values():
            process.kill()
            process.join()


def _in_process(results: Any, train: Any, job: Job) -> None:
    """Run a trial in a process of its own, which ends with the program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program ends it
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    set_num_threads(1)
    results.send(run_trial(train, job))
