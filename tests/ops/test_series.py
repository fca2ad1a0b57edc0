"""Numbers in a row, to the last digit: how PyTorch counts decides it."""

from __future__ import annotations

import math

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


def _both(name: str, dtype: str, *arguments: complex) -> tuple[np.ndarray, np.ndarray]:
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


BASES = st.sampled_from([10.0, 2.0, 0.5, math.e, 0.1, 3.0, 0.0, -2.0, math.inf])


@pytest.mark.parametrize("dtype", REAL)
@given(start=st.floats(-9, 9), end=st.floats(-9, 9), count=st.integers(0, 200), base=BASES)
def test_logspace_has_the_last_digit_of_pytorchs(
    dtype: str, start: float, end: float, count: int, base: float
):
    np.testing.assert_array_equal(*_both("logspace", dtype, start, end, count, base))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
@given(start=st.integers(0, 2), end=st.integers(0, 2), count=st.integers(0, 200))
def test_logspace_of_integers_cuts_off_what_pytorch_cuts_off(dtype: str, start: int, end: int, count: int):
    np.testing.assert_array_equal(*_both("logspace", dtype, start, end, count))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
@given(start=st.complex_numbers(max_magnitude=3), end=st.complex_numbers(max_magnitude=3), count=COUNTS)
def test_numbers_in_a_row_may_be_complex(name: str, dtype: str, start: complex, end: complex, count: int):
    ours, theirs = _both(name, dtype, start, end, count)
    tolerance = 1e-5 if dtype == "complex64" else 1e-13
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
