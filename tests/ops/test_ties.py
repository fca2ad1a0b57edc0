"""Which of several equal elements is named: by all that puts elements in order, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops import ties
from tests.support import require

require("torch")
import torch  # noqa: E402

SPLIT_BADLY = np.array([(i // 2 * 2 + 1, 250 + i // 2 * 2)[i % 2] for i in range(250)] + [*range(2, 502, 2)])
"""A row in which the median of three is nearly the least again and again."""


def agree(call: Callable[[Any], Any], array: np.ndarray) -> None:
    """Values, places and gradients of ``call`` are PyTorch's."""
    results = []
    for T in (autokit, torch):
        operand = T.tensor(array)
        if operand.is_floating_point():
            operand.requires_grad_()
        made = call(operand)
        parts = [made] if T.is_tensor(made) else list(made)
        if parts[0].requires_grad and parts[0].numel():
            parts[0].backward(T.arange(1, parts[0].numel() + 1).reshape(parts[0].shape).to(parts[0].dtype))
            parts.append(operand.grad)
        results.append([each.detach().numpy() for each in parts])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=0)


@st.composite
def rows(draw: Any) -> tuple[np.ndarray, int]:
    """Rows with equal elements, in several orders, and the dimension along which they lie."""
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from([(random.randint(1, 300),), (3, random.randint(1, 90)), (70, 2)]))
    array = random.randint(0, draw(st.integers(1, 40)), shape).astype(np.float64)
    dim = draw(st.integers(0, len(shape) - 1))
    order = draw(st.sampled_from(["any", "upwards", "downwards"]))
    if order != "any":
        array = np.sort(array, dim) if order == "upwards" else -np.sort(-array, dim)
    dtype = draw(st.sampled_from(["float64", "float32", "float16", "int64", "uint8"]))
    array = array.astype(dtype)
    if dtype.startswith("float") and draw(st.booleans()):
        array[random.random_sample(shape) < 0.1] = np.nan
    return array, dim


@settings(max_examples=150, deadline=None)
@given(rows(), st.booleans())
def test_sort(row: tuple[np.ndarray, int], descending: bool):
    array, dim = row
    agree(lambda t: t.sort(dim=dim, descending=descending), array)
    agree(lambda t: t.argsort(dim=dim, descending=descending), array)
    if not np.isnan(array).any():
        agree(lambda t: t.mode(dim), array)


@settings(max_examples=150, deadline=None)
@given(rows(), st.booleans(), st.booleans(), st.data())
def test_topk(row: tuple[np.ndarray, int], largest: bool, in_order: bool, data: st.DataObject):
    array, dim = row
    k = data.draw(st.one_of(st.integers(0, min(4, array.shape[dim])), st.integers(0, array.shape[dim])))
    agree(lambda t: t.topk(k, dim, largest, in_order), array)


@settings(max_examples=150, deadline=None)
@given(rows(), st.data())
def test_elements_at_a_rank(row: tuple[np.ndarray, int], data: st.DataObject):
    array, dim = row
    k = data.draw(st.integers(1, array.shape[dim]))
    agree(lambda t: t.kthvalue(k, dim), array)
    agree(lambda t: t.median(dim), array)
    if array.dtype == np.float64:
        agree(lambda t: t.quantile(0.3, dim), array)


@pytest.mark.parametrize("fallback", ["_sort_first", "_choose_first"])
def test_rows_that_split_badly(fallback: str, monkeypatch: pytest.MonkeyPatch):
    entered = []
    heap = getattr(ties, fallback)
    monkeypatch.setattr(ties, fallback, lambda *given: entered.append(given) or heap(*given))
    for array in (SPLIT_BADLY // 2, -(SPLIT_BADLY // 2)):
        agree(lambda t: t.sort(), array)
        agree(lambda t: t.sort(descending=True), array)
        for k in (60, 150, 250, 400):
            agree(lambda t, k=k: t.topk(k), array)
            agree(lambda t, k=k: t.topk(k, largest=False), array)
    assert entered


def test_large_tensors_name_the_few_largest_as_pytorch():
    array = np.random.RandomState(0).randint(-400, 400, (6, 2000)).astype(np.float32)
    for k in (1, 5, 31, 32, 200):
        agree(lambda t, k=k: t.topk(k), array)


def test_many_integers_in_one_row_keep_their_order_upwards():
    array = np.random.RandomState(0).randint(0, 1000, 32768)
    agree(lambda t: t.sort(), array)
    agree(lambda t: t.sort(), array[1:])
    agree(lambda t: t.sort(descending=True), array)


def test_too_many_to_look_at_keep_their_order(monkeypatch: pytest.MonkeyPatch):
    a = autokit.tensor(np.random.RandomState(0).randint(0, 5, (3, 50)))
    stable = a.sort(stable=True).indices
    assert not autokit.equal(a.sort().indices, stable)
    monkeypatch.setattr(ties, "MOST", 149)
    assert autokit.equal(a.sort().indices, stable)
    assert autokit.equal(a.topk(40, largest=False).indices, stable[:, :40])


def test_samples_name_what_each_would_name_alone():
    a = autokit.tensor(np.random.RandomState(0).randint(0, 5, (4, 3, 40)))
    for call in (
        lambda t: t.sort(-1).indices,
        lambda t: t.topk(7).indices,
        lambda t: t.kthvalue(9).indices,
        lambda t: t.mode().indices,
    ):
        alone = autokit.stack([call(each) for each in a])
        assert autokit.equal(autokit.vmap(call)(a), alone)
        assert autokit.equal(autokit.vmap(autokit.vmap(call))(a), alone)
