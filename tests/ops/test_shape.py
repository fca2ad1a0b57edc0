"""Views: the same shape, strides and place in memory as PyTorch's, whatever views they are taken of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

dims = st.integers(-4, 3)
sizes = st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6]), max_size=3).map(tuple)
steps = st.one_of(
    st.tuples(st.just("transpose"), dims, dims),
    st.tuples(st.just("unsqueeze"), dims),
    st.tuples(st.just("squeeze")),
    st.tuples(st.just("squeeze"), dims),
    st.tuples(st.just("movedim"), dims, dims),
    st.tuples(st.just("narrow"), dims, st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.just("select"), dims, dims),
    st.tuples(st.just("diagonal"), st.integers(-2, 2), dims, dims),
    st.tuples(st.just("unfold"), dims, st.integers(0, 2), st.integers(1, 2)),
    st.tuples(st.just("expand"), sizes),
    st.tuples(st.just("view"), sizes),
    st.tuples(st.just("reshape"), sizes),
    st.tuples(st.just("flatten"), dims, dims),
    st.tuples(st.just("unflatten"), dims, sizes),
    st.tuples(st.just("contiguous")),
    st.tuples(st.just("clone")),
    st.tuples(st.just("ravel")),
    st.tuples(st.just("__getitem__"), st.tuples(st.builds(slice, dims, dims, st.integers(1, 2)))),
    st.tuples(st.just("__getitem__"), st.tuples(st.just(...), st.none() | dims)),
)
tensor_shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def layout(tensor: Any, base: Any) -> tuple[Any, ...]:
    """How a tensor lies in memory, as far as a program can see."""
    shares = bool(tensor.numel()) and tensor.data_ptr() - base.data_ptr() in range(
        base.numel() * base.itemsize + 1
    )
    offset = (tensor.data_ptr() - base.data_ptr()) // base.itemsize if shares else None
    # A step along a dimension of one element leads nowhere, and one in an empty tensor neither.
    strides = tuple(n > 1 and step for n, step in zip(tensor.shape, tensor.stride()))
    return (
        tuple(tensor.shape),
        strides if tensor.numel() else (),
        tensor.is_contiguous(),
        offset,
        tensor.tolist(),
    )


def walk(T: Any, shape: tuple[int, ...], path: list[Any]) -> Any:
    base = T.arange(int(np.prod(shape))).reshape(shape)
    tensor = base
    for name, *arguments in path:
        try:
            tensor = getattr(tensor, name)(*arguments)
        except (IndexError, RuntimeError, ValueError):
            return "refused", name  # which of two errors is said first may differ
        if min(tensor.shape, default=0) < 0:  # PyTorch's own slip, with expand(-1, 0)
            return "refused", name
    return layout(tensor, base)


@given(tensor_shapes, st.lists(steps, min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_a_view_of_a_view_lies_in_memory_as_pytorchs(shape: tuple[int, ...], path: list[Any]):
    assert walk(autokit, shape, path) == walk(torch, shape, path)


WRONG: list[Callable[[Any, Any], Any]] = [
    lambda T, a: a.view(-2, -3),
    lambda T, a: T.zeros(0, 3).view(-1, 0),
    lambda T, a: a.reshape(1.5),
    lambda T, a: a.reshape("a"),
    lambda T, a: a.unflatten(1, (2, 2)),
    lambda T, a: a.unflatten(1, ()),
    lambda T, a: a.unsqueeze("a"),
    lambda T, a: a.permute(0, 0),
    lambda T, a: a.permute(0, 5),
    lambda T, a: a.movedim(0, (0, 1)),
    lambda T, a: a.movedim((0, 0), (0, 1)),
    lambda T, a: a.expand(2, 4),
    lambda T, a: a.expand(-1, 2, 3),
    lambda T, a: a.expand(-2, 3),
    lambda T, a: T.broadcast_to(a, (4, 3)),
    lambda T, a: T.broadcast_tensors(a, T.zeros(4)),
    lambda T, a: T.broadcast_shapes((2, 3), (4,)),
    lambda T, a: a.narrow(0, 1, 2),
    lambda T, a: a.narrow(0, 5, 1),
    lambda T, a: a.narrow(0, 0, -1),
    lambda T, a: a.select(0, 5),
    lambda T, a: T.tensor(1.0).select(0, 0),
    lambda T, a: a.diagonal(0, 0, 0),
    lambda T, a: T.diag(T.zeros(2, 2, 2)),
    lambda T, a: T.tril(T.zeros(3)),
    lambda T, a: a.chunk(0),
    lambda T, a: a.split(0),
    lambda T, a: a.split([1, 2]),
    lambda T, a: T.tensor(1.0).split(1),
    lambda T, a: a.tensor_split(0),
    lambda T, a: a.hsplit(2),
    lambda T, a: T.zeros(3).vsplit(2),
    lambda T, a: T.tensor(1.0).unbind(),
    lambda T, a: T.cat([a, T.zeros(3)]),
    lambda T, a: T.cat([T.tensor(1.0), T.tensor(1.0)]),
    lambda T, a: T.stack([a, a], dim=5),
    lambda T, a: T.hstack([]),
    lambda T, a: T.vstack([T.zeros(2), T.zeros(3)]),
    lambda T, a: T.block_diag(T.zeros(2, 2, 2)),
    lambda T, a: a.repeat(2),
    lambda T, a: a.repeat(-1, 2),
    lambda T, a: T.repeat_interleave(a, -1),
    lambda T, a: T.repeat_interleave(a, T.tensor([1, 2, 3]), dim=0),
    lambda T, a: T.repeat_interleave(a, T.tensor([1.0, 2.0]), dim=0),
    lambda T, a: a.flip(0, 0),
    lambda T, a: T.zeros(3).fliplr(),
    lambda T, a: T.rot90(a, 1, (0, 0)),
    lambda T, a: a.roll((1, 2), 0),
    lambda T, a: T.meshgrid(T.zeros(2), T.zeros(2), indexing="a"),
    lambda T, a: T.cartesian_prod(a),
    lambda T, a: T.combinations(T.zeros(3), -1),
    lambda T, a: T.as_strided(a, (3, 3), (3, 3)),
    lambda T, a: T.as_strided(a, (2,), (-1,)),
    lambda T, a: a.unfold(0, 5, 1),
    lambda T, a: a.unfold(0, 1, 0),
    lambda T, a: a.view(T.float64),
    lambda T, a: T.zeros(3).mT,
    lambda T, a: a.stride(5),
    lambda T, a: T.ones(2, requires_grad=True).resize_(3),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_begin_with_pytorchs_words(wrong: Callable[[Any, Any], Any]):
    said = []
    for T in (torch, autokit):
        with pytest.raises((IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)) as caught:
            wrong(T, T.arange(6.0).reshape(2, 3))
        said.append((caught.type, str(caught.value)))
    (theirs, their_words), (ours, our_words) = said
    assert ours is theirs and our_words.startswith(their_words.split(" - got")[0][:24])


def test_parts_of_one_split_know_that_they_are_several():
    x = autokit.ones(4, requires_grad=True) * 1
    for parts, name in ((x.split(2), "SplitBackward0"), (x.unbind(), "UnbindBackward0")):
        assert [part.grad_fn.name() for part in parts] == [name] * len(parts)
        with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
            parts[0].add_(1)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("gaps", [False, True], ids=["dense", "gaps"])
def test_views_with_an_offset_read_memory_that_lies_in_any_order(order: tuple[int, ...], gaps: bool):
    read = []
    for T in (autokit, torch):
        array = np.arange(120.0).reshape(4, 5, 6)
        memory = array[:, ::2] if gaps else array
        x = T.tensor(array).permute(order).clone() if not gaps else T.from_numpy(memory).permute(order)
        planes = product((-2, 1, 2), ((0, 1), (2, 0), (1, 2)))
        read.append([x.diagonal(offset, *plane).tolist() for offset, plane in planes])
        x.diagonal(1, 2, 0).mul_(-1)
        part = x[1:, 1:, 1:]
        read[-1] += [x.tolist(), part.diagonal(-1).tolist()]
        read[-1] += [part.as_strided((2, 2), (1, 3), place).tolist() for place in (0, 2, 9)]
    assert read[0] == read[1]


def test_a_diagonal_may_be_written_to():
    x = autokit.zeros(2, 2)
    x.diagonal().fill_(1)
    assert x.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_other_bytes_of_the_same_memory():
    for T in (torch, autokit):
        x = T.zeros(2, 3)
        bytes_of = x.view(T.uint8)
        bytes_of[0, 3] = 64
        assert tuple(bytes_of.shape) == (2, 12) and x[0, 0] == 2


def test_resizing_keeps_the_memory_where_it_is_large_enough():
    for T in (torch, autokit):
        x = T.arange(6)
        place = x.data_ptr()
        assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == place
        assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.reshape(6, 4),
        lambda x: x.view(-1),
        lambda x: x.transpose(1, 2).reshape(2, 12),
        lambda x: x.transpose(1, 2).flatten(1),
        lambda x: x[:, 1:].reshape(-1),
        lambda x: x[:1].expand(3, 3, 4).reshape(-1),
        lambda x: x.transpose(1, 2).contiguous().view(-1),
        lambda x: x[:0].reshape(0, 12),
    ],
)
def test_a_copy_in_another_shape_shows_pytorchs_node(call: Any):
    require("torch")
    import torch

    def node(T: Any) -> str:
        return str(call(T.ones(2, 3, 4, requires_grad=True) * 1).grad_fn.name())

    assert node(autokit) == node(torch)


def test_as_strided_scatter_sends_gradients_to_what_it_keeps_and_to_what_it_writes():
    # PyTorch's gradient by the first goes where the other one was written; gradcheck there finds that.
    x = autokit.randn(3, 4, dtype=autokit.float64, requires_grad=True)
    y = autokit.randn(2, 2, dtype=autokit.float64, requires_grad=True)
    for steps in (((2, 2), (1, 2)), ((2, 2), (1, 2), 3), ((2, 2), (1, 1))):
        for turned in (
            lambda a: a * 1,
            lambda a: a.t() * 1,
            lambda a: (a * 1)[1:, 1:],
            lambda a: a[0].expand(2, 4),
        ):
            functions = lambda a, b: autokit.as_strided_scatter(turned(a), b, *steps) ** 2  # noqa: E731
            assert autokit.autograd.gradcheck(functions, (x, y))
            assert autokit.autograd.gradgradcheck(functions, (x, y))


def test_as_strided_scatter_counts_its_offset_from_the_beginning_of_the_memory():
    made = []
    for library in (autokit, torch):
        x, y = library.zeros(3, 4), library.ones(2, 2)
        for base, *more in (
            (x, 3),
            (x[1:, 1:],),
            (x[1:, 1:], 1),
            (x[1:, 1:], 6),
            (x.expand(2, 3, 4), 5),
            (x.t(), 2),
        ):
            made.append(library.as_strided_scatter(base, y, (2, 2), (1, 2), *more).tolist())
    assert made[:6] == made[6:]
