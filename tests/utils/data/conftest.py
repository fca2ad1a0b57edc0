"""The tests of workers leave nothing behind."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest

from tests.utils.data.processes import left


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    """No process, open file or shared memory block outlives a test."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # spawn leaves one running until the program ends
    before = left()
    yield
    for _ in range(30):  # on a busy machine PyTorch's own threads close their pipes a moment later
        if left() == before:
            return
        gc.collect()
        time.sleep(0.1)
    assert left() == before
