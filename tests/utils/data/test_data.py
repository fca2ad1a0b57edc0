"""autokit.utils.data: datasets, samplers and the loader, in PyTorch's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.support import gpu_works, require


class Squares(data.Dataset):
    def __init__(self, size: int = 10) -> None:
        self.size = size

    def __getitem__(self, index: int) -> tuple[int, float]:
        return index, float(index**2)

    def __len__(self) -> int:
        return self.size


class Stream(data.IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


def pairs(size: int = 10) -> data.TensorDataset:
    return data.TensorDataset(ak.arange(float(size)), ak.arange(size))


# ---------------------------------------------------------------- the same order as PyTorch


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 70),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_two_epochs_come_in_pytorchs_order(
    seed: int, size: int, batch_size: int, shuffle: bool, drop_last: bool, tensors: bool, generator: bool
):
    require("torch")
    import torch

    def epochs(module: Any, make: Any) -> list[Any]:
        module.manual_seed(seed)
        own = module.Generator().manual_seed(seed + 1) if generator else None
        loader = make(batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, generator=own)
        batches = [[part.tolist() for part in batch] for _ in range(2) for batch in loader]
        return [len(loader), batches, module.rand(2).tolist(), [] if own is None else own.initial_seed()]

    ours: Any = pairs(size) if tensors else Squares(size)
    theirs: Any = (
        torch.utils.data.TensorDataset(torch.arange(float(size)), torch.arange(size)) if tensors else ours
    )
    assert epochs(ak, lambda **options: data.DataLoader(ours, **options)) == epochs(
        torch, lambda **options: torch.utils.data.DataLoader(theirs, **options)
    )


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
    require("torch")
    import torch.utils.data

    ak.manual_seed(1)
    torch.manual_seed(1)
    ours, theirs = make(data), make(torch.utils.data)
    assert [list(ours), list(ours), len(ours)] == [list(theirs), list(theirs), len(theirs)]
    assert ak.rand(1).item() == torch.rand(1).item()


def test_a_sampler_with_a_generator_leaves_it_where_pytorchs_does():
    require("torch")
    import torch.utils.data

    ours, theirs = ak.Generator().manual_seed(2), torch.Generator().manual_seed(2)
    assert list(data.RandomSampler(range(7), generator=ours)) == list(
        torch.utils.data.RandomSampler(range(7), generator=theirs)
    )
    assert ours.uniform(1).item() == torch.rand(1, generator=theirs).item()


def test_the_order_literally():
    ak.manual_seed(0)
    assert [batch[1].tolist() for batch in data.DataLoader(pairs(), batch_size=4, shuffle=True)] == [
        [6, 7, 1, 4],
        [2, 0, 9, 8],
        [3, 5],
    ]
    generator = ak.Generator().manual_seed(1)
    loader = data.DataLoader(pairs(), batch_size=4, shuffle=True, generator=generator)
    assert [batch[1].tolist() for batch in loader] == [[4, 6, 9, 2], [3, 1, 0, 7], [8, 5]]


def test_random_split():
    ak.manual_seed(0)
    parts = data.random_split(pairs(), [3, 7])
    assert [list(part.indices) for part in parts] == [[4, 1, 7], [5, 3, 9, 0, 8, 6, 2]]
    assert [list(p.indices) for p in data.random_split(pairs(), [0.5, 0.25, 0.25])] == [
        [3, 9, 4, 2, 7, 8], [6, 0], [5, 1],
    ]  # fmt: skip
    assert parts[0][1][1].item() == 1
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(1), [0.5, 0.5])  # type: ignore[arg-type]


# ---------------------------------------------------------------- datasets


def test_tensor_dataset_and_subset():
    dataset = pairs()
    assert len(dataset) == 10 and [part.item() for part in dataset[3]] == [3.0, 3]
    assert dataset[2:4][1].tolist() == [2, 3]
    subset = data.Subset(dataset, [5, 7])
    assert len(subset) == 2 and subset[1][1].item() == 7
    assert subset[[0, 1]][1].tolist() == [5, 7]


def test_concatenated_datasets():
    both = pairs(3) + pairs(2)
    assert isinstance(both, data.ConcatDataset) and len(both) == 5
    assert [both[i][1].item() for i in range(5)] == [0, 1, 2, 0, 1]
    assert both[-1][1].item() == 1
    with pytest.raises(IndexError, match="5 samples"):
        both[5]
    assert [batch.tolist() for batch in data.DataLoader(Stream() + Stream(), batch_size=5)] == [
        [0, 1, 2, 3, 4]
    ] * 2


def test_a_stack_of_datasets_asks_each_for_a_batch_at_once_where_it_can():
    class Tenfold(data.Dataset):
        asked: list[list[int]] = []  # noqa: RUF012

        def __getitem__(self, index: int) -> int:
            return 10 * index

        def __getitems__(self, indices: list[int]) -> list[int]:
            self.asked.append(indices)
            return [10 * index for index in indices]

        def __len__(self) -> int:
            return 4

    stack = data.StackDataset(one=range(4), ten=Tenfold())
    assert stack[2] == {"one": 2, "ten": 20} and len(stack) == 4
    batches = list(data.DataLoader(stack, batch_size=3))
    assert [batch["ten"].tolist() for batch in batches] == [[0, 10, 20], [30]]
    assert Tenfold.asked == [[0, 1, 2], [3]]
    tuples = data.Subset(data.StackDataset(range(4), Tenfold()), [3, 1])
    assert [part.tolist() for part in next(iter(data.DataLoader(tuples, batch_size=2)))] == [[3, 1], [30, 10]]
    assert Tenfold.asked[-1] == [3, 1]

    class Changed(data.Subset):
        def __getitem__(self, index: Any) -> Any:
            return -super().__getitem__(index)

    assert next(iter(data.DataLoader(Changed(Tenfold(), [2, 1]), batch_size=2))).tolist() == [-20, -10]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(0, 6), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_random_split_deals_as_pytorch(seed: int, shares: list[int], fractions: bool, generator: bool):
    require("torch")
    import warnings

    import torch

    total = sum(shares)
    if fractions and not total:
        shares = [1]
    lengths = [share / max(1, total) for share in shares] if fractions else shares

    def parts(module: Any, split: Any) -> Any:
        module.manual_seed(seed)
        own = {"generator": module.Generator().manual_seed(seed + 1)} if generator else {}
        try:
            return [list(part.indices) for part in split(range(total), lengths, **own)], module.rand(1).item()
        except ValueError as error:
            return str(error)[:40]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert parts(ak, data.random_split) == parts(torch, torch.utils.data.random_split)


def test_a_stream_that_gives_more_than_its_length_is_warned_of():
    class Promising(Stream):
        def __len__(self) -> int:
            return 3

    loader = data.DataLoader(Promising(), batch_size=2)
    assert len(list(loader)) == 3  # nobody asked for its length
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Promising was reported to be 2 batches .* but 3 have been fetched"):
        list(loader)


def test_a_batch_taken_at_once_equals_one_that_is_stacked():
    dataset = data.Subset(data.Subset(pairs(), [9, 8, 7, 6]), [3, 2, 0])
    slow = [data.default_collate([dataset[i] for i in range(3)])]
    fast = list(data.DataLoader(dataset, batch_size=3))
    assert [[p.tolist() for p in b] for b in fast] == [[p.tolist() for p in b] for b in slow]
    assert isinstance(fast[0], list) and [p.dtype for p in fast[0]] == [ak.float32, ak.int64]


def test_a_subclass_that_changes_its_samples_is_asked_for_them():
    class Negated(data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return tuple(-part for part in super().__getitem__(index))

    negated = Negated(ak.arange(4))
    assert next(iter(data.DataLoader(negated, batch_size=4)))[0].tolist() == [0, -1, -2, -3]
    assert next(iter(data.DataLoader(data.Subset(negated, [2]))))[0].tolist() == [-2]


# ---------------------------------------------------------------- loading


def test_a_collate_fn_of_ones_own():
    assert list(data.DataLoader(range(5), batch_size=2, collate_fn=tuple)) == [(0, 1), (2, 3), (4,)]
    assert list(data.DataLoader(pairs(2), batch_size=2, collate_fn=len)) == [2]


PLACES = {
    "a tensor": lambda T: T.tensor([1, 2]),
    "a tensor among numbers": lambda T: [1, T.tensor(2)],
    "tuples": lambda T: [(0, 1), (2, 0)],
    "lists": lambda T: [[0, 1], [2, 0]],
}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", PLACES)
def test_a_sampler_may_give_other_things_than_numbers(name: str, count: int):
    require("torch")
    import torch

    def batches(T: Any) -> list[Any]:
        samples = T.utils.data.TensorDataset(T.arange(9.0).view(3, 3))
        loader = T.utils.data.DataLoader(samples, sampler=PLACES[name](T), batch_size=count)
        return [batch[0].tolist() for batch in loader]

    assert batches(ak) == batches(torch)


def test_streams_samplers_and_lengths():
    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in data.DataLoader(Stream(), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Stream(), batch_size=None)) == [0, 1, 2, 3, 4]
    assert [b.tolist() for b in data.DataLoader(range(9), sampler=[7, 8], batch_size=2)] == [[7, 8]]
    assert [b.tolist() for b in data.DataLoader(range(9), batch_sampler=[[7], [1, 2]])] == [[7], [1, 2]]
    assert (
        len(data.DataLoader(range(9), batch_size=2)) == 5
        and len(data.DataLoader(range(9), batch_size=None)) == 9
    )
    assert list(data.DataLoader([])) == []


class Holed:
    """Six numbers, of which the third cannot be read."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == 2:
            raise KeyError("lost")
        return index


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_pass_has_a_length_and_goes_on_after_an_exception_as_in_pytorch(num_workers: int):
    require("torch")
    import torch

    found = []
    for T in (ak, torch):
        batches = iter(T.utils.data.DataLoader(Holed(), batch_size=2, num_workers=num_workers))
        given: list[Any] = [len(batches)]
        for _ in range(4):
            try:
                given.append(next(batches).tolist())
            except (KeyError, StopIteration) as error:
                given.append(type(error).__name__)
        found.append([*given, len(batches)])
    assert found[0] == found[1] == [3, [0, 1], "KeyError", [4, 5], "StopIteration", 3]


