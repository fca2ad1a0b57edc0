"""Order: sorting, the largest few, different elements and places in a sorted sequence beside PyTorch's."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, numbers, refused

TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.5, 0.5, 0.5, 3.0]])
NAN = np.array([1.0, np.nan, 3.0, np.nan, 0.0])
INTS = np.array([[3, -1, 0], [2, 2, 5], [0, -4, 5]])
ROWS = np.array([[1, 2], [1, 2], [0, 3], [1, 2]])
EDGES = np.array([-1.0, 0.0, 0.5, 2.0])

TABLE: list[tuple[Callable[..., Any], Any]] = [
    *[
        (lambda torch, x, name=name, settings=settings: getattr(torch, name)(x, **settings), a)
        for name in ("sort", "argsort")
        for settings in ({}, {"dim": 0}, {"dim": -1, "descending": True}, {"axis": 0, "stable": True})
        for a in (numbers(3, 4), TIES, INTS, INTS > 1, np.zeros((0, 2)))
        if name == "sort" or "axis" not in settings
    ],
    (lambda torch, x: (*x.sort(0, True), *x.sort(descending=True)), NAN),
    (lambda torch, x: (*x.sort(), x.argsort(), *x.topk(1)), numbers()),
    (lambda torch, x: torch.sort(x, dim=0, descending=True, stable=True), INTS.repeat(8, 0)),
    (lambda torch, x: (*torch.topk(x, 2), *x.topk(2, 0, False)), numbers(3, 4)),
    (lambda torch, x: x.topk(k=1, dim=1, largest=True, sorted=True), numbers(3, 4, 2)),
    (lambda torch, x: (*x.topk(3), *x.topk(0)), NAN),
    (lambda torch, x: (*torch.kthvalue(x, 2), *x.kthvalue(k=1, dim=0, keepdim=True)), numbers(3, 4)),
    (lambda torch, x: (*x.sort(), *x.topk(2)), numbers(3, 4).astype("float16")),
    *[
        (lambda torch, x, more=more: torch.unique(x.detach(), **more), a)
        for a in (INTS, ROWS, TIES, NAN, INTS > 1, np.zeros(0), np.array(2.0))
        for more in ({}, {"return_inverse": True}, {"return_inverse": True, "return_counts": True})
    ],
    *[
        (
            lambda torch, x, dim=dim: x.unique(dim=dim, return_inverse=True, return_counts=True),
            a,
        )
        for a, dim in ((ROWS, 0), (ROWS, -1), (ROWS.reshape(2, 2, 2), 1))
    ],
    *[
        (
            lambda torch, x, more=more: torch.searchsorted(torch.tensor(EDGES), x, **more),
            np.append(EDGES, 0.3),
        )
        for more in ({}, {"right": True}, {"side": "right"}, {"out_int32": True}, {"side": "left"})
    ],
    (lambda torch, x: torch.searchsorted(torch.tensor(EDGES), x), NAN),
    (lambda torch, x: torch.searchsorted(x, 0.5, right=True), EDGES),
    (lambda torch, x: torch.searchsorted(torch.stack([x, x + 1]), torch.stack([x, x])), EDGES),
    (lambda torch, x: torch.bucketize(x, torch.tensor([-2, 0, 2]), right=True), INTS),
    (lambda torch, x: torch.bucketize(0.5, x, out_int32=True), EDGES),
]


@pytest.mark.parametrize(("program", "array"), TABLE, ids=map(str, range(len(TABLE))))
def test_order_is_pytorchs(program: Callable[..., Any], array: Any):
    compare(program, array, gradients=not np.isnan(array).any())


@given(
    rows=st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=12),
    dim=st.sampled_from([None, 0, 1]),
)
def test_different_elements_and_their_places_make_up_the_tensor(rows: list[Any], dim: int | None):
    x = autokit.tensor(rows)
    values, inverse, counts = autokit.unique(x, return_inverse=True, return_counts=True, dim=dim)
    rebuilt = np.take(values.numpy(), inverse.numpy(), axis=0 if dim is None else dim)
    assert rebuilt.tolist() == rows
    assert counts.sum().item() == inverse.numel()


@given(seed=st.integers(0, 1000), descending=st.booleans(), dim=st.integers(0, 1))
def test_sorting_equal_elements_keeps_their_order(seed: int, descending: bool, dim: int):
    a = np.random.RandomState(seed).choice([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], (6, 5))
    program = lambda torch, x: x.sort(dim=dim, descending=descending, stable=True)  # noqa: E731
    compare(program, a.astype(np.float32), gradients=False)


def test_named_results_can_be_pickled():
    found = autokit.ops.gather.return_type("sort", "values", "indices")((1, 2), (0, 1))
    assert pickle.loads(pickle.dumps(found)) == found


WRONG = [
    (lambda torch, x: x.sort(2), "Dimension out of range"),
    (lambda torch, x: x.topk(4), "k is 4, and there are 3 elements"),
    (lambda torch, x: x.kthvalue(0), "out of range"),
    (lambda torch, x: torch.searchsorted(x, x.t()), "agree with the values"),
    (lambda torch, x: torch.searchsorted(x[0], x, side="x"), "side can only be"),
    (lambda torch, x: torch.bucketize(x, x), "must be 1 dimension"),
]

test_errors_say_what_is_wrong = refused(WRONG, numbers(2, 3))
