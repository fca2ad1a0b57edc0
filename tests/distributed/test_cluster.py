"""A cluster in a real kernel: cells on all ranks, errors, interrupts, the loopback, nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import autokit
from tests.distributed.ranks import lives
from tests.support import ROOT, printed_by, require

require("ipyparallel")

Run = Callable[..., str]

START = """
import autokit as torch
cluster = torch.cluster({n})
print(cluster, cluster.client.cluster.profile_dir)
"""
SUM = """%%px
import os
import autokit as torch
import autokit.distributed as dist
dist.init_process_group("mpi")
x = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(x)
print(f"rank {dist.get_rank()} has {x.tolist()}, {os.environ['OPENBLAS_NUM_THREADS']} thread, {os.getcwd()}")
"""
MONITORED = """%%px
from autokit import nn, optim
model = nn.Linear(1, 1)
with torch.monitor(model, optim.SGD(model.parameters(), lr=0.1), total=4) as watch:
    for step in range(4):
        watch.step(dist.get_rank() + 0.5)
"""
WAITS = """%%px
if dist.get_rank() == 1:
    raise ValueError("broken here")
dist.barrier()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Run]]:
    """A kernel in a folder of its own, without mpiexec in its PATH; and what gives the output of a cell."""
    from jupyter_client.manager import start_new_kernel

    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    manager, client = start_new_kernel(cwd=str(folder), env=environment)

    def run(cell: str, interrupt_at: str = "") -> str:
        shown: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            told = content.get("text") or content.get("data", {}).get("text/plain", "")
            shown.append(told or "\n".join(content.get("traceback", [])))
            if interrupt_at and interrupt_at in shown[-1]:
                manager.interrupt_kernel()

        client.execute_interactive(cell, timeout=60, output_hook=hear)
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(shown))

    yield manager, run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def started(kernel: tuple[Any, Run], n: int) -> tuple[Path, list[psutil.Process]]:
    """The folder of a new cluster of ``n`` ranks, and the processes that the kernel has started for it."""
    manager, run = kernel
    said = run(START.format(n=n))
    found = re.search(rf"Cluster\({n} ranks? on this machine\) (\S+)", said)
    assert found and "%|" not in said, said
    family = psutil.Process(manager.provisioner.pid).children(recursive=True)
    assert len(family) > 2 * n + 3
    return Path(found[1]), family


def ends(folder: Path, family: list[psutil.Process]) -> None:
    """Wait until nothing is left: no process, no file, no shared memory of theirs."""
    began = time.monotonic()
    while folder.exists() or (left := [process for process in family if lives(process.pid)]):
        assert time.monotonic() - began < 10, left
        time.sleep(0.05)


def test_cells_run_on_all_ranks_and_a_restart_leaves_nothing(kernel: tuple[Any, Run]) -> None:
    manager, run = kernel
    folder, family = started(kernel, 2)
    placed, here = run(SUM), run("import os; print(os.getcwd())").strip()
    assert run("%px import time; time.sleep(2.2)").strip() == ""  # no bar of progress, which comes after 2 s
    for rank in range(2):
        assert f"rank {rank} has [3.0], 1 thread, {here}" in placed, placed

    said = run(MONITORED)
    assert said.count("After 4 steps of 4 the loss is") == 1, said  # rank 0 shows it, for all
    assert re.search(r"Ranks\nrank +loss +computing +waiting\n0 +0\.5 .*\n1 +1\.5 ", said), said

    family = psutil.Process(manager.provisioner.pid).children(recursive=True)
    shared = {part.path for process in family for part in process.memory_maps() if "mpich" in part.path}
    sockets = [socket for process in family for socket in process.net_connections("inet")]
    listening = [socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN]
    assert len(listening) > 10 and set(listening) == {"127.0.0.1"}
    files = [*(folder / "security").glob("ipcontroller*")]
    assert len(files) == 2 and stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert re.search(r'"key": "[\w-]{20,}"', file.read_text())

    began = time.monotonic()
    said = run(WAITS, interrupt_at="broken here")  # which rank 0 waits for
    assert re.search(r"\[1:execute\][\s\S]*ValueError: broken here", said), said
    while not {"[stdout:0]", "[stdout:1]"} <= set(run("%px print('free')").split()):
        assert time.monotonic() - began < 10
    assert re.search(r"\[0:execute\][\s\S]*left a call.*cluster.restart\(\)", run("%px dist.barrier()"))

    manager.restart_kernel(now=False)
    ends(folder, family)
    assert any(path.startswith("/dev/shm") for path in shared)
    assert not any(Path(path).exists() for path in shared if path.startswith("/dev/shm"))


def test_a_profile_is_connected_to_and_a_kernel_that_is_killed_leaves_nothing(
    kernel: tuple[Any, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, family = started(kernel, 1)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    security = tmp_path / "profile_slurm" / "security"
    security.mkdir(parents=True)
    with pytest.raises(ConnectionError, match="ipcluster start --profile=slurm"):
        autokit.cluster(profile="slurm")
    (connection,) = (folder / "security").glob("*-client.json")
    shutil.copy(connection, security / "ipcontroller-client.json")
    with autokit.cluster(profile="slurm") as cluster:
        assert repr(cluster) == "Cluster(1 rank of the profile slurm)" and len(cluster) == 1
        assert cluster.client[0].apply_sync(os.getpid) in [process.pid for process in family]
        with pytest.raises(RuntimeError, match="was not started here"):
            cluster.restart()
    assert repr(cluster) == "Cluster(closed)" and len(cluster) == 0
    assert folder.exists() and all(lives(process.pid) for process in family)

    manager, _ = kernel
    psutil.Process(manager.provisioner.pid).kill()
    ends(folder, family)


def test_what_is_missing_and_what_is_wrong_is_said_in_one_sentence() -> None:
    told = printed_by(
        "import sys\n"
        "sys.modules['ipyparallel'] = None\n"
        "import autokit\n"
        "try: autokit.cluster(2)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    assert 'pip install ".[parallel]"' in told and told.count("\n") == 1
    for wrong in (0, -1, 1.5, "two"):
        with pytest.raises(ValueError, match=rf"n must be a whole number.*{wrong!r}"):
            autokit.cluster(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads must be"):
        autokit.cluster(1, threads=0)
