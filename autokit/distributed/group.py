"""The processes that train together: who they are, and how no call leaves one of them waiting for ever.

Before arrays move, the ranks compare what each of them calls (:meth:`Group.agree`): calls or shapes that
differ raise an error on every rank. A wait has a time limit and can be interrupted. A rank that ends by an
error ends all others.
"""

from __future__ import annotations

import atexit
import builtins
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec
from types import FrameType, TracebackType
from typing import Any
from zlib import crc32

import numpy as np

_LIMIT = timedelta(minutes=30)
_pause: Callable[[], Any] = getattr(os, "sched_yield", lambda: time.sleep(0))

_group: Group | None = None


class Group:
    """All ranks of a program.

    Parameters
    ----------
    mpi : module
        ``mpi4py.MPI``.
    limit : float
        How many seconds a rank waits for others at most.

    Attributes
    ----------
    rank, size : int
        This process, counted from 0, and how many there are.
    data : mpi4py.MPI.Comm
        Carries the arrays.
    waited : float
        Seconds that this rank has spent waiting so far.
    """

    def __init__(self, mpi: Any, limit: float) -> None:
        self.mpi, self.limit, self.waited = mpi, limit, 0.0
        # The two never mix: what the ranks compare is no part of what they compute.
        self.data, self._control = mpi.COMM_WORLD.Dup(), mpi.COMM_WORLD.Dup()
        self.rank, self.size = self.data.rank, self.data.size
        self._apart = False
        self._lookouts: list[subprocess.Popen[bytes]] = []

    def wait(self, request: Any, call: str, status: Any = None) -> None:
        """Wait until MPI has done ``request``.

        Raises
        ------
        RuntimeError
            If that takes longer than the limit: another rank does not answer. Also if a wait before was
            given up or interrupted: the ranks stand at different calls, and would mix up their numbers.
        """
        if self._apart:
            raise RuntimeError(
                f"{call}: rank {self.rank} has left a call before the others came to it. Start all ranks "
                "anew; in a notebook, cluster.restart() does"
            )
        self._apart = True
        began = time.perf_counter()
        try:
            while not request.Test(status):
                if time.perf_counter() - began > self.limit:
                    raise RuntimeError(
                        f"{call}: rank {self.rank} has waited for {self.limit:g} s, and another rank does "
                        "not come to this call. init_process_group(timeout=) sets the limit"
                    )
                _pause()
            self._apart = False
        finally:
            self.waited += time.perf_counter() - began

    def agree(self, call: str) -> None:
        """Return when all ranks have come to the same call, in words that say shape and dtype too.

        Raises
        ------
        RuntimeError
            On every rank, if the ranks make different calls.
        """
        if self.size == 1:
            return
        mine, all_ = np.array([crc32(call.encode())], np.int64), np.empty(self.size, np.int64)
        self.wait(self._control.Iallgather(mine, all_), call)
        if (all_ != mine).any():
            calls = self._control.allgather(call)
            told = "; ".join(f"rank {rank}: {each}" for rank, each in enumerate(calls))
            raise RuntimeError(f"the ranks make different calls, where each waits for the others. {told}")

    def look_out(self) -> None:
        """Have it said which rank is gone, where the process is killed and cannot say so itself.

        A shell waits for the end of a pipe from this process. mpiexec kills the other ranks as soon as the
        socket of this one closes: the shell holds it open until it has written.
        """
        told = f"Rank {self.rank} of {self.size} is gone, killed or crashed: this ends all ranks"
        command = ["sh", "-c", 'read end || echo "$0" >&2', told]
        socket = int(os.environ["PMI_FD"])
        self._lookouts += [subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[socket])]

    def end_lookout(self) -> None:
        """From here on this process ends in order, or says itself why."""
        for shell in self._lookouts:
            shell.kill()
            shell.wait()

    def close(self) -> None:
        """Free what MPI holds for the group."""
        self.end_lookout()
        self.data.Free()
        self._control.Free()


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
) -> None:
    """Join the group of all processes that ``mpiexec`` has started, or be a group of one.

    Parameters
    ----------
    backend : {"mpi"}, optional
    init_method : optional
        Not used: MPI knows where the others are.
    timeout : datetime.timedelta, optional
        How long a rank waits for others at most; 30 minutes.
    world_size, rank : int, optional
        What the program expects, to be compared with what MPI says.

    Raises
    ------
    ValueError
        For another backend, another size or rank than MPI's, or a second group.
    ModuleNotFoundError
        Where the extra ``parallel`` is not installed.
    """
    global _group
    if backend not in (None, "mpi"):
        raise ValueError(
            f'init_process_group(): autokit has the backend "mpi", not {backend!r}. Write '
            'init_process_group("mpi"), and start the program by: mpiexec -n 4 python train.py'
        )
    if _group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    group = Group(_mpi(), (_LIMIT if timeout is None else timeout).total_seconds())
    for name, given, found in (("rank", rank, group.rank), ("world_size", world_size, group.size)):
        if given not in (-1, found):
            group.close()
            raise ValueError(f"init_process_group(): {name} is {given}, and MPI says {found}: leave it out")
    _group = group
    if group.size > 1 and sys.excepthook is not _end_all and not hasattr(builtins, "__IPYTHON__"):
        _end_together(group)


