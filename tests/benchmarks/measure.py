"""How times are measured: by turns, each library's shortest, or in processes of their own."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIBRARIES = {"autokit": "autokit", "PyTorch": "torch"}

Job = Callable[[], object]


def in_each(make: Callable[[Any], Job]) -> dict[str, Job]:
    """What ``make(torch)`` gives with each library that is installed."""
    jobs = {}
    for name, module in LIBRARIES.items():
        with suppress(ImportError):
            torch = importlib.import_module(module)
            for part in ("nn", "optim", "utils.data"):
                importlib.import_module(f"{module}.{part}")
            torch.manual_seed(0)
            jobs[name] = make(torch)
    return jobs


def best_times(jobs: dict[str, Job], rounds: int = 15, seconds: float = 0.02) -> dict[str, float]:
    """The shortest time of each job, in seconds.

    The jobs take turns, so that a machine that slows down slows down all of them; the shortest time is the
    one least disturbed.
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


def row(title: str, times: dict[str, float], wanted: float | None = None, also: str = "") -> str:
    """A row of the table in Markdown: autokit's time, its ratio to PyTorch's and the wanted one."""
    own = times["autokit"]
    ratios = [f"{own / each:.2f} of {name}" for name, each in times.items() if name != "autokit"]
    beside = "; ".join([*ratios, also] if also else ratios)
    return f"| {title} | {own * 1e6:.0f} µs | {beside} | {wanted or ''} |"


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Give NumPy's products and PyTorch ``count`` threads each."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(count):
        with suppress(ImportError):
            importlib.import_module("torch").set_num_threads(count)
        yield


def in_a_process(*arguments: str) -> list[str]:
    """The lines that ``python`` with these arguments prints; if it fails, its last words too."""
    # As on a learner's machine: compiled once, and loaded compiled from then on.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment)
    lines = done.stdout.strip().splitlines()
    return lines + done.stderr.strip().splitlines()[-3:] if done.returncode else lines


def numbers_of(program: str, runs: int) -> list[float]:
    """The least of each of the numbers that ``program`` prints, over some runs in fresh processes."""
    in_a_process("-c", program)  # compiles
    found = [map(float, in_a_process("-c", program)[-1].split()) for _ in range(runs)]
    return [min(each) for each in zip(*found)]
