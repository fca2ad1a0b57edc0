"""autokit.nn: hooks around forward."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.support import require


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


def test_a_program_sees_and_clears_the_hooks_by_pytorchs_names():
    module, seen = Double(), []

    def after(m: Any, args: Any, out: Any) -> None:
        seen.append(out.item())

    handle = module.register_forward_hook(after)
    assert dict(module._forward_hooks) == {handle.id: after} and not module._forward_pre_hooks
    module(ak.tensor(1.0))
    module._forward_hooks.clear()
    module(ak.tensor(2.0))
    module.register_forward_hook(after)
    module._forward_hooks = OrderedDict()
    module(ak.tensor(3.0))
    assert seen == [2.0]
    module.register_forward_pre_hook(lambda m, args, kwargs: seen.append(kwargs), with_kwargs=True)
    module(ak.tensor(0.0), plus=1.0)
    assert seen == [2.0, {"plus": 1.0}]


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


def test_hooks_of_registration_are_called_as_in_pytorch_and_may_exchange():
    require("torch")
    import torch
    import torch.nn.modules.module

    seen = []
    for T in (ak, torch):
        calls: list[Any] = []
        found = T.nn.modules.module

        def tell(kind: str, calls: list[Any] = calls) -> Any:
            return lambda module, name, value: calls.append(
                (kind, type(module).__name__, name, None if value is None else type(value).__name__)
            )

        def doubled(module: Any, name: str, buffer: Any) -> Any:
            return None if buffer is None or name != "mean" else buffer * 2

        handles = [
            found.register_module_parameter_registration_hook(tell("parameter")),
            found.register_module_buffer_registration_hook(tell("buffer")),
            found.register_module_buffer_registration_hook(doubled),
            found.register_module_module_registration_hook(tell("module")),
        ]
        try:
            model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3))
            model.register_buffer("mean", T.ones(2))
            model.mean = T.full((2,), 3.0)
            model.mean = None
            model.scale = T.nn.Parameter(T.ones(1))
            model.scale = None
            model.head = T.nn.Identity()
            model.head = None
            model.add_module("tail", T.nn.ReLU())
            model.register_buffer("mean", T.ones(2))
        finally:
            for handle in handles:
                handle.remove()
        T.nn.Linear(1, 1)
        seen.append([calls, model.mean.tolist()])
    assert seen[0] == seen[1]
    assert seen[0][1] == [2, 2] and len(seen[0][0]) > 15
