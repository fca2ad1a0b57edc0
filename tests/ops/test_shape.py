"""Shapes: views share memory as in PyTorch, and errors; ``tests.fuzz`` has values and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.oracle import pytorch, refused


def test_shapes_without_tensors():
    assert autokit.arange(6).resize(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tuple(autokit.broadcast_shapes((2, 1), (3,), (1, 1, 1))) == (1, 2, 3)
    for T in (autokit, pytorch):
        x = T.arange(6)
        assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and tuple(x.shape) == (2, 2)


dims = st.integers(-4, 3)
sizes = st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6]), max_size=3).map(tuple)
steps = st.one_of(
    st.tuples(st.sampled_from(["transpose", "movedim", "flatten"]), dims, dims),
    st.tuples(st.sampled_from(["unsqueeze", "squeeze"]), dims),
    st.tuples(st.sampled_from(["squeeze", "ravel", "clone", "contiguous"])),
    st.tuples(st.just("narrow"), dims, st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.just("select"), dims, dims),
    st.tuples(st.just("diagonal"), st.integers(-2, 2), dims, dims),
    st.tuples(st.sampled_from(["expand", "view", "reshape"]), sizes),
    st.tuples(st.just("unflatten"), dims, sizes),
    st.tuples(st.just("__getitem__"), st.tuples(st.builds(slice, dims, dims, st.integers(1, 2)))),
    st.tuples(st.just("__getitem__"), st.tuples(st.just(...), st.none() | dims)),
)


def _walk(T: Any, shape: tuple[int, ...], path: list[Any]) -> Any:
    base = tensor = T.arange(int(np.prod(shape))).reshape(shape)
    for name, *arguments in path:
        if not tensor.dim() and name in ("transpose", "movedim", "unflatten"):
            return "a corner"
        try:
            tensor = getattr(tensor, name)(*arguments)
        except (IndexError, RuntimeError, ValueError):
            return "refused", name  # which of two errors is said first may differ
        if min(tensor.shape, default=0) < 0:  # PyTorch's own slip, with expand(-1, 0)
            return "refused", name
    before = tensor.tolist()
    if T is pytorch:
        base[...] = base + 100
    else:
        base.numpy()[...] += 100
    return tuple(tensor.shape), before, tensor.tolist()


@given(st.lists(st.integers(0, 4), max_size=3).map(tuple), st.lists(steps, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_views_of_views_share_memory_where_pytorchs_do(shape: tuple[int, ...], path: list[Any]):
    assert _walk(autokit, shape, path) == _walk(pytorch, shape, path)


WRONG = [
    (lambda T, a: a.reshape(4), "shape '[4]' is invalid for input of size 6"),
    (lambda T, a: a.t().view(6), "Use .reshape(...) instead"),
    (lambda T, a: a.unflatten(1, (2, 2)), "don't multiply up to the size of dim 1"),
    (lambda T, a: a.unsqueeze(5), "Dimension out of range (expected to be in range of [-3, 2], but got 5)"),
    (lambda T, a: a.transpose(0, 2), "Dimension out of range"),
    (lambda T, a: a.permute(0, 0), "appears multiple times"),
    (lambda T, a: a[None].t(), "use .mT"),
    (lambda T, a: a.expand(2, 4), "must match the existing size (3)"),
    (lambda T, a: T.broadcast_tensors(a, T.zeros(4)), "do not broadcast"),
    (lambda T, a: a.expand(4, 2, 3).add_(1), "clone()"),
    (lambda T, a: T.ones(2, requires_grad=True).unsqueeze_(0), "a leaf Variable that requires grad"),
]


test_errors_say_what_is_needed = refused(WRONG, np.arange(6.0).reshape(2, 3))


def test_a_shape_changes_in_place_where_no_view_would_be_left_behind():
    x = autokit.ones(2, 3, requires_grad=True) * 1
    row = x[0]
    with pytest.raises(RuntimeError, match=r"views of x .* use t, which gives a new tensor"):
        x.t_()
    assert row.shape == (3,) and x.shape == (2, 3)
    assert (x * 1).t_().shape == (3, 2)
