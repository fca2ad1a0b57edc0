"""How the tests run: reproducible property tests, one browser, GPU tests only where there is a GPU."""

from __future__ import annotations

import os

# A test has one of the processors: a second thread would wait for it, here and in every kernel and server.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import settings

from tests.support import chromium_path, gpu_works, require

# A test on a busy machine may be slow, so no example has a deadline; CI draws the same examples each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not gpu_works():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a GPU that CuPy can use: pip install -e '.[gpu]'"))
    if not (os.environ.get("CI") or (find_spec("ipyparallel") and find_spec("mpi4py"))):
        for item in items:
            if item.path.name.startswith("18-"):  # a lesson with cells that run on several ranks
                item.add_marker(pytest.mark.skip(reason="needs MPI ranks: pip install -e '.[parallel]'"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, one for the session: Playwright runs but once in a process."""
    require("playwright")
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
