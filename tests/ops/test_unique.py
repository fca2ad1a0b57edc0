"""Different elements and bins: rebuilt from their parts, and errors beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.ops.beside import refusals
from tests.support import require

require("torch")
import torch  # noqa: E402


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=12),
    dim=st.sampled_from([None, 0, 1]),
    name=st.sampled_from(["unique", "unique_consecutive"]),
)
def test_different_elements_and_their_places_make_up_the_tensor(rows: list[Any], dim: int | None, name: str):
    x = autokit.tensor(rows)
    values, inverse, counts = getattr(autokit, name)(x, return_inverse=True, return_counts=True, dim=dim)
    theirs = getattr(torch, name)(torch.tensor(rows), return_inverse=True, return_counts=True, dim=dim)
    for mine, other in zip((values, inverse, counts), theirs):
        assert mine.tolist() == other.tolist() and repr(mine.dtype) == repr(other.dtype)
    rebuilt = values[inverse] if dim is None else values.index_select(dim, inverse)
    assert rebuilt.tolist() == rows
    assert counts.sum().item() == inverse.numel()


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=30),
    bins=st.integers(1, 8),
    ends=st.sampled_from([(0, 0), (-2, 3), (-5, 5), (1, 1)]),
)
def test_histograms_are_pytorchs(values: list[float], bins: int, ends: tuple[int, int]):
    ours, theirs = (T.histc(T.tensor(values), bins, *ends).tolist() for T in (autokit, torch))
    assert ours == theirs


def test_which_elements_differ_has_no_derivative():
    x = autokit.tensor([2.0, 1.0, 2.0], requires_grad=True)
    for name in ("unique", "unique_consecutive"):
        for dim in (None, 0):
            found = getattr(autokit, name)(x, dim=dim)
            with pytest.raises(NotImplementedError, match="the derivative for"):
                found.sum().backward()


def test_a_histogram_prints_under_its_names():
    text = repr(autokit.histogram(autokit.tensor([1.0, 2.0, 3.0]), 2))
    assert text == repr(torch.histogram(torch.tensor([1.0, 2.0, 3.0]), 2))


WRONG = [
    lambda T: T.unique(T.ones(2), dim=1),
    lambda T: T.unique(T.tensor(2), dim=0),
    lambda T: T.unique(T.zeros(2, 0), dim=0),
    lambda T: T.unique_consecutive(T.zeros(2, 3), dim=5),
    lambda T: T.bincount(T.tensor([1, -2])),
    lambda T: T.bincount(T.tensor([1.0])),
    lambda T: T.bincount(T.tensor([True])),
    lambda T: T.bincount(T.tensor([[1]])),
    lambda T: T.bincount(T.tensor([1]), T.tensor([1.0, 2])),
    lambda T: T.bincount(T.tensor([1]), minlength=-1),
    lambda T: T.histc(T.tensor([1])),
    lambda T: T.histc(T.zeros(3), 0),
    lambda T: T.histc(T.zeros(3), 4, 2, 1),
    lambda T: T.histc(T.tensor([float("nan")]), 4),
    lambda T: T.histc(T.zeros(3), 2.5),
    lambda T: T.histogram(T.zeros(3), 0),
    lambda T: T.histogram(T.zeros(3), T.zeros(2, 2)),
    lambda T: T.histogram(T.zeros(3), T.zeros(2).double()),
    lambda T: T.histogram(T.zeros(3), T.zeros(1)),
    lambda T: T.histogram(T.zeros(3), 3, range=(2.0, 1.0)),
    lambda T: T.histogram(T.zeros(3), 3, range=(1.0,)),
    lambda T: T.histogram(T.zeros(3), 3, weight=T.ones(2)),
    lambda T: T.histogram(T.tensor([1]), 3),
    lambda T: T.searchsorted(T.zeros(2, 3), T.zeros(3, 2)),
    lambda T: T.searchsorted(T.zeros(2, 3), 1.0),
    lambda T: T.searchsorted(T.tensor(1.0), T.zeros(2)),
    lambda T: T.searchsorted(T.zeros(2), T.zeros(2), side="x"),
    lambda T: T.searchsorted(T.zeros(2), T.zeros(2), side="left", right=True),
    lambda T: T.searchsorted(T.zeros(2), T.zeros(2), sorter=T.tensor([0, 2])),
    lambda T: T.searchsorted(T.zeros(2), T.zeros(2), sorter=T.tensor([0])),
    lambda T: T.searchsorted(T.zeros(2), T.zeros(2), sorter=T.zeros(2)),
    lambda T: T.searchsorted(T.zeros(2), [1.0]),
    lambda T: T.bucketize(T.zeros(2), T.zeros(2, 2)),
    lambda T: T.bucketize(T.zeros(2), [1.0]),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_pytorchs(wrong: Callable[[Any], Any]):
    ours, theirs = refusals(wrong)
    beginning = theirs.split(" - got")[0].split(" (position")[0].rstrip(".")[:60]
    assert beginning in ours


def test_places_of_many_values_are_numpys():
    random = np.random.RandomState(0)
    edges, values = np.sort(random.uniform(size=50)), random.uniform(size=200)
    assert (
        autokit.bucketize(autokit.tensor(values), autokit.tensor(edges)).tolist()
        == np.searchsorted(edges, values).tolist()
    )
