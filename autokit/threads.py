"""Pieces of one operation on several threads at once.

NumPy lets other threads run while it computes, but computes on one thread
itself.  :func:`each` shares the pieces of a large array among a few threads;
what is compiled is shared by :mod:`autokit.ops.team`, which is much quicker.
The pieces are the same ones however many threads there are, each is written
by one thread and no piece depends on another: so the numbers do not depend on
the threads either.

The threads are started when they are first needed, and again after a fork,
which takes none of them along.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import copy_context
from itertools import count
from threading import Lock
from typing import Any

FEWEST = 4
"""Pieces from which it pays to wake other threads."""


def available() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class _Helpers:
    """The threads beside the one that asks: how many there may be, and the pool of those that run."""

    wanted = available()
    pool: Any = None
    lock = Lock()


def set_count(threads: int) -> None:
    """Use up to ``threads`` threads, the asking one among them."""
    with _Helpers.lock:
        pool, _Helpers.pool = _Helpers.pool, None
        _Helpers.wanted = threads
    if pool is not None:
        pool.shutdown(wait=False)


def get_count() -> int:
    """How many threads an operation may use; at first one for each core."""
    return _Helpers.wanted


def _forget() -> None:
    """In a forked process: the threads stayed behind, and with them whoever held the lock."""
    _Helpers.pool, _Helpers.lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _started() -> Any:
    with _Helpers.lock:
        if _Helpers.pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _Helpers.pool = ThreadPoolExecutor(max(_Helpers.wanted - 1, 1), "autokit")
        return _Helpers.pool


def each(work: Callable[[Any], object], pieces: Sequence[Any]) -> None:
    """Call ``work`` with each of ``pieces``, in any order and on several threads where there are many.

    What one of them raises is raised here, when no thread works any more.
    """
    helpers = min(_Helpers.wanted, len(pieces)) - 1
    if helpers < 1 or len(pieces) < FEWEST:
        for piece in pieces:
            work(piece)
        return
    places = count()  # one after the other to whoever asks next

    def take() -> None:
        while (place := next(places)) < len(pieces):
            work(pieces[place])

    tasks: list[Any] = []
    try:
        pool = _started()
        for _ in range(helpers):  # each with the settings of the asking thread, such as np.errstate
            tasks.append(pool.submit(copy_context().run, take))
    except RuntimeError:  # no threads here, or none any more as the program ends: what there is does it
        pass
    try:
        take()
    finally:
        for _ in range(len(pieces)):  # after an error nobody begins another piece
            next(places)
        for task in tasks:
            if not task.cancel():  # one that has not begun is not needed
                task.result()
