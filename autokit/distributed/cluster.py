"""A cluster of processes in a notebook: IPython Parallel's engines, the ranks of one MPI program."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from importlib.util import find_spec
from typing import Any

from autokit.distributed import watchdog

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_PATIENCE = 120.0
"""For how many seconds engines are waited for."""


class Cluster:
    """Engines that run cells together.  Made by :func:`cluster`; see there.

    Attributes
    ----------
    client : ipyparallel.Client
        The connection to the engines, with all that IPython Parallel offers.
    hosts : Counter
        How many engines there are on each machine.
    """

    client: Any = None
    _started: Any = None

    def __init__(self, n: int | None, profile: str | None, threads: int, ip: str) -> None:
        self.profile = profile
        try:
            if profile is None:
                self._start(os.cpu_count() or 1 if n is None else n, threads, ip)
            else:
                self._connect(n or 1)
            self.hosts = Counter(self.client[:].apply_sync(platform.node))
            self._activate()
        except BaseException:
            self.close()
            raise

    def _start(self, n: int, threads: int, ip: str) -> None:
        """Start a controller and ``n`` engines, and before them who ends them."""
        from ipyparallel import Cluster as Processes
        from traitlets.config import Config

        folder = tempfile.mkdtemp(prefix="autokit-cluster-")  # which nobody else can enter
        config = Config()
        config.MPILauncher.mpi_cmd = [_mpiexec()]
        # UCX, by which MPICH's ranks talk, would listen on all networks.
        environment = {**dict.fromkeys(_THREADS, str(threads)), "UCX_NET_DEVICES": "lo"}
        config.MPIEngineSetLauncher.environment = environment
        self._started = Processes(
            n=n,
            engines="mpi",
            controller_ip=ip,
            profile_dir=folder,
            config=config,
            delay=0,
            shutdown_atexit=False,  # the watchdog does that, after a SIGKILL too
            log_level=logging.WARNING,
        )
        command = [sys.executable, "-P", watchdog.__file__, self._started.cluster_id, folder]
        self._watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self._started.start_cluster_sync()
        self.client = self._started.connect_client_sync()
        self.client.wait_for_engines(n, timeout=_PATIENCE, interactive=False)

    def _connect(self, n: int) -> None:
        """Connect to the cluster of a profile that runs, and wait for ``n`` of its engines."""
        from ipyparallel import Client

        try:
            self.client = Client(profile=self.profile, timeout=3)
        except OSError as error:
            raise ConnectionError(
                f"no cluster of the profile {self.profile!r} runs: start it in a terminal with "
                f"`ipcluster start --profile={self.profile} -n 8`. {error}"
            ) from None
        self.client.wait_for_engines(n, timeout=_PATIENCE, interactive=False)

    def _activate(self) -> None:
        """Let ``%%px`` run on all engines; in a program there are no cells."""
        from IPython import get_ipython

        if shell := get_ipython():
            view = self.client[:]
            view.block = True
            view.activate()
            # A bar of progress has a clock, and a notebook shows the same on every run.
            shell.run_line_magic("pxconfig", "--progress-after=-1")

    def restart(self) -> None:
        """Start all engines anew, as where one has died; what they held is lost.

        Raises
        ------
        RuntimeError
            If the cluster is a profile's, which whoever started it has to start again.
        """
        if self._started is None:
            raise RuntimeError(f"{self!r} was not started here: start it anew where it was started")
        n = self._started.n
        self._started.restart_engines_sync()
        self.client.wait_for_engines(n, timeout=_PATIENCE, interactive=False)
        self._activate()

    def close(self) -> None:
        """End the engines and the controller; leave those of a profile. May be called twice."""
        if self.client is not None:
            self.client.close()
            self.client = None
        if self._started is not None:
            self._started.log.setLevel(logging.CRITICAL)  # that they end is no news
            self._watchdog.communicate()
            self._started = None

    def __len__(self) -> int:
        return 0 if self.client is None else len(self.client)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.client is None:
            return "Cluster(closed)"
        where = ", ".join(f"{count} on {host}" for host, count in self.hosts.items())
        of = f" of {self.profile}" if self.profile else ""
        return f"Cluster({len(self)} rank{'s' * (len(self) != 1)}{of}: {where})"


def cluster(
    n: int | None = None, profile: str | None = None, *, threads: int = 1, ip: str = "127.0.0.1"
) -> Cluster:
    """Start processes that run a notebook's cells together, as the ranks of one MPI program.

    A cell that begins with ``%%px`` runs on all of them, in the notebook's working directory; there
    ``torch.distributed.init_process_group("mpi")`` makes them one group. An interrupt reaches them; where it
    left ranks at different calls, :meth:`Cluster.restart` starts them anew. They end with
    :meth:`Cluster.close`, with a ``with`` statement, and with the program, also where its kernel is restarted
    or killed. Processes and connections are IPython Parallel's, and MPI is mpi4py's.

    Parameters
    ----------
    n : int, optional
        How many; left out, as many as there are processors.
    profile : str, optional
        Connect to the running cluster of this profile of IPython's, as on Slurm, instead of starting one;
        then ``n`` is how many engines to wait for, and :meth:`Cluster.close` leaves them running.
    threads : int
        How many threads each engine has for products of matrices.
    ip : str
        Where the controller listens; the loopback is reached from this machine alone. Messages are signed
        by a key that only files of yours hold.

    Returns
    -------
    Cluster

    Raises
    ------
    ModuleNotFoundError
        If the extra ``parallel`` is missing.
    ValueError
        If ``n`` or ``threads`` is less than 1.
    ConnectionError
        If no cluster of the profile runs.
    TimeoutError
        If the engines do not come within two minutes.

    Examples
    --------
    >>> import autokit as ak
    >>> with ak.cluster(2) as cluster:  # doctest: +SKIP
    ...     print(cluster.client[:].apply_sync(sum, [1, 2]))
    [3, 3]
    """
    missing = [name for name in ("ipyparallel", "mpi4py") if find_spec(name) is None]
    if missing or (profile is None and not _mpiexec()):
        raise ModuleNotFoundError(
            f"ak.cluster() needs {' and '.join(missing) or 'mpiexec'}, which comes with "
            'pip install ".[parallel]" in the folder of autokit'
        )
    for name, value in (("n", n), ("threads", threads)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"ak.cluster(): {name} must be a whole number of 1 or more, got {value!r}")
    return Cluster(n, profile, threads, ip)


def _mpiexec() -> str:
    """The program that starts MPI's ranks: that beside this Python, else the system's; empty where none is.

    MPICH's ``gforker`` starts them on this machine alone, and opens no port for that.
    """
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    names = ("mpiexec.gforker", "mpiexec")
    return next((found for name in names if (found := shutil.which(name, path=places))), "")
