"""What the tests of workers share: a dataset that they look into, and what processes leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autokit.utils import data
from tests.support import ROOT


class Squares(data.Dataset):
    """``seen`` is called in the worker with each index."""

    def __init__(self, size: int = 10, seen: Callable[[int], Any] = lambda index: None) -> None:
        self.size, self.seen = size, seen

    def __getitem__(self, index: int) -> tuple[int, float]:
        self.seen(index)
        return index, float(index**2)

    def __len__(self) -> int:
        return self.size


class Stream(data.IterableDataset):
    """Of each worker's own numbers, as many as ``lengths`` says."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths

    def __iter__(self) -> Iterator[int]:
        worker = data.get_worker_info()
        assert worker is not None and worker.dataset is self
        return iter(range(100 * worker.id, 100 * worker.id + self.lengths[worker.id]))


def numbers(loader: Any) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in loader]


def children() -> set[int]:
    """The processes that this one has started, zombies included."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def left() -> tuple[set[int], int, set[str]]:
    """Processes, open files and blocks of shared memory."""
    blocks = {name for name in os.listdir("/dev/shm") if "mpich" not in name}  # other tests' ranks
    return children(), len(os.listdir("/proc/self/fd")), blocks


def program(text: str, *arguments: str) -> subprocess.Popen[str]:
    """The program ``text``, started in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # its processes form a group, which a terminal's Ctrl-C goes to
    )
