"""autokit.nn: hooks around a module, on the way forward and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import BOTH, twins


class Double(nn.Module):
    def forward(self, x: ak.Tensor, plus: float = 0.0) -> ak.Tensor:
        return 2 * x + plus


def test_hooks_see_what_goes_in_and_out_in_the_order_of_registration():
    module, seen = Double(), []
    module.register_forward_pre_hook(lambda m, args: seen.append(("in", m is module, args[0].item())))
    module.register_forward_pre_hook(lambda m, args: seen.append("second in"))
    module.register_forward_pre_hook(lambda m, args: seen.append("zeroth in"), prepend=True)
    module.register_forward_hook(lambda m, args, out: seen.append(("first", args[0].item(), out.item())))
    module.register_forward_hook(lambda m, args, out: seen.append("second"))
    module.register_forward_hook(lambda m, args, out: seen.append("zeroth"), prepend=True)
    assert module(ak.tensor(3.0)).item() == 6
    assert seen == ["zeroth in", ("in", True, 3.0), "second in", "zeroth", ("first", 3.0, 6.0), "second"]


def test_hooks_may_change_arguments_and_output():
    module = Double()
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_hook(lambda m, args, out: -out)
    assert module(ak.tensor(3.0)).item() == -8


def test_hooks_with_keyword_arguments():
    module = Double()
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"plus": kwargs["plus"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(lambda m, args, kwargs, out: out * kwargs["plus"], with_kwargs=True)
    assert module(ak.tensor(1.0), plus=1.0).item() == (2 + 2) * 2
    module.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    with pytest.raises(RuntimeError, match="new_args, new_kwargs"):
        module(ak.tensor(1.0), plus=1.0)


def test_a_removed_hook_is_not_called_and_a_copy_keeps_its_hooks():
    module, calls = Double(), []
    handle = module.register_forward_hook(lambda m, args, out: calls.append(1))
    twin = copy.deepcopy(module)
    handle.remove()
    handle.remove()
    module(ak.tensor(1.0))
    assert calls == []
    twin(ak.tensor(1.0))
    assert calls == [1]


# ---------------------------------------------------------------- on the way back


def numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(numbers(each) for each in value)
    return None if value is None else [round(number, 4) for number in value.reshape(-1).tolist()]


def both(run: Any) -> tuple[Any, Any]:
    """What ``run(torch, model)`` gives here and in PyTorch."""
    mine, wanted = twins("nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))")
    return run(BOTH[0], mine), run(BOTH[1], wanted)


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

    mine, wanted = both(run)
    assert mine == wanted


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

    (mine, mine_grad), (wanted, wanted_grad) = both(run)
    assert mine_grad == wanted_grad
    assert mine[0][0][0] == wanted[0][0][0] and mine[0][1][0] == wanted[0][1][0]


def test_a_hook_may_ask_to_be_called_even_if_forward_fails():
    layer, calls = nn.Linear(2, 1), []
    layer.register_forward_hook(lambda m, args, out: calls.append(out), always_call=True)
    layer.register_forward_hook(lambda m, args, out: calls.append("not this one"))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        layer(ak.ones(1, 3))
    assert calls == [None]


def test_a_wrong_number_of_gradients_is_refused():
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, into, out: (into[0], into[0]))
    with pytest.raises(RuntimeError, match="returned 2 gradients, but 1 are expected"):
        layer(ak.ones(1, 2, requires_grad=True)).sum().backward()
