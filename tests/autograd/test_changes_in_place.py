"""Changes in place: what they do to the graph, through views too, and which of them are refused."""

from __future__ import annotations

from typing import Any

import pytest

import autokit
from tests.libraries import on_each
from tests.support import require


@on_each
@pytest.mark.parametrize(
    "change",
    [
        lambda T, x: x.add_(1),
        lambda T, x: x.mul_(T.ones(2)),
        lambda T, x: x.zero_(),
        lambda T, x: x.__setitem__(0, 1.0),
        lambda T, x: x[0].add_(1),
        lambda T, x: x.view(2).zero_(),
        lambda T, x: x[:1].__setitem__(0, 1.0),
        lambda T, x: x.unsqueeze(0).exp_(),
        lambda T, x: x.normal_(),
    ],
)
def test_a_leaf_or_a_view_of_it_is_not_changed_in_place(T: Any, change: Any):
    x = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"leaf Variable|view"):
        change(T, x)
    with T.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0] and x.requires_grad and x.is_leaf


def _stale(T: Any, change: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    change(T, y)
    return z.sum()


@on_each
@pytest.mark.parametrize(
    "change",
    [
        lambda T, y: y.add_(1),
        lambda T, y: y.detach().add_(1),
        lambda T, y: y.detach().__setitem__(0, 5.0),
        lambda T, y: y.zero_(),
        lambda T, y: y.detach()[0].fill_(3),
        lambda T, y: y.detach().view(-1).mul_(2),
    ],
)
def test_a_saved_value_that_was_changed_is_refused(T: Any, change: Any):
    loss = _stale(T, change)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation.*version 1; expected version 0"
    ):
        loss.backward()


@on_each
def test_also_when_it_was_changed_without_recording(T: Any):
    def change(T: Any, y: Any) -> None:
        with T.no_grad():
            y.mul_(2)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _stale(T, change).backward()


