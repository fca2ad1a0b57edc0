"""Operands that may be changed before the way back, since PyTorch keeps copies of its own; and no others."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.libraries import on_each
from tests.support import require

require("torch")
import torch  # noqa: E402

SIZES = st.sampled_from([1, 2, 2, 3])


@st.composite
def products(draw: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], Any]:
    """A product's name, the shapes of its operands, and its settings."""
    kind = draw(st.sampled_from(["matmul", "einsum", "tensordot"]))
    if kind == "matmul":
        n, m, p = draw(SIZES), draw(SIZES), draw(SIZES)
        batch = draw(st.lists(SIZES, max_size=3))
        shapes = []
        for matrix in ((n, m), (m, p)):
            own = [1 if draw(st.integers(0, 3)) == 0 else size for size in batch]
            shapes.append((*own[draw(st.integers(0, len(batch))) :], *matrix))
        left, right = shapes
        vector = draw(st.sampled_from(["", "", "", "left", "right"]))
        return kind, (m,) if vector == "left" else left, (m,) if vector == "right" else right, None
    if kind == "einsum":
        names = st.lists(st.sampled_from("ijklm"), min_size=1, max_size=4, unique=True).map("".join)
        left, right = draw(names), draw(names)
        known = sorted({*left, *right})
        out = draw(st.lists(st.sampled_from(known), max_size=len(known), unique=True))
        size = {name: draw(SIZES) for name in known}
        shapes = [tuple(size[name] for name in each) for each in (left, right)]
        return kind, shapes[0], shapes[1], f"{left},{right}->{''.join(out)}"
    count = draw(st.integers(0, 2))
    left, right = (draw(st.lists(SIZES, min_size=count, max_size=3)) for _ in "ab")
    paired = [draw(st.permutations(range(len(each))))[:count] for each in (left, right)]
    for i, j in zip(*paired):
        right[j] = left[i]
    return kind, tuple(left), tuple(right), paired if count else 0


def outcome(T: Any, product: Any, orders: Any, learns: Any, changed: int, recorded: bool) -> Any:
    """The gradients after one operand was changed, or that this is refused."""
    kind, *shapes, dims = product
    leaves, operands = [], []
    for shape, order, learning in zip(shapes, orders, learns):
        order = [place for place in order if place < len(shape)]  # in which the dimensions lie in memory
        numbers = np.linspace(-1, 1.7, int(np.prod(shape))).reshape([shape[place] for place in order])
        leaves.append(T.tensor(numbers, requires_grad=learning))
        operands.append((leaves[-1] * 1).permute([order.index(place) for place in range(len(shape))]))
    if kind == "einsum":
        result = T.einsum(dims, *operands)
    else:
        result = T.tensordot(*operands, dims) if kind == "tensordot" else T.matmul(*operands)
    with T.set_grad_enabled(recorded):
        operands[changed].mul_(2)
    weights = T.tensor(np.cos(np.arange(result.numel())).reshape(tuple(result.shape)))
    try:
        found = T.autograd.grad((result * weights).sum(), [leaf for leaf in leaves if leaf.requires_grad])
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return "refused"
    return [each.numpy() for each in found]


@settings(max_examples=400, deadline=None)
@given(
    product=products(),
    orders=st.tuples(*[st.permutations(range(5))] * 2),
    learns=st.sampled_from([(True, True), (True, False), (False, True)]),
    changed=st.integers(0, 1),
    recorded=st.booleans(),
)
def test_a_product_lets_just_those_operands_change_that_pytorch_copies(
    product: Any, orders: Any, learns: Any, changed: int, recorded: bool
) -> None:
    ours, theirs = (outcome(T, product, orders, learns, changed, recorded) for T in (autokit, torch))
    assert (ours == "refused") == (theirs == "refused")
    if ours != "refused":
        for one, other in zip(ours, theirs):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


KEPT = {
    "2 / y": lambda T, y: 2 / y,
    "ndtr": lambda T, y: T.special.ndtr(y),
    "polar": lambda T, y: T.polar(y, T.ones_like(y)).real,
}
CHANGES = {
    "recorded": lambda T, y: y.add_(1),
    "unrecorded": lambda T, y: y.detach().add_(1),
    "a part": lambda T, y: y[1:].mul_(3),
    "a part, written": lambda T, y: y.__setitem__(0, 5.0),
    "twice": lambda T, y: y.add_(1).mul_(2),
    "data": lambda T, y: y.data.add_(1),
    "NumPy": lambda T, y: y.detach().numpy().fill(7),
    "into": lambda T, y: T.mul(y.detach(), 2, out=y.detach()),
}


@on_each
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kept", KEPT)
def test_what_has_a_copy_has_the_gradients_of_the_old_elements(T: Any, kept: str, change: str) -> None:
    found = []
    for changes in (lambda T, y: None, CHANGES[change]):
        x = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
        y = x * 1
        result = KEPT[kept](T, y)
        changes(T, y)
        (slope,) = T.autograd.grad(result.sum(), x, create_graph=True)
        (curve,) = T.autograd.grad((slope * slope).sum(), x)
        found.append((slope.tolist(), curve.tolist()))
    assert found[0] == found[1]


@on_each
def test_a_leaf_may_be_updated_before_the_way_back(T: Any) -> None:
    w = T.tensor([1.0, 2.0], requires_grad=True)
    loss = (1 / w).sum()
    with T.no_grad():
        w -= 0.5
    loss.backward()
    assert w.grad.tolist() == [-1.0, -0.25]


@on_each
def test_eigenvalues_outlive_their_matrix(T: Any) -> None:
    x = T.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=T.float64, requires_grad=True)
    found = []
    for changed in (False, True):
        a = x * 1
        values, vectors = T.linalg.eig(a)
        if changed:
            a.zero_()
        end = values.real.sum() * 2 + (vectors.abs() ** 4).sum()
        found.append(T.autograd.grad(end, x)[0].tolist())
    assert found[0] == found[1]


@on_each
def test_a_copy_before_a_change_does_not_hide_one_that_came_before(T: Any) -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    square, inverse = y * y, 1 / y
    y.add_(1)
    (slope,) = T.autograd.grad(inverse.sum(), x)
    assert slope.tolist() == [-1.0, -0.25]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z = y / x.detach()
        x.detach().add_(1)
        z.sum().backward()


def test_nothing_is_copied_unless_it_is_changed() -> None:
    """And who needs it no more is not remembered for ever."""
    w = autokit.ones(50, 50, requires_grad=True)
    for _ in range(200):
        result = 1 / w
        assert result.grad_fn.saved == {}  # large, and to be had at the leaf
        result.sum().backward()
    del result
    gc.collect()
    assert len(w._storage.keepers) <= 40
    with autokit.no_grad():
        w.add_(1)
    assert not w._storage.keepers


def test_an_axis_of_size_one_is_left_out_without_a_copy() -> None:
    """It was summed, so that a change of the operand did not matter any more."""
    for T in (autokit, torch):
        x = T.ones(2, 1, requires_grad=True)
        y, z = x * 1, T.ones(2, requires_grad=True)
        made = T.einsum("ij,i->i", y, z)
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            made.sum().backward()
