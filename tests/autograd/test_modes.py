"""Recording or not: the modes as blocks and decorators, in each thread for itself."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.libraries import LIBRARIES, on_each
from tests.support import require


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


def _in_inference_mode(T: Any) -> dict[str, Any]:
    """Tensors made in inference mode, and from what else."""
    plain, learning = T.ones(3), T.ones(3, requires_grad=True)
    with T.inference_mode():
        made = {
            "plain": plain,
            "view of a plain one": plain.view(-1),
            "detached": plain.detach(),
            "data": plain.data,
            "unbound": T.stack([plain, plain]).unbind(0)[0],
            "computed": plain * 2,
            "from a leaf": learning * 2,
            "leaf": T.ones(3, requires_grad=True),
            "parameter": T.nn.Parameter(T.ones(3)),
            "clone": plain.clone(),
            "reduced": plain.sum(),
            "legacy": T.Tensor([1.0]),
            "unconverted": plain.float(),
        }
        with T.enable_grad():
            made["with enable_grad"] = learning * 2
        with T.set_grad_enabled(True):
            made["with set_grad_enabled"] = learning * 2
        with T.inference_mode(False):
            made["with inference_mode(False)"] = learning * 2
    inferred = made["computed"]
    made.update(
        viewed_outside=inferred.view(-1),
        row_outside=inferred[1:],
        detached_outside=inferred.detach(),
        data_outside=inferred.data,
        cloned_outside=inferred.clone(),
        computed_outside=inferred + 1,
        copied_outside=copy.deepcopy(inferred),
    )
    return made


def test_what_is_made_in_inference_mode_is_marked_as_in_pytorch():
    require("torch")
    told = [
        {name: (each.is_inference(), each.requires_grad) for name, each in _in_inference_mode(T).items()}
        for T in LIBRARIES
    ]
    assert told[0] == told[1]


_OUTSIDE: dict[str, Callable[..., Any]] = {
    "version": lambda T, y, w: y._version,
    "add_": lambda T, y, w: y.add_(1),
    "setitem": lambda T, y, w: y.__setitem__(0, 1.0),
    "view changed": lambda T, y, w: y[0].add_(1),
    "zero_": lambda T, y, w: y.zero_(),
    "copy_": lambda T, y, w: y.copy_(w),
    "normal_": lambda T, y, w: y.normal_(),
    "out": lambda T, y, w: T.add(T.ones(3), T.ones(3), out=y),
    "relu_": lambda T, y, w: T.relu_(y),
    "index_add_": lambda T, y, w: y.index_add_(0, T.tensor([0]), T.ones(1)),
    "unsqueeze_": lambda T, y, w: y.unsqueeze_(0),
    "requires_grad_": lambda T, y, w: y.requires_grad_(),
    "requires_grad": lambda T, y, w: setattr(y, "requires_grad", True),
    "saved, second": lambda T, y, w: w * y,
    "saved, first": lambda T, y, w: y * w,
    "saved by matmul": lambda T, y, w: y @ w,
    "saved by linear": lambda T, y, w: T.nn.functional.linear(y, w[None]),
    "saved by einsum": lambda T, y, w: T.einsum("i,i->", w, y),
    "saved by mul_": lambda T, y, w: (w + 1).mul_(y),
    "saved by a function": lambda T, y, w: _saving(T).apply(w, y),
    "saved, not recorded": lambda T, y, w: T.no_grad()(lambda: w * y)(),
    "changed, not recorded": lambda T, y, w: T.no_grad()(lambda: y.add_(1))(),
    "not saved": lambda T, y, w: w + y,
    "chosen": lambda T, y, w: T.where(y > 0, w, y),
    "copied": lambda T, y, w: (w + 1).copy_(y),
    "added in place": lambda T, y, w: T.ones(3).add_(y),
    "no graph": lambda T, y, w: (y * y).exp(),
    "in func": lambda T, y, w: T.func.grad(lambda a: (a * a).sum())(y),
    "required no more": lambda T, y, w: y.requires_grad_(False),
    "clone": lambda T, y, w: w * y.clone(),
}


def _saving(T: Any) -> Any:
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, by: Any) -> Any:
            ctx.save_for_backward(by)
            return x * by

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0], None

    return Scale


@pytest.mark.parametrize("case", _OUTSIDE)
def test_outside_of_inference_mode_pytorch_s_errors(case: str):
    require("torch")
    ends = []
    for T in LIBRARIES:
        with T.inference_mode():
            y = T.ones(3) * 2
        try:
            made = _OUTSIDE[case](T, y, T.ones(3, requires_grad=True))
            ends.append(made.tolist() if hasattr(made, "tolist") else made)
        except RuntimeError as error:
            ends.append(str(error)[:42])
    assert ends[0] == ends[1]


@on_each
def test_inside_of_inference_mode_all_may_change(T: Any):
    plain = T.ones(2)
    with T.inference_mode():
        made = plain * 2
        made[0].add_(1)
        made.requires_grad_()
        plain.add_(1)
        assert T.func.grad(lambda a: (a * a).sum())(plain).tolist() == [4, 4]
    assert made.tolist() == [3, 2] and plain._version == 1 and not plain.is_inference()


@on_each
def test_a_generator_runs_in_the_mode_and_its_caller_does_not(T: Any):
    ended = []

    @T.inference_mode()
    def count() -> Any:
        try:
            sent = yield T.ones(1)
            try:
                yield T.ones(1) * sent
            except KeyError:
                yield T.is_inference_mode_enabled()
            return "end"
        finally:
            ended.append(T.is_inference_mode_enabled())

    steps = count()
    assert next(steps).is_inference() and not T.is_inference_mode_enabled()
    assert steps.send(3).tolist() == [3]
    assert steps.throw(KeyError()) is True
    with pytest.raises(StopIteration, match="end"):
        next(steps)
    early = count()
    next(early)
    early.close()
    assert ended == [True, False] if T is autokit else len(ended) == 2


def test_another_thread_makes_ordinary_tensors():
    seen = []
    with autokit.inference_mode():
        other = threading.Thread(target=lambda: seen.append(autokit.ones(2).is_inference()))
        other.start()
        other.join()
    assert seen == [False] and not autokit.ones(2).is_inference()