@on_each
def test_a_saved_result_that_was_changed_is_refused(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x.exp()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_refusal_names_the_line_and_the_tensor():
    x = autokit.ones(2, requires_grad=True)
    y = x * 2
    y.name = "hidden"
    z = y * y
    y.add_(17)
    with pytest.raises(RuntimeError, match=r"hidden.*`y\.add_\(17\)`") as caught:
        z.sum().backward()
    assert caught.type.__name__ == "RuntimeError"


@on_each
@pytest.mark.parametrize(
    "change",
    [
        lambda T, y: y.mul_(y),
        lambda T, y: y.mul_(y[:]),
        lambda T, y: y.mul_(y.view(1, 2)[0]),
        lambda T, y: y.mul_(y.detach()),
        lambda T, y: y.div_(y),
        lambda T, y: y.pow_(y),
        lambda T, y: y.hypot_(y),
        lambda T, y: y.addcmul_(y, y),
        lambda T, y: y.lerp_(y * 2, weight=y),
        lambda T, y: y[:1].mul_(y[1:]),
        lambda T, y: y[0].mul_(y[1]),
    ],
)
def test_an_operand_that_shares_the_changed_elements_is_not_used_as_it_is_afterwards(T: Any, change: Any):
    y = T.tensor([2.0, 3.0], requires_grad=True) * 1
    change(T, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@on_each
def test_an_operand_that_shares_the_changed_elements_may_be_added(T: Any):
    x = T.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    y.add_(y[:], alpha=2)
    y.sum().backward()
    assert y.tolist() == [6.0, 9.0] and x.grad.tolist() == [3.0, 3.0]


@on_each
@pytest.mark.parametrize("of_many", [True, False])
def test_a_view_that_learns_nothing_yet_is_not_joined_to_the_graph_where_its_base_could_not_be(
    T: Any, of_many: bool
):
    base, learns = T.ones(2), T.ones(2, requires_grad=True)
    if of_many:
        view = base.unbind()[0]
    else:
        with T.no_grad():
            view = base[0]
    view.mul_(2)
    for change in (lambda: view.mul_(learns[0]), lambda: view.fill_(learns[0])):
        with pytest.raises(RuntimeError, match="is being modified inplace"):
            change()
    assert base.tolist() == [2.0, 1.0]


@on_each
def test_a_value_that_nobody_saved_may_change(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x + 1
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@on_each
def test_a_change_before_the_use_is_part_of_the_graph(T: Any):
    x = T.ones(3, requires_grad=True)
    y = x * 1
    y[0] = 7.0
    y *= 2
    y[1] = y.clone()[2]
    (y * y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 16.0]


def program_of_views(T: Any, name: str) -> Any:
    """What a program with changes through views leaves: values, gradients and names of nodes."""
    x = T.arange(12.0).reshape(3, 4).requires_grad_()
    w = T.tensor(3.0, requires_grad=True)
    y = x * 2
    z = T.zeros(3, 4)
    seen: list[Any] = []
    if name == "a row":
        row = y[1]
        row.mul_(w)
        seen = [y, row]
    elif name == "a view of a view":
        part = y[1:].t()[1:3]
        part.mul_(w).add_(1)
        seen = [y, part]
    elif name == "another view":
        row, column = y[1], y[:, 2]
        row.mul_(w)
        seen = [y, row, column, column * row[:3]]
    elif name == "the base":
        row = y[1]
        y.mul_(w)
        seen = [y, row, row * y[0]]
    elif name == "a buffer":
        row = z[1]
        row.copy_(x[0] * w)
        seen = [z, row]
    elif name == "an older view of a buffer":
        row = z[1]
        z[1, 2] = w * 2
        seen = [z, row, row * x[0]]
    elif name == "item of a view":
        row = y[1]
        row[0] = w
        y[2][1:3] = 7.0
        seen = [y, row]
    elif name == "a base of other strides":
        y = x.t() * 2
        row = y[1]
        row.mul_(w)
        seen = [y, row]
    elif name == "a base with gaps":
        y = T.zeros(6, 8)[::2, ::2]
        y.copy_(x)
        y[0].mul_(w)
        seen = [y]
    elif name == "augmented":
        y[0] += w
        y[:, 1] *= w
        seen = [y]
    elif name == "diagonal":
        y[:, :3].diagonal().mul_(w)
        seen = [y]
    elif name == "unfolded windows":
        y.unfold(1, 2, 2)[1].mul_(w)
        seen = [y]
    elif name == "a view kept from before is not part":
        row = y[1]
        kept = row * 1
        row.mul_(w)
        seen = [y, kept]
    loss = sum((each * each).sum() for each in seen)
    first = T.autograd.grad(loss, [x, w], create_graph=True, allow_unused=True)
    second = T.autograd.grad(sum(g.sum() for g in first if g is not None), [x, w], allow_unused=True)
    tensors = [*seen, *first, *second]
    names = [each.grad_fn.name() for each in seen]
    return names, [None if each is None else each.tolist() for each in tensors], [t._version for t in seen]


@pytest.mark.parametrize(
    "name",
    [
        "a row",
        "a view of a view",
        "another view",
        "the base",
        "a buffer",
        "an older view of a buffer",
        "item of a view",
        "a base of other strides",
        "a base with gaps",
        "augmented",
        "diagonal",
        "unfolded windows",
        "a view kept from before is not part",
    ],
)
def test_gradients_follow_a_change_through_a_view(name: str):
    require("torch")
    import torch

    assert program_of_views(autokit, name) == program_of_views(torch, name)


def refused_changes(T: Any, name: str) -> None:
    x = T.ones(4, requires_grad=True)
    y = x * 2
    if name == "view of a leaf":
        x[0].add_(1)
    elif name == "view of a leaf made under no_grad":
        with T.no_grad():
            view = x[:2]
        view.zero_()
    elif name == "view made under no_grad":
        with T.no_grad():
            view = y[:2]
        view.mul_(3)
    elif name == "one of several":
        y.unbind(0)[0].mul_(3)
    elif name == "a split":
        y.split(2)[0].mul_(3)
    elif name == "expanded":
        y[:1].expand(3).add_(1)
    elif name == "saved by another view":
        row = y[:2]
        z = row * row
        y.add_(1)
        z.sum().backward()


@pytest.mark.parametrize(
    "name",
    [
        "view of a leaf",
        "view of a leaf made under no_grad",
        "view made under no_grad",
        "one of several",
        "a split",
        "expanded",
        "saved by another view",
    ],
)
def test_changes_that_pytorch_refuses_are_refused(name: str):
    require("torch")
    import torch

    with pytest.raises(RuntimeError) as theirs:
        refused_changes(torch, name)
    with pytest.raises(RuntimeError) as ours:
        refused_changes(autokit, name)
    assert str(ours.value)[:60] == str(theirs.value)[:60]


def test_a_large_buffer_is_written_through_views():
    x = autokit.ones(2000, requires_grad=True)
    buffer = autokit.zeros(3, 2000)
    for row in range(3):
        buffer[row].add_(x * row)
    (buffer * buffer).sum().backward()
    assert x.grad.tolist() == [10.0] * 2000


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
def test_a_view_of_a_value_that_nobody_holds_may_change(T: Any):
    x = T.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = (x * 2).view(2, 2)
    y += 1
    (y * y).sum().backward()
    assert x.grad.tolist() == [12.0, 20.0, 28.0, 36.0]


@on_each
def test_setitem_passes_the_gradient_to_the_value(T: Any):
    x, value = T.zeros(3, requires_grad=True), T.tensor(2.0, requires_grad=True)
    y = x.clone()
    y[1:] = value
    (y * T.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert (x.grad.tolist(), value.grad.item()) == ([1.0, 0.0, 0.0], 110.0)


@on_each
def test_setitem_on_a_tensor_without_grad_joins_it_to_the_graph(T: Any):
    value, y = T.tensor(2.0, requires_grad=True), T.zeros(2)
    y[0] = value * 3
    assert y.requires_grad
    y.sum().backward()
    assert value.grad.item() == 3.0


@on_each
def test_an_in_place_operation_keeps_shape_and_dtype(T: Any):
    with pytest.raises(RuntimeError, match="output with shape"):
        T.ones(2).add_(T.ones(3, 2))
    with pytest.raises(RuntimeError, match="can't be cast"):
        T.ones(2, dtype=T.int64).mul_(1.5)
    x = T.ones(2)
    assert x.add_(T.ones(2, dtype=T.float64)) is x and x.dtype == T.float32


@on_each
def test_an_expanded_tensor_is_not_changed_in_place(T: Any):
    with pytest.raises(RuntimeError):
        T.ones(1).expand(3).add_(1)


@on_each
def test_views_share_memory_and_copies_do_not(T: Any):
    x = T.zeros(2, 3)
    for view in (
        x.view(3, 2),
        x[0],
        x[:, 1:],
        x.t(),
        x.transpose(0, 1),
        x.unsqueeze(0),
        x.detach(),
        x.data,
        x.T,
    ):
        x.zero_()
        view.add_(1)
        assert x.sum().item() == view.numel()
    x.zero_()
    for copy in (x.clone(), x[[0]], x[x == 0], x + 0, x.t().reshape(-1), x.t().contiguous(), x.double()):
        copy.add_(1)
        assert not x.any()


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
