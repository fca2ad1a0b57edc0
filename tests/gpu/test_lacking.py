"""What CuPy lacks or does otherwise (``autokit/ops/gpu.py``), beside NumPy, with nothing copied unasked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autokit.batches.batch import Batch
from autokit.devices import module_for
from autokit.ops import gpu as lacking
from autokit.ops import gpu_kernels
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

KINDS = ("bool", "int8", "int32", "int64", "float16", "float32", "float64")
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
    lacking.add_at(added, there(places), there(values))
    assert not standin.copies
    np.add.at(array, places, values)
    np.testing.assert_array_equal(here(added), array)


@given(
    SEEDS,
    st.sampled_from(KINDS[2:]),
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
    lacking.combine_at(ufunc, combined, there(places), there(values))
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
    run = lacking.accumulate(ufunc, given_array, axis)
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
    found = lacking.reduceat(ufunc, given_array, given_starts, axis)
    assert not standin.copies
    np.testing.assert_allclose(here(found), ufunc.reduceat(array, starts, axis=axis), rtol=1e-5)


@given(st.lists(st.booleans(), max_size=5))
def test_questions_are_asked_by_one_number(flags: list[bool]):
    standin.copies.clear()
    standin.sizes.clear()
    assert lacking.any_of(there(np.array(flags, bool))) == any(flags)
    assert lacking.ask(there(np.array(3.5))) == 3.5
    assert not standin.copies and standin.sizes in ([1, 1], [])


def test_shortcuts_ask_nothing_of_a_gpu():
    for flags in ([True, True], [True, False], [False, False]):
        standin.sizes.clear()
        assert not lacking.known(there(np.array(flags))) and lacking.any_known(there(np.array(flags)))
        assert not standin.sizes
        assert bool(lacking.known(np.array(flags))) == all(flags)
        assert bool(lacking.any_known(np.array(flags))) == any(flags)


def test_where_an_array_is_and_whether_it_may_change():
    fixed = np.ones(2)
    fixed.flags.writeable = False
    assert lacking.is_writable(np.ones(2)) and not lacking.is_writable(fixed)
    assert lacking.is_writable(there(fixed))
    assert lacking.is_on_cpu(fixed) and lacking.is_on_cpu(fixed[0]) and not lacking.is_on_cpu(there(fixed))
    assert lacking.is_on_cpu(Batch(np.ones((3, 2)), 1))


@given(st.sampled_from(["erf", "digamma", "lgamma", "trigamma", "i0"]), st.floats(0.25, 8))
def test_special_functions_are_scipys(name: str, value: float):
    from autokit.ops import approximations

    array = np.array([value])
    standin.copies.clear()
    found = lacking.special(name, there(array))
    assert not standin.copies
    np.testing.assert_allclose(here(found), getattr(approximations, name)(array), rtol=1e-6)


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=6), st.sampled_from(["float32", "float64"]))
@example([(1.0, 0.1), (5.0, np.inf), (-5.0, np.inf), (5.0, -np.inf), (0.0, -3.0), (7.0, 0.0)], "float32")
def test_quotients_round_down_and_leave_what_the_cpu_says(pairs: Any, kind: str):
    a, b = np.array(pairs, kind).T
    with np.errstate(all="ignore"):
        for name in ("floor_divide", "remainder"):
            ours = getattr(gpu_kernels, name)
            np.testing.assert_array_equal(here(ours(there(a), there(b))), ours(a, b))


@pytest.mark.parametrize("shape", [(), 0, (0,), (2,), (1, 3)])
def test_like_gives_any_shape(shape: Any):
    a = there(np.arange(6.0).reshape(2, 3))
    for made, value in (
        (lacking.like(np.zeros_like, a, shape=shape), 0),
        (lacking.like(np.full_like, a, 2, shape=shape), 2),
    ):
        assert here(made).tolist() == np.full(shape, float(value)).tolist() and made.dtype == np.float64
    assert lacking.like(np.ones_like, a, np.int32, shape=shape).dtype == np.int32
    assert lacking.like(np.ones_like, np.ones(3), shape=shape).shape == np.ones(shape).shape


def test_an_array_without_dimensions_has_none_to_reduce():
    a = there(np.array(3.0))
    for dim in (0, -1, (0,), None):
        assert lacking.ask(a.sum(axis=lacking.reduced(a, dim))) == 3
    assert lacking.reduced(there(np.ones(2)), 0) == 0 == lacking.reduced(np.array(3.0), 0)


def test_matrices_that_fail_raise_there_too():
    for name, wrong in (("inv", [[1.0, 2.0], [2.0, 4.0]]), ("cholesky", [[1.0, 0.0], [0.0, -1.0]])):
        for array in (there(np.array(wrong)), np.array(wrong)):
            with pytest.raises(np.linalg.LinAlgError), lacking.raising(array):
                getattr(np.linalg, name)(array)


@pytest.mark.parametrize(("a", "b"), [((2, 1, 3, 3), (4, 3, 2)), ((3, 3), (5, 3, 1)), ((2, 3, 3), (2, 3, 2))])
def test_systems_are_solved_in_batches_that_broadcast(a: Any, b: Any):
    random = np.random.RandomState(0)
    a, b = random.uniform(-1, 1, a) + 3 * np.eye(3), random.uniform(-1, 1, b)
    np.testing.assert_allclose(here(lacking.solve(there(a), there(b))), np.linalg.solve(a, b), rtol=1e-6)
