"""The most of each GPU's memory that arrays took: CuPy's pool counts what is taken now, not what was.

From the first array on a GPU on, CuPy asks its pool through :class:`Peaks`,
which looks after each piece how much is taken: some tenths of a microsecond,
where the smallest operation takes ten.  A program that gives CuPy another
allocator of its own keeps it, and is told what is taken when it asks.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any


class Peaks:
    """Notes of the most memory that was taken of each GPU, since they were last forgotten."""

    def __init__(self, cupy: Any) -> None:
        self._runtime = cupy.cuda.runtime
        self._pool = cupy.get_default_memory_pool()
        self._used = self._pool.used_bytes
        self._take = self._pool.malloc
        self._allocated: dict[int, int] = defaultdict(int)
        self._reserved: dict[int, int] = defaultdict(int)
        if cupy.cuda.get_allocator() == self._take:
            cupy.cuda.set_allocator(self._malloc)

    def _malloc(self, size: int) -> Any:
        memory = self._take(size)
        gpu, used = self._runtime.getDevice(), self._used()
        if used > self._allocated[gpu]:
            self._allocated[gpu] = used
        return memory

    def allocated(self) -> int:
        """The most bytes that arrays took of the current GPU."""
        gpu = self._runtime.getDevice()
        self._allocated[gpu] = max(self._allocated[gpu], self._used())
        return self._allocated[gpu]

    def reserved(self) -> int:
        """The most bytes that the pool took of it: to be asked before these are given back."""
        gpu = self._runtime.getDevice()
        self._reserved[gpu] = max(self._reserved[gpu], self._pool.total_bytes())
        return self._reserved[gpu]

    def forget(self) -> None:
        """Begin again with what is taken of the current GPU now."""
        gpu = self._runtime.getDevice()
        self._allocated[gpu], self._reserved[gpu] = self._used(), self._pool.total_bytes()


_peaks: dict[str, Any] = {}


def note_peaks(cupy: Any) -> Peaks:
    """The notes of this ``cupy``; they begin with the first call."""
    if _peaks.get("of") is not cupy:
        _peaks.update({"of": cupy, "notes": Peaks(cupy)})
    return _peaks["notes"]