@pytest.mark.parametrize("num_workers", [0, 1])
def test_tqdm_knows_how_far_a_pass_is(num_workers: int):
    """As learners write it: around the loader, a pass, or ``enumerate`` with ``len(loader)``."""
    require("tqdm")
    import io

    from tqdm.auto import tqdm

    loader = data.DataLoader(pairs(10), batch_size=4, num_workers=num_workers)
    for made in (
        lambda file: tqdm(loader, file=file, desc="epoch 1"),
        lambda file: tqdm(iter(loader), file=file, desc="epoch 1"),
        lambda file: tqdm(enumerate(loader), total=len(loader), file=file, desc="epoch 1"),
    ):
        file = io.StringIO()
        with made(file) as bar:
            assert bar.total == 3
            for _ in bar:
                bar.set_postfix(loss=ak.tensor(0.25).item(), accuracy=f"{ak.tensor(0.5):.0%}")
        last = file.getvalue().splitlines()[-1]
        assert "epoch 1: 100%" in last and "3/3" in last and "loss=0.25" in last and "accuracy=50%" in last


def test_memory_that_no_gpu_can_be_given_is_warned_of_as_in_pytorch():
    require("torch")
    import torch

    if torch.cuda.is_available() or gpu_works():
        pytest.skip("there is a GPU")
    said = []
    for T in (ak, torch):
        loader = T.utils.data.DataLoader(range(2), pin_memory=True)
        with pytest.warns(UserWarning, match="no accelerator is found") as caught:
            assert [batch.tolist() for batch in loader] == [[0], [1]]
        said.append([str(each.message) for each in caught])
    assert said[0] == said[1]


