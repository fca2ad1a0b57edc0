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
from autokit.static import emit_cupy
from autokit.static.errors import StaticError
from autokit.static.passes import FOR_LOOPS, run_passes
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
        monkeypatch.setattr(cupy.cuda, "Stream", Stream)
        pool = type("Pool", (), {"malloc": None})
        monkeypatch.setattr(cupy.cuda, "MemoryPool", pool, raising=False)
        allocating = lambda malloc: contextlib.nullcontext()  # noqa: E731
        monkeypatch.setattr(cupy.cuda, "using_allocator", allocating, raising=False)
        yield


def training(*layers: nn.Module, on: str = "cuda") -> tuple[Any, ...]:
    """CuPy's code of a step, and the parameters that it trains; an eager step beside it, and its model."""
    torch.manual_seed(0)
    models = [nn.Sequential(*layers)]
    models += [copy.deepcopy(models[0]).to("cuda"), copy.deepcopy(models[0]).to(on)]
    steps = []
    for model in models[:2]:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: Any, t: Any, model: Any = model, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), t)
            loss.backward()
            optimizer.step()
            return loss

        steps.append((step, optimizer))
    traced = compile(steps[0][0], model=models[0], optimizer=steps[0][1])
    traced(torch.randn(32, 64), torch.randint(0, 10, (32,)))
    graph = run_passes(traced.passes[0].before, FOR_LOOPS)[-1].after
    there = {id(a.array): b.array for a, b in zip(models[0].parameters(), models[2].parameters())}
    for node in graph.states:
        node.value = emit_cupy.on_host(there[id(node.value)])
    rates = [optimizer.param_groups[0] for _, optimizer in steps]
    return emit_cupy.build(graph), models[2], steps[1][0], models[1], rates


LAYERS = nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)


def batch() -> tuple[Any, Any]:
    return torch.randn(32, 64).to("cuda"), torch.randint(0, 10, (32,)).to("cuda")


def test_three_steps_are_those_of_eager_tensors_and_the_later_ones_launches() -> None:
    program, model, eager, twin, rates = training(*LAYERS)
    launches = Stream.launches
    standin.copies.clear()
    for run in range(3):
        x, t = batch()
        (loss,) = program(x.array, t.array)
        assert loss.item() == pytest.approx(eager(x, t).item(), rel=3e-7)
        assert Stream.launches - launches == run
        for group in rates:
            group["lr"] /= 2
    assert not standin.copies, "a tensor was copied to the CPU"
    for ours, theirs in zip(model.parameters(), twin.parameters()):
        np.testing.assert_allclose(ours.numpy(force=True), theirs.numpy(force=True), atol=1e-7)


def test_a_check_that_fails_is_read_after_the_run_and_leaves_the_states_as_they_were() -> None:
    program, model, *_ = training(*LAYERS)
    x, t = batch()
    for _ in range(3):
        program(x.array, t.array)
        before = [each.cpu() for each in model.parameters()]
        with pytest.raises(StaticError, match="built for other numbers"):
            program(x.array, (t * 0 - 1).array)
        assert all(torch.equal(one, two.cpu()) for one, two in zip(before, model.parameters()))


REFUSED = {
    "on the CPU": lambda: training(*LAYERS, on="cpu"),
    "bernoulli": lambda: training(nn.Dropout(), *LAYERS),
    "max_pool": lambda: training(nn.Unflatten(1, (1, 64)), nn.MaxPool1d(1), nn.Flatten(), *LAYERS),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_captured_is_refused_by_name(words: str) -> None:
    with pytest.raises(StaticError, match=words):
        REFUSED[words]()
