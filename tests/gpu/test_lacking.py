"""What CuPy lacks or does otherwise: the functions that do the same with arrays of both."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from autokit.base import devices
from autokit.gpu import lacking

pytestmark = pytest.mark.usefixtures("gpu")


def there(array: Any) -> Any:
    """``array`` on the GPU."""
    return devices.put_on(np.asarray(array), "cuda")


def same(result: Any, expected: Any) -> None:
    assert devices.on_a_gpu(result)
    np.testing.assert_allclose(devices.to_numpy(result), expected, rtol=1e-6)


PLACES = (np.array([0, 1, 1, 0, 1]), np.array([2, 0, 0, 2, 1]))


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8"])
def test_several_values_for_one_place(ufunc: np.ufunc, dtype: str):
    start, values = np.ones((2, 3), dtype), np.array([3, 2, 0, 1, 4]).astype(dtype)
    here, gpu = start.copy(), there(start)
    lacking.combine_at(ufunc, here, PLACES, values)
    lacking.combine_at(ufunc, gpu, tuple(map(there, PLACES)), there(values))
    same(gpu, here)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logaddexp])
def test_running_results(ufunc: np.ufunc):
    values = np.random.RandomState(0).uniform(-2, 2, (3, 7))
    for axis in (0, 1, -1):
        same(lacking.accumulate(ufunc, there(values), axis), ufunc.accumulate(values, axis=axis))


def test_quotients_are_rounded_down_by_what_is_left_over():
    a, b = np.array([1.0, -1.0, 7.5, -7.5, 0.3]), np.array([0.1, 0.1, -2.0, 2.0, 0.1])
    same(lacking.floor_divide(there(a), there(b)), np.floor_divide(a, b))
    same(lacking.remainder(there(a), there(b)), np.remainder(a, b))
    whole = np.array([7, -7, 5])
    same(lacking.floor_divide(there(whole), there(np.array([2, 2, -3]))), whole // np.array([2, 2, -3]))


@pytest.mark.parametrize("places", [[], [0, 2], [-3, 2], [0, 3], [-4, 0]])
def test_an_index_beyond_the_end_is_found(places: list[int]):
    wrong = next((place for place in places if not -3 <= place < 3), None)
    for where in (np.asarray, there):
        with nullcontext() if wrong is None else pytest.raises(IndexError, match=f"^{wrong}$"):
            lacking.require_inside(where(np.array(places, int)), -3, 3, IndexError)


@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
def test_zeros_of_any_shape(shape: tuple[int, ...]):
    for where in (np.asarray, there):
        assert lacking.like(np.zeros_like, where(np.ones(4)), shape=shape).shape == shape


def test_matrices_are_solved_in_batches_and_refused():
    a, b = np.random.RandomState(0).rand(2, 1, 3, 3), np.random.RandomState(1).rand(4, 3, 2)
    same(lacking.solve(there(a), there(b)), np.linalg.solve(a, b))
    for where in (np.asarray, there):
        with pytest.raises(np.linalg.LinAlgError):
            lacking.solve(where(np.ones((2, 2))), where(np.ones((2, 1))))
