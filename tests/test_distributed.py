"""``torch.distributed`` with one process: scripts that ask first run, and the others hear why they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from autokit import distributed, nn
from autokit.utils.data import DataLoader
from autokit.utils.data.distributed import DistributedSampler
from tests.support import require


def test_a_script_that_asks_runs():
    assert not distributed.is_available() and not distributed.is_initialized()


def test_what_needs_a_group_of_processes_says_so():
    with pytest.raises(RuntimeError, match=r"one process.*without torchrun"):
        distributed.init_process_group(backend="gloo")
    for call in (distributed.get_rank, distributed.get_world_size, distributed.barrier):
        with pytest.raises(ValueError, match=f"{call.__name__}.*has not been initialized"):
            call()
    with pytest.raises(ValueError, match="train the model as it is"):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="give num_replicas and rank"):
        DistributedSampler(range(3))
    with pytest.raises(ValueError, match="Invalid rank 2"):
        DistributedSampler(range(3), 2, 2)


@given(st.integers(1, 12), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 3))
def test_the_share_of_each_process_is_pytorchs(
    count: int, replicas: int, shuffle: bool, drop_last: bool, epoch: int
):
    require("torch")
    from torch.utils.data.distributed import DistributedSampler as Theirs

    for rank in range(replicas):
        pair = [
            kind(range(count), replicas, rank, shuffle, seed=7, drop_last=drop_last)
            for kind in (DistributedSampler, Theirs)
        ]
        for each in pair:
            each.set_epoch(epoch)
        assert list(pair[0]) == list(pair[1]) and len(pair[0]) == len(pair[1])


def test_a_loader_takes_the_share():
    data = autokit.arange(6)
    batches = DataLoader(data, batch_size=2, sampler=DistributedSampler(data, 2, 1, shuffle=False))
    assert [batch.tolist() for batch in batches] == [[1, 3], [5]]
