"""``torch.distributed`` with one process: scripts that ask first run, and the others hear why they do not."""

from __future__ import annotations

import pytest

from autokit import distributed


def test_a_script_that_asks_runs():
    assert not distributed.is_available() and not distributed.is_initialized()


def test_what_needs_a_group_of_processes_says_so():
    with pytest.raises(RuntimeError, match=r"one process.*without torchrun"):
        distributed.init_process_group(backend="gloo")
    for call in (distributed.get_rank, distributed.get_world_size, distributed.barrier):
        with pytest.raises(ValueError, match=f"{call.__name__}.*has not been initialized"):
            call()
