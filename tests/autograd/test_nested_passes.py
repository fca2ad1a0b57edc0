"""Passes inside of passes, to any depth, and loops whose graphs grow: nothing runs out or is lost."""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.autograd.node import Node
from autokit.utils.checkpoint import checkpoint
from tests.libraries import on_each

DEPTHS = pytest.mark.parametrize("depth", [300, 2000])


def _nested(T: Any, depth: int, at_the_bottom: Callable[[], Any] = lambda: None) -> Any:
    """A gradient of 2 by ``depth`` passes inside of one; the innermost calls ``at_the_bottom``."""

    class Deeper(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, left: int) -> Any:
            ctx.left = left
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            if not ctx.left:
                at_the_bottom()
                return gradient * 2, None
            with T.enable_grad():
                inside = x.detach().requires_grad_()
                Deeper.apply(inside, ctx.left - 1).backward(gradient)
            return inside.grad, None

    x = T.tensor([1.5, 2.5], requires_grad=True)
    Deeper.apply(x, depth).sum().backward()
    return x.grad


@on_each
@DEPTHS
def test_a_backward_inside_of_a_backward(T: Any, depth: int) -> None:
    assert _nested(T, depth).tolist() == [2, 2]


@on_each
@DEPTHS
def test_a_gradient_inside_of_a_hook(T: Any, depth: int) -> None:
    @T.enable_grad()
    def slope(left: int) -> Any:
        x = T.tensor(1.5, requires_grad=True)
        y = x * 1
        if left:
            y.register_hook(lambda gradient: gradient + slope(left - 1))
        return T.autograd.grad(y, x)[0]

    assert slope(depth).item() == depth + 1


@on_each
@DEPTHS
def test_what_is_raised_at_the_bottom_comes_up_with_its_lines(T: Any, depth: int) -> None:
    def fail() -> None:
        raise LookupError("at the bottom")

    with pytest.raises(LookupError, match="at the bottom") as raised:
        _nested(T, depth, fail)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[-1] == "fail"
    assert T is not autokit or names.count("backward") >= depth
    assert _nested(T, 3).tolist() == [2, 2]


def test_an_endless_one_ends() -> None:
    x = autokit.ones(2, requires_grad=True)

    @autokit.enable_grad()
    def again(gradient: Any) -> None:
        (x * 2).sum().backward()

    handle = x.register_hook(again)
    before = threading.active_count()
    with pytest.raises(
        RecursionError, match="Does a hook begin a pass that comes to the same hook"
    ) as raised:
        (x * 2).sum().backward()
    assert len(traceback.extract_tb(raised.value.__traceback__)) < 1000
    assert threading.active_count() == before
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_program_that_is_interrupted_there_stops_as_such() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        _nested(autokit, 300, interrupt)
    assert threading.active_count() == before


@on_each
def test_modes_hold_at_every_depth(T: Any) -> None:
    seen: dict[str, Any] = {}
    packed: list[Any] = []

    def look() -> None:
        x = T.tensor([1.0], requires_grad=True)
        seen["grad"] = T.is_grad_enabled(), (x * 2).requires_grad
        with T.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
            x.exp()
        seen["dtype"] = T.tensor(1.0).dtype
        seen["anomaly"] = T.is_anomaly_enabled()
        with T.enable_grad():
            seen["recorded"] = (x * 2).requires_grad
        seen["drawn"] = T.rand(1).item()

    T.manual_seed(5)
    expected = T.rand(1).item()
    T.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly():
            _nested(T, 100, look)
    assert seen["anomaly"]
    assert seen["grad"] == (False, False)
    assert seen["recorded"]
    assert seen["dtype"] == T.float32
    assert seen["drawn"] == expected


def test_what_is_set_at_the_bottom_stays_set() -> None:
    held: list[Any] = []

    def remember() -> None:
        hooks = autokit.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
        held.append(hooks.__enter__())

    _nested(autokit, 100, remember)
    assert autokit.thread_state.thread.state.packers == (held[0],)
    held[0].__exit__()
    assert autokit.thread_state.thread.state.depth == 0


def test_duals_move_at_every_depth() -> None:
    from autokit.autograd import forward_ad

    moved: list[Any] = []

    def move() -> None:
        with autokit.enable_grad():
            dual = forward_ad.make_dual(autokit.tensor(3.0), autokit.tensor(1.0))
            moved.append(forward_ad.unpack_dual(dual * dual).tangent.item())

    with forward_ad.dual_level():
        _nested(autokit, 100, move)
    assert moved == [6]


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_inside_of_checkpoints(use_reentrant: bool) -> None:
    def part(left: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            if not left:
                return x.sin()
            return checkpoint(part(left - 1), x, use_reentrant=use_reentrant)

        return forward

    x = autokit.tensor(1.0, requires_grad=True)
    part(60)(x).backward()
    np.testing.assert_allclose(x.grad.item(), np.cos(1), rtol=1e-6)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often somebody asked a node where its gradients go."""
    count = [0]
    plain = Node.targets.fget

    def targets(self: Any) -> Any:
        count[0] += 1
        return plain(self)

    monkeypatch.setattr(Node, "targets", property(targets))
    return count


def _by_grad(v: Any) -> Any:
    return autokit.autograd.grad((v * v - 1) ** 2, v, create_graph=True)[0]


def _by_func(v: Any) -> Any:
    return autokit.func.grad(lambda v: (v * v - 1) ** 2)(v)


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("slope", [_by_grad, _by_func])
def test_steps_of_an_unrolled_descent_look_at_what_is_new(
    slope: Callable[[Any], Any], hooked: bool, looks: list[int]
) -> None:
    def descend(w: Any, steps: int) -> Any:
        v = w * 1
        for _ in range(steps):
            v = v - 0.01 * slope(v)
        return v

    each = []
    for steps in (20, 200):
        w = autokit.tensor(0.5, requires_grad=True)
        if hooked:
            w.register_hook(lambda gradient: None)
        before = looks[0]
        end = descend(w, steps)
        each.append((looks[0] - before) / steps)
        end.backward()
    assert each[1] < 1.5 * each[0], "what it costs to take a step grows with the steps before"


def test_an_unrolled_descent_inside_of_a_transform_looks_at_what_is_new(looks: list[int]) -> None:
    each = []
    for steps in (20, 200):

        def end(w: Any, steps: int = steps) -> Any:
            v = w * 1
            for _ in range(steps):
                v = v - 0.01 * _by_func(v)
            return v

        before = looks[0]
        autokit.func.grad(end)(autokit.tensor(0.5))
        each.append((looks[0] - before) / steps)
    assert each[1] < 1.5 * each[0]
