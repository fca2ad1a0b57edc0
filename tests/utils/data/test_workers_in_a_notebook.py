"""Workers in a notebook's kernel: datasets from its cells, its interrupt button, what workers print."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import require

require("jupyter_client")
require("ipykernel")

if sys.platform != "linux":
    pytest.skip("needs Linux, where workers are forked", allow_module_level=True)

ROOT = Path(__file__).parents[3]
PATIENCE = 120


class Kernel:
    """A kernel to run cells in."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager, self.client = manager, client

    def run(self, source: str) -> str:
        """What a cell prints; for an exception its name."""
        return self.result(self.client.execute(source))

    def result(self, request: str) -> str:
        printed = []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                printed.append(content["text"])
            elif message["msg_type"] == "error":
                printed.append(content["ename"])
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                return "".join(printed)

    def interrupt(self, source: str) -> str:
        """What a cell prints that is interrupted when it has printed its first words."""
        request = self.client.execute(source)
        printed = ""
        while not printed:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "stream":
                printed = message["content"]["text"]
        time.sleep(0.3)
        self.manager.interrupt_kernel()
        return printed + self.result(request)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(ROOT), startup_timeout=PATIENCE)
    try:
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


DATASET = """
import multiprocessing, time
from autokit.utils.data import DataLoader, Dataset

class Here(Dataset):
    def __init__(self, slow_from=100):
        self.slow_from = slow_from
    def __getitem__(self, index):
        if index >= self.slow_from:
            time.sleep(600)
        return index
    def __len__(self):
        return 6
"""


def test_a_dataset_that_a_cell_defines(kernel: Kernel):
    assert kernel.run(DATASET) == ""
    loading = "print([batch.tolist() for batch in DataLoader(Here(), batch_size=2, num_workers=2)])"
    assert kernel.run(loading) == "[[0, 1], [2, 3], [4, 5]]\n"
    assert kernel.run("print(multiprocessing.active_children())") == "[]\n"


def test_the_interrupt_button(kernel: Kernel):
    waiting = (
        DATASET + "for batch in DataLoader(Here(slow_from=2), num_workers=2): print(batch.item(), flush=True)"
    )
    printed = kernel.interrupt(waiting)
    assert printed.startswith("0\n") and printed.endswith("KeyboardInterrupt")
    assert kernel.run("print(multiprocessing.active_children())") == "[]\n"
    assert kernel.run("print(len(list(DataLoader(Here(), num_workers=2))))") == "6\n"
