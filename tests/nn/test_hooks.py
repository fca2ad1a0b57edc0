"""autokit.nn: hooks around forward."""

from __future__ import annotations

import copy

import pytest

import autokit as ak
from autokit import nn


class Double(nn.Module):
    def forward(self, x: ak.Tensor, plus: float = 0.0) -> ak.Tensor:
        return 2 * x + plus


def test_hooks_see_what_goes_in_and_out_in_the_order_of_registration():
    module, seen = Double(), []
    module.register_forward_pre_hook(lambda m, args: seen.append(("in", m is module, args[0].item())))
    module.register_forward_hook(lambda m, args, out: seen.append(("first", args[0].item(), out.item())))
    module.register_forward_hook(lambda m, args, out: seen.append(("zeroth",)), prepend=True)
    assert module(ak.tensor(3.0)).item() == 6
    assert seen == [("in", True, 3.0), ("zeroth",), ("first", 3.0, 6.0)]


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


def test_a_removed_hook_is_not_called_and_a_copy_has_hooks_of_its_own():
    module, calls = Double(), []
    handle = module.register_forward_hook(lambda m, args, out: calls.append(1))
    twin = copy.deepcopy(module)
    handle.remove()
    handle.remove()
    module(ak.tensor(1.0))
    assert calls == []
    twin(ak.tensor(1.0))
    assert calls == [1]
