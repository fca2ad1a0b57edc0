"""What reads memory that it writes to: refused or done, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.libraries import on_each, pytorch
from tests.ops.beside import refusals

READ_AND_WRITTEN = (
    "some elements of the input tensor and the written-to tensor refer to a single memory location"
)
WRITTEN_TWICE = "more than one element of the written-to tensor refers to a single memory location"


def _row(T: Any) -> Any:
    return T.arange(1.0, 10.0)


def _run(T: Any, line: str) -> list[float]:
    """What is left of ``x``, a row, and ``a``, the same numbers as a matrix, after ``line`` of a program."""
    x = _row(T)
    names = {"T": T, "x": x, "a": x.view(3, 3), "i": T.tensor([0, 1, 2]), "e": x[:3].expand(3, 3)}
    exec(line, names)
    return x.tolist()


REFUSED = [
    "x[1:].add_(x[:-1])",
    "x[1:] += x[:-1]",
    "x[1:] = x[:-1]",
    "x[1:].copy_(x[:-1])",
    "a.mul_(a.t())",
    "a.copy_(a.t())",
    "a.copy_(a[0])",
    "a.sub_(a[0])",
    "a.div_(a[0, 0])",
    "a /= x[0]",
    "x.detach()[1:].add_(x[:-1])",
    "x[1:].data.add_(x[:-1])",
    "x[1:].lerp_(x[:-1], 0.5)",
    "x[1:].addcmul_(T.ones(8), x[:-1])",
    "x[1:].clamp_(min=x[:-1])",
    "T.add(x[1:], 1, out=x[:-1])",
    "T.exp(x[1:], out=x[:-1])",
    "T.where(x[1:] > 2, x[1:], T.zeros(8), out=x[:-1])",
    "T.cumsum(x[1:], 0, out=x[:-1])",
    # What looks elements up may not even write to the place that it reads.
    "a.index_add_(0, i, a)",
    "a.index_copy_(0, i, a[:])",
    "a.scatter_(0, i.expand(3, 3), a)",
    "a.scatter_add_(0, i.expand(3, 3), a)",
    "a.index_put_((i,), a)",
    "a[i] = a",
    "x.put_(i, x[:3])",
    "T.index_select(a, 0, i, out=a)",
    "T.gather(a, 0, i.expand(3, 3), out=a)",
    "T.cat([a], out=a)",
    "T.take(x, i, out=x[:3])",
]


@on_each
@pytest.mark.parametrize("line", REFUSED)
def test_an_operand_that_would_be_written_over_is_refused(T: Any, line: str):
    with pytest.raises(RuntimeError, match=READ_AND_WRITTEN):
        _run(T, line)


ALLOWED = [
    "x.add_(x)",
    "x.mul_(x[:])",
    "a.mul_(a.detach())",
    "a.t().mul_(a.t())",
    "x[1:].copy_(x[1:])",
    "x[:4].add_(x[4:8])",
    "x[0].add_(x[1])",
    "x[::2].add_(x[1::2][:1])",
    "x[1::2] = x[::2][1:]",
    "x[:4] = x[4:8]",
    "x[:] = x[0]",
    "x[x > 2] = x[0]",
    "x.masked_fill_(x > 2, x[0])",
    "x.fill_(x[1])",
    "a.triu_()",
    "a[...] = a[None]",
    "a[:2] = a[None, :2]",
    "T.exp(x, out=x)",
    "T.add(x, x, out=x[:])",
]


@on_each
@pytest.mark.parametrize("line", ALLOWED)
def test_operands_that_lie_apart_or_in_the_same_places_are_not_refused(T: Any, line: str):
    assert _run(T, line) == pytest.approx(_run(pytorch(), line))


def test_a_refused_change_leaves_the_tensor_and_its_version_as_they_were():
    import autokit

    x = _row(autokit)
    with pytest.raises(RuntimeError, match=r"It is y .*shares memory with x"):
        y = x[:1]
        x.add_(y)
    assert x.tolist() == _row(pytorch()).tolist() and x._version == 0


FILLED = [
    "e.zero_()",
    "e.fill_(5)",
    "e.detach().fill_(5)",
    "e.masked_fill_(e > 2, 0)",
    "e.masked_fill_(T.eye(3) > 0, 7)",
    "e.index_fill_(1, i[:1], 8)",
    "e.tril_()",
    "e.fill_diagonal_(0)",
    "e[0] = 5",
    "e[0] = T.ones(3)",
    "e[0] += 1",
    "e[0, 1] = 4",
    "e[i] = T.ones(3)",
    "e[e > 2] = 0",
    "e.t_().unsqueeze_(0)",
    "e.data[1].mul_(2)",
]


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.parametrize("line", FILLED)
def test_an_expanded_tensor_can_be_filled(line: str):
    import autokit

    assert _run(autokit, line) == _run(pytorch(), line)


@pytest.mark.parametrize(
    "line", ["e.masked_fill_(e > 2, 0)", "e.index_fill_(0, i, 0)", "e[i] = 0", "e[e > 2] = 0"]
)
@on_each
def test_a_mask_of_an_expanded_tensor_is_warned_of(T: Any, line: str):
    with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
        _run(T, line)


@on_each
@pytest.mark.parametrize(
    "line",
    [
        "e.add_(1)",
        "e += 1",
        "e.copy_(a)",
        "e[:] = a",
        "e[:, 0] = 1",
        "e[...] = 1",
        "e.fill_(T.tensor(1.0))",
        "e.normal_()",
        "e.clamp_(0)",
        "e.scatter_(0, i.expand(3, 3), 1.0)",
        "e.index_add_(0, i, T.ones(3, 3))",
        "T.exp(a, out=e)",
    ],
)
def test_what_would_write_different_numbers_to_one_place_is_refused(T: Any, line: str):
    with pytest.raises(RuntimeError, match=WRITTEN_TWICE):
        _run(T, line)


@on_each
@pytest.mark.parametrize(
    "change", ["e.zero_()", "e.fill_(5.0)", "e.masked_fill_(e > 2, 5.0)", "e[:, 0] = 1.0"]
)
def test_no_gradient_is_made_up_for_what_was_filled_through_an_expanded_tensor(T: Any, change: str):
    y = T.tensor([1.0, 2.0, 3.0], requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=WRITTEN_TWICE):
        exec(change, {"e": y.expand(2, 3)})
        y.sum().backward()


@on_each
@pytest.mark.parametrize("change", ["e[0] = 5.0", "e[1, 1] = w", "e[0, :2] *= w", "e[0].mul_(w)"])
def test_a_part_of_an_expanded_tensor_has_its_gradient(T: Any, change: str):
    x, w = T.tensor([1.0, 2.0, 3.0], requires_grad=True), T.tensor(3.0, requires_grad=True)
    y = x * 2
    exec(change, {"e": y.expand(2, 3), "w": w})
    (y * T.tensor([1.0, 10.0, 100.0])).sum().backward()
    expected = {
        "e[0] = 5.0": ([0.0, 0.0, 0.0], None),
        "e[1, 1] = w": ([2.0, 0.0, 200.0], 10.0),
        "e[0, :2] *= w": ([6.0, 60.0, 200.0], 42.0),
        "e[0].mul_(w)": ([6.0, 60.0, 600.0], 642.0),
    }
    assert (x.grad.tolist(), w.grad and w.grad.item()) == expected[change]


@on_each
def test_an_expanded_tensor_takes_another_shape_in_place(T: Any):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    e = (x * 1).expand(2, 3)
    e.t_()
    assert e.shape == (3, 2)
    e.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_words_are_pytorchs():
    def shifted(T: Any) -> Any:
        x = _row(T)
        return x[1:].add_(x[:-1])

    ours, theirs = refusals(shifted)
    assert ours.startswith(theirs)
