"""Ends the processes of a cluster when the program that started it closes it or is gone, however it ended.

Runs as a program of its own: ``python watchdog.py CLUSTER_ID FOLDER``. Its standard input is a pipe from that
program, which the operating system closes even where the program was killed. It imports nothing of autokit.
"""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil


def processes(cluster_id: str) -> list[psutil.Process]:
    """The processes of this cluster: each inherits the environment that ipyparallel gave the first ones."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # gone meanwhile, or another user's
            if process.environ().get("IPP_CLUSTER_ID") == cluster_id:
                found.append(process)
    return found


def end(cluster_id: str) -> None:
    """End the processes of the cluster, and remove the memory that MPI's ranks shared."""
    shared: set[str] = set()
    while alive := processes(cluster_id):
        for process in alive:
            with suppress(psutil.Error, AttributeError):  # no memory_maps on macOS
                shared.update(part.path for part in process.memory_maps() if "mpich_shm" in part.path)
            with suppress(psutil.Error):
                process.kill()
        time.sleep(0.05)
    for path in shared:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.stdin.read()
    end(sys.argv[1])
    shutil.rmtree(sys.argv[2], ignore_errors=True)
