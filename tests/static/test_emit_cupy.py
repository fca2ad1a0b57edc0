"""CuPy's code of a step trains as eager tensors do on a GPU, by one launch for each run."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.static.errors import StaticError
from autokit.static.step import compile
from tests.gpu import standin
from tests.gpu.standin import hardware


class Stream(hardware.Stream):
    """A stream and its CUDA graph: captured calls compute when they are launched, and not before."""

    calls: list[Any] | None = None
    launches = 0

    def begin_capture(self) -> None:
        Stream.calls = self.calls = []

    def end_capture(self) -> Stream:
        for *_, before in reversed(self.calls):
            for array, numbers in before:
                array.host[...] = numbers
        Stream.calls = None
        return self

    def launch(self, stream: Stream) -> None:
        Stream.launches += 1
        for function, args, named, result, _ in stream.calls:
            again = function(*args, **named)
            if again is not None:
                result.host[...] = again.host


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any, **named: Any) -> Any:
        arrays = [each for each in (*args, *named.values()) if isinstance(each, standin.ndarray)]
        before = [(each, each.host.copy()) for each in arrays]
        result = function(*args, **named)
        if Stream.calls is not None:
            Stream.calls.append((function, args, named, result, before))
        return result

    return apply


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with standin.installed() as cupy:
        for name, function in list(vars(cupy).items()):
            if isinstance(function, FunctionType):
                monkeypatch.setattr(cupy, name, recorded(function))
        monkeypatch.setattr(standin.ndarray, "dot", recorded(standin.ndarray.dot))
        monkeypatch.setattr(cupy.cuda, "Stream", Stream)
        pool = type("Pool", (), {"malloc": None})
        monkeypatch.setattr(cupy.cuda, "MemoryPool", pool, raising=False)
        allocating = lambda malloc: contextlib.nullcontext()  # noqa: E731
        monkeypatch.setattr(cupy.cuda, "using_allocator", allocating, raising=False)
        yield


LAYERS = nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)


def training(*layers: nn.Module) -> Any:
    """A model on the GPU, its optimizer, and a step."""
    torch.manual_seed(0)
    model = copy.deepcopy(nn.Sequential(*layers)).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any, t: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def batch() -> tuple[Any, Any]:
    return torch.randn(32, 64).to("cuda"), torch.randint(0, 10, (32,)).to("cuda")


def test_steps_are_those_of_eager_tensors_and_the_later_ones_launches() -> None:
    trained = [training(*LAYERS) for _ in range(2)]
    steps = trained[0][2], compile(trained[1][2], backend="cupy")
    launches = Stream.launches
    standin.copies.clear()
    for run in range(3):
        x, t = batch()
        eager, static = [step(x, t).item() for step in steps]
        assert static == pytest.approx(eager, rel=3e-7) and Stream.launches - launches == run
        for _, optimizer, _ in trained:
            optimizer.param_groups[0]["lr"] /= 2
    parameters = [[each.numpy(force=True) for each in model.parameters()] for model, *_ in trained]
    for eager, static in zip(*parameters):
        np.testing.assert_allclose(static, eager, atol=1e-7)
    with pytest.raises(IndexError, match="Target -1 is out of bounds"):  # read after a launch
        steps[1](x, t * 0 - 1)
    for each, before in zip(trained[1][0].parameters(), parameters[1]):
        assert np.array_equal(each.numpy(force=True), before)
    steps[1].check(x, t)


REFUSED: dict[str, tuple[Any, ...]] = {
    "bernoulli": (nn.Dropout(), *LAYERS),
    "max_pool": (nn.Unflatten(1, (1, 64)), nn.MaxPool1d(1), nn.Flatten(), *LAYERS),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_captured_is_refused_by_name(words: str) -> None:
    with pytest.raises(StaticError, match=words):
        compile(training(*REFUSED[words])[2], backend="cupy")(*batch())


def test_a_step_of_the_other_device_is_refused() -> None:
    model, _, step = training(*LAYERS)
    with pytest.raises(StaticError, match="on a GPU, where backend='cupy' computes"):
        compile(step)(*batch())
    model.to("cpu")
    with pytest.raises(StaticError, match="on the CPU"):
        compile(step, backend="cupy")(*[each.cpu() for each in batch()])
