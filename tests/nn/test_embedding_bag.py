"""Bags of embeddings beside PyTorch: values, gradients, and wrong use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402


def compare(index: Any, offsets: Any, rows: int, factors: Any = None, seed: int = 0, **options: Any) -> None:
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(seed)
        table = library.tensor(random.randint(-3, 4, (rows, 3)) * 0.5, requires_grad=True)
        leaves = [table]
        given = dict(options)
        if offsets is not None:
            given["offsets"] = library.tensor(offsets, dtype=library.int64)
        if factors is not None:
            leaves.append(library.tensor(factors, requires_grad=True))
            given["per_sample_weights"] = leaves[1]
        out = library.nn.functional.embedding_bag(library.tensor(index, dtype=library.int64), table, **given)
        (out * library.tensor(random.randn(*out.shape))).sum().backward()
        found.append([out.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves), out.grad_fn.name()])
    for ours, theirs in zip(*found):
        if isinstance(ours, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["sum", "mean", "max"]), st.booleans(), st.booleans())
def test_embedding_bag(seed: int, mode: str, padded: bool, with_end: bool):
    random = np.random.RandomState(seed)
    count, rows = random.randint(0, 9), random.randint(1, 6)
    offsets = np.sort(random.randint(0, count + 1, random.randint(0, 5)))
    offsets = np.concatenate([[0], offsets, [count] if with_end else []]).astype(int)
    index = random.randint(0, rows, count)
    options: dict[str, Any] = {"mode": mode, "include_last_offset": with_end}
    if padded:
        options["padding_idx"] = int(random.randint(-rows, rows))
    factors = random.randn(count) if mode == "sum" and seed % 2 else None
    compare(index, offsets, rows, factors, seed, **options)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_in_rows(mode: str):
    compare([[1, 2], [2, 2], [0, 3]], None, 4, mode=mode)
    compare([[1, 2], [2, 2]], None, 4, mode=mode, padding_idx=2)
    if mode == "sum":
        compare([[1, 2], [2, 2]], None, 4, np.array([[0.5, 2.0], [1.0, -1.0]]), mode=mode)


def test_gradients_by_frequency():
    # PyTorch 2.13 divides some rows by the count of another one here: its last is 0.5.
    table = ak.ones(4, 1, requires_grad=True)
    bags = ak.nn.functional.embedding_bag(
        ak.tensor([0, 1, 1, 2]), table, ak.tensor([0]), mode="sum", scale_grad_by_freq=True
    )
    bags.sum().backward()
    assert table.grad.reshape(-1).tolist() == [1, 1, 1, 0]


def test_long_rows_are_shortened_first():
    tables = []
    for library in (ak, torch):
        table = library.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
        library.nn.functional.embedding_bag(library.tensor([[0, 1]]), table, max_norm=1.0)
        tables.append(table.numpy())
    np.testing.assert_allclose(*tables, rtol=1e-6)


def test_nan_in_a_bag_of_the_largest():
    nan = float("nan")
    found = []
    for library in (ak, torch):
        table = library.tensor([[1.0, nan], [nan, 2.0]])
        found.append(library.nn.functional.embedding_bag(library.tensor([[0, 1]]), table, mode="max").numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_derivatives_by_differences(mode: str):
    index, offsets = ak.tensor([1, 2, 1, 3]), ak.tensor([0, 2, 2])
    table = ak.tensor(np.random.RandomState(0).randn(4, 2), requires_grad=True)
    leaves = [table]
    if mode == "sum":
        leaves.append(ak.tensor([0.5, 2.0, 1.0, -1.0], dtype=ak.float64, requires_grad=True))

    def bags(table: ak.Tensor, factors: ak.Tensor | None = None) -> ak.Tensor:
        return ak.nn.functional.embedding_bag(index, table, offsets, mode=mode, per_sample_weights=factors)

    assert ak.autograd.gradcheck(bags, leaves)
    assert ak.autograd.gradgradcheck(bags, leaves)


def bag(*arguments: Any, **options: Any) -> Any:
    def call(T: Any, table: Any) -> Any:
        def made(value: Any) -> Any:
            return T.tensor(value) if isinstance(value, list) else value

        first, *others = map(made, arguments)
        given = {name: made(value) for name, value in options.items()}
        return T.nn.functional.embedding_bag(first, table, *others, **given)

    return call


WRONG = {
    "weights of a mean": bag([1, 2], [0], per_sample_weights=[2.0, 3.0]),
    "weights": bag([1, 2], [0], mode="sum", per_sample_weights=[2.0]),
    "integer weights": bag([1, 2], [0], mode="sum", per_sample_weights=[2, 1]),
    "no offsets": bag([1, 2]),
    "matrix of offsets": bag([1, 2], [[0]]),
    "rows and offsets": bag([[1, 2]], [0]),
    "three dimensions": bag([[[1, 2]]]),
    "mode": bag([1, 2], [0], mode="avg"),
    "first offset": bag([1, 2], [1]),
    "last offset": bag([1, 2], [0, 3]),
    "row": bag([1, 9], [0]),
    "negative row": bag([1, -1], [0]),
    "padding": bag([1, 2], [0], padding_idx=4),
    "float rows": bag([1.0, 2], [0]),
    "float offsets": bag([1, 2], [0.0]),
    "frequency of the largest": bag([1, 2], [0], mode="max", scale_grad_by_freq=True),
    "vector": lambda T, w: T.nn.functional.embedding_bag(T.tensor([1]), w[0], T.tensor([0])),
    "integers": lambda T, w: T.nn.functional.embedding_bag(T.tensor([1]), w.long(), T.tensor([0])),
}


@pytest.mark.parametrize(("name", "call"), WRONG.items(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(name: str, call: Any):
    raised = []
    for library in (torch, ak):
        with pytest.raises(Exception) as caught:
            call(library, library.ones(4, 3))
        raised.append(caught)
    assert raised[1].type is raised[0].type
    assert " ".join(str(raised[0].value).split()[:3]) in str(raised[1].value)


def test_descending_offsets_are_refused():
    """PyTorch answers them with an error or with what was in memory."""
    with pytest.raises(RuntimeError, match="offsets must not decrease"):
        bag([1, 2, 3], [0, 2, 1])(ak, ak.ones(4, 3))


def test_no_sparse_gradients_of_the_largest():
    with pytest.raises(ValueError, match="max mode does not support sparse weights"):
        ak.nn.functional.embedding_bag(ak.tensor([[1]]), ak.ones(2, 3), mode="max", sparse=True)
