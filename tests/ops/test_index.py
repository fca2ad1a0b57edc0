"""Reading and writing parts: any index gives PyTorch's part, gradient or error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops.index import add_at
from tests.oracle import agreeing, compare, numbers, pytorch, refused

CASES = [
    (lambda T, a: (a[T.tensor(1)], a[True], a[False], a[5:], a[np.int64(0)], a[range(2)]), (3,)),
    (lambda T, a: (a[()], a[None], a[...], a[True]), ()),
    (lambda T, a: (a.index_select(1, T.tensor([2, 0, 2])), T.index_select(a, 0, T.tensor(1))), (2, 3)),
    (lambda T, a: T.take(a, T.tensor([[5, -1], [0, 5]])), (2, 3)),
    (lambda T, a: (a.masked_select(a > 0), T.masked_select(a, T.tensor([[True], [False]]))), (2, 3)),
    (lambda T, a: (a.unfold(1, 2, 1), a.unfold(-1, 3, 2), a.unfold(0, 0, 1)), (2, 6)),
    (lambda T, a: (T.argwhere(a > 0), a.nonzero(), a.nonzero(as_tuple=True)), (2, 3)),
    (lambda T, a: (a.nonzero(), (a * 0).nonzero(), a.nonzero(as_tuple=True)), ()),
]


test_values_and_gradients = agreeing(CASES)


@pytest.mark.parametrize(
    "index",
    [
        lambda i, j: (slice(None), i, ..., j),
        lambda i, j: (i, ..., j, slice(None)),
        lambda i, j: (None, slice(None), i, ..., j),
        lambda i, j: (i, ..., slice(None), j),
        lambda i, j: (0, ..., i, j),
    ],
)
def test_an_ellipsis_that_stands_for_no_dimension_separates_nothing(index: Any):
    """Between tensors it transposed the part, and wrote into other cells."""

    def program(T: Any, x: Any) -> Any:
        places = index(T.tensor([0, 1, 1]), T.tensor([1, 0, 1]))
        part, y = x[places], x * 1
        y[places] = part.detach() * 10 + T.arange(part.numel()).reshape(part.shape)
        return part, y

    compare(program, np.arange(8.0).reshape(2, 2, 2))


# ---------------------------------------------------------------- any index


class Array:
    """An index that is a tensor: the same in both libraries."""

    def __init__(self, elements: Any, dtype: Any = np.int64) -> None:
        self.elements = np.array(elements, dtype)

    def __repr__(self) -> str:
        return f"Array({self.elements.tolist()})"


integers = st.integers(-4, 4)
slices = st.builds(slice, st.none() | integers, st.none() | integers, st.none() | st.integers(1, 3))
lists = st.lists(st.integers(-3, 3), max_size=4)
arrays = st.one_of(
    lists.map(Array),
    st.integers(-3, 3).map(Array),
    st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=2).map(Array),
    st.lists(st.booleans(), min_size=1, max_size=4).map(lambda mask: Array(mask, bool)),
    st.just(Array([[True, False, True]] * 2, bool)),
)
entries = st.one_of(integers, slices, st.none(), st.just(...), st.booleans(), lists, arrays)
indices = st.one_of(
    entries, st.lists(entries, max_size=4).filter(lambda some: sum(one is ... for one in some) < 2).map(tuple)
)
shapes = st.lists(st.integers(1, 4), max_size=3).map(tuple)


def _translated(T: Any, index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_translated(T, entry) for entry in index)
    return T.tensor(index.elements) if isinstance(index, Array) else index


def _read(T: Any, shape: tuple[int, ...], index: Any) -> Any:
    x = T.tensor(np.arange(np.prod(shape)).reshape(shape), dtype=T.float64, requires_grad=True)
    part = x[_translated(T, index)]
    (part * part).sum().backward()
    return tuple(part.shape), part.tolist(), x.grad.tolist()


def _written(T: Any, shape: tuple[int, ...], index: Any, value: Any, learns: bool) -> Any:
    x = T.tensor(-np.arange(np.prod(shape)).reshape(shape), dtype=T.float64).requires_grad_(learns)
    y = x * 1
    v = T.tensor(value, requires_grad=learns) if isinstance(value, np.ndarray) else value
    y[_translated(T, index)] = v
    if learns:
        (y * T.arange(y.numel()).reshape(y.shape)).sum().backward()
    return y.tolist(), x.grad.tolist() if learns else None


def _outcome(make: Any, *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        return error


def _agree(make: Any, may_refuse: Any) -> None:
    ours, theirs = (_outcome(make, T) for T in (autokit, pytorch))
    if isinstance(theirs, Exception):
        # Where nothing would be read, PyTorch refuses no place; and of two mistakes either may be told.
        assert isinstance(ours, Exception), (ours, theirs)
    elif not (isinstance(ours, Exception) and may_refuse(theirs)):
        assert not isinstance(ours, Exception), ours
        assert ours == theirs


@given(shapes, indices)
@settings(max_examples=500, deadline=None)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_reading(shape: tuple[int, ...], index: Any):
    _agree(lambda T: _read(T, shape, index), lambda theirs: 0 in theirs[0])


values = st.sampled_from([7.0, np.array(7.0), np.array([7.0]), np.full(2, 7.0), np.full((1, 1, 3), 7.0)])


@given(shapes, indices, values, st.booleans())
@settings(max_examples=500, deadline=None)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_writing(shape: tuple[int, ...], index: Any, value: Any, learns: bool):
    start = (-np.arange(np.prod(shape)).reshape(shape)).tolist()
    _agree(lambda T: _written(T, shape, index, value, learns), lambda theirs: theirs[0] == start)


@given(
    st.sampled_from([(5,), (5, 3), (4, 5, 2), (3, 4, 0), (300, 700)]),
    st.integers(1, 2),
    st.sampled_from([(), (7,), (2, 3), (400,)]),
    st.sampled_from(["float32", "float16", "int64"]),
    st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_the_fast_way_adds_rows_as_the_plain_one_does(
    shape: tuple[int, ...], dims: int, count: tuple[int, ...], dtype: str, seed: int
):
    random = np.random.RandomState(seed)
    index = tuple([random.randint(-size, size, count) for size in shape[:dims]])
    values = random.randint(0, 5, (*count, *shape[len(index) :])).astype(dtype)
    plain, fast = np.zeros(shape, dtype), np.zeros(shape, dtype)
    np.add.at(plain, index, values)
    add_at(fast, index, values)
    np.testing.assert_array_equal(fast, plain)


# ---------------------------------------------------------------- what is written


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize(
    "value",
    [True, 7, 2.75, -3, 1e300, np.float64(2.5), np.int8(3), np.ones(3), "a", [1, 2, 3]],
    ids=repr,
)
def test_numbers_and_tensors_are_written_and_nothing_else(dtype: str, value: Any):
    def assigned(T: Any) -> Any:
        x = T.ones(2, 3, dtype=getattr(T, dtype))
        x[1] = value
        return x.tolist()

    ours, theirs = _outcome(assigned, autokit), _outcome(assigned, pytorch)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (ours, theirs)
    elif (dtype, value) not in (("uint8", -3), ("float16", 1e300)):  # PyTorch wraps around, and says inf
        assert ours == theirs


@pytest.mark.parametrize(
    "index", [[0, 1], [True, False], 0, slice(None), True, None, ([0], slice(1))], ids=str
)
@pytest.mark.parametrize("value", [1, [1], [[1]], [1, 2]], ids=str)
def test_what_is_written_at_places_is_of_the_tensors_dtype(index: Any, value: Any):
    """But one number at one mask; it was converted in silence."""

    def assigned(T: Any) -> Any:
        x = T.zeros(2, 2)
        x[index] = T.tensor(value)
        return x.tolist()

    ours, theirs = _outcome(assigned, autokit), _outcome(assigned, pytorch)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (ours, theirs)
    elif index is not True:
        assert ours == theirs


WRONG = [
    (lambda T, x: x[5], "index 5 is out of bounds for dimension 0 with size 2"),
    (lambda T, x: T.tensor(1.0)[0], ".item()"),
    (lambda T, x: x[:, T.tensor([3])], "index 3 is out of bounds for dimension 1 with size 3"),
    (lambda T, x: x[::-1], "use .flip(0)"),
    (lambda T, x: x[1.5], "(got float)"),
    (lambda T, x: x[T.tensor([0.5])], "must be long, int, byte or bool"),
    (lambda T, x: x[T.tensor([True, False, True])], "The shape of the mask [3] at index 0"),
    (lambda T, x: x[T.tensor([0, 1]), T.tensor([0, 1, 2])], "shape mismatch"),
    (lambda T, x: x.__setitem__(0, T.zeros(2)), "shape mismatch"),
    (lambda T, x: x.index_select(0, T.tensor([5])), "index 5 is out of bounds for dimension 0 with size 2"),
    (lambda T, x: x.index_select(0, T.tensor([-1])), "index -1"),
    (lambda T, x: x.index_select(0, T.tensor([0.5])), "use .long()"),
    (lambda T, x: x.unfold(0, 5, 1), "maximum size"),
    (lambda T, x: x.masked_select(x), "BoolTensor"),
]


test_errors_say_what_is_there = refused(WRONG, np.zeros((2, 3)))


def test_basic_parts_are_views_and_others_are_copies():
    x = autokit.zeros(3, 3)
    for part in (x[0], x[0, 0], x[:, 1], x[..., None], x[1:], x[autokit.tensor(1)], x[...], x[:]):
        assert np.shares_memory(part.numpy(), x.numpy())
    for part in (x[[0]], x[x == 0], x[autokit.tensor([1])]):
        assert not np.shares_memory(part.numpy(), x.numpy())


def test_iteration_and_membership():
    x = autokit.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]] and len(x) == 2
    assert 3 in x and 7 not in x
    a, b = x
    assert (a + b).tolist() == [4, 6]


def test_an_index_that_changes_later_leaves_the_gradient_as_it_is():
    x, index = autokit.ones(4, requires_grad=True), autokit.tensor([0, 1])
    read, written = x[index], autokit.zeros(4)
    written[index] = x[:2] * 2
    index += 2
    (read.sum() + written[:2].sum()).backward()
    assert x.grad.tolist() == [3, 3, 0, 0]


def test_a_part_written_in_two_steps_keeps_the_history_of_the_whole():
    def program(T: Any, a: Any, b: Any) -> Any:
        y = a * 1
        y[0, :, [0, 2]] = b
        y[1] += y[0]
        return y

    compare(program, numbers(2, 3, 3), numbers(3, 2, seed=1))
