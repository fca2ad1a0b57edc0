"""Runs of several lengths as a matrix: the same sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autokit.ops.axis_maps import AxisMap, apply
from autokit.ops.gpu.runs import equally_long
from tests.gpu import standin


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.booleans(), st.integers(0, 9999))
def test_the_sums_of_equally_long_rows_are_those_of_the_runs(lengths: list[int], weighed: bool, seed: int):
    random = np.random.RandomState(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = random.randint(0, 12, starts[-1])
    weights = random.standard_normal(len(columns)) if weighed else None
    values = random.standard_normal(12)
    made = equally_long(starts, columns, weights)
    if made is None:
        assert max(lengths) * len(lengths) > 4 * len(columns)
        return
    terms = values[columns] * (1 if weights is None else weights)
    np.testing.assert_allclose(
        (values[made[0]] * made[1]).sum(axis=1), np.add.reduceat(terms, starts[:-1]), rtol=1e-12, atol=1e-14
    )


def test_an_infinite_element_stays_infinite():
    columns, weights = equally_long(np.array([0, 1, 4]), np.arange(4), None)
    assert np.array_equal((np.array([np.inf, 1.0, 2.0, 3.0])[columns] * weights).sum(axis=1), [np.inf, 6])


def test_runs_that_would_take_much_more_memory_stay_as_they_are():
    assert equally_long(np.array([0, *range(1, 9), 70]), np.arange(70), None) is None
    assert equally_long(np.array([0, 0, 2]), np.arange(2), None) is None
    assert equally_long(np.array([0]), np.arange(0), None) is None


def test_a_gpu_sums_long_and_short_runs_by_the_same_weights():
    random = np.random.RandomState(0)
    array = random.standard_normal((3, 12, 2))
    for lengths in ([2, 3, 3, 2], [1, 1, 40, 0], [1] * 30 + [90], [3, 3]):
        starts = np.concatenate([[0], np.cumsum(lengths)])
        columns = random.randint(0, 12, starts[-1])
        for weights in (None, random.standard_normal(len(columns))):
            one = AxisMap(1, 12, starts, columns, weights)
            with standin.installed() as cupy:
                found = apply(cupy.asarray(array), one).host
            np.testing.assert_allclose(found, apply(array, one), rtol=1e-12, atol=1e-13)
