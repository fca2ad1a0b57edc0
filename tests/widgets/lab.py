"""A real JupyterLab, started in a folder of its own, and a notebook open in it.

``with running_lab(folder) as lab`` starts the server and surely ends it;
``lab.open(browser_context, name, cells)`` writes a notebook, opens it in a
page and waits until its kernel listens.  Nothing of the user's own Jupyter
set-up is read or written.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat

ROOT = Path(__file__).parents[2]
TOKEN = "tok"
LIVE_WIDGETS = """\
import autokit as ak
from autokit import nn, optim
from IPython.display import display
board = ak.playground(lambda a: a * a, a=(-2, 2))
race = ak.descent(lambda x, y: x * x + y * y, [optim.SGD], steps=5)
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
watch = ak.monitor(model, optim.SGD(model.parameters()))
explorer = ak.explore(model, ak.ones(1, 2))
display(board, race, watch, explorer)"""
"""A cell that shows one of each live widget."""
PATIENCE = 120
"""Seconds to wait for a server, a page or a kernel on a busy machine."""

_KERNEL_LISTENS = """() => {
  const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
  const kernel = session?.session?.kernel;
  return Boolean(session?.isReady && kernel?.status === "idle" && kernel?.connectionStatus === "connected");
}"""

_RUN_IN_LAST_CELL = """async (source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.length - 1;
  const cell = notebook.activeCell;
  cell.model.sharedModel.setSource(source);
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return cell.model.outputs.toJSON().map((out) => out.text ?? out.evalue ?? out.data["text/plain"])
    .flat().join("");
}"""


@dataclass
class Notebook:
    """A notebook that is open in a page; ``asked`` are the addresses that the page asked for."""

    page: Any
    asked: list[str] = field(default_factory=list)

    def run_all(self) -> None:
        """Run every cell, and wait until the kernel is done."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait_for_the_kernel()

    def run(self, source: str) -> str:
        """Run ``source`` in the last cell, and return the text that it put out."""
        return str(self.page.evaluate(_RUN_IN_LAST_CELL, source)).strip()

    def wait_for(self, expression: str, value: str) -> None:
        """Wait until ``print(expression)`` says ``value``: the kernel hears of changes when it is idle."""
        until = time.monotonic() + PATIENCE
        while (said := self.run(f"print({expression})")) != value and time.monotonic() < until:
            time.sleep(0.1)
        assert said == value

    def active_cell(self) -> int:
        """The number of the cell that the notebook's own keys would go to."""
        return int(self.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex"))

    def restart(self) -> None:
        """Restart the kernel, which then knows nothing of what the page shows; does not wait for it."""
        self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")

    def shut_down(self) -> None:
        """End the kernel."""
        self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def wait_for_the_kernel(self) -> None:
        """Wait until the kernel listens: the page's own idle mark comes too early."""
        self.page.wait_for_function(_KERNEL_LISTENS)

    def save(self) -> None:
        """Save the notebook."""
        self.command("docmanager:save")
        self.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")

    def command(self, name: str, **arguments: Any) -> None:
        """Execute one of JupyterLab's commands."""
        self.page.evaluate(
            "([name, arguments]) => window.jupyterapp.commands.execute(name, arguments).then(() => null)",
            [name, arguments],
        )

    def outside(self) -> list[str]:
        """The addresses asked for that are not this machine's."""
        return [url for url in self.asked if urlsplit(url).hostname not in (None, "127.0.0.1")]


@dataclass
class Lab:
    """A running JupyterLab that serves ``folder``."""

    url: str
    folder: Path
    path: str = "lab/tree"

    def open(self, context: Any, name: str, cells: Sequence[str]) -> Notebook:
        """Write the notebook ``name`` with these code cells, and open it in a new page of ``context``."""
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(book, self.folder / name)
        notebook = self.reopen(context, name)
        notebook.wait_for_the_kernel()  # a cell run before it listens opens a dialog
        return notebook

    def reopen(self, context: Any, name: str) -> Notebook:
        """Open the notebook ``name`` in a new page of ``context``, whether a kernel runs for it or not."""
        context.set_default_timeout(PATIENCE * 1000)
        notebook = Notebook(context.new_page())
        notebook.page.on("request", lambda request: notebook.asked.append(request.url))
        notebook.page.on("websocket", lambda socket: notebook.asked.append(socket.url))
        notebook.page.goto(f"{self.url}/{self.path}/{name}?reset&token={TOKEN}")
        notebook.page.wait_for_selector(".jp-CodeCell .cm-content")
        return notebook


@contextmanager
def running_lab(folder: Path, app: str = "jupyterlab") -> Iterator[Lab]:
    """Start JupyterLab, or the ``app`` "notebook", on a free port; end it with its kernels.

    All its settings lie in ``folder``.
    """
    work, settings = folder / "work", folder / "jupyter"
    work.mkdir(parents=True)
    announcements = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "config" / "labconfig").mkdir(parents=True)
    (settings / "config" / "labconfig" / "page_config.json").write_text(json.dumps(announcements))
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(settings / "config"),
        "JUPYTER_DATA_DIR": str(settings / "data"),
        "JUPYTER_RUNTIME_DIR": str(settings / "runtime"),
        "IPYTHONDIR": str(settings / "ipython"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
    port = _free_port()
    classes = {"jupyterlab": "LabApp", "notebook": "JupyterNotebookApp"}
    command = [
        *(sys.executable, "-m", app, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
        *(f"--ServerApp.root_dir={work}", f"--{classes[app]}.expose_app_in_browser=True"),
    ]
    log = folder / f"{app}.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, env=environment, cwd=work, stdout=output, stderr=output, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_it_answers(server, url, log)
            yield Lab(url, work, "lab/tree" if app == "jupyterlab" else "notebooks")
        finally:
            _end(server)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api?token={TOKEN}", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError(f"The server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _end(server: subprocess.Popen[bytes]) -> None:
    # Asked kindly it ends its kernels too; killed, the kernels see their parent gone and end themselves.
    for kill in (signal.SIGTERM, signal.SIGKILL):
        if server.poll() is None:
            os.killpg(server.pid, kill)
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                continue
