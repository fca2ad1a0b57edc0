"""The threads that go through compiled loops together, and how they are woken.

After each job a helper goes on looking at the board for a third of a
millisecond, since the next operation of a program often follows at once.
Between any two looks it lets other programs have the processor; where it finds
that it has the core of the asking thread itself, it rests.  Then it sleeps, and
is woken by the first job for which it pays to have one more thread.

One job is on the board at a time, and who asks meanwhile works alone.  The
threads are started when they are first needed, and again after a fork, which
takes none of them along.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Sequence
from threading import Lock, Thread
from typing import Any

import numpy as np

from autokit.ops.shared_loops import SIZE, Shared, helping
from autokit.threads import get_count

LOOKS = 1000
"""How often a helper looks for the next job before it goes to sleep."""

REST = 0.01
"""Seconds for which a helper rests that has the core of the asking thread."""

PIECES = 2
"""So many for each thread make it worth to wake it."""


class Team:
    """The threads beside the one that asks, and their board.

    Parameters
    ----------
    size : int
        How many helpers there may be.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.board = np.zeros(SIZE, np.int64)
        self.asking = Lock()
        self.number = 0
        self.helpers: list[Thread] = []
        self.asleep: list[Any] = []
        self.closed = False

    def run(self, loop: Shared, step: int, arguments: Sequence[Any], helpers: int) -> None:
        """Run ``loop`` on this thread and so many ``helpers``; on this one alone where the board is taken."""
        if not self.asking.acquire(blocking=False):
            run_alone(loop, step, arguments)
            return
        try:
            self._wake(helpers)
            self.number += 1
            loop.run(self.board, self.number, step, arguments)
        finally:
            self.asking.release()

    def _wake(self, helpers: int) -> None:
        while len(self.helpers) - len(self.asleep) < helpers:
            if self.asleep:
                self.asleep.pop().release()
            elif len(self.helpers) < self.size and not self.closed:
                helper = Thread(target=self._help, name="autokit", daemon=True)
                try:
                    helper.start()
                except RuntimeError:  # no more threads here, or none any more as the program ends
                    return
                self.helpers.append(helper)
            else:
                return

    def _help(self) -> None:
        awake = Lock()
        awake.acquire()
        while not self.closed:
            if helping(self.board, LOOKS):
                time.sleep(REST)
            self.asleep.append(awake)
            awake.acquire()

    def close(self) -> None:
        """Send the helpers home."""
        with self.asking:
            self.closed = True
        for helper in self.helpers:
            while helper.is_alive():
                while self.asleep:
                    self.asleep.pop().release()
                helper.join(REST)


def run_alone(loop: Shared, step: int, arguments: Sequence[Any]) -> None:
    """Run ``loop`` on this thread."""
    loop.run(np.zeros(SIZE, np.int64), 1, step, arguments)


class _Current:
    """The team of this process."""

    team: Team | None = None
    lock = Lock()


def share(loop: Shared, pieces: int, step: int, arguments: Sequence[Any]) -> None:
    """Run ``loop`` on as many threads as it pays for so many ``pieces``, of ``step`` places each."""
    count = get_count()
    helpers = min(count, pieces // PIECES) - 1
    if helpers < 1:
        run_alone(loop, step, arguments)
        return
    team = _Current.team
    if team is None or team.size != count - 1:
        team = _renewed(count - 1)
    team.run(loop, step, arguments, helpers)


def _renewed(size: int) -> Team:
    with _Current.lock:
        before = _Current.team
        if before is not None and before.size == size:
            return before
        _Current.team = made = Team(size)
    if before is not None:
        before.close()
    return made


def _forget() -> None:
    """In a forked process: the threads stayed behind."""
    _Current.team, _Current.lock = None, Lock()


@atexit.register
def _end() -> None:
    if _Current.team is not None:
        _Current.team.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
