"""The gradient scaler beside PyTorch: scales, skips, grows, shrinks, saves, and refuses alike."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit as ak
from tests.support import gpu_works, require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)


def made(T: Any, **settings: Any) -> tuple[Any, Any, Any]:
    w = T.ones(2, requires_grad=True)
    return w, T.optim.SGD([w], lr=0.5), T.amp.GradScaler("cpu", **settings)


def test_the_scale_follows_the_gradients():
    histories: list[list[Any]] = []
    for T in BOTH:
        w, optimizer, scaler = made(
            T, init_scale=8.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=2
        )
        history = []
        for factor in (1.0, 2.0, float("inf"), 1.0, float("nan"), 1.0, 1.0, 1.0, 1.0):
            optimizer.zero_grad()
            scaler.scale((w * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            history.append((scaler.get_scale(), w.tolist(), scaler.state_dict()))
        histories.append(history)
    assert histories[0] == histories[1]


def test_unscaled_gradients_can_be_clipped():
    results = []
    for T in BOTH:
        w, optimizer, scaler = made(T)
        scaler.scale((w * 3).sum()).backward()
        assert w.grad.tolist() == [3 * 2.0**16] * 2
        scaler.unscale_(optimizer)
        assert w.grad.tolist() == [3, 3]
        T.nn.utils.clip_grad_norm_([w], 1.0)
        scaler.step(optimizer)
        scaler.update()
        results.append(w.tolist())
    assert results[0] == pytest.approx(results[1])


def test_losses_come_in_containers_and_in_half_precision():
    for T in BOTH:
        scaler = T.amp.GradScaler("cpu", init_scale=4.0)
        x = T.ones(())
        found = scaler.scale([x, (x, [x])])
        assert [type(found), type(found[1]), type(found[1][1])] == [list, tuple, list]
        assert found[1][1][0].item() == 4
        big = T.amp.GradScaler("cpu").scale(T.ones((), dtype=T.float16) * 100)
        assert big.dtype is T.float32 and big.item() == 100 * 2.0**16


def test_two_optimizers_share_a_scale():
    for T in BOTH:
        a, b = (T.ones(1, requires_grad=True) for _ in range(2))
        first, second = T.optim.SGD([a], lr=1.0), T.optim.Adam([b], lr=1.0)
        scaler = T.amp.GradScaler("cpu", init_scale=2.0)
        scaler.scale(a.sum() + (b * float("inf")).sum()).backward()
        scaler.step(first)
        scaler.step(second)
        scaler.update()
        assert a.item() == 0 and b.item() == 1 and scaler.get_scale() == 1


def test_state_goes_both_ways(tmp_path: Any):
    for source, target in (BOTH, BOTH[::-1]):
        w, optimizer, scaler = made(source, init_scale=32.0, growth_interval=7)
        scaler.scale(w.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        source.save(scaler.state_dict(), tmp_path / "scaler.pt")
        again = target.amp.GradScaler("cpu")
        again.load_state_dict(target.load(tmp_path / "scaler.pt", weights_only=True))
        assert again.state_dict() == scaler.state_dict()
        assert again.state_dict()["_growth_tracker"] == 1


def wrongs(T: Any) -> list[tuple[str, str]]:
    """What goes wrong, each with its error."""
    w, optimizer, scaler = made(T)
    heard = []

    def hear(call: Any) -> None:
        try:
            call()
            heard.append(("", ""))
        except Exception as error:
            heard.append((type(error).__name__, str(error)))

    hear(lambda: T.amp.GradScaler("cpu", growth_factor=1.0))
    hear(lambda: T.amp.GradScaler("cpu", backoff_factor=1.0))
    hear(scaler.update)
    hear(lambda: scaler.step(optimizer))
    hear(lambda: scaler.unscale_(optimizer))
    hear(lambda: scaler.scale(3))
    scaler.scale(w.sum()).backward()
    hear(scaler.update)
    scaler.unscale_(optimizer)
    hear(lambda: scaler.unscale_(optimizer))
    scaler.step(optimizer)
    hear(lambda: scaler.step(optimizer))
    hear(lambda: scaler.unscale_(optimizer))
    scaler.update()
    hear(lambda: scaler.step(optimizer, closure=lambda: 1))
    hear(lambda: scaler.step(T.optim.SGD([T.ones(1)], lr=0.1)))
    hear(lambda: scaler.load_state_dict({}))
    hear(lambda: scaler.update(new_scale=T.ones(2)))
    scaler.update(new_scale=3.0)
    hear(lambda: scaler.get_scale() == 3.0 or 1 / 0)
    half = T.ones(1, dtype=T.float16, requires_grad=True)
    half.grad = half.detach().clone()
    hear(lambda: scaler.unscale_(T.optim.SGD([half], lr=0.1)))
    return heard


def test_errors_are_pytorchs():
    assert wrongs(ak) == wrongs(torch)


def test_without_a_gpu_a_scaler_for_one_does_nothing():
    if torch.cuda.is_available() or gpu_works():
        pytest.skip("there is a GPU")
    for T in BOTH:
        with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
            scaler = T.amp.GradScaler()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not T.cuda.amp.GradScaler().is_enabled()
        w = T.ones(1, requires_grad=True)
        optimizer = T.optim.SGD([w], lr=1.0)
        scaler.scale(w.sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert w.item() == 0 and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
        assert not scaler.is_enabled()
