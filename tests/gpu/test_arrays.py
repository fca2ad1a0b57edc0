"""What rules ask of arrays, or make of them, where CuPy needs other words: beside NumPy, without copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.batches.batch import Batch
from autokit.devices import module_for
from autokit.ops.gpu import arrays
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")


def there(array: Any) -> Any:
    return module_for("cuda").asarray(array)


def here(array: Any) -> Any:
    return array.get()


@given(st.lists(st.booleans(), max_size=5))
def test_questions_are_asked_by_one_number(flags: list[bool]):
    standin.copies.clear()
    standin.sizes.clear()
    assert arrays.any_of(there(np.array(flags, bool))) == any(flags)
    assert arrays.ask(there(np.array(3.5))) == 3.5
    assert not standin.copies and standin.sizes in ([1, 1], [])


def test_shortcuts_ask_nothing_of_a_gpu():
    for flags in ([True, True], [True, False], [False, False]):
        standin.sizes.clear()
        assert not arrays.known(there(np.array(flags))) and arrays.any_known(there(np.array(flags)))
        assert not standin.sizes
        assert bool(arrays.known(np.array(flags))) == all(flags)
        assert bool(arrays.any_known(np.array(flags))) == any(flags)


def test_where_an_array_is_and_whether_it_may_change():
    fixed = np.ones(2)
    fixed.flags.writeable = False
    assert arrays.is_writable(np.ones(2)) and not arrays.is_writable(fixed)
    assert arrays.is_writable(there(fixed))
    assert arrays.is_on_cpu(fixed) and arrays.is_on_cpu(fixed[0]) and not arrays.is_on_cpu(there(fixed))
    assert arrays.is_on_cpu(Batch(np.ones((3, 2)), 1))


@given(st.sampled_from(["erf", "digamma", "lgamma", "trigamma", "i0"]), st.floats(0.25, 8))
def test_special_functions_are_scipys(name: str, value: float):
    from autokit.ops import approximations

    array = np.array([value])
    standin.copies.clear()
    found = arrays.special(name, there(array))
    assert not standin.copies
    np.testing.assert_allclose(here(found), getattr(approximations, name)(array), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), 0, (0,), (2,), (1, 3)])
def test_like_gives_any_shape(shape: Any):
    a = there(np.arange(6.0).reshape(2, 3))
    for made, value in (
        (arrays.like(np.zeros_like, a, shape=shape), 0),
        (arrays.like(np.full_like, a, 2, shape=shape), 2),
    ):
        assert here(made).tolist() == np.full(shape, float(value)).tolist() and made.dtype == np.float64
    assert arrays.like(np.ones_like, a, np.int32, shape=shape).dtype == np.int32
    assert arrays.like(np.ones_like, np.ones(3), shape=shape).shape == np.ones(shape).shape


def test_an_array_without_dimensions_has_none_to_reduce():
    a = there(np.array(3.0))
    for dim in (0, -1, (0,), None):
        assert arrays.ask(a.sum(axis=arrays.reduced(a, dim))) == 3
    assert arrays.reduced(there(np.ones(2)), 0) == 0 == arrays.reduced(np.array(3.0), 0)


def test_matrices_that_fail_raise_there_too():
    for name, wrong in (("inv", [[1.0, 2.0], [2.0, 4.0]]), ("cholesky", [[1.0, 0.0], [0.0, -1.0]])):
        for array in (there(np.array(wrong)), np.array(wrong)):
            with pytest.raises(np.linalg.LinAlgError), arrays.raising(array):
                getattr(np.linalg, name)(array)


@pytest.mark.parametrize(("a", "b"), [((2, 1, 3, 3), (4, 3, 2)), ((3, 3), (5, 3, 1)), ((2, 3, 3), (2, 3, 2))])
def test_systems_are_solved_in_batches_that_broadcast(a: Any, b: Any):
    random = np.random.RandomState(0)
    a, b = random.uniform(-1, 1, a) + 3 * np.eye(3), random.uniform(-1, 1, b)
    np.testing.assert_allclose(here(arrays.solve(there(a), there(b))), np.linalg.solve(a, b), rtol=1e-6)
