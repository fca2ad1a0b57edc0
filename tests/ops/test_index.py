"""Reading and writing parts: any index gives PyTorch's part, gradient or error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

integers = st.integers(-4, 4)
slices = st.builds(slice, st.none() | integers, st.none() | integers, st.none() | st.integers(1, 3))
lists = st.lists(st.integers(-3, 3), max_size=4)
masks = st.lists(st.booleans(), min_size=1, max_size=4)


class Array:
    """An index that is a tensor: made in each library from the same array."""

    def __init__(self, elements: Any) -> None:
        self.elements = elements

    def __repr__(self) -> str:
        return f"Array({self.elements})"


arrays = st.one_of(
    lists.map(lambda each: Array(np.array(each, np.int64))),
    st.integers(-3, 3).map(lambda each: Array(np.array(each))),
    st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=2).map(
        lambda each: Array(np.array(each))
    ),
    masks.map(lambda each: Array(np.array(each))),
)
entries = st.one_of(integers, slices, st.none(), st.just(...), lists, arrays)
one_ellipsis = st.lists(entries, max_size=4).filter(lambda each: sum(entry is ... for entry in each) < 2)
indices = st.one_of(entries, one_ellipsis.map(tuple))
tensor_shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def translated(T: Any, index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(translated(T, entry) for entry in index)
    return T.tensor(index.elements) if isinstance(index, Array) else index


def outcome(make: Any) -> Any:
    try:
        return make()
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        return error


def read(T: Any, shape: tuple[int, ...], index: Any) -> Any:
    size = int(np.prod(shape))
    x = T.tensor(np.arange(size, dtype=np.float64).reshape(shape), requires_grad=True)
    part = x[translated(T, index)]
    (part * part).sum().backward()
    return part.detach().numpy(), x.grad.numpy(), part.shape


@given(tensor_shapes, indices)
@settings(max_examples=800)
def test_reading(shape: tuple[int, ...], index: Any):
    ours, theirs = outcome(lambda: read(autokit, shape, index)), outcome(lambda: read(torch, shape, index))
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (ours, theirs)
        return
    assert not isinstance(ours, Exception), ours
    for mine, other in zip(ours, theirs):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))


def write(T: Any, shape: tuple[int, ...], index: Any, value: Any, learns: bool) -> Any:
    size = int(np.prod(shape))
    x = T.tensor(-np.arange(size, dtype=np.float64).reshape(shape)).requires_grad_(learns) * 1
    x[translated(T, index)] = T.tensor(value) if isinstance(value, np.ndarray) else value
    return x.detach().numpy()


values = st.sampled_from(
    [7.0, np.array(7.0), np.array([7.0]), np.full(2, 7.0), np.zeros(0), np.zeros((0, 3))]
)


@given(tensor_shapes, indices, values, st.booleans())
@settings(max_examples=800)
def test_writing(shape: tuple[int, ...], index: Any, value: Any, learns: bool):
    ours = outcome(lambda: write(autokit, shape, index, value, learns))
    theirs = outcome(lambda: write(torch, shape, index, value, learns))
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (ours, theirs)
        return
    assert not isinstance(ours, Exception), ours
    np.testing.assert_array_equal(ours, theirs)


def assigned(T: Any, dtype: str, value: Any) -> Any:
    x = T.ones(2, 3, requires_grad=dtype == "float64", dtype=getattr(T, dtype))
    with T.no_grad():
        x[1] = value
    return x.tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize(
    "value",
    [
        *(True, 7, 2.75, 2.5 + 0j, 1j, 1e6, 1e300, -3, 300, np.nan),
        *(np.float64(2.5), np.int64(3), np.int8(-3), np.float32(2.0), np.bool_(True), np.ones(3)),
        *(None, "a", [1, 2, 3], (1, 2, 3), {}, range(3)),
    ],
    ids=repr,
)
def test_only_numbers_and_tensors_are_written(dtype: str, value: Any):
    theirs = outcome(lambda: assigned(torch, dtype, value))
    ours = outcome(lambda: assigned(autokit, dtype, value))
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
        assert str(theirs).split(" to ")[0] in str(ours)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (-3, IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
        ((0, 3), IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        ([0, 2], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (1.5, IndexError, "ind"),
        (slice(0, 2.5), TypeError, "slice indices must be integers or None"),
        (
            Array(np.array([0.5])),
            IndexError,
            "tensors used as indices must be long, int, byte or bool tensors",
        ),
        (Array(np.array([True, False, True])), IndexError, r"shape of the mask \[3\]"),
    ],
)
def test_errors(index: Any, kind: Any, message: str):
    for T in (torch, autokit):
        x = T.zeros(2, 3)
        with pytest.raises(kind, match=message):
            x[translated(T, index)]


def test_an_index_into_a_number():
    for T in (torch, autokit):
        with pytest.raises(IndexError, match=r"invalid index of a 0-dim tensor"):
            T.tensor(1.0)[0]


@pytest.mark.parametrize(
    "index", [(0, slice(None), [0, 2]), ([0, 1], slice(None), 1), (1, None, [1]), (0, [[0]])]
)
def test_numbers_beside_arrays_are_read_first(index: Any):
    ours, theirs = (read(T, (2, 3, 4), index) for T in (autokit, torch))
    for mine, other in zip(ours, theirs):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))


def test_repeated_places_add_in_the_gradient():
    x = autokit.zeros(3, requires_grad=True)
    (x[[0, 0, 2, 0]] * autokit.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1011.0, 0.0, 100.0]


def test_basic_parts_are_views_and_others_are_copies():
    x = autokit.zeros(3, 3)
    for part in (x[0], x[0, 0], x[:, 1], x[..., None], x[1:], x[autokit.tensor(1)]):
        assert np.shares_memory(part.numpy(), x.numpy())
    for part in (x[[0]], x[x == 0], x[autokit.tensor([1])]):
        assert not np.shares_memory(part.numpy(), x.numpy())


@pytest.mark.parametrize(
    "index",
    [None, (slice(None), None), (..., None), (0, None), (slice(None), slice(None), None, slice(0, 4, 2))]
    + [(None, None), (slice(None), None, slice(0, 1))],
    ids=str,
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)], ids=str)
def test_a_new_dimension_has_pytorchs_stride(index: Any, order: tuple[int, ...]):
    ours, theirs = (T.arange(24.0).reshape(2, 3, 4).permute(order)[index] for T in (autokit, torch))
    assert ours.stride() == theirs.stride() and ours.is_contiguous() == theirs.is_contiguous()
    ours.add_(1)
    assert ours._base is not None and ours.tolist() == (theirs + 1).tolist()


def test_iteration_and_membership():
    x = autokit.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]] and len(x) == 2
    assert 3 in x and 7 not in x
    a, b = x
    assert (a + b).tolist() == [4, 6]
    assert list(range(5))[autokit.tensor(2)] == 2


@pytest.mark.parametrize(
    "read",
    {
        "x[index]": lambda x, i: x[i],
        "x[index] = v": lambda x, i: autokit.zeros(4).index_put((i,), x[:2]),
        "index_select": lambda x, i: x.index_select(0, i),
        "index_add": lambda x, i: autokit.zeros(4).index_add(0, i, x[:2]),
        "gather": lambda x, i: x.gather(0, i),
        "scatter": lambda x, i: autokit.zeros(4).scatter(0, i, x[:2]),
        "scatter_add": lambda x, i: autokit.zeros(4).scatter_add(0, i, x[:2]),
        "take": lambda x, i: x.take(i),
        "embedding": lambda x, i: autokit.nn.functional.embedding(i, x[:, None]),
        "embedding_bag": lambda x, i: autokit.nn.functional.embedding_bag(i[None], x[:, None], mode="sum"),
        "masked_fill": lambda x, i: x[:2].masked_fill(i, 0),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_places_that_change_in_silence_do_not_change_the_gradient(read: Any):
    """By another name of the memory, which no version tells of; PyTorch's gradient is another one then."""
    name, call = read
    gradients = []
    for changes in (False, True):
        x = autokit.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        index = autokit.tensor([False, True]) if name == "masked_fill" else autokit.tensor([0, 1])
        made = call(x, index)
        if changes:
            index.numpy()[...] = [True, False] if name == "masked_fill" else [2, 3]
        (made * autokit.arange(1.0, 1 + made.numel()).reshape(made.shape)).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


