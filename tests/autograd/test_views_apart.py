"""Views beside a base that changes: which follow it, and which PyTorch refuses from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402


def library(tensor: Any) -> Any:
    """The library that ``tensor`` is of."""
    return torch if isinstance(tensor, torch.Tensor) else autokit


def unrecorded(T: Any, change: Callable[[], Any]) -> Any:
    with T.no_grad():
        return change()


def through(y: Any, forward: Callable[[Any], Any]) -> Any:
    """What a custom function makes of ``y``, whose own derivative is 5 and not 1."""
    T = library(y)
    methods = {
        "forward": staticmethod(lambda ctx, x: forward(x)),
        "backward": staticmethod(lambda ctx, *gradients: sum(5 * one for one in gradients)),
    }
    return type("Five", (T.autograd.Function,), methods).apply(y)


BASES = {
    "computed": lambda T, x: x * 1,
    "leaf": lambda T, x: x,
    "buffer": lambda T, x: T.ones(2, 3),
}
VIEWS = {
    "unbind": lambda y: y.unbind(0),
    "split": lambda y: y.split(1),
    "split in sizes": lambda y: y.split_with_sizes([1, 1]),
    "chunk": lambda y: y.chunk(2),
    "tensor_split": lambda y: y.tensor_split(2),
    "hsplit": lambda y: y.hsplit(3),
    "iteration": lambda y: list(y),
    "index": lambda y: (y[0], y[1]),
    "views of several": lambda y: [part.view(3, 1) for part in y.unbind(0)],
    "several of a view": lambda y: y.view(6).view(2, 3).unbind(0),
    "views of unrecorded": lambda y: [
        part.view(3, 1) for part in unrecorded(library(y), lambda: (y[0], y[1]))
    ],
    "detached": lambda y: (y.detach(), y.detach()),
    "a custom function's argument": lambda y: (through(y, lambda x: x), through(y, lambda x: x)),
    "a custom function's view": lambda y: (through(y, lambda x: x[0]), through(y, lambda x: x.view_as(x))),
    "a custom function's views": lambda y: through(y, lambda x: (x.view_as(x), x.view_as(x))),
    "a view of a custom function's": lambda y: (through(y, lambda x: x)[0], through(y, lambda x: x[0])[:2]),
    "unsafe_split": lambda y: y.unsafe_split(1),
    "unsafe_chunk": lambda y: y.unsafe_chunk(2),
    "unsafe_split_with_sizes": lambda y: y.unsafe_split_with_sizes([1, 1]),
}


CHANGES = {
    "none": lambda T, x, y, u: None,
    "base": lambda T, x, y, u: y.mul_(2),
    "base, unrecorded": lambda T, x, y, u: unrecorded(T, lambda: y.mul_(2)),
    "base, detached": lambda T, x, y, u: y.detach().mul_(2),
    "base, data": lambda T, x, y, u: y.data.mul_(2),
    "base, by what learns": lambda T, x, y, u: y.mul_(x * 3),
    "a place of the base": lambda T, x, y, u: y.__setitem__((0, 1), 5.0),
    "cleared": lambda T, x, y, u: y.zero_(),
    "view": lambda T, x, y, u: u[0].mul_(2),
    "view, unrecorded": lambda T, x, y, u: unrecorded(T, lambda: u[0].mul_(2)),
    "view, by what learns": lambda T, x, y, u: u[0].mul_(x.sum()),
    "view, then by what learns": lambda T, x, y, u: (
        unrecorded(T, lambda: u[0].mul_(2)),
        u[0].mul_(x.sum()),
    ),
    "other": lambda T, x, y, u: u[1].mul_(2),
    "other, unrecorded": lambda T, x, y, u: unrecorded(T, lambda: u[1].mul_(2)),
    "other, by what learns": lambda T, x, y, u: u[1].mul_(x.sum()),
    "a third view": lambda T, x, y, u: y[1].mul_(2),
    "a third view, by what learns": lambda T, x, y, u: y[1].mul_(x.sum()),
    "requires_grad_": lambda T, x, y, u: y.requires_grad_(),
    "requires_grad_, then unrecorded": lambda T, x, y, u: unrecorded(T, lambda: y.requires_grad_().mul_(2)),
    "unrecorded, then requires_grad_": lambda T, x, y, u: (
        unrecorded(T, lambda: y.mul_(2)),
        y.requires_grad_(),
    ),
    "frozen": lambda T, x, y, u: y.requires_grad_(False),
    "detach_": lambda T, x, y, u: y.detach_(),
    "detach_, then a change": lambda T, x, y, u: y.detach_().mul_(2),
    "detach_, then a new leaf": lambda T, x, y, u: unrecorded(
        T, lambda: y.detach_().requires_grad_().mul_(2)
    ),
    "a change, then detach_": lambda T, x, y, u: (unrecorded(T, lambda: y.mul_(2)), y.detach_()),
    "detach_, then a wrong change": lambda T, x, y, u: y.detach_().add_(T.ones(7)),
    "a wrong change": lambda T, x, y, u: y.add_(x.sum() + T.ones(7)),
    "view frozen": lambda T, x, y, u: u[0].requires_grad_(False),
    "a change, then the view frozen": lambda T, x, y, u: (
        unrecorded(T, lambda: y.mul_(2)),
        u[0].requires_grad_(False),
    ),
    "detach_ of a view": lambda T, x, y, u: u[0].detach_(),
    "view requires_grad_": lambda T, x, y, u: u[0].requires_grad_(),
}
QUESTIONS = {
    "requires_grad": lambda T, x, y, v: v.requires_grad,
    "version": lambda T, x, y, v: (v._version, v._is_view()),
    "leaf": lambda T, x, y, v: v.is_leaf,
    "comparison": lambda T, x, y, v: (v > 1).tolist(),
    "unrecorded use": lambda T, x, y, v: unrecorded(T, lambda: (v * 1).requires_grad),
    "use": lambda T, x, y, v: (v * 1).requires_grad,
    "use with another": lambda T, x, y, v: (v * x.sum()).requires_grad,
    "use as other": lambda T, x, y, v: (x.sum() + v).requires_grad,
    "use of many": lambda T, x, y, v: T.stack([v, v]).requires_grad,
    "a view of it": lambda T, x, y, v: v[..., 0].requires_grad,
    "search": lambda T, x, y, v: int(v.argmax()),
    "grad_fn": lambda T, x, y, v: v.grad_fn and v.grad_fn.name(),
    "text": lambda T, x, y, v: repr(v),
    "backward": lambda T, x, y, v: v.backward(T.ones_like(v)),
    "slope": lambda T, x, y, v: T.autograd.grad((v * v).sum(), x)[0].tolist(),
    "slope by it": lambda T, x, y, v: T.autograd.grad((v * v).sum(), v)[0].tolist(),
    "slope of the base": lambda T, x, y, v: T.autograd.grad((y * y).sum(), x)[0].tolist(),
    "slope by the base": lambda T, x, y, v: T.autograd.grad((v * v).sum(), y)[0].tolist(),
    "gradient": lambda T, x, y, v: None if v.grad is None else v.grad.tolist(),
    "change": lambda T, x, y, v: v.mul_(3).tolist(),
    "values": lambda T, x, y, v: v.tolist(),
}


def answer(ask: Callable[[], Any]) -> Any:
    """What ``ask`` gives, or how its error begins."""
    try:
        return ask()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).removeprefix('a view of ')[:24]}"


def story(T: Any, base: str, view: str, change: str, recorded: bool, backwards: bool) -> list[Any]:
    """What a program says after the change: errors, modes, gradients, texts, in one order or the other."""
    x = T.ones(2, 3, requires_grad=True)
    y = BASES[base](T, x)
    u = VIEWS[view](y) if recorded else unrecorded(T, lambda: VIEWS[view](y))
    told = [answer(lambda: CHANGES[change](T, x, y, u) is None)]
    asked = list(QUESTIONS.items())
    if backwards:  # but first a use: until then PyTorch takes a view of a buffer for a leaf
        asked = [("use", QUESTIONS["use"]), *asked[::-1]]
    for name, question in asked:
        told += [(name, answer(lambda: question(T, x, y, v))) for v in u[:2]]
    return told


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("base", BASES)
def test_views_and_their_base_after_every_change(base: str, view: str, recorded: bool):
    for change in CHANGES:
        for backwards in (False, True):
            ours, theirs = (story(T, base, view, change, recorded, backwards) for T in (autokit, torch))
            assert ours == theirs, change


def test_a_view_that_is_refused_is_shown_and_does_not_hinder_pictures():
    x = autokit.ones(2, 3, requires_grad=True)
    y = x * 1
    several = y.unbind()
    with autokit.no_grad():
        unrecorded, _ = y[0], y.mul_(2)
    for view in (several[0], unrecorded):
        assert view._repr_mimebundle_()["text/plain"] == "tensor([2., 2., 2.], grad_fn=<Invalid>)"
    assert "img" in (y * 3)._repr_mimebundle_()["text/html"]
    with autokit.no_grad():
        unrecorded = x[0]
    assert [node.symbol for node in autokit.graph(unrecorded * 2).nodes] == ["⊘", "", "×"]
