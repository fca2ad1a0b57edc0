"""Methods of ufuncs, and quotients, that CuPy lacks or rounds otherwise: beside NumPy, with no copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autokit.devices import module_for
from autokit.ops.gpu import ufuncs
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

KINDS = ("bool", "int8", "int32", "int64", "float16", "float32", "float64", "complex64")
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, -0.1, 1.0, 3.0, np.inf, -np.inf, np.nan]),
    st.floats(-100, 100, width=32, allow_subnormal=False),  # CuPy's kernels take those for 0
)
SEEDS = st.integers(0, 2**32 - 1)


def there(array: Any) -> Any:
    return module_for("cuda").asarray(array)


def here(array: Any) -> Any:
    return array.get()


def values_of(random: Any, kind: str, shape: Any) -> Any:
    if kind == "bool":
        return random.random_sample(shape) < 0.5
    if kind.startswith("int"):
        return random.randint(-3, 4, shape).astype(kind)
    return random.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], shape).astype(kind)


@given(SEEDS, st.sampled_from(KINDS[1:]), st.integers(1, 6), st.integers(0, 12))
def test_add_at_adds_each_value(seed: int, kind: str, size: int, count: int):
    random = np.random.RandomState(seed)
    array, values = values_of(random, kind, (size, 2)), values_of(random, kind, (count, 2))
    places = random.randint(-size, size, count)
    added = there(array)
    standin.copies.clear()
    ufuncs.add_at(added, there(places), there(values))
    assert not standin.copies
    np.add.at(array, places, values)
    np.testing.assert_array_equal(here(added), array)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_add_at_takes_places_in_several_dimensions(kind: str):
    random = np.random.RandomState(0)
    array, values = values_of(random, kind, (3, 4, 2)), values_of(random, kind, (5, 2))
    places = np.array([0, 1, 2, 1, 0]), np.array([3, 0, 1, 0, 3])
    added = there(array)
    ufuncs.add_at(added, tuple(map(there, places)), there(values))
    np.add.at(array, places, values)
    np.testing.assert_array_equal(here(added), array)


@given(
    SEEDS,
    st.sampled_from(KINDS[2:-1]),
    st.sampled_from([np.add, np.multiply, np.maximum, np.minimum]),
    st.integers(1, 6),
    st.integers(0, 12),
)
def test_combine_at_combines_each_value(seed: int, kind: str, ufunc: np.ufunc, size: int, count: int):
    random = np.random.RandomState(seed)
    array, values = values_of(random, kind, size), values_of(random, kind, count)
    places = random.randint(0, size, count)
    combined = there(array)
    standin.copies.clear()
    ufuncs.combine_at(ufunc, combined, there(places), there(values))
    assert not standin.copies
    ufunc.at(array, places, values)
    np.testing.assert_allclose(here(combined), array, rtol=1e-3 if kind == "float16" else 1e-6)


@given(
    SEEDS,
    st.sampled_from(["int64", "float32", "float64"]),
    st.sampled_from([np.add, np.multiply, np.maximum, np.minimum, np.logaddexp]),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.data(),
)
def test_accumulate_runs_along_a_dimension(
    seed: int, kind: str, ufunc: np.ufunc, shape: list[int], data: st.DataObject
):
    array = values_of(np.random.RandomState(seed), "float64" if ufunc is np.logaddexp else kind, shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    given_array = there(array)
    standin.copies.clear()
    run = ufuncs.accumulate(ufunc, given_array, axis)
    assert not standin.copies
    expected = ufunc.accumulate(array, axis=axis)
    assert run.dtype == expected.dtype
    np.testing.assert_allclose(here(run), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(here(given_array), array)


@given(
    SEEDS,
    st.sampled_from([np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin]),
    st.integers(1, 8),
    st.integers(0, 1),
)
def test_reduceat_reduces_each_run(seed: int, ufunc: np.ufunc, length: int, axis: int):
    random = np.random.RandomState(seed)
    array = values_of(random, "float32", (length, 3) if axis == 0 else (3, length))
    starts = np.flatnonzero([True, *(random.random_sample(length - 1) < 0.5)])
    given_array, given_starts = there(array), there(starts)
    standin.copies.clear()
    found = ufuncs.reduceat(ufunc, given_array, given_starts, axis)
    assert not standin.copies
    np.testing.assert_allclose(here(found), ufunc.reduceat(array, starts, axis=axis), rtol=1e-5)


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=6), st.sampled_from(["float32", "float64"]))
@example([(1.0, 0.1), (5.0, np.inf), (-5.0, np.inf), (5.0, -np.inf), (0.0, -3.0), (7.0, 0.0)], "float32")
def test_quotients_round_down_and_leave_what_the_cpu_says(pairs: Any, kind: str):
    a, b = np.array(pairs, kind).T
    with np.errstate(all="ignore"):
        for name in ("floor_divide", "remainder"):
            ours = getattr(ufuncs, name)
            np.testing.assert_array_equal(here(ours(there(a), there(b))), ours(a, b))
