"""How the tests run: reproducible property tests, and GPU tests only where there is a GPU."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A test on a busy machine may be slow, so no example has a deadline; CI draws the same examples each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not gpu_works():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a GPU that CuPy can use: pip install -e '.[gpu]'"))


def gpu_works() -> bool:
    """Whether CuPy finds a GPU."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no CuPy, no driver, no device: each raises a type of its own
        return False
