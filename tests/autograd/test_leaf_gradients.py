"""How ``.grad`` lies in memory, and how a second pass adds to it: in place, or as a new tensor."""

from __future__ import annotations

from typing import Any

import pytest

import autokit
from tests.libraries import on_each
from tests.support import require

require("torch")
import torch  # noqa: E402

LEAVES = {
    "row by row": lambda T: T.ones(2, 3),
    "turned": lambda T: T.ones(3, 2).t(),
    "permuted": lambda T: T.ones(4, 2, 3).permute(1, 2, 0),
    "channels last": lambda T: T.ones(2, 3, 4, 5).contiguous(memory_format=T.channels_last),
    "with gaps": lambda T: T.ones(2, 6)[:, ::2],
    "turned with gaps": lambda T: T.ones(6, 2)[::2].t(),
    "expanded": lambda T: T.ones(1, 3).expand(2, 3),
    "a row with gaps": lambda T: T.ones(6)[::2],
}
LOSSES = {
    "sum": lambda T, x: x.sum(),
    "scaled": lambda T, x: (x * 2).sum(),
    "squares": lambda T, x: (x * x).sum(),
    "turned": lambda T, x: (x.transpose(0, -1) * T.ones(x.transpose(0, -1).shape)).sum(),
    "used twice": lambda T, x: (x + x.exp() * 3).sum(),
    "a part": lambda T, x: x[0].sum(),
    "in a row": lambda T, x: (x.reshape(-1) ** 2).sum(),
}


def gradients(T: Any, leaf: str, loss: str, with_graph: tuple[bool, ...]) -> list[Any]:
    """What is known of ``.grad`` after each pass."""
    x = LEAVES[leaf](T).requires_grad_()
    found, before, version = [], None, 0
    for create_graph in with_graph:
        LOSSES[loss](T, x).backward(create_graph=create_graph)
        now = x.grad
        made_by = now.grad_fn and now.grad_fn.name()
        found.append((now is before, now.requires_grad, made_by, now.stride(), now.tolist()))
        if now is before:
            found.append(now._version - version)
        before, version = now, now._version
    return found


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("leaf", LEAVES)
def test_it_lies_and_grows_as_in_pytorch(leaf: str, loss: str):
    passes = [(False, False, False), (True, False, False)]
    if leaf in ("row by row", "with gaps", "expanded"):
        passes += [(True, True, False), (False, True, True)]
    for with_graph in passes:
        ours, theirs = (gradients(T, leaf, loss, with_graph) for T in (autokit, torch))
        for mine, other in zip(ours, theirs, strict=True):
            if isinstance(mine, tuple):
                assert mine[:-1] == other[:-1], with_graph
                assert autokit.tensor(mine[-1]).allclose(autokit.tensor(other[-1]))
            else:
                assert mine == other == 1


@on_each
def test_a_sum_that_a_graph_needs_is_refused_once_it_grew(T: Any):
    x, w = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    loss = (x.grad * w).sum()
    (x * 3).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@on_each
@pytest.mark.filterwarnings("ignore:Using backward")
def test_gradients_with_a_graph_share_no_memory(T: Any):
    x, w = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    given = T.ones(2)
    (x + w).backward(given, create_graph=True)
    with T.no_grad():
        x.grad.zero_()
    assert (x.grad.tolist(), w.grad.tolist(), given.tolist()) == ([0, 0], [1, 1], [1, 1])


@on_each
@pytest.mark.parametrize("change", ["data", "transpose_", "deepcopy"])
def test_a_leaf_that_is_turned_later_has_a_turned_gradient(T: Any, change: str):
    from copy import deepcopy

    x = T.ones(2, 3, requires_grad=True)
    if change == "data":
        x.data = T.ones(3, 2).t()
    elif change == "transpose_":
        with T.no_grad():
            x.t_()
    else:
        x = deepcopy(T.nn.Parameter(T.ones(3, 2).t()))
    (x * x).sum().backward()
    assert x.grad.stride() == x.stride() == (1, x.shape[0])


@on_each
def test_a_retained_gradient_is_a_new_sum_each_time(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.sum().backward()
    assert (first.tolist(), y.grad.tolist()) == ([1.0, 1.0], [2.0, 2.0])
