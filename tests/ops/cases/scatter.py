"""Cases of reading and writing by tensors of indices and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.case import B, Case, I, R, otherwise
from tests.ops.case import case as c

ROWS = np.array([[0, 1, 1]])
COLUMNS = np.array([[0, 0], [2, 1]])
TWICE = np.array([1, 0, 1])

CASES = [
    otherwise(
        "index_reduce_",
        lambda T, a, i, b: a.detach().index_reduce_(0, i, b.detach(), "prod"),
        *(R(2, 3), np.array([0, 1, 0]), R(3, 3)),
    ),
    *(
        otherwise(
            "index_reduce",
            lambda T, a, s, d=dim, r=reduce, i=own: T.index_reduce(
                a, d, T.tensor([0, 1, 0]), s, r, include_self=i
            ),
            R(*((4, 2) if dim else (2, 4))),
            R(*((4, 3) if dim else (3, 4))),
        )
        for dim in (0, 1)
        for reduce in ("prod", "mean", "amax", "amin")
        for own in (True, False)
    ),
    otherwise(
        "index_reduce",
        lambda T, a, s: (a * 1).index_reduce_(0, T.tensor([1, 1]), s, "amax"),
        R(3),
        R(2),
    ),
    c("gather", lambda T, a, i: a.gather(1, i), R(2, 3), np.array([[0, 0], [2, 1]])),
    c("gather", lambda T, a, i: T.gather(a, 0, i), R(2, 3), np.array([[0, 1, 1]])),
    c("gather", lambda T, a, i: T.gather(a, dim=-1, index=i), R(3), np.array([2, 2, 0, 1])),
    c("gather", lambda T, a, i: a.gather(0, i), R(2, 3), np.array([[1, 0], [1, 1], [0, 1]])),
    c("gather", lambda T, a, i: a.gather(0, i), R(), np.array([0, 0])),
    c("gather", lambda T, a, i: a.gather(0, i), R(3), np.zeros(0, np.int64)),
    # One place, without dimensions, in a vector.
    otherwise("gather", lambda T, a, i: a.gather(0, i), R(3), np.array(2)),
    c("scatter", lambda T, a, i: a.scatter(0, i, 5.0), R(3), np.array(2)),
    c("scatter", lambda T, a, i, b: a.scatter(0, i, b), R(3), np.array(2), R()),
    c("scatter_add", lambda T, a, i, b: a.scatter_add(0, i, b), R(3), np.array(1), R()),
    otherwise("scatter_reduce", lambda T, a, i, b: a.scatter_reduce(0, i, b, "mean"), R(3), np.array(1), R()),
    c("take_along_dim", lambda T, a, i: T.take_along_dim(a, i, 1), R(2, 3), np.array([[0, 2]])),
    c("take_along_dim", lambda T, a, i: a.take_along_dim(i), R(2, 3), np.array([5, 0])),
    c("index_select", lambda T, a, i: a.index_select(1, i), R(2, 3), np.array([2, 0, 2])),
    c("index_select", lambda T, a, i: T.index_select(a, 0, i), R(3), np.array(1)),
    c("take", lambda T, a, i: T.take(a, i), R(2, 3), np.array([[5, -1], [0, 5]])),
    c("masked_select", lambda T, a, m: a.masked_select(m), R(2, 3), B(2, 3)),
    c("masked_select", lambda T, a, m: T.masked_select(a, m), R(3), B(2, 1)),
    c("argwhere", lambda T, a: T.argwhere(a), I(2, 3)),
    c("argwhere", lambda T, a: T.argwhere(a > 0), R(2, 3)),
    c("select_scatter", lambda T, a, b: T.select_scatter(a, b, 0, -1), R(2, 3), R(3)),
    # PyTorch's gradient by the first is wrong: tests/ops/test_shape.py has autokit's
    c(
        "as_strided_scatter",
        lambda T, a, b: T.as_strided_scatter(a.detach(), b, (2, 2), (1, 2)),
        R(3, 4),
        R(2, 2),
    ),
    c("as_strided_scatter", lambda T, a, b: a.detach().as_strided_scatter(b, (0,), (1,)), R(3), R(0)),
    c("as_strided_scatter", lambda T, a, b: a.detach().as_strided_scatter(b, (), ()), R(), R()),
    c("as_strided_scatter", lambda T, a, b: T.as_strided_scatter(a, b, (1, 2), (4, 1)), I(3, 4), I(1, 2)),
    *(  # its derivative has none in PyTorch, and stands in tests/ops/test_segments.py
        c(
            "segment_reduce",
            lambda T, a, n, how=how, start=start: T.segment_reduce(a.detach(), how, lengths=n, initial=start),
            *(R(6, 2), np.array([2, 0, 1, 3])),
        )
        for how in ("sum", "mean", "max", "min", "prod")
        for start in (None, 0.5)
    ),
    c("slice_scatter", lambda T, a, b: a.slice_scatter(b, 1, 1), R(2, 3), R(2, 2)),
    c(
        "slice_scatter",
        lambda T, a, b: T.slice_scatter(a, b, dim=0, start=0, end=3, step=2),
        R(4, 2),
        R(2, 2),
    ),
    c("scatter", lambda T, a, i: a.scatter(1, i, value=2.5), R(2, 3), COLUMNS),
    c("put", lambda T, a, i, b: T.put(a, i, b), R(2, 3), np.array([5, -6]), R(2)),
    c("index_put", lambda T, a, b: a.index_put((T.tensor([0]), T.tensor([1, 2])), b), R(2, 3), R(2)),
    c("masked_fill", lambda T, a, m: a.masked_fill(m, 1.5), R(3), B(2, 3)),
    c("masked_fill", lambda T, a, m: a.masked_fill(m, 1.5), I(2, 3), B(3)),
    c("masked_scatter", lambda T, a, m, b: a.masked_scatter(m, b), R(3), B(2, 3), R(7)),
    c("scatter_add", lambda T, a, i, b: a.scatter_add(0, i, b), I(2, 3), ROWS, I(2, 3)),
    c("index_add", lambda T, a, i, b: a.index_add(0, i, b), I(2, 3), TWICE, I(3, 3)),
    otherwise(
        "scatter", lambda T, a, i, b: a.scatter(0, i, b, reduce="add").detach(), R(2, 3), ROWS, R(2, 3)
    ),
    c("scatter", lambda T, a, i: a.detach().scatter(0, i, 3, reduce="multiply"), R(2, 3), ROWS),
]


def _both(name: str, *settings: Any, arrays: tuple[Any, ...], **keywords: Any) -> list[Case]:
    """The function, and its in-place form on a computed tensor."""

    def form(underscore: str) -> Callable[..., Any]:
        def call(T: Any, a: Any, *others: Any) -> Any:
            before, after = settings[:1], settings[1:]
            tensor = a * 1 if underscore else a
            return getattr(tensor, name + underscore)(*before, *others, *after, **keywords)

        return call

    return [c(name + underscore, form(underscore), *arrays) for underscore in ("", "_")]


CASES += [
    *_both("index_add", 0, arrays=(R(2, 3), TWICE, R(3, 3))),
    *_both("index_add", 1, arrays=(R(2, 3), TWICE, R(2, 3)), alpha=2),
    *_both("index_copy", 0, arrays=(R(3, 3), np.array([2, 0]), R(2, 3))),
    *_both("index_fill", 1, 2.5, arrays=(R(2, 3), np.array([2, -3]))),
    *_both("index_fill", 0, arrays=(R(2, 3), np.array([1]), R())),
    *_both("scatter", 1, arrays=(R(2, 3), COLUMNS, R(2, 2))),
    *_both("scatter", 0, arrays=(R(2, 3), ROWS, R(1, 3))),
    *_both("scatter_add", 0, arrays=(R(2, 3), ROWS, R(1, 3))),
    *_both("scatter_add", -1, arrays=(R(2, 3), np.array([[2, 2, 0, 2]]), R(1, 4))),
    *(
        each
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for include_self in (True, False)
        for each in _both(
            "scatter_reduce",
            0,
            reduce,
            arrays=(R(3, 2), np.array([[0, 1], [0, 0], [2, 1]]), R(3, 2)),
            include_self=include_self,
        )
    ),
    *_both("masked_fill", arrays=(R(2, 3), B(2, 3), R())),
    *_both("masked_scatter", arrays=(R(2, 3), B(3), R(6))),
    *_both("put", arrays=(R(2, 3), np.array([[5, 0]]), R(1, 2))),
    *_both("put", arrays=(R(2, 3), np.array([[5, 0, 5]]), R(1, 3)), accumulate=True),
]


def _index_put(underscore: str, accumulate: bool) -> Callable[..., Any]:
    def call(T: Any, a: Any, i: Any, b: Any) -> Any:
        return getattr(a * 1, "index_put" + underscore)((i,), b, accumulate=accumulate)

    return call


CASES += [
    c("index_put" + underscore, _index_put(underscore, accumulate), R(3, 2), places, R(2, 2))
    for underscore in ("", "_")
    for accumulate, places in ((False, np.array([2, 0])), (True, np.array([2, 2])))
]
