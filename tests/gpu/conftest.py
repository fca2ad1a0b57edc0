"""What the tests of this folder compute with: the stand-in for CuPy, and CuPy itself where there is a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.gpu import standin
from tests.support import gpu_works

ARRAYS: list[Any] = ["stand-in", *([pytest.param("CuPy", marks=pytest.mark.gpu)] if gpu_works() else [])]


@pytest.fixture(scope="module", params=ARRAYS)
def gpu(request: pytest.FixtureRequest) -> Iterator[str]:
    """``device="cuda"`` works; the value says through which arrays."""
    if request.param == "CuPy":
        yield request.param
        return
    with standin.installed():
        yield request.param
