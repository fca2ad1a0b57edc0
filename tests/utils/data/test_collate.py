"""default_collate and default_convert beside PyTorch's, on samples of any make."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.support import require

Point = namedtuple("Point", "x y")

LEAVES = st.sampled_from(
    [
        lambda module, seed: seed,
        lambda module, seed: seed / 2,
        lambda module, seed: seed % 2 == 0,
        lambda module, seed: f"text {seed}",
        lambda module, seed: b"bytes",
        lambda module, seed: np.float32(seed),
        lambda module, seed: np.int8(seed),
        lambda module, seed: np.bool_(seed % 2),
        lambda module, seed: np.arange(seed, seed + 3),
        lambda module, seed: np.full((2, 0), 1.0),
        lambda module, seed: np.array(seed, np.float16),
        lambda module, seed: module.arange(float(seed), float(seed) + 2),
        lambda module, seed: module.tensor([[seed]], dtype=module.int16),
        lambda module, seed: module.tensor(seed % 2 == 0),
    ]
)


def containers(inner: Any) -> Any:
    """Containers of makers of samples, as makers of samples."""
    return st.one_of(
        st.lists(inner, max_size=3).map(
            lambda makers: lambda module, seed: [make(module, seed) for make in makers]
        ),
        st.lists(inner, max_size=3).map(
            lambda makers: lambda module, seed: tuple(make(module, seed) for make in makers)
        ),
        st.tuples(inner, inner).map(
            lambda makers: lambda module, seed: Point(*(make(module, seed) for make in makers))
        ),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda makers: lambda module, seed: {key: make(module, seed) for key, make in makers.items()}
        ),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda makers: (
                lambda module, seed: OrderedDict((key, make(module, seed)) for key, make in makers.items())
            )
        ),
    )


def described(value: Any) -> Any:
    """The types, dtypes and numbers of a batch, in words that are the same for both packages."""
    if hasattr(value, "requires_grad"):
        return str(value.dtype).removeprefix("torch."), tuple(value.shape), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(key, described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(item) for item in value]
    return type(value).__name__, value


def outcome(call: Any) -> Any:
    try:
        return described(call())
    except Exception as error:
        return type(error).__name__


@settings(max_examples=150)
@given(st.recursive(LEAVES, containers, max_leaves=6), st.integers(1, 4))
def test_samples_of_one_make(make: Any, count: int):
    require("torch")
    import torch
    import torch.utils.data

    def batch(module: Any) -> list[Any]:
        return [make(module, seed) for seed in range(count)]

    assert outcome(lambda: data.default_collate(batch(ak))) == outcome(
        lambda: torch.utils.data.default_collate(batch(torch))
    )
    assert outcome(lambda: data.default_convert(make(ak, 3))) == outcome(
        lambda: torch.utils.data.default_convert(make(torch, 3))
    )


@pytest.mark.parametrize(
    "batch",
    [
        [1, 2.5],
        [[1], [1, 2]],
        [None],
        [{"a": 1}, {"b": 2}],
        [np.array(["a"])],
        [np.ones(2), np.ones(3)],
        [object()],
        [{1, 2}],
        [Point(1, 2), Point(3, 4)],
        [range(2), range(2)],
        [1.0, None],
        [1, None],
        [1.0, "2.5"],
        [1, "a"],
        [1, [1]],
        [1, 2**70],
        [1, 1j],
        [np.float32(1), 2.0],
        [np.ones(2, ">f4")],
        [np.datetime64("2020-01-01")],
    ],
    ids=str,
)
def test_odd_samples(batch: list[Any]):
    require("torch")
    import torch.utils.data

    assert outcome(lambda: data.default_collate(batch)) == outcome(
        lambda: torch.utils.data.default_collate(batch)
    )


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ([2.0, None], "sample 1 of the batch is None, where sample 0 is 2.0"),
        ([(1, 2), (1, "a")], "sample 1 of the batch is 'a', where sample 0 is 2"),
        ([ak.ones(2), ak.ones(2), None], "sample 2 of the batch is None, where sample 0 is a tensor"),
    ],
)
def test_a_missing_value_is_refused_by_its_place(batch: list[Any], words: str):
    """NumPy would read None as nan, and the text "2.5" as a number."""
    with pytest.raises(TypeError, match=words):
        data.default_collate(batch)


def test_a_picture_needs_to_tensor():
    require("PIL")
    from PIL import Image

    with pytest.raises(TypeError, match=r"transform=transforms\.ToTensor\(\)"):
        list(data.DataLoader([(Image.new("L", (2, 2)), 3)]))


def test_collate_goes_into_containers():
    batch = data.default_collate([(1, 2.5, "a", {"k": np.float32(1)}, Point(1, 2), [True]) for _ in range(2)])
    assert batch[0].tolist() == [1, 1] and batch[0].dtype == ak.int64
    assert batch[1].tolist() == [2.5, 2.5] and batch[1].dtype == ak.float64
    assert batch[2] == ("a", "a")
    assert batch[3]["k"].dtype == ak.float32
    assert batch[4].y.tolist() == [2, 2]
    assert batch[5][0].tolist() == [True, True] and batch[5][0].dtype == ak.bool
    assert data.default_collate([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert data.default_collate([1, 2.5]).dtype == ak.float32


def test_without_batches_samples_are_only_converted():
    samples = list(data.DataLoader([(np.ones(2), 3, "a", {"k": np.float64(2)})], batch_size=None))
    assert samples[0][0].tolist() == [1, 1] and samples[0][1] == 3
    assert list(data.DataLoader(range(3), batch_size=None)) == [0, 1, 2]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
@pytest.mark.parametrize("dtypes", [("float32",), ("int64", "float32"), ("bool", "float64"), ("bfloat16",)])
def test_tensors_are_stacked_as_pytorch_stacks_them(shape: tuple[int, ...], dtypes: tuple[str, ...]):
    require("torch")
    import torch

    batches = []
    for T in (ak, torch):
        samples = [T.ones(shape, dtype=getattr(T, dtype)) for dtype in dtypes * 3]
        batches.append(T.utils.data.default_collate(samples))
    ours, theirs = batches
    assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
    assert ours.tolist() == theirs.tolist()


def test_a_batch_of_samples_that_learn_learns():
    samples = [ak.ones(2), ak.ones(2, requires_grad=True)]
    data.default_collate(samples).sum().backward()
    assert samples[1].grad.tolist() == [1, 1]
