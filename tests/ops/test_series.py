"""Numbers in a row, to the last digit: how PyTorch counts decides it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import require

require("torch")
import torch  # noqa: E402

import autokit  # noqa: E402

REAL = ["float16", "float32", "float64"]
ENDS = st.floats(-50, 50).map(lambda number: round(number, 6))
COUNTS = st.integers(0, 200) | st.sampled_from([15, 16, 17, 32_767, 32_769, 70_001])


@pytest.fixture(autouse=True)
def one_thread():
    """Of several threads of PyTorch's each begins anew, wherever its part begins."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _both(name: str, dtype: str, *arguments: float) -> tuple[np.ndarray, np.ndarray]:
    return tuple(  # type: ignore[return-value]
        getattr(library, name)(*arguments, dtype=getattr(library, dtype)).numpy()
        for library in (autokit, torch)
    )


@pytest.mark.parametrize("dtype", REAL)
@given(start=ENDS, step=st.sampled_from([0.1, 0.01, 1 / 3, 0.7]) | st.floats(0.01, 2), count=COUNTS)
def test_arange_has_the_last_digit_of_pytorchs(dtype: str, start: float, step: float, count: int):
    ours, theirs = _both("arange", dtype, start, start + step * count, step)
    # Some processors round start + step · n once, and others twice: float64, and float32 that is all but 0.
    rtol = 1e-15 if dtype == "float64" else 0
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-15 * (abs(start) + step * count))


@pytest.mark.parametrize("dtype", [*REAL, "int32", "int64"])
@given(start=ENDS, end=ENDS, count=COUNTS)
def test_linspace_has_the_last_digit_of_pytorchs(dtype: str, start: float, end: float, count: int):
    ours, theirs = _both("linspace", dtype, start, end, count)
    if dtype == "float64":
        np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-13)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", REAL)
@given(start=st.floats(-3, 3), end=st.floats(-3, 3), count=st.integers(0, 200))
def test_logspace_is_pytorchs_but_for_the_last_digit(dtype: str, start: float, end: float, count: int):
    ours, theirs = _both("logspace", dtype, start, end, count)
    np.testing.assert_allclose(ours, theirs, rtol=16 * np.finfo(dtype).eps)
