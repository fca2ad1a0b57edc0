"""Order: sorting by keys, the largest few by a bound, named results, errors beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops import sort as family
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3e38, 2.5]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from([(7,), (1,), (5, 4), (3, 9, 2)]),
    dtype=st.sampled_from(["float32", "int32"]),
    descending=st.booleans(),
    data=st.data(),
)
def test_sorting_by_keys_is_stable_sorting(
    seed: int, shape: tuple[int, ...], dtype: str, descending: bool, data: Any
):
    random = np.random.RandomState(seed)
    if dtype == "int32":
        array = random.choice([-(2**31), -1, 0, 1, 2**31 - 1], shape).astype(dtype)
    else:
        array = random.choice(SPECIAL, shape).astype(dtype)
    dim = data.draw(st.integers(0, len(shape) - 1))
    before = array.copy()
    keyed = family._order_by_keys(array, dim, descending)
    np.testing.assert_array_equal(array, before)
    np.testing.assert_array_equal(keyed, family.order_of(array, dim, descending))
    theirs = torch.sort(torch.tensor(array), dim=dim, descending=descending, stable=True).indices
    np.testing.assert_array_equal(keyed, theirs.numpy())


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    ties=st.booleans(),
    largest=st.booleans(),
    dim=st.integers(0, 1),
    k=st.integers(1, 3),
)
def test_the_largest_few_are_found_without_sorting_all(
    seed: int, ties: bool, largest: bool, dim: int, k: int
):
    random = np.random.RandomState(seed)
    array = random.choice(SPECIAL, (30, 40)) if ties else random.standard_normal((30, 40))
    kept, family._MANY = family._MANY, 1
    try:
        few = family.top_of(array, dim, k, largest)
    finally:
        family._MANY = kept
    np.testing.assert_array_equal(few, family.top_of(array, dim, k, largest))
    if not ties:
        np.testing.assert_array_equal(
            few, np.take(family.order_of(array, dim, largest), np.arange(k), axis=dim)
        )


def test_large_tensors_sort_as_pytorchs_do():
    array = np.random.RandomState(0).randint(-50, 50, (120, 60)).astype(np.float32)
    for descending in (False, True):
        ours = autokit.tensor(array, requires_grad=True).sort(dim=0, descending=descending, stable=True)
        theirs = torch.tensor(array, requires_grad=True).sort(dim=0, descending=descending, stable=True)
        np.testing.assert_array_equal(ours.indices.numpy(), theirs.indices.numpy())
        np.testing.assert_array_equal(ours.values.detach().numpy(), theirs.values.detach().numpy())


@pytest.mark.parametrize(
    "name", ["sort", "topk", "kthvalue", "median", "nanmedian", "mode", "max", "min", "cummax"]
)
def test_named_results_print_as_pytorchs(name: str):
    further = {"topk": (2,), "kthvalue": (2,), "sort": ()}.get(name, (0,))
    values = [3.0, 1.0, 2.0]
    ours, theirs = (getattr(T, name)(T.tensor(values), *further) for T in (autokit, torch))
    assert repr(ours) == repr(theirs)
    assert ours.values.tolist() == theirs.values.tolist() and ours[1].tolist() == theirs[1].tolist()


def test_results_may_be_written_into_tensors():
    values, indices = autokit.empty(3), autokit.empty(3, dtype=autokit.int64)
    made = autokit.sort(autokit.tensor([3.0, 1.0, 2.0]), out=(values, indices))
    assert values.tolist() == [1, 2, 3] and indices.tolist() == [1, 2, 0] and made.values is values


def test_half_precision_is_sorted_in_its_own():
    for T in (autokit, torch):
        values, indices = T.tensor([2.0, float("nan"), -1.0, 2.0], dtype=T.float16).sort(stable=True)
        assert indices.tolist() == [2, 0, 3, 1] and values.dtype == T.float16


WRONG = [
    lambda T: T.sort([1.0]),
    lambda T: T.zeros(3).sort(1),
    lambda T: T.zeros(3).topk(4),
    lambda T: T.zeros(3).topk(-1),
    lambda T: T.zeros(3).bool().topk(1),
    lambda T: T.zeros(3).kthvalue(0),
    lambda T: T.zeros(3).kthvalue(4),
    lambda T: T.zeros(0).kthvalue(1),
    lambda T: T.zeros(0).mode(),
    lambda T: T.zeros(0, 3).median(0),
    lambda T: T.zeros(3).bool().median(),
    lambda T: T.zeros(3).cumsum(1),
    lambda T: T.zeros(3).cumsum(),
    lambda T: T.zeros(3).int().logcumsumexp(0),
    lambda T: T.diff(T.tensor(1.0)),
    lambda T: T.diff(T.zeros(3), -1),
    lambda T: T.trapezoid(T.zeros(3), T.zeros(2)),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_pytorchs(wrong: Callable[[Any], Any]):
    ours, theirs = refusals(wrong)
    beginning = theirs.split(" arguments")[0].split(" (position")[0].rstrip(".")[:60]
    assert beginning in ours
