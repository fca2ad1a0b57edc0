"""Training on several ranks is training on one with all of the data."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import numpy as np
import pytest

import autokit as torch
from autokit import distributed as dist
from autokit import nn
from tests.distributed.ranks import PROGRAMS, passes
from tests.oracle import pytorch


def test_any_number_of_ranks_learns_the_same(tmp_path: Path) -> None:
    learned = []
    for count in (1, 2, 4):
        passes(count, "training.py", str(tmp_path / f"{count}.npy"), str(tmp_path / f"{count}.pt"))
        learned.append(np.load(tmp_path / f"{count}.npy"))
    np.testing.assert_allclose(learned[1], learned[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(learned[2], learned[0], rtol=1e-5, atol=1e-6)
    saved = torch.load(tmp_path / "4.pt")  # by rank 0 of four, for any number
    np.testing.assert_array_equal(
        np.concatenate([each.numpy().ravel() for each in saved.values()]), learned[2]
    )


def test_a_tutorials_program_prints_what_it_prints_in_pytorch(tmp_path: Path) -> None:
    source = (PROGRAMS / "tutorial.txt").read_text("utf-8")
    ours = re.sub(r"\bimport torch$", "import autokit as torch", source, flags=re.M)
    ours = re.sub(r"^(import|from) torch\b", r"\1 autokit", ours, flags=re.M).replace('"gloo"', '"mpi"')
    (tmp_path / "train.py").write_text(ours, "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    wanted = passes(2, "tutorial.txt", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    assert passes(2, str(tmp_path / "train.py")) == wanted and wanted.count("\n") == 4


@pytest.mark.parametrize("drop_last", [False, True])
def test_the_samplers_order_is_pytorchs(drop_last: bool) -> None:
    for count, ranks, epoch in ((10, 4, 0), (3, 4, 2), (12, 3, 5)):
        shares = []
        for rank in range(ranks):
            given = {"num_replicas": ranks, "rank": rank, "seed": 3, "drop_last": drop_last}
            ours = torch.utils.data.DistributedSampler(range(count), **given)
            theirs = pytorch.utils.data.DistributedSampler(range(count), **given)
            for each in (ours, theirs):
                each.set_epoch(epoch)
            assert list(ours) == list(theirs) and len(ours) == len(theirs)
            shares += list(ours)
        assert drop_last or set(shares) == set(range(count))
    with pytest.raises(ValueError, match="Invalid rank 4"):
        torch.utils.data.DistributedSampler(range(9), num_replicas=4, rank=4)


def test_what_cannot_train_together_is_told() -> None:
    with pytest.raises(ValueError, match=r"DistributedDataParallel\(\).*has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
    dist.init_process_group("mpi")
    try:
        with pytest.raises(RuntimeError, match="doesn't have any parameters that require a gradient"):
            nn.parallel.DistributedDataParallel(nn.ReLU())
    finally:
        dist.destroy_process_group()
