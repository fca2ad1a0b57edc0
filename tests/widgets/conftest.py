"""A real browser for the tests of the widgets: a fresh context for each page, and a JupyterLab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autokit.graphs.model import Timeline
from autokit.widgets.script import player_js
from tests.support import require
from tests.widgets import timelines
from tests.widgets.lab import Lab, running_lab
from tests.widgets.pages import open_file


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A real JupyterLab, one for the session."""
    require("jupyterlab")
    with running_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture(scope="session")
def notebook7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A real Notebook 7, one for the session."""
    require("notebook")
    with running_lab(tmp_path_factory.mktemp("notebook7"), app="notebook") as server:
        yield server


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Call it with a context's options for a page; the page's errors fail the test at its end."""
    contexts, errors = [], []

    def open_page(**options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1000, "height": 800}, **options})
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def module_page(open_page: Callable[..., Any]) -> Any:
    """An empty page with the module as ``window.player``, and a ``makeModel`` that counts its listeners."""
    page = open_page()
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          window.player = await import(url);
          window.makeModel = (traits) => {
            const listeners = new Map();
            return {
              get: (name) => traits[name],
              set(name, value) {
                if (traits[name] === value) return;
                traits[name] = value;
                for (const call of [...(listeners.get("change:" + name) ?? [])]) call();
              },
              save_changes() { throw new Error("the kernel is dead"); },
              on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
              off: (event, call) => listeners.set(event, listeners.get(event).filter((c) => c !== call)),
              listening: () => [...listeners.values()].flat().length,
            };
          };
        }""",
        player_js(),
    )
    return page


@pytest.fixture
def story() -> Timeline:
    return timelines.product()


@pytest.fixture
def page(open_page: Callable[..., Any], story: Timeline, tmp_path: Path) -> Any:
    """The story's exported file, opened from disk, with the player focused."""
    return open_file(open_page(), story, tmp_path)
