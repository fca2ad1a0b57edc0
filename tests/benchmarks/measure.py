"""Timing two or more ways of doing one job so that they can be compared."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from autokit.backends import numba

Job = Callable[[], object]

WAYS = {"autokit": False, "with Numba": True} if numba.is_available() else {"autokit": False}
"""How autokit computes large arrays, and whether its compiled loops are on then."""


def ways_of(job: Job) -> dict[str, Job]:
    """``job`` by NumPy alone and, where Numba is installed, with compiled loops."""
    return {way: _with(enabled, job) for way, enabled in WAYS.items()}


def _with(enabled: bool, job: Job) -> Job:
    def run() -> object:
        with numba.flags(enabled=enabled):
            return job()

    return run


def row(title: str, times: dict[str, float], said: str = "") -> str:
    """A row of the table in Markdown: autokit's time, its ratios to the others', and what is ``said``."""
    own, compiled = times.pop("autokit"), times.pop("with Numba", None)
    took = f"{own * 1e6:.0f} µs"
    parts = [f"{own / time:.2f} of {name}" for name, time in times.items()]
    if compiled is not None:
        took += f"; with Numba {compiled * 1e6:.0f} µs"
        if "PyTorch" in times:
            parts[list(times).index("PyTorch")] += f" (with Numba {compiled / times['PyTorch']:.2f})"
    return f"| {title} | {took} | {'; '.join([*parts, said] if said else parts)} |"


def best_times(jobs: dict[str, Job], rounds: int = 15, seconds: float = 0.02) -> dict[str, float]:
    """The shortest time of each job, in seconds.

    The jobs take turns, so that a machine that slows down slows down all of
    them; the shortest time is the one least disturbed.
    """
    repeats = {}
    for name, job in jobs.items():
        job()
        started = time.perf_counter()
        job()
        repeats[name] = max(1, int(seconds / max(time.perf_counter() - started, 1e-9)))
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            started = time.perf_counter()
            for _ in range(repeats[name]):
                job()
            best[name] = min(best[name], (time.perf_counter() - started) / repeats[name])
    return best


def best_process_times(programs: dict[str, str], rounds: int = 9) -> dict[str, float]:
    """The shortest time of each program in a fresh Python process, in seconds."""
    # As on a learner's machine: compiled once, and loaded compiled from then on.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for program in programs.values():
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=settings)
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(rounds):
        for name, program in programs.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=settings)
            best[name] = min(best[name], time.perf_counter() - started)
    return best


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Give autokit, NumPy's products and PyTorch ``count`` threads each."""
    from threadpoolctl import threadpool_limits

    libraries = [importlib.import_module("autokit")]
    with suppress(ImportError):
        libraries.append(importlib.import_module("torch"))
    before = [library.get_num_threads() for library in libraries]
    with threadpool_limits(count):
        for library in libraries:
            library.set_num_threads(count)
        yield
    for library, own in zip(libraries, before):
        library.set_num_threads(own)
