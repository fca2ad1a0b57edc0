"""The GPU that the stand-in pretends to have: its memory, streams and events."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PROPERTIES = {
    "name": b"a stand-in",
    "totalGlobalMem": 1 << 30,
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 1,
}


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


class Device:
    """The GPU."""

    id = 0

    def synchronize(self) -> None:
        """Nothing is ever left to do."""


class Stream:
    """A queue of work, which here is always empty."""

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None: ...

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None: ...

    def synchronize(self) -> None: ...


class Event:
    """A mark in the work of the GPU, which here is always reached."""

    done = True
    time = 0.0

    def __init__(self, block: bool = False, disable_timing: bool = False) -> None: ...

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter() * 1000

    def synchronize(self) -> None: ...


class Pool:
    """The GPU's memory: an array of more bytes than ``limit`` finds no room."""

    def __init__(self) -> None:
        self.used = self.kept = 0
        self.limit = 1 << 24

    def find(self, size: int) -> Memory:
        if size > self.limit:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
        return Memory(self, size)

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.kept

    def free_all_blocks(self) -> None:
        self.kept = self.used


class Memory:
    """A piece of the memory: in use as long as somebody holds it."""

    def __init__(self, pool: Pool, size: int) -> None:
        self.pool, self.size = pool, size
        pool.used += size
        pool.kept = max(pool.kept, pool.used)

    def __del__(self) -> None:
        self.pool.used -= self.size


POOL = Pool()


@contextmanager
def memory(size: int) -> Iterator[None]:
    """In this block no array of more than ``size`` bytes finds room."""
    before, POOL.limit = POOL.limit, size
    try:
        yield
    finally:
        POOL.limit = before
