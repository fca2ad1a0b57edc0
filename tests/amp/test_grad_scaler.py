"""The gradient scaler beside PyTorch: scales, skips, grows, shrinks, saves, and refuses alike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.beside import assert_refused, assert_same
from tests.libraries import on_each


def start(T: Any, **settings: Any) -> tuple[Any, Any, Any]:
    w = T.ones(2, requires_grad=True)
    return w, T.optim.SGD([w], lr=0.5), T.amp.GradScaler("cpu", **settings)


def test_the_scale_follows_the_gradients():
    def program(T: Any) -> Any:
        w, optimizer, scaler = start(
            T, init_scale=8.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=2
        )
        history = []
        for factor in (1.0, 2.0, float("inf"), 1.0, float("nan"), 1.0, 1.0, 1.0, 1.0):
            optimizer.zero_grad()
            scaler.scale((w * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            history.append((scaler.get_scale(), w.tolist(), *scaler.state_dict().values()))
        return history

    assert_same(program)


@on_each
def test_unscaled_gradients_can_be_clipped(T: Any):
    w, optimizer, scaler = start(T)
    scaler.scale((w * 3).sum()).backward()
    assert w.grad.tolist() == [3 * 2.0**16] * 2
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [3, 3]
    T.nn.utils.clip_grad_norm_([w], 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == pytest.approx([1 - 0.5**1.5] * 2, rel=1e-5)


@on_each
def test_two_optimizers_share_a_scale(T: Any):
    a, b = (T.ones(1, requires_grad=True) for _ in range(2))
    first, second = T.optim.SGD([a], lr=1.0), T.optim.Adam([b], lr=1.0)
    scaler = T.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(a.sum() + (b * float("inf")).sum()).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert a.item() == 0 and b.item() == 1 and scaler.get_scale() == 1


def _after(*steps: str) -> Any:
    def program(T: Any) -> None:
        w, optimizer, scaler = start(T)
        scaler.scale(w.sum()).backward()
        for step in steps:
            getattr(scaler, step)(*([] if step == "update" else [optimizer]))

    return program


def _of_halves(T: Any) -> None:
    half = T.ones(1, dtype=T.float16, requires_grad=True)
    half.grad = half.detach().clone()
    scaler = start(T)[2]
    scaler.scale(T.ones(()))
    scaler.unscale_(T.optim.SGD([half], lr=0.1))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda T: T.amp.GradScaler("cpu", growth_factor=1.0), "above 1"),
        (lambda T: T.amp.GradScaler("cpu", backoff_factor=1.0), "below 1"),
        (lambda T: start(T)[2].scale(3), "not int"),
        (lambda T: start(T)[2].load_state_dict({}), "empty"),
        (_after("update"), "no gradients were looked at"),
        (_after("unscale_", "unscale_"), r"after unscale_\(\)"),
        (_after("step", "unscale_"), r"after step\(\)"),
        (_of_halves, "float32"),
    ],
)
def test_wrong_use_is_refused(program: Any, message: str):
    assert_refused(program, message)


@on_each
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_that_is_not_enabled_does_nothing(T: Any):
    scaler = T.amp.GradScaler("cpu", enabled=False)
    w = T.ones(1, requires_grad=True)
    optimizer = T.optim.SGD([w], lr=1.0)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0 and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    assert not scaler.is_enabled() and isinstance(T.cuda.amp.GradScaler(), T.amp.GradScaler)
