"""autokit.nn: hooks on the way back, beside PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import twins
from tests.support import require


def numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(numbers(each) for each in value)
    return None if value is None else [round(number, 4) for number in value.reshape(-1).tolist()]


def both(run: Any) -> tuple[Any, Any]:
    """What ``run(torch, model)`` gives here and in PyTorch."""
    require("torch")
    import torch

    def build(torch: Any) -> Any:
        return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))

    ours, theirs = twins(build)
    return run(ak, ours), run(torch, theirs)


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_full_hooks_see_and_change_gradients(place: int, learns: bool):
    def run(torch: Any, model: Any) -> Any:
        seen: list[Any] = []
        part = model[place]
        part.register_full_backward_pre_hook(lambda m, grads: seen.append(("pre", numbers(grads))))
        part.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 2,))
        part.register_full_backward_hook(lambda m, into, out: seen.append((numbers(into), numbers(out))))
        if learns or place:
            part.register_full_backward_hook(lambda m, into, out: (into[0] * 3,), prepend=True)
        x = torch.tensor([[1.0, -2.0]], requires_grad=learns)
        model(x).sum().backward()
        return seen, [numbers(each.grad) for each in (x, *model.parameters())]

    ours, theirs = both(run)
    assert ours == theirs


def test_what_backward_hooks_cannot_see_is_said_as_in_pytorch():
    require("torch")
    import torch

    said: list[list[str]] = []
    for library in (ak, torch):

        class Named(library.nn.Module):  # type: ignore[name-defined, misc]
            def forward(self, x: Any) -> Any:
                return {"y": x * 2}

        named, first = Named(), library.nn.Linear(1, 1)
        for module in (named, first):
            module.register_full_backward_hook(lambda module, into, out: None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            named(library.ones(1, requires_grad=True))["y"].backward()
            first(library.ones(1, requires_grad=True)).backward()
            first(library.ones(1)).backward()
        said.append([str(each.message).partition(" since no inputs")[0] for each in caught])
    assert said[0] == said[1] and len(said[0]) == 2


def test_hooks_of_a_module_of_several_inputs_and_outputs():
    def run(torch: Any, model: Any) -> Any:
        seen: list[Any] = []

        class Both(torch.nn.Module):
            def forward(self, a: Any, flag: Any, b: Any) -> Any:
                return a * b, flag, a + b

        part = Both()
        handle = part.register_full_backward_hook(
            lambda m, into, out: seen.append((numbers(into), numbers(out)))
        )
        a, b = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0])
        first, *_ = part(a, "yes", b)
        (first * 5).sum().backward()
        handle.remove()
        part(a, "yes", b)[2].sum().backward()
        return seen, numbers(a.grad)

    ours, theirs = both(run)
    assert ours == theirs


def test_older_hooks_and_mixing():
    def run(torch: Any, model: Any) -> Any:
        seen: list[Any] = []
        model[1].register_backward_hook(lambda m, into, out: seen.append((numbers(into), numbers(out))))
        model(torch.tensor([[1.0, -2.0]])).sum().backward()
        with pytest.raises(RuntimeError, match="both regular backward hooks and full"):
            model[1].register_full_backward_hook(print)
        return seen

    ours, theirs = both(run)
    assert ours == theirs


def test_a_wrong_number_of_gradients_is_refused():
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, into, out: (into[0], into[0]))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        layer(ak.ones(1, 2, requires_grad=True)).sum().backward()


def test_a_hook_may_ask_to_be_called_even_if_forward_fails():
    layer, calls = nn.Linear(2, 1), []
    layer.register_forward_hook(lambda m, args, out: calls.append(out), always_call=True)
    layer.register_forward_hook(lambda m, args, out: calls.append("not this one"))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        layer(ak.ones(1, 3))
    assert calls == [None]


def test_types():
    layer = nn.Linear(2, 1)
    assert layer.type(ak.float64).weight.dtype == ak.float64
    assert layer.bfloat16().bias.dtype == ak.bfloat16
