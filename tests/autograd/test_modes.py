"""Recording or not: the modes as blocks and decorators, in each thread for itself."""

from __future__ import annotations

import importlib.util
import threading
from typing import Any

import pytest

import autokit

LIBRARIES = [autokit]
if importlib.util.find_spec("torch"):
    import torch

    LIBRARIES.append(torch)

on_each = pytest.mark.parametrize("T", LIBRARIES, ids=lambda library: library.__name__)


@on_each
def test_no_grad_as_block_and_as_decorator(T: Any):
    x = T.ones(2, requires_grad=True)

    @T.no_grad()
    def called() -> Any:
        return x * 2

    @T.no_grad
    def bare() -> Any:
        return x * 2

    with T.no_grad():
        assert not (x * 2).requires_grad
        with T.enable_grad():
            assert (x * 2).requires_grad
        assert not T.is_grad_enabled()
    assert not called().requires_grad and not bare().requires_grad and (x * 2).requires_grad
    assert called.__name__ == "called"


@on_each
def test_a_mode_ends_also_by_an_error(T: Any):
    with pytest.raises(KeyError), T.no_grad():
        raise KeyError
    assert T.is_grad_enabled()


@on_each
def test_set_grad_enabled(T: Any):
    x = T.ones(2, requires_grad=True)
    with T.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    T.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    T.set_grad_enabled(True)
    assert T.is_grad_enabled()

    @T.set_grad_enabled(False)
    def inside() -> Any:
        return x * 2

    assert not inside().requires_grad and T.is_grad_enabled()


@on_each
def test_inference_mode(T: Any):
    x = T.ones(2, requires_grad=True)
    with T.inference_mode():
        assert not (x * 2).requires_grad
    with T.inference_mode(False):
        assert (x * 2).requires_grad

    @T.inference_mode()
    def inside() -> Any:
        return x * 2

    assert not inside().requires_grad


@on_each
def test_threads_do_not_share_the_mode(T: Any):
    x, seen = T.ones(2, requires_grad=True), []
    with T.no_grad():
        other = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
        other.start()
        other.join()
    assert seen == [True]


def test_inference_mode_says_so():
    assert not autokit.is_inference_mode_enabled()
    with autokit.inference_mode():
        assert autokit.is_inference_mode_enabled() and not autokit.is_grad_enabled()
        with autokit.inference_mode(False):
            assert not autokit.is_inference_mode_enabled() and autokit.is_grad_enabled()
        assert autokit.is_inference_mode_enabled()
    assert autokit.inference_mode()(autokit.is_inference_mode_enabled)()
    assert autokit.inference_mode(lambda: autokit.is_inference_mode_enabled())()
    assert not autokit.is_inference_mode_enabled() and autokit.is_grad_enabled()
