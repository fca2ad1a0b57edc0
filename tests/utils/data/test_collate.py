"""default_collate and default_convert beside PyTorch's, on samples of many kinds."""

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

require("torch")
import torch  # noqa: E402
import torch.utils.data  # noqa: E402

Point = namedtuple("Point", "x y")

LEAVES = st.sampled_from(
    [
        lambda T, seed: seed,
        lambda T, seed: seed / 2,
        lambda T, seed: seed % 2 == 0,
        lambda T, seed: f"text {seed}",
        lambda T, seed: b"bytes",
        lambda T, seed: np.float32(seed),
        lambda T, seed: np.bool_(seed % 2),
        lambda T, seed: np.arange(seed, seed + 3),
        lambda T, seed: np.full((2, 0), 1.0),
        lambda T, seed: np.array(seed, np.float16),
        lambda T, seed: T.arange(float(seed), float(seed) + 2),
        lambda T, seed: T.tensor([[seed]], dtype=T.int16),
        lambda T, seed: T.tensor(seed % 2 == 0),
    ]
)

CONTAINERS = st.sampled_from([list, tuple, lambda parts: Point(*(parts * 2)[:2]), dict, OrderedDict])


def filled(kind: Any, makers: list[Any]) -> Any:
    """A maker of samples: a container of what ``makers`` make."""
    if kind in (dict, OrderedDict):
        return lambda T, seed: kind(zip("abc", [make(T, seed) for make in makers]))
    return lambda T, seed: kind([make(T, seed) for make in makers])


def containers(inner: Any) -> Any:
    return st.builds(filled, CONTAINERS, st.lists(inner, min_size=1, max_size=3))


def described(value: Any) -> Any:
    """The types, dtypes and numbers of a batch, in words that are the same for both packages."""
    if hasattr(value, "requires_grad"):
        return str(value.dtype), tuple(value.shape), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(key, described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(item) for item in value]
    return type(value).__name__, value


def outcome(function: Any, value: Any) -> Any:
    try:
        return described(function(value))
    except Exception as error:
        return type(error).__name__


@settings(max_examples=120, deadline=None)
@given(st.recursive(LEAVES, containers, max_leaves=6), st.integers(1, 4))
def test_samples_of_one_kind(make: Any, count: int):
    batches = [[make(T, seed) for seed in range(count)] for T in (ak, torch)]
    ours, theirs = data, torch.utils.data
    assert outcome(ours.default_collate, batches[0]) == outcome(theirs.default_collate, batches[1])
    assert outcome(ours.default_convert, batches[0]) == outcome(theirs.default_convert, batches[1])


@pytest.mark.parametrize(
    "batch",
    [
        [1, 2.5],
        [[1], [1, 2]],
        [None],
        [{"a": 1}, {"b": 2}],
        [np.array(["a"])],
        [np.ones(2), np.ones(3)],
        [range(2), range(2)],
        [1.0, None],
        [1, "a"],
        [np.float32(1), 2.0],
    ],
    ids=str,
)
def test_odd_samples(batch: list[Any]):
    assert outcome(data.default_collate, batch) == outcome(torch.utils.data.default_collate, batch)


@pytest.mark.parametrize(
    ("batch", "error", "words"),
    [
        ([2.0, None], TypeError, "sample 1 of the batch is None, where sample 0 is 2.0"),
        ([(1, 2), (1, "a")], TypeError, "sample 1 of the batch is 'a', where sample 0 is 2"),
        ([ak.ones(2), None], TypeError, "sample 1 of the batch is None, where sample 0 is a tensor"),
        ([ak.ones(2), ak.ones(3)], RuntimeError, r"got \[2\] at entry 0 and \[3\] at entry 1.*padding"),
        ([[1, 2], [3]], RuntimeError, "sample 0 .* 2 items and sample 1"),
        ([None], TypeError, "found <class 'NoneType'>"),
    ],
)
def test_what_cannot_be_one_batch_is_refused_by_its_place(batch: Any, error: Any, words: str):
    with pytest.raises(error, match=words):
        data.default_collate(batch)


def test_a_picture_needs_to_tensor():
    require("PIL")
    from PIL import Image

    with pytest.raises(TypeError, match=r"transform=transforms\.ToTensor\(\)"):
        list(data.DataLoader([(Image.new("L", (2, 2)), 3)]))


def test_a_batch_of_samples_that_learn_learns():
    samples = [ak.ones(2), ak.ones(2, requires_grad=True)]
    data.default_collate(samples).sum().backward()
    assert samples[1].grad.tolist() == [1, 1]
