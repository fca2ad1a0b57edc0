"""What a module saves beside its tensors, hooks around saving and loading, and hooks of all modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)


def counting(T: Any) -> Any:
    """A model that holds two layers with a count of their own to save."""

    class Counting(T.nn.Linear):  # type: ignore[misc, name-defined]
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    model = T.nn.Sequential(Counting(2, 2), T.nn.Sequential(Counting(2, 1)))
    model[0].count, model[1][0].count = 3, 4
    return model


def test_extra_state_goes_both_ways(tmp_path: Path):
    for T, other in (BOTH, BOTH[::-1]):
        state = counting(T).state_dict()
        assert list(state) == [
            "0.weight", "0.bias", "0._extra_state", "1.0.weight", "1.0.bias", "1.0._extra_state",
        ]  # fmt: skip
        T.save(state, tmp_path / "state.pt")
        again = counting(other)
        again[0].count = again[1][0].count = 0
        result = again.load_state_dict(other.load(tmp_path / "state.pt", weights_only=True))
        assert (again[0].count, again[1][0].count) == (3, 4)
        assert repr(result) == "<All keys matched successfully>"


def test_extra_state_that_does_not_fit():
    said = []
    for T in BOTH:
        state = counting(T).state_dict()
        del state["0._extra_state"]
        state["1._extra_state"] = 3
        with pytest.raises(RuntimeError) as caught:
            counting(T).load_state_dict(state)
        loose = counting(T).load_state_dict(state, strict=False)
        said.append((str(caught.value), list(loose.missing_keys), list(loose.unexpected_keys)))
        with pytest.raises(RuntimeError, match="never be called"):
            T.nn.Linear(1, 1).get_extra_state()
        with pytest.raises(RuntimeError, match="never be called"):
            T.nn.Linear(1, 1).set_extra_state(1)
    assert said[0] == said[1]


def test_hooks_around_saving():
    seen = []
    for T in BOTH:
        heard: list[Any] = []
        model = T.nn.Sequential(T.nn.Linear(1, 1), T.nn.Sequential(T.nn.Linear(1, 1)))
        for path, module in model.named_modules():

            def before(module: Any, prefix: str, keep_vars: bool, path: str = path) -> None:
                heard.append(("before", path, prefix, keep_vars))

            def after(module: Any, state: Any, prefix: str, metadata: Any, path: str = path) -> None:
                heard.append(("after", path, prefix, dict(metadata), list(state)))
                if path == "1.0":
                    state[prefix + "more"] = 1

            module.register_state_dict_pre_hook(before)
            module.register_state_dict_post_hook(after)
        heard.append(list(model.state_dict()))
        heard.append(list(model.state_dict(prefix="net.", keep_vars=True)))
        seen.append(heard)
    assert seen[0] == seen[1]


def test_a_hook_before_loading_renames_keys():
    for T in BOTH:
        model = T.nn.Sequential(T.nn.Linear(2, 1), T.nn.Linear(1, 1))

        def rename(module: Any, state: Any, prefix: str, metadata: Any, strict: Any, missing: Any,
                   unexpected: Any, errors: Any) -> None:  # fmt: skip
            if prefix + "gamma" in state:
                state[prefix + "weight"] = state.pop(prefix + "gamma")

        model[0].register_load_state_dict_pre_hook(rename)
        state = model.state_dict()
        old = dict(state)
        old["0.gamma"] = T.full((1, 2), 7.0)
        del old["0.weight"]
        assert repr(model.load_state_dict(old)) == "<All keys matched successfully>"
        assert model[0].weight.tolist() == [[7, 7]] and "0.gamma" in old


def test_a_hook_may_refuse_what_is_loaded():
    for T in BOTH:
        layer = T.nn.Linear(1, 1)
        before = layer.weight.item()

        def refuse(module: Any, state: Any, prefix: str, metadata: Any, strict: Any, missing: Any,
                   unexpected: Any, errors: Any) -> None:  # fmt: skip
            assert metadata == {"version": 1} and strict
            errors.append("made by another model")

        layer.register_load_state_dict_pre_hook(refuse)
        with pytest.raises(RuntimeError, match="made by another model"):
            layer.load_state_dict(T.nn.Linear(1, 1).state_dict())
        if T is ak:  # PyTorch has loaded it by then
            assert layer.weight.item() == before


def test_hooks_after_loading():
    seen = []
    for T in BOTH:
        heard: list[Any] = []
        model = T.nn.Sequential(T.nn.Linear(1, 1), T.nn.Sequential(T.nn.Linear(1, 1)))
        for path, module in model.named_modules():

            def after(module: Any, keys: Any, path: str = path) -> None:
                heard.append(path)
                keys.missing_keys[:] = [each for each in keys.missing_keys if "bias" not in each]

            module.register_load_state_dict_post_hook(after)
        state = {name: value for name, value in model.state_dict().items() if "weight" in name}
        result = model.load_state_dict(state, strict=False)
        seen.append((sorted(heard), list(result.missing_keys)))
    assert seen[0] == seen[1]


def test_hooks_of_all_modules():
    seen = []
    for T in BOTH:
        hooks = T.nn.modules.module
        heard: list[Any] = []

        def name(module: Any) -> str:
            return type(module).__name__

        model = T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Tanh())
        model[0].register_forward_hook(lambda m, args, out: heard.append(("own", name(m))))
        handles = [
            hooks.register_module_forward_pre_hook(lambda m, args: heard.append(("before", name(m)))),
            hooks.register_module_forward_hook(lambda m, args, out: heard.append(("after", name(m)))),
            hooks.register_module_full_backward_pre_hook(lambda m, g: heard.append(("arriving", name(m)))),
            hooks.register_module_full_backward_hook(lambda m, g, h: heard.append(("leaving", name(m)))),
        ]
        model(T.ones(1, 2, requires_grad=True)).sum().backward()
        for handle in handles:
            handle.remove()
        heard.append("removed")
        model(T.ones(1, 2)).sum().backward()
        seen.append(heard)
    assert seen[0] == seen[1]


def test_a_submodule_takes_anothers_place():
    for T in BOTH:
        model = T.nn.Sequential(T.nn.Sequential(T.nn.Linear(2, 2), T.nn.ReLU()))
        model.set_submodule("0.1", T.nn.Tanh())
        assert isinstance(model[0][1], T.nn.Tanh)
        model.set_submodule("0.extra", T.nn.Identity())
        assert isinstance(model[0].extra, T.nn.Identity)
        with pytest.raises(ValueError, match="without a target name"):
            model.set_submodule("", T.nn.Tanh())
        with pytest.raises(AttributeError, match="has no attribute `none`"):
            model.set_submodule("0.none", T.nn.Tanh(), strict=True)
        with pytest.raises(AttributeError, match="has no attribute `7`"):
            model.set_submodule("7.x", T.nn.Tanh())


def test_to_empty_keeps_shapes_and_the_parameters_themselves():
    for T in BOTH:
        model = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3))
        shapes = [tuple(each.shape) for each in model.state_dict().values()]
        assert model.to_empty(device="cpu") is model
        assert [tuple(each.shape) for each in model.state_dict().values()] == shapes
        assert all(each.requires_grad for each in model.parameters())
