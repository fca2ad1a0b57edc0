"""Datasets, samplers and the loader give PyTorch's samples in PyTorch's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.beside import assert_same
from tests.utils.data.processes import Squares


class Stream(data.IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


def pairs(size: int = 10, T: Any = ak) -> Any:
    return T.utils.data.TensorDataset(T.arange(float(size)), T.arange(size))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 70),
    st.integers(1, 9),
    *[st.booleans()] * 4,
)
def test_two_epochs_come_in_pytorchs_order(
    seed: int, size: int, batch_size: int, shuffle: bool, drop_last: bool, tensors: bool, own: bool
):
    def run(T: Any) -> Any:
        T.manual_seed(seed)
        generator = T.Generator().manual_seed(seed + 1) if own else None
        loader = T.utils.data.DataLoader(
            pairs(size, T) if tensors else Squares(size),
            batch_size=batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            generator=generator,
        )
        batches = [[part.tolist() for part in batch] for _ in range(2) for batch in loader]
        return len(loader), batches, T.rand(2).tolist()

    assert_same(run)


SAMPLERS = [
    lambda data: data.RandomSampler(range(10)),
    lambda data: data.RandomSampler(range(10), num_samples=15),
    lambda data: data.RandomSampler(range(10), replacement=True, num_samples=70),
    lambda data: data.SubsetRandomSampler([3, 1, 4, 1, 5]),
    lambda data: data.WeightedRandomSampler([0.1, 3, 0.5, 0, 2], 12),
    lambda data: data.SequentialSampler(range(4)),
    lambda data: data.BatchSampler(data.SequentialSampler(range(7)), 3, True),
]


@pytest.mark.parametrize("make", SAMPLERS)
def test_samplers_draw_as_pytorchs(make: Any):
    def run(T: Any) -> Any:
        T.manual_seed(1)
        sampler = make(T.utils.data)
        return list(sampler), list(sampler), len(sampler), T.rand(1).item()

    assert_same(run)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 6), min_size=1, max_size=5), *[st.booleans()] * 2)
def test_random_split_deals_as_pytorch(seed: int, shares: list[int], fractions: bool, own: bool):
    total = sum(shares)
    lengths = [share / total for share in shares] if fractions and total else shares

    def run(T: Any) -> Any:
        T.manual_seed(seed)
        generator = {"generator": T.Generator().manual_seed(seed + 1)} if own else {}
        try:
            parts = T.utils.data.random_split(range(total), lengths, **generator)
        except ValueError as error:
            return str(error)[:40]
        return [list(part.indices) for part in parts], T.rand(1).item()

    assert_same(run)


def test_datasets():
    dataset = pairs()
    assert len(dataset) == 10 and [part.item() for part in dataset[3]] == [3.0, 3]
    subset = data.Subset(dataset, [5, 7])
    assert len(subset) == 2 and subset[1][1].item() == 7
    both = pairs(3) + pairs(2)
    assert isinstance(both, data.ConcatDataset) and len(both) == 5
    assert [both[i][1].item() for i in range(-1, 5)] == [1, 0, 1, 2, 0, 1]


def test_a_batch_read_at_once_equals_one_that_is_stacked():
    dataset = data.Subset(data.Subset(pairs(), [9, 8, 7, 6]), [3, -2, 0])
    slow = data.default_collate([dataset[i] for i in range(3)])
    (fast,) = data.DataLoader(dataset, batch_size=3)
    assert isinstance(fast, list) and repr(fast) == repr(slow)

    class Negated(data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return tuple(-part for part in super().__getitem__(index))

    negated = Negated(ak.arange(4))
    assert next(iter(data.DataLoader(negated, batch_size=4)))[0].tolist() == [0, -1, -2, -3]
    assert next(iter(data.DataLoader(data.Subset(negated, [2]))))[0].tolist() == [-2]


def test_streams_samplers_and_lengths():
    def load(*args: Any, **options: Any) -> list[Any]:
        batches = list(data.DataLoader(*args, **options))
        return [batch.tolist() if isinstance(batch, ak.Tensor) else batch for batch in batches]

    assert load(Stream(), batch_size=2) == [[0, 1], [2, 3], [4]]
    assert load(Stream(), batch_size=2, drop_last=True) == [[0, 1], [2, 3]]
    assert load(Stream(), batch_size=None) == [0, 1, 2, 3, 4]
    assert load(range(9), sampler=[7, 8], batch_size=2) == [[7, 8]]
    assert load(range(9), batch_sampler=[[7], [1, 2]]) == [[7], [1, 2]]
    assert load(range(5), batch_size=2, collate_fn=tuple) == [(0, 1), (2, 3), (4,)]
    assert load([]) == []
    assert len(data.DataLoader(range(9), batch_size=2)) == 5
    assert len(data.DataLoader(range(9), batch_size=None)) == 9


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_pass_has_a_length_and_goes_on_after_an_exception_as_in_pytorch(num_workers: int):
    def lose(index: int) -> None:
        if index == 2:
            raise KeyError("lost")

    def run(T: Any) -> Any:
        batches = iter(T.utils.data.DataLoader(Squares(6, lose), batch_size=2, num_workers=num_workers))
        given: list[Any] = [len(batches)]
        for _ in range(4):
            try:
                given.append(next(batches)[0].tolist())
            except (KeyError, StopIteration) as error:
                given.append(type(error).__name__)
        return given

    assert assert_same(run) == [3, [0, 1], "KeyError", [4, 5], "StopIteration"]


WRONG: list[Any] = [
    (lambda: data.DataLoader(pairs(), batch_size=0), ValueError, "but got batch_size=0"),
    (lambda: data.DataLoader([], shuffle=True), ValueError, "num_samples=0; the dataset is empty"),
    (lambda: data.DataLoader(pairs(), shuffle=True, sampler=[1]), ValueError, "exclusive with shuffle"),
    (lambda: data.DataLoader(pairs(), batch_sampler=[[1]], batch_size=3), ValueError, "batch_sampler option"),
    (lambda: data.DataLoader(pairs(), batch_size=None, drop_last=True), ValueError, "with drop_last"),
    (lambda: data.DataLoader(pairs(), num_workers=-1), ValueError, "non-negative"),
    (lambda: data.DataLoader(pairs(), prefetch_factor=2), ValueError, "let num_workers > 0"),
    (lambda: data.DataLoader(pairs(), persistent_workers=True), ValueError, "needs num_workers > 0"),
    (lambda: data.DataLoader(pairs(), timeout=1), ValueError, "timeout option is for workers"),
    (lambda: data.DataLoader(Stream(), shuffle=True), ValueError, "an order of its own"),
    (lambda: len(data.DataLoader(Stream())), TypeError, "has no len"),
    (lambda: data.WeightedRandomSampler([[1.0]], 1), ValueError, r"1d sequence.*\(1, 1\)"),
    (lambda: list(data.WeightedRandomSampler([1.0], 2, False)), RuntimeError, "without replacement"),
    (lambda: data.TensorDataset(ak.ones(2), ak.ones(3)), AssertionError, r"Size mismatch.*\[2, 3\]"),
    (lambda: data.TensorDataset([1, 2]), AttributeError, "argument 0 of TensorDataset is list"),
    (lambda: (pairs(3) + pairs(2))[5], IndexError, "5 samples"),
    (lambda: data.random_split(pairs(), [3, 3]), ValueError, "adds up to 6, and there are 10"),
    (lambda: data.random_split(pairs(), [1.5, -0.5]), ValueError, "not between 0 and 1"),
    (lambda: data.random_split(pairs(), [5, 5], generator=42), TypeError, "must be torch.Generator, not int"),
    (lambda: list(data.DataLoader(pairs(), generator=42)), TypeError, "must be torch.Generator, not int"),
    (lambda: data.Dataset()[0], NotImplementedError, "__getitem__"),
    (lambda: iter(data.IterableDataset()), NotImplementedError, "__iter__"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_wrong_use_says_what_is_wrong(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()
