"""A cluster of processes in a notebook: IPython Parallel's engines, the ranks of one MPI program."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
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
    profile : str or None
        That which it was connected to.
    """

    client: Any = None
    _started: Any = None

    def __init__(self, n: int | None, profile: str | None, threads: int, ip: str) -> None:
        self.profile, self._n = profile, n or (1 if profile else os.cpu_count() or 1)
        try:
            self._connect() if profile else self._start(threads, ip)
            self._wait()
        except BaseException:
            self.close()
            raise

    def _start(self, threads: int, ip: str) -> None:
        """Start a controller and engines, and before them who ends them."""
        from ipyparallel import Cluster as Processes
        from traitlets.config import Config

        config, folder = Config(), tempfile.mkdtemp(prefix="autokit-cluster-")  # which nobody else can enter
        config.MPILauncher.mpi_cmd = [_mpiexec()]
        config.LocalProcessLauncher.stop_seconds_until_kill = 1
        # UCX, by which MPICH's ranks talk, would listen on all networks.
        environment = {**dict.fromkeys(_THREADS, str(threads)), "UCX_NET_DEVICES": "lo"}
        config.MPIEngineSetLauncher.environment = environment
        options: Any = {"controller_ip": ip, "profile_dir": folder, "delay": 0, "log_level": logging.WARNING}
        # In place of its own end at exit there is the watchdog, after a SIGKILL too.
        started = Processes(engines="mpi", config=config, shutdown_atexit=False, **options)
        self._started = started
        command = [sys.executable, "-P", watchdog.__file__, started.cluster_id, folder]
        self._watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        started.start_cluster_sync(self._n)
        self.client = started.connect_client_sync()

    def _connect(self) -> None:
        """Connect to the cluster of a profile that runs."""
        from ipyparallel import Client

        try:
            self.client = Client(profile=self.profile, timeout=3)
        except OSError as error:
            how = f"`ipcluster start --profile={self.profile} -n 8` in a terminal starts it"
            raise ConnectionError(f"no cluster of the profile {self.profile} runs: {how}. {error}") from None

    def _wait(self) -> None:
        """Wait for the engines, and let ``%%px`` run on all of them; in a program there are no cells."""
        from IPython import get_ipython

        self.client.wait_for_engines(self._n, timeout=_PATIENCE, interactive=False)
        if shell := get_ipython():
            view = self.client[:]
            view.block = True
            view.activate()
            # No bar of progress for a day: it has a clock, and a notebook shows the same on every run.
            shell.run_line_magic("pxconfig", "--progress-after=86400")

    def restart(self) -> None:
        """Start all engines anew, as where one has died; what they held is lost.

        Raises
        ------
        RuntimeError
            If the cluster is a profile's, which whoever started it has to start again.
        """
        if self._started is None:
            raise RuntimeError(f"{self!r} was not started here: start it anew where it was started")
        self._started.restart_engines_sync()
        self._wait()

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
        where = f"of the profile {self.profile}" if self.profile else "on this machine"
        return f"Cluster({len(self)} rank{'s' * (len(self) != 1)} {where})"


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
