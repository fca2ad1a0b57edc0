"""Programs on several ranks, started by the mpiexec that the extra ``parallel`` brings."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil

from tests.support import ROOT, require

require("mpi4py")


PROGRAMS = Path(__file__).parent / "programs"


def lives(pid: int | str) -> bool:
    """Whether there is a process of that number, which has not ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    return False


def run(
    count: int, program: str, *arguments: str, limit: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``program``, a file of :data:`PROGRAMS`, on ``count`` ranks, one thread each.

    Parameters
    ----------
    limit : float
        Seconds after which the test fails.
    """
    folder = Path(sys.executable).parent
    mpiexec = shutil.which("mpiexec", path=f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert mpiexec, "the wheel of mpich brings mpiexec"
    return subprocess.run(
        [mpiexec, "-n", str(count), sys.executable, str(PROGRAMS / program), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def passes(count: int, program: str, *arguments: str, **environment: str) -> str:
    """What ``program`` prints on ``count`` ranks; it must succeed on all."""
    done = run(count, program, *arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
