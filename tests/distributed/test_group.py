"""The group of ranks: who they are, what one process hears, and that no error leaves a rank waiting."""

from __future__ import annotations

import re
import time

import pytest

import autokit
from autokit import distributed as dist
from autokit.distributed import group
from tests.distributed.ranks import lives, run
from tests.support import printed_by


def test_without_a_group_each_call_says_what_to_write() -> None:
    assert dist.is_available() and not dist.is_initialized()
    for call in (dist.get_rank, dist.get_world_size, dist.barrier):
        with pytest.raises(ValueError, match=rf"{call.__name__}.*has not been initialized.*\"mpi\""):
            call()
    with pytest.raises(ValueError, match=r'the backend "mpi", not \'gloo\'.*mpiexec -n 4 python'):
        dist.init_process_group("gloo", rank=0, world_size=1)
    assert group.exchange("a test", 1.0, 2.0).tolist() == [[1.0, 2.0]] and group.waited() == 0


def test_a_group_of_one() -> None:
    with pytest.raises(ValueError, match="world_size is 4, and MPI says 1"):
        dist.init_process_group("mpi", world_size=4)
    dist.init_process_group("mpi", rank=0, world_size=1)
    try:
        assert (dist.get_rank(), dist.get_world_size()) == (0, 1)
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("mpi")
        x = autokit.tensor([1.0, 2.0])
        dist.all_reduce(x, op=dist.ReduceOp.AVG)
        dist.barrier()
        assert x.tolist() == [1.0, 2.0]
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    told = printed_by(
        "import sys\n"
        "sys.modules['mpi4py'] = None\n"
        "import autokit.distributed as dist\n"
        "try: dist.init_process_group('mpi')\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    assert 'pip install ".[parallel]"' in told and "\n" not in told.strip()


ENDS = {
    "raise": r"Rank 1 of 2 ends all ranks:\nTraceback[\s\S]*RuntimeError: broken here",
    "kill": "Rank 1 of 2 is gone, killed or crashed",
    "terminate": r"Rank 1 of 2 ends all ranks:\nTraceback[\s\S]*by SIGTERM",
    "exit": r"rank 0: all_reduce\(.*\) of \[3\] float32; rank 1: the end of the program",
    "call": r"rank 0: barrier\(\); rank 1: all_reduce",
    "late": r"RuntimeError: barrier\(\): rank 0 has waited for 0\.5 s",
    "backward": r"RuntimeError: Expected to have finished reduction.*: 1\.weight, 1\.bias",
    "uneven": r"rank 0: a forward pass of Dist\w+; rank 1: the end of the program",
}


@pytest.mark.parametrize("how", ENDS)
def test_an_end_of_one_rank_is_the_end_of_all(how: str) -> None:
    began = time.monotonic()
    done = run(2, "ends.py", how, limit=20)
    assert done.returncode != 0
    assert re.search(ENDS[how], done.stderr + done.stdout), done.stderr + done.stdout
    while any(map(lives, re.findall(r"pid (\d+)", done.stdout))):
        assert time.monotonic() - began < 10
