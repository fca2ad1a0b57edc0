"""Where it is easy to be wrong: each gradient at a tie, a kink, a zero or an infinity is PyTorch's.

The expected numbers stand here, so that the table is held without PyTorch too.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from autokit import inf, nan
from tests.support import require

LIBRARIES = [autokit]
if importlib.util.find_spec("torch"):
    import torch

    LIBRARIES.append(torch)

on_each = pytest.mark.parametrize("T", LIBRARIES, ids=lambda library: library.__name__)


def gradient(T: Any, function: Callable[[Any], Any], *at: Any) -> list[Any]:
    """The gradients of the sum of ``function(*at)``."""
    leaves = [T.tensor(value, dtype=T.float64, requires_grad=True) for value in at]
    function(*leaves).sum().backward()
    return [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]


def one(name: str, function: Callable[..., Any], at: Any, expected: Any) -> Any:
    return pytest.param(lambda T, x: function(T, x), at, expected, id=name)


SLOPES = [
    one("max() with ties", lambda T, x: x.max(), [1, 3, 3, 2.0], [0, 0.5, 0.5, 0]),
    one("min() with ties", lambda T, x: x.min(), [1, 1, 2.0], [0.5, 0.5, 0]),
    one("amax with ties", lambda T, x: T.amax(x, 0), [3, 3, 3.0], [1 / 3, 1 / 3, 1 / 3]),
    one("amin with ties", lambda T, x: x.amin(dim=0), [3, 3.0], [0.5, 0.5]),
    one("max(dim) with ties", lambda T, x: x.max(0).values, [3, 3, 2.0], [1, 0, 0]),
    one("min(dim) with ties", lambda T, x: x.min(dim=0)[0], [3, 2, 2.0], [0, 1, 0]),
    one("maximum at a tie", lambda T, x: T.maximum(x, T.zeros(1, dtype=x.dtype)), [0.0], [0.5]),
    one("minimum at a tie", lambda T, x: T.minimum(x, T.zeros(1, dtype=x.dtype)), [0.0], [0.5]),
    one("relu at 0", lambda T, x: x.relu(), [0.0, -1, 2], [0, 0, 1]),
    one("clamp(min=0) at 0", lambda T, x: x.clamp(min=0), [0.0, -1], [1, 0]),
    one("where(x > 0) at 0", lambda T, x: T.where(x > 0, x, 0.0), [0.0], [0]),
    one("clamp at its bounds", lambda T, x: x.clamp(-1, 1), [-1, 1, 2, 0.0], [1, 1, 0, 1]),
    one("abs at 0", lambda T, x: x.abs(), [0.0, -2], [0, -1]),
    one("sign", lambda T, x: x.sign(), [0.0, -2], [0, 0]),
    one("sqrt at 0", lambda T, x: x.sqrt(), [0.0], [inf]),
    one("log at 0", lambda T, x: x.log(), [0.0], [inf]),
    one("sqrt of −1", lambda T, x: x.sqrt(), [-1.0], [nan]),
    one("sqrt of a sum of squares at 0", lambda T, x: (x**2).sum().sqrt(), [0.0, 0], [nan, nan]),
    one("x**0 at 0", lambda T, x: x**0, [0.0], [0]),
    one("x**1 at 0", lambda T, x: x**1, [0.0], [1]),
    one("x**0.5 at 0", lambda T, x: x**0.5, [0.0], [inf]),
    one("x**−1 at 0", lambda T, x: x**-1, [0.0], [-inf]),
    one("0**x at 0", lambda T, x: 0**x, [0.0], [0]),
    one("0**x at 2", lambda T, x: 0**x, [2.0], [0]),
    one("0**x at −1", lambda T, x: T.zeros(1, dtype=x.dtype) ** x, [-1.0], [-inf]),
    one("(−2)**x at 3", lambda T, x: T.full((1,), -2.0, dtype=x.dtype) ** x, [3.0], [nan]),
    one("var of one element", lambda T, x: x.var(), [1.0], [nan]),
    one("std of one element", lambda T, x: x.std(), [1.0], [nan]),
    one("var of one element, correction 0", lambda T, x: x.var(correction=0), [1.0], [0]),
    one("std of constants", lambda T, x: x.std(), [2.0, 2, 2], [0, 0, 0]),
    one("logsumexp of thousands", lambda T, x: T.logsumexp(x, 0), [5000.0, 5000], [0.5, 0.5]),
    one("log_softmax of thousands", lambda T, x: T.log_softmax(x, 0)[0], [5000.0, 5000], [0.5, -0.5]),
    one("logsumexp of −inf", lambda T, x: T.logsumexp(x, 0), [-inf, -inf], [nan, nan]),
    one("log_softmax of −inf", lambda T, x: T.log_softmax(x, 0), [-inf, -inf], [nan, nan]),
    one(
        "where with a sqrt below 0",
        lambda T, x: T.where(x > 0, x.sqrt(), 0.0),
        [0.0, -1, 4],
        [nan, nan, 0.25],
    ),
    one("repeated indices", lambda T, x: x[[0, 0, 1]], [1.0, 2, 3], [2, 1, 0]),
    one("x·x", lambda T, x: x * x, [3.0], [6]),
    one("a diamond", lambda T, x: (x * 2) * (x * 3), [3.0], [36]),
    one("sigmoid far out", lambda T, x: x.sigmoid(), [-1000.0, 1000], [0, 0]),
    one("tanh far out", lambda T, x: x.tanh(), [-1000.0, 1000], [0, 0]),
    one("mean of nothing", lambda T, x: x.mean(), [], []),
]


@on_each
@pytest.mark.parametrize(("function", "at", "expected"), SLOPES)
def test_slopes(T: Any, function: Any, at: list[float], expected: list[float]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (found,) = gradient(T, lambda x: function(T, x), at)
    np.testing.assert_allclose(found, expected)


@on_each
def test_a_tie_of_two_tensors_is_shared(T: Any):
    assert gradient(T, T.maximum, [1.0], [1.0]) == [[0.5], [0.5]]
    assert gradient(T, T.minimum, [1.0], [1.0]) == [[0.5], [0.5]]


@on_each
@pytest.mark.parametrize(("base", "slope"), [(0.0, 0.0), (2.0, np.log(2.0))])
def test_the_exponent_at_0(T: Any, base: float, slope: float):
    np.testing.assert_allclose(gradient(T, lambda a, b: a**b, [base], [0.0])[1], [slope])


@on_each
@pytest.mark.parametrize(
    "shapes", [((3, 1), (1, 4)), ((1,), (2, 0)), ((), (3,)), ((2, 1, 3), (3,)), ((0,), (1,))]
)
def test_a_broadcast_operand_gets_a_gradient_of_its_own_shape(T: Any, shapes: Any):
    for function in (T.add, T.sub, T.mul, T.div, T.maximum, T.pow):
        a, b = (T.ones(shape, requires_grad=True) for shape in shapes)
        function(a, b).sum().backward()
        assert (tuple(a.grad.shape), tuple(b.grad.shape)) == shapes


@on_each
def test_an_assignment_to_repeated_places_adds_once(T: Any):
    y = T.zeros(2)
    y[[0, 0]] += 1
    assert y.tolist() == [1.0, 0.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pytest.warns shows all, also NumPy's
@on_each
def test_one_element_has_no_variance_and_a_warning_says_so(T: Any):
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert np.isnan(T.ones(1).var().item())


# ---------------------------------------------------------------- types


@on_each
def test_numbers_do_not_widen_a_tensor(T: Any):
    x = T.ones(2)
    for other in (2.0, np.float64(2.0), T.tensor(2.0, dtype=T.float64)):
        assert (x * other).dtype == T.float32
        assert (x + other).dtype == T.float32


@on_each
def test_integers_become_floats_where_they_must(T: Any):
    x = T.tensor([1, 2])
    assert [(x + 2.0).dtype, (x / x).dtype, x.exp().dtype] == [T.float32] * 3


@on_each
def test_results_without_dimensions_are_tensors(T: Any):
    x = T.ones(3)
    for made in (x.sum(), x[0], x.max(), x @ x, T.tensor(1.0) * 2, T.tensor(1.0).exp(), x.argmax(), x.all()):
        assert isinstance(made, T.Tensor) and tuple(made.shape) == ()


@on_each
@pytest.mark.parametrize(
    "wrong",
    [
        lambda T: T.tensor([1, 2]).mean(),
        lambda T: T.tensor([True]) - T.tensor([False]),
        lambda T: T.tensor([2]) ** -1,
        lambda T: -T.tensor([True]),
        lambda T: T.tensor([1, 2]) // T.tensor([1, 0]),
        lambda T: T.tensor([1]) % 0,
        lambda T: T.tensor([1]).var(),
    ],
)
def test_what_a_dtype_cannot_do_is_a_runtime_error(T: Any, wrong: Any):
    with pytest.raises(RuntimeError):
        wrong(T)


@on_each
@pytest.mark.parametrize(
    "make", [lambda T: T.tensor([1], requires_grad=True), lambda T: T.ones(2, dtype=T.int64).requires_grad_()]
)
def test_integers_require_no_grad(T: Any, make: Any):
    with pytest.raises(RuntimeError, match="floating point"):
        make(T)


@on_each
def test_a_cast_to_integers_ends_the_graph(T: Any):
    x = T.ones(2, requires_grad=True)
    assert not x.long().requires_grad and x.double().requires_grad


@on_each
def test_a_number_formats_as_one(T: Any):
    assert f"{T.tensor(300.0)}" == "300.0"
    assert f"{T.tensor(2.5, requires_grad=True):.3f}" == "2.500"
    assert f"{T.tensor(3):>4}" == "   3"


@on_each
def test_tensor_of_a_float_is_refused(T: Any):
    with pytest.raises(TypeError):
        T.Tensor(6.7)


def test_the_refusal_names_what_to_write():
    with pytest.raises(TypeError, match=r"tensor\(6\.7\)"):
        autokit.Tensor(6.7)


# ---------------------------------------------------------------- changes in place


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
    with pytest.raises(RuntimeError, match=r"hidden.*`y\.add_\(17\)`"):
        z.sum().backward()


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
def test_a_sequence_written_place_by_place(T: Any):
    w = T.tensor(0.5, requires_grad=True)
    h = T.zeros(4)
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