def _end_together(group: Group) -> None:
    """Let the end of this program, however it comes, reach the other ranks: none waits for ever."""
    if "PMI_FD" in os.environ:
        group.look_out()
    sys.excepthook = _end_all
    atexit.register(_leave)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, frame: FrameType | None) -> None:
    raise RuntimeError("the process was told to end, by SIGTERM")


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # the second where there is mpi4py, and no MPI
        raise ModuleNotFoundError(
            "torch.distributed runs on MPI, by mpi4py: in the folder of autokit, "
            'pip install ".[parallel]" brings both'
        ) from error
    return MPI


def _end_all(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error that ends this rank, and end the others, which would wait for it."""
    global _group
    group, _group = _group, None
    if group is None:
        sys.__excepthook__(kind, error, trace)
        return
    group.end_lookout()
    told = "".join(traceback.format_exception(kind, error, trace))
    sys.stdout.flush()
    print(f"Rank {group.rank} of {group.size} ends all ranks:\n{told}", end="", file=sys.stderr, flush=True)
    time.sleep(0.3)  # mpiexec drops what it has not read when a rank aborts
    group.mpi.COMM_WORLD.Abort(1)


def _leave() -> None:
    """At the end of the program: a rank that still waits for this one in another call hears of it."""
    if _group is None:
        return
    try:
        _group.agree("the end of the program")
        _group.end_lookout()
    except RuntimeError as error:
        _end_all(type(error), error, None)


def current(call: str) -> Group:
    """The group that :func:`init_process_group` has made.

    Raises
    ------
    ValueError
        If there is none; ``call`` is who asks.
    """
    if _group is None:
        raise ValueError(
            f"{call}: Default process group has not been initialized, please make sure to call "
            'init_process_group("mpi")'
        )
    return _group


def is_available() -> bool:
    """Whether mpi4py is installed."""
    return find_spec("mpi4py") is not None


def is_initialized() -> bool:
    """Whether this process has joined a group."""
    return _group is not None


def get_rank() -> int:
    """Which of the ranks this process is, counted from 0."""
    return current("get_rank()").rank


def get_world_size() -> int:
    """How many ranks there are."""
    return current("get_world_size()").size


def barrier() -> None:
    """Wait until all ranks have come here."""
    current("barrier()").agree("barrier()")


def destroy_process_group() -> None:
    """Leave the group, when all ranks have come here."""
    global _group
    group = current("destroy_process_group()")
    group.agree("destroy_process_group()")
    group.close()
    _group = None


def exchange(call: str, *numbers: float) -> np.ndarray:
    """What every rank gives for ``numbers``, a row for each rank; a single row without a group.

    Raises
    ------
    RuntimeError
        On every rank, if the ranks make different calls.
    """
    mine = np.array(numbers, np.float64)
    if _group is None or _group.size == 1:
        return mine[None]
    _group.agree(f"{call}, with {mine.size} numbers")
    rows = np.empty((_group.size, mine.size))
    _group.wait(_group.data.Iallgather(mine, rows), call)
    return rows


def waited() -> float:
    """How many seconds this process has spent waiting for other ranks so far."""
    return 0.0 if _group is None else _group.waited
