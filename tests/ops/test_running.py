"""Running sums and products of large arrays are those that NumPy accumulates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autokit.ops.running import accumulated

SHAPES = {
    "one row": ((20_003,), 0),
    "long rows": ((40, 1013), 1),
    "many rows of few": ((3000, 17), 1),
    "columns": ((60, 600), 0),
    "columns in a cube": ((3, 50, 300), 1),
    "rows of a cube": ((5, 40, 200), -1),
}


@pytest.mark.parametrize("ufunc", [np.add, np.multiply], ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("special", [False, True])
def test_they_are_what_numpy_accumulates(
    ufunc: np.ufunc, reverse: bool, name: str, special: bool, loops: str
):
    shape, axis = SHAPES[name]
    rng = np.random.RandomState(0)
    a = rng.normal(size=shape) if ufunc is np.add else np.exp(rng.normal(size=shape) / 50)
    if special:  # few in number, so that most results stay numbers
        places = rng.randint(0, a.size, 12)
        a.reshape(-1)[places] = [0, -0.0, np.nan, np.inf, -np.inf, 0, 1e30, 1e30, 1e-40, 3, 0, 1]
    a = a.astype(np.float32)
    with np.errstate(all="ignore"):
        run = np.flip(a, axis) if reverse else a
        run = ufunc.accumulate(run, axis=axis, dtype=np.float64).astype(np.float32)
        expected = np.flip(run, axis) if reverse else run
        found = accumulated(ufunc, a, axis, reverse)
    if found is None:  # left to NumPy where a product of some could leave float64's range
        assert ufunc is np.multiply and special
        return
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-6 if ufunc is np.add else 0)


def test_what_is_small_or_of_another_dtype_is_left_to_numpy():
    large = np.ones(math.prod((200, 200)), np.float32)
    assert accumulated(np.add, large, 0, False) is not None
    for left in (large[:100], large.astype(np.float64), large.reshape(200, 200).T, np.float32(1)):
        assert accumulated(np.add, left, 0, False) is None
