"""What the tests of this folder compute with: the stand-in for CuPy, and CuPy itself where there is a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autokit.late_errors import wait
from tests.conftest import gpu_works
from tests.gpu import standin


@pytest.fixture(autouse=True)
def no_open_questions() -> Iterator[None]:
    """What a GPU found wrong after all is told by the test that did it."""
    yield
    wait()


ARRAYS: list[Any] = ["stand-in", *([pytest.param("CuPy", marks=pytest.mark.gpu)] if gpu_works() else [])]


@pytest.fixture(scope="module", params=ARRAYS)
def gpu(request: pytest.FixtureRequest) -> Iterator[str]:
    """``device="cuda"`` works; the value says through which arrays."""
    if request.param == "CuPy":
        yield request.param
        return
    with standin.installed():
        yield request.param
