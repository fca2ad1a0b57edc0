"""The GPUs that the stand-in pretends to have: two, each with its memory, streams and events.

CuPy computes on the *current* device of the thread.  A kernel that meets an
array of another one reads it across the bus and leaves its result on the
current device, with a warning, or raises where the GPUs do not reach each
other; here they do not, so that no mistake goes unseen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

COUNT = 2

MEMORY = 1 << 24
"""An array of more bytes than that is refused, as by a GPU that is full; see :func:`memory`."""

PROPERTIES = {
    "name": b"a stand-in",
    "totalGlobalMem": 1 << 30,
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 1,
}


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


@contextmanager
def memory(size: int) -> Iterator[None]:
    """In this block no array of more than ``size`` bytes finds room."""
    global MEMORY
    before, MEMORY = MEMORY, size
    try:
        yield
    finally:
        MEMORY = before


later: list[Callable[[], None]] = []
"""Copies to the CPU that nobody waited for: they are made when somebody waits."""


def catch_up() -> None:
    """Do what was told, as a GPU has when the program waits for it."""
    while later:
        later.pop(0)()


class _Current(threading.local):
    number = 0
    streams: tuple[Any, ...] = ()


_current = _Current()


def current() -> int:
    """The number of the GPU that computes."""
    return _current.number


def check_device(arrays: Iterable[Any]) -> None:
    """Raise CuPy's error unless all ``arrays`` are on the GPU that computes."""
    for each in arrays:
        if each.place != _current.number:
            raise ValueError(
                f"The device where the array resides ({each.place}) is different from the current device "
                f"({_current.number}). Peer access is unavailable between these devices."
            )


class Device:
    """One of the GPUs; in a ``with`` block it computes."""

    compute_capability = "90"

    def __init__(self, number: int | None = None) -> None:
        self.id = _current.number if number is None else number
        self._before: list[int] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __enter__(self) -> Device:
        self._before.append(_current.number)
        self.use()
        return self

    def __exit__(self, *error: object) -> None:
        _current.number = self._before.pop()

    def use(self) -> None:
        if not 0 <= self.id < COUNT:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        _current.number = self.id

    def synchronize(self) -> None:
        catch_up()


class Stream:
    """A queue of work, which here is always empty; it belongs to the GPU that computed when it was made."""

    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, priority: int | None = None) -> None:
        self.device_id = -1 if null else _current.number
        self.priority = priority

    def __enter__(self) -> Stream:
        self.check()
        _current.streams = (*_current.streams, self)
        return self

    def __exit__(self, *error: object) -> None:
        _current.streams = _current.streams[:-1]

    def check(self) -> None:
        if self.device_id not in (-1, _current.number):
            raise RuntimeError(f"a stream of device {self.device_id} while {_current.number} is current")

    def synchronize(self) -> None: ...

    def wait_event(self, event: Event) -> None: ...


Stream.null = Stream(null=True)


def current_stream(device_id: int = -1) -> Stream:
    """The stream of that GPU, or of the current one, that is told to work."""
    wanted = _current.number if device_id < 0 else device_id
    return next((s for s in reversed(_current.streams) if s.device_id == wanted), Stream.null)


class Event:
    """A mark in the work of the GPU that computed when it was made, which here is always reached."""

    done = True
    time = 0.0

    def __init__(self, block: bool = False, disable_timing: bool = False) -> None:
        self.device_id = _current.number

    def record(self, stream: Any = None) -> None:
        (Stream.null if stream is None else stream).check()
        if self.device_id != _current.number:
            raise RuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        self.time = time.perf_counter() * 1000

    def synchronize(self) -> None:
        catch_up()


taken, kept = [0] * COUNT, [0] * COUNT
"""The bytes of each GPU that arrays take, and these with what was freed and is kept for others."""


class Memory:
    """A piece of the memory of the GPU that computes: taken as long as somebody holds it."""

    def __init__(self, size: int) -> None:
        self.size, self.place = -(-size // 512) * 512, _current.number
        taken[self.place] += self.size
        kept[self.place] = max(kept[self.place], taken[self.place])

    def __del__(self, taken: list[int] = taken) -> None:  # when Python ends, the file's names are gone
        taken[self.place] -= self.size


class Pool:
    """The memory of each GPU; who asks is told of the one that computes."""

    def malloc(self, size: int) -> Memory:
        if size > MEMORY:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
        return Memory(size)

    def used_bytes(self) -> int:
        return taken[_current.number]

    def total_bytes(self) -> int:
        return kept[_current.number]

    def free_all_blocks(self) -> None:
        kept[_current.number] = taken[_current.number]


POOL = Pool()
_allocators: list[Callable[[int], Any]] = [POOL.malloc]


def get_allocator() -> Callable[[int], Any]:
    """What finds memory for arrays: ``cupy.cuda.get_allocator``."""
    return _allocators[0]


def set_allocator(allocator: Callable[[int], Any] | None) -> None:
    """Let ``allocator`` find memory from now on; the pool for None."""
    _allocators[0] = POOL.malloc if allocator is None else allocator
