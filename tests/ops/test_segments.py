"""``segment_reduce`` beside PyTorch: what segments may be, and its gradient, which has its own here."""

from __future__ import annotations

import pytest

import autokit
from tests.ops.beside import assert_same
from tests.support import require

require("torch")
import torch  # noqa: E402

REDUCTIONS = ("sum", "mean", "max", "min", "prod")
VALUES = ([2.0, 2.0, 1.0, 0.0, 0.0, 3.0, 0.0, 0.0], [1.0, -1.0, 0.5, 2.0, 4.0, float("nan"), 3.0, 3.0])


@pytest.mark.parametrize("initial", [None, 2.0, 0.0])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_gradients_at_ties_zeros_and_nan(reduce: str, initial: float | None):
    for values in VALUES:
        ends = []
        for library in (autokit, torch):
            x = library.tensor(values, dtype=library.float64, requires_grad=True)
            lengths = library.tensor([2, 0, 2, 1, 3])
            made = library.segment_reduce(x, reduce, lengths=lengths, initial=initial)
            weights = library.tensor([1.0, 5.0, -2.0, 3.0, 0.5], dtype=library.float64)
            ends += [made, library.autograd.grad(made, x, weights)[0]]
            assert type(made.grad_fn).__name__ == "SegmentReduceBackward0"
        assert_same(ends[0], ends[2])
        assert_same(ends[1], ends[3])


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_the_gradient_has_a_gradient(reduce: str):
    autokit.manual_seed(0)
    x = autokit.randn(2, 5, 2, dtype=autokit.float64, requires_grad=True)
    offsets = autokit.tensor([[0, 2, 5], [1, 2, 4]])

    def reduced(x: autokit.Tensor) -> autokit.Tensor:
        return autokit.segment_reduce(x, reduce, offsets=offsets, axis=1, initial=0.25)

    assert autokit.autograd.gradcheck(reduced, x)
    assert autokit.autograd.gradgradcheck(reduced, x)


CALLS = [
    lambda T, x: T.segment_reduce(x, "sum", offsets=T.tensor([0, 2, 6])),
    lambda T, x: T.segment_reduce(x, "max", offsets=T.tensor([1, 2, 5])),
    lambda T, x: T.segment_reduce(x, "min", lengths=T.tensor([1, 2]), unsafe=True),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([2, 4]), offsets=T.tensor([0, 1, 6])),
    lambda T, x: T.segment_reduce(x.view(2, 3, 2), "mean", lengths=T.tensor([[1, 2], [3, 0]]), axis=1),
    lambda T, x: T.segment_reduce(x.view(2, 3, 2), "prod", offsets=T.tensor([[0, 1, 3], [0, 0, 3]]), axis=1),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([6], dtype=T.int32), axis=-2),
    lambda T, x: T.segment_reduce(x.half(), "amax", lengths=T.tensor([3, 3])),
    lambda T, x: T.segment_reduce(x[:0], "amin", lengths=T.tensor([0, 0])),
    lambda T, x: T.segment_reduce(x, "sum", offsets=T.tensor([2])),
]


@pytest.mark.parametrize("call", CALLS)
def test_what_segments_may_be(call):
    assert_same(*[call(library, library.arange(12.0).reshape(6, 2)) for library in (autokit, torch)])


MISTAKES = [
    lambda T, x: T.segment_reduce(x, "sum"),
    lambda T, x: T.segment_reduce(x, "total", lengths=T.tensor([6])),
    lambda T, x: T.segment_reduce(x, None, lengths=T.tensor([6])),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([5])),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([-1, 7])),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([6.0])),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([[6]])),
    lambda T, x: T.segment_reduce(x, "sum", lengths=[6]),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([6]), axis=1),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([6]), axis=5),
    lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([6]), initial=1j),
    lambda T, x: T.segment_reduce(x, "sum", indices=T.tensor([0, 1])),
    lambda T, x: T.segment_reduce(x, "sum", offsets=T.tensor([0, 4, 2, 6])),
    lambda T, x: T.segment_reduce(x.int(), "sum", lengths=T.tensor([6])),
    lambda T, x: T.segment_reduce(T.tensor(1.0), "sum", lengths=T.tensor([1])),
    lambda T, x: T.segment_reduce(x, "sum", T.tensor([6])),
]


@pytest.mark.parametrize("call", MISTAKES)
def test_mistakes_raise_as_in_pytorch(call):
    with pytest.raises(Exception) as theirs:
        call(torch, torch.arange(12.0).reshape(6, 2))
    with pytest.raises(theirs.type):
        call(autokit, autokit.arange(12.0).reshape(6, 2))


def test_segments_that_go_beyond_the_rows_are_refused():  # PyTorch reads what lies behind them
    x = autokit.ones(3)
    for segments in ({"offsets": autokit.tensor([0, 9])}, {"lengths": autokit.tensor([9]), "unsafe": True}):
        with pytest.raises(RuntimeError, match="go beyond the 3 rows"):
            autokit.segment_reduce(x, "sum", **segments)