def test_rows_are_views_that_notice_changes():
    table = ak.zeros(3, 2)
    row, again = table[1], table[-2]
    table[1, 0] = 5
    assert row.tolist() == again.tolist() == [5, 0]
    row += 1
    assert table.tolist() == [[0, 0], [6, 1], [0, 0]] and table._version == row._version == 2
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
        table[3]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        ak.tensor(1.0)[0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: data.DataLoader(pairs(), batch_size=0),
            ValueError,
            "positive integer value, but got batch_size=0",
        ),
        (lambda: data.DataLoader(pairs(), batch_size=2.5), ValueError, "batch_size=2.5"),
        (lambda: data.DataLoader([], shuffle=True), ValueError, "num_samples=0; the dataset is empty"),
        (
            lambda: data.DataLoader(pairs(), shuffle=True, sampler=[1]),
            ValueError,
            "mutually exclusive with shuffle",
        ),
        (
            lambda: data.DataLoader(pairs(), batch_sampler=[[1]], batch_size=3),
            ValueError,
            "batch_sampler option",
        ),
        (
            lambda: data.DataLoader(pairs(), batch_size=None, drop_last=True),
            ValueError,
            "disables auto-batching",
        ),
        (lambda: data.DataLoader(pairs(), num_workers=-1), ValueError, "non-negative"),
        (lambda: data.DataLoader(pairs(), num_workers=2.0), TypeError, "number of processes, but it is 2.0"),
        (lambda: data.DataLoader(pairs(), timeout=-1), ValueError, "timeout option should be non-negative"),
        (lambda: iter(data.DataLoader(pairs(), timeout=1)), AssertionError, "timeout=1 is for workers"),
        (lambda: data.DataLoader(pairs(), prefetch_factor=2), ValueError, "let num_workers > 0"),
        (
            lambda: data.DataLoader(pairs(), num_workers=1, prefetch_factor=-1),
            ValueError,
            "prefetch_factor option should be positive",
        ),
        (lambda: data.DataLoader(pairs(), persistent_workers=True), ValueError, "needs num_workers > 0"),
        (
            lambda: data.DataLoader(pairs(), multiprocessing_context="fork"),
            ValueError,
            "multi-process loading",
        ),
        (
            lambda: data.DataLoader(pairs(), num_workers=1, multiprocessing_context="spoon"),
            ValueError,
            "valid start method in .*'spawn'.*, but got multiprocessing_context='spoon'",
        ),
        (
            lambda: data.DataLoader(pairs(), num_workers=1, multiprocessing_context=3),
            TypeError,
            "context object or a string specifying the start method",
        ),
        (
            lambda: setattr(data.DataLoader(pairs()), "batch_size", 3),
            ValueError,
            "batch_size attribute should not be set after DataLoader is initialized",
        ),
        (
            lambda: data.DataLoader(Stream(), sampler=[]),
            ValueError,
            "expected unspecified sampler option",
        ),
        (lambda: list(data.ChainDataset([range(3)])), AssertionError, "ChainDataset only supports"),
        (lambda: data.StackDataset(), ValueError, "At least one dataset"),
        (lambda: data.StackDataset([1], a=[1]), ValueError, "both types are given"),
        (lambda: data.StackDataset([1], [1, 2]), ValueError, r"they have \[1, 2\] samples"),
        (lambda: data.WeightedRandomSampler([1.0], 0), ValueError, "num_samples=0"),
        (lambda: data.WeightedRandomSampler([[1.0]], 1), ValueError, r"1d sequence.*\(1, 1\)"),
        (lambda: data.WeightedRandomSampler([1.0], 1, replacement=1), ValueError, "boolean"),
        (lambda: list(data.WeightedRandomSampler([1.0, -1.0], 1)), RuntimeError, "negative|< 0"),
        (lambda: list(data.WeightedRandomSampler([1.0], 2, False)), RuntimeError, "without replacement"),
        (lambda: data.DataLoader(Stream(), shuffle=True), ValueError, "expected unspecified shuffle option"),
        (lambda: len(data.DataLoader(Stream())), TypeError, "has no len"),
        (
            lambda: list(data.DataLoader([ak.ones(2), ak.ones(3)], batch_size=2)),
            RuntimeError,
            r"equal size, but got \[2\] at entry 0 and \[3\] at entry 1",
        ),
        (
            lambda: list(data.DataLoader([np.ones(2), np.ones((2, 1))], batch_size=2)),
            RuntimeError,
            r"got \[2\] at entry 0 and \[2, 1\] at entry 1",
        ),
        (
            lambda: list(data.DataLoader([[1, 2], [3]], batch_size=2)),
            RuntimeError,
            "sample 0 .* 2 items and sample 1",
        ),
        (lambda: list(data.DataLoader([None])), TypeError, "found <class 'NoneType'>"),
        (lambda: data.TensorDataset(ak.ones(2), ak.ones(3)), AssertionError, r"Size mismatch.*\[2, 3\]"),
        (lambda: data.TensorDataset(), AssertionError, "at least one tensor"),
        (lambda: data.ConcatDataset([]), AssertionError, "empty iterable"),
        (lambda: data.ConcatDataset([Stream()]), AssertionError, "ChainDataset"),
        (lambda: data.random_split(pairs(), [3, 3]), ValueError, "adds up to 6, and there are 10"),
        (
            lambda: data.random_split(pairs(), [1.5, -0.5]),
            ValueError,
            "Fraction at index 0 is not between 0 and 1",
        ),
        (lambda: data.RandomSampler(range(3), num_samples=0), ValueError, "num_samples=0"),
        (lambda: data.RandomSampler(range(3), replacement=1), TypeError, "boolean"),
        (lambda: data.BatchSampler(range(3), 2, 1), ValueError, "drop_last should be a boolean"),
        (lambda: data.Dataset()[0], NotImplementedError, "__getitem__"),
        (lambda: iter(data.IterableDataset()), NotImplementedError, "__iter__"),
        (lambda: iter(data.Sampler()), NotImplementedError, "__iter__"),
        *(
            (draw, TypeError, "'generator' must be torch.Generator, not int")
            for draw in (
                lambda: data.random_split(pairs(), [5, 5], generator=42),
                lambda: list(data.RandomSampler(range(3), generator=42)),
                lambda: list(data.SubsetRandomSampler(range(3), generator=42)),
                lambda: list(data.WeightedRandomSampler([1, 2], 2, generator=42)),
                lambda: list(data.DataLoader(pairs(), generator=42)),
            )
        ),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()


def test_modules_have_pytorchs_names():
    from autokit.utils.data import dataloader, dataset, sampler

    assert dataloader.DataLoader is data.DataLoader and dataloader.default_collate is data.default_collate
    assert dataset.random_split is data.random_split and sampler.RandomSampler is data.RandomSampler
