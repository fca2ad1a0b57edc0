"""Changes in place: what they do to gradients, through views too, and which of them are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.beside import assert_same
from tests.libraries import on_each

# ---------------------------------------------------------------- what is refused


@on_each
@pytest.mark.parametrize(
    "change",
    [
        lambda T, x: x.add_(1),
        lambda T, x: x.zero_(),
        lambda T, x: x.__setitem__(0, 1.0),
        lambda T, x: x[0].add_(1),
        lambda T, x: x.view(2).zero_(),
        lambda T, x: x.unsqueeze(0).exp_(),
        lambda T, x: x.normal_(),
        lambda T, x: x.copy_(T.zeros(2)),
    ],
)
def test_a_leaf_or_a_view_of_it_is_not_changed_in_place(T: Any, change: Any):
    x = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"leaf Variable|view"):
        change(T, x)
    with T.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0] and x.requires_grad and x.is_leaf


@on_each
@pytest.mark.parametrize(
    "change",
    [
        lambda T, y: y.add_(1),
        lambda T, y: y.detach().add_(1),
        lambda T, y: y.detach().__setitem__(0, 5.0),
        lambda T, y: y.detach()[0].fill_(3),
        lambda T, y: T.no_grad()(lambda: y.mul_(2))(),
        lambda T, y: y[0].mul_(2),
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_saved_value_that_was_changed_is_refused(T: Any, change: Any, create_graph: bool):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    change(T, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(create_graph=create_graph)


@on_each
def test_a_saved_result_that_was_changed_is_refused(T: Any):
    y = T.ones(2, requires_grad=True).exp()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_refusal_names_the_line_and_the_tensor():
    x = autokit.ones(2, requires_grad=True)
    y = x * 2
    y.name = "hidden"
    z = y * y
    y.add_(17)
    with pytest.raises(RuntimeError, match=r"hidden.*test_in_place\.py, line \d+: y\.add_\(17\)"):
        z.sum().backward()


@on_each
def test_an_in_place_operation_keeps_shape_and_dtype(T: Any):
    with pytest.raises(RuntimeError, match="output with shape"):
        T.ones(2).add_(T.ones(3, 2))
    with pytest.raises(RuntimeError, match="can't be cast"):
        T.ones(2, dtype=T.int64).mul_(1.5)
    x = T.ones(2)
    assert x.add_(T.ones(2, dtype=T.float64)) is x and x.dtype == T.float32


# ---------------------------------------------------------------- gradients


def leaves(T: Any) -> Any:
    return T.arange(12.0).reshape(3, 4).requires_grad_(), T.tensor(3.0, requires_grad=True)


def a_view_of_a_view(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    part = y[1:].t()[1:3]
    part.mul_(w).add_(1)
    return [y, part]


def another_view(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    row, column = y[1], y[:, 2]
    row.mul_(w)
    return [y, row, column, column * row[:3]]


def the_base(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    row = y[1]
    y.mul_(w)
    return [y, row, row * y[0]]


def a_buffer(T: Any, x: Any, w: Any) -> list[Any]:
    z = T.zeros(3, 4)
    row = z[1]
    row.copy_(x[0] * w)
    return [z, row]


def an_older_view_of_a_buffer(T: Any, x: Any, w: Any) -> list[Any]:
    z = T.zeros(3, 4)
    row = z[1]
    z[1, 2] = w * 2
    return [z, row, row * x[0]]


def items_of_views(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    row = y[1]
    row[0] = w
    y[2][1:3] = 7.0
    return [y, row]


def a_base_of_other_strides(T: Any, x: Any, w: Any) -> list[Any]:
    y = x.t() * 2
    row = y[1]
    row.mul_(w)
    return [y, row]


def by_indices(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    y[[0, 2], 1] = x[1, :2] * w
    y[x > 9] = w
    y[1, [0, 0]] += 1
    return [y]


def a_copy_of_another_result(T: Any, x: Any, w: Any) -> list[Any]:
    z, y = x * 2, T.zeros(3, 4)
    y.copy_(z)
    y.register_hook(lambda g: g * 10)
    return [y, z]


def a_retained_gradient(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * 2
    y.retain_grad()
    y.mul_(w)
    loss = (y * y).sum()
    loss.backward(retain_graph=True)
    return [y, y.grad.requires_grad_(), x.grad.requires_grad_()]


def a_masked_fill(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * w
    y.masked_fill_(y > 20, 5.0)
    y[2:].fill_(w)
    y[0].zero_()
    return [y]


def many_functions(T: Any, x: Any, w: Any) -> list[Any]:
    results = []
    for name in ("exp", "log1p", "tanh", "sigmoid", "neg", "abs", "sqrt", "square", "relu", "sin"):
        results.append(getattr(x * 0.1 + 0.2, f"{name}_")())
    y = x * 0.1
    y.clamp_(0.1, 0.5).sub_(x, alpha=0.1).pow_(2)
    y.lerp_(x, 0.5).clamp_min_(0.2).t_().unsqueeze_(0).squeeze_()
    return [*results, y]


def detached_in_place(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * w
    z = y * 2
    y.detach_()
    return [z, (y * w)]


def frozen_and_thawed(T: Any, x: Any, w: Any) -> list[Any]:
    y = x * w
    with T.no_grad():
        y[0] = 5.0
    return [y, y[0] * w]


PROGRAMS = [
    *(a_view_of_a_view, another_view, the_base, a_buffer, an_older_view_of_a_buffer, items_of_views),
    *(a_base_of_other_strides, by_indices, a_copy_of_another_result, many_functions, a_retained_gradient),
    *(a_masked_fill, detached_in_place, frozen_and_thawed),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_follow_a_change(program: Callable[..., Any]):
    def run(T: Any) -> Any:
        x, w = leaves(T)
        results = program(T, x, w)
        loss = sum((each * each).sum() for each in results)
        first = T.autograd.grad(loss, [x, w], create_graph=True, allow_unused=True)
        again = sum(g.sum() for g in first if g is not None)
        second = T.autograd.grad(again, [x, w], allow_unused=True)
        return results, first, [0 if each is None else each.sum() for each in second]

    assert_same(run, 1e-4)


@on_each
@pytest.mark.parametrize("size", [4, 5_000])  # values that stay for the picture, or are let go
def test_a_sequence_written_place_by_place(T: Any, size: int):
    w = T.tensor(0.5, requires_grad=True)
    h = T.zeros(size)
    h[0] = w
    for t in range(1, 4):
        h[t] = h[t - 1] + w
    h.sum().backward()
    assert w.grad.item() == 10.0


@on_each
def test_a_change_that_nothing_records_leaves_the_histories_of_views(T: Any):
    x = T.ones(3, requires_grad=True)
    y = x * 2
    first = y[0]
    with T.no_grad():
        y.zero_()
    (first * 3).backward()
    assert x.grad.tolist() == [6.0, 0.0, 0.0]


@on_each
@pytest.mark.parametrize(
    "quotient",
    [lambda T, x: 3 / x, lambda T, x: x / x.sum(), lambda T, x: T.nn.functional.normalize(x, dim=0)],
)
def test_a_quotient_may_be_changed_in_place(T: Any, quotient: Any):
    """Its derivatives need the operands, and not the result."""
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = quotient(T, x)
    y += 1
    (y * y).sum().backward()
    again = T.tensor([1.0, 2.0], requires_grad=True)
    ((quotient(T, again) + 1) ** 2).sum().backward()
    assert x.grad.tolist() == pytest.approx(again.grad.tolist())


@on_each
def test_versions(T: Any):
    x = T.zeros(3)
    view, apart = x[1:], x.clone()
    assert x._version == 0
    view.add_(1)
    x.data.add_(1)
    x[0] = 2
    apart.add_(1).add_(1)
    assert (x._version, view._version, x.detach()._version, apart._version) == (2, 2, 2, 2)


@on_each
def test_views_share_memory_and_copies_do_not(T: Any):
    x = T.zeros(2, 3)
    views = (x.view(3, 2), x[0], x[:, 1:], x.t(), x.transpose(0, 1), x.unsqueeze(0), x.detach(), x.data, x.T)
    for view in views:
        x.zero_()
        view.add_(1)
        assert x.sum().item() == view.numel()
    x.zero_()
    for copy in (x.clone(), x[[0]], x[x == 0], x + 0, x.t().reshape(-1), x.t().contiguous(), x.double()):
        copy.add_(1)
        assert not x.any()


WRONG = [
    lambda T: T.ones(1).expand(3).add_(1),
    lambda T: T.ones(2).copy_(T.ones(3)),
    lambda T: T.ones(3).__setitem__(slice(1), T.ones(2)),
]


@on_each
@pytest.mark.parametrize("change", WRONG)
def test_memory_that_cannot_take_the_values(T: Any, change: Any):
    with pytest.raises(RuntimeError, match=r"single memory|shape|must match"):
        change(T)
