"""Collectives give what NumPy computes of the numbers of all ranks."""

from __future__ import annotations

import pytest

from tests.distributed.ranks import passes


@pytest.mark.parametrize("count", [2, 4])
def test_collectives_against_numpy(count: int) -> None:
    assert passes(count, "collectives.py").count("all right") == count
