"""A cell with a widget that runs again and again: in a real kernel, nothing that it has replaced remains."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import require

require("anywidget")

SETUP = """\
import gc, os
import autokit as ak
from ipywidgets.widgets.widget import _instances
a = ak.tensor(2.0, requires_grad=True)
kept = ak.animate(a * a)
def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""
CELL = "player = ak.animate((a * a + a) ** 2)\nplayer"


@pytest.fixture
def run() -> Any:
    """A function that runs a cell of this name and returns what it prints."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()

    def run(code: str, cell: str) -> str:
        said = []
        message = client.session.msg(
            "execute_request", {"code": code, "silent": False}, metadata={"cellId": cell}
        )
        client.shell_channel.send(message)
        while True:
            answer = client.get_iopub_msg(timeout=60)
            content = answer["content"]
            if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            assert answer["msg_type"] != "error", content
            said.append(content.get("text", ""))
            if content.get("execution_state") == "idle":
                return "".join(said).strip()

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_cell_that_runs_again_lets_go_of_the_player_before(run: Any) -> None:
    run(SETUP, "setup")
    run("kept", "another")
    for _ in range(10):
        run(CELL, "cell")
    widgets, before = map(int, run("print(len(_instances), memory())", "asked").split())
    for _ in range(200):
        run(CELL, "cell")
    after, now = map(int, run("print(len(_instances), memory())", "asked").split())
    assert after == widgets
    assert now - before < 20e6
    assert run("print(kept.comm is not None, player.comm is not None)", "asked") == "True True"