@pytest.mark.parametrize("name", ["sort", "topk", "kthvalue", "median", "mode", "max", "min", "cummax"])
def test_places_that_were_found_may_be_changed_in_silence(name: str):
    further = {"topk": (2,), "kthvalue": (2,), "sort": ()}.get(name, (0,))
    gradients = []
    for changes in (False, True):
        x = autokit.tensor([3.0, 1.0, 2.0, 2.0], requires_grad=True)
        values, places = getattr(x, name)(*further)
        if changes:
            places.numpy().fill(1)
        (values * autokit.arange(1.0, 1 + values.numel()).reshape(values.shape)).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


@pytest.mark.parametrize(
    "index",
    [
        *([0, 1], [True, False], [[True, False]] * 2, 0, slice(None), True, None, (0, [1]), ([0], slice(1))),
        *((slice(None), [True, False]), ([True, False], [0]), [0]),
    ],
    ids=str,
)
@pytest.mark.parametrize("value", [1, [1], [[1]], [1, 2]], ids=str)
def test_what_is_written_at_places_is_of_the_tensors_dtype(index: Any, value: Any):
    """But one number at one mask; it was converted in silence."""
    answers = []
    for T in (autokit, torch):
        x = T.zeros(2, 2)
        try:
            x[index] = T.tensor(value)
            answers.append(x.tolist())
        except (RuntimeError, IndexError) as error:
            answers.append(type(error))
    assert answers[0] == answers[1]
