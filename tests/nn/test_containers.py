"""Containers and lazy layers beside PyTorch's."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import assert_alike, assert_same_state, twins
from tests.support import require

BUILDS = [
    "nn.ModuleDict({'b': nn.Linear(2, 3), 'a': nn.ReLU()})",
    "nn.ModuleDict([('b', nn.Linear(2, 3)), ['a', nn.Tanh()]])",
    "nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.zeros(4)), 'text'])", "nn.ParameterList()",
    "nn.ParameterList([torch.ones(1), torch.ones(2), torch.ones(3)])[1:]",
    "nn.ParameterDict({'b': torch.ones(2), 'a': nn.Parameter(torch.zeros(3)), 'c': 3})",
    "nn.ParameterDict([('b', torch.ones(2)), ('a', torch.zeros(3))])",
    "nn.ParameterDict({'b': torch.ones(2)}) | nn.ParameterDict({'a': torch.zeros(3)})",
    "nn.Sequential(nn.ModuleDict({'x': nn.ParameterList([torch.ones(2)])}))",
    "nn.ModuleList([nn.Linear(2, 2), nn.ReLU()]).pop(0)", "nn.Sequential(nn.Linear(2, 2), nn.ReLU()).pop(-1)",
    "nn.LazyLinear(3)", "nn.LazyConv2d(4, 3, padding=1)",
    "nn.LazyBatchNorm2d()", "nn.LazyConvTranspose1d(4, 3)",
]  # fmt: skip


@pytest.mark.parametrize("text", BUILDS)
def test_built_and_printed(text: str):
    require("torch")
    ours, theirs = twins(lambda torch: eval(text, {"torch": torch, "nn": torch.nn}))
    assert repr(ours) == repr(theirs)
    if "Lazy" not in text:
        assert_same_state(ours, theirs)


def test_dicts_as_dicts():
    modules = nn.ModuleDict({"a": nn.ReLU()})
    modules["b"] = nn.Linear(1, 1)
    modules.update({"c": nn.Tanh()})
    assert list(modules) == list(modules.keys()) == ["a", "b", "c"] and "b" in modules and len(modules) == 3
    assert isinstance(modules.pop("c"), nn.Tanh) and [name for name, _ in modules.items()] == ["a", "b"]
    del modules["a"]
    assert list(modules.values()) == [modules["b"]]
    modules.clear()
    assert len(modules) == 0
    parameters = nn.ParameterDict({"a": ak.ones(1)})
    parameters["b"] = ak.ones(2)
    assert isinstance(parameters["b"], nn.Parameter) and parameters.get("x", 5) == 5
    assert [name for name, _ in parameters.named_parameters()] == ["a", "b"]
    assert parameters.setdefault("c", 7) == 7 and parameters.popitem() == ("c", 7)
    assert list(reversed(parameters)) == ["b", "a"] and len(parameters.copy()) == 2
    assert parameters.pop("a").tolist() == [1] and list(parameters) == ["b"]
    assert list(parameters.fromkeys(["x", "y"], 0).values()) == [0, 0]
    parameters.clear()
    assert not len(parameters)
    values = nn.ParameterList([ak.ones(1)])
    values += [ak.zeros(2)]
    values[0] = ak.zeros(3)
    assert [tuple(value.shape) for value in values] == [(3,), (2,)] and values[-1].tolist() == [0, 0]


@pytest.mark.parametrize("text", [
    "nn.ModuleDict(3)", "nn.ModuleDict([3])", "nn.ModuleDict([(1, 2, 3)])", "nn.ModuleDict({'a': 3})",
    "nn.ModuleDict({'a.b': nn.ReLU()})", "nn.ParameterList(torch.ones(3))",
    "nn.ParameterList([torch.ones(1)])[1]", "nn.ParameterList([torch.ones(1)])['0']",
    "nn.ModuleList([nn.ReLU()])['0']", "nn.Sequential(nn.ReLU())[0.0]",
    "nn.ParameterList()(1)", "nn.ParameterDict()(1)", "nn.ParameterDict(3)", "nn.ParameterDict([3])",
    "nn.ParameterDict()[3]", "nn.LazyLinear(3).weight.shape", "nn.LazyConv2d(4, 3)(torch.ones(3))",
    "nn.LazyConv2d(2, 2)(torch.ones(3, 3))", "nn.LazyConv2d(2, 2)(torch.ones(1, 1, 1, 3, 3))",
])  # fmt: skip
def test_wrong_use(text: str):
    require("torch")
    import torch

    with pytest.raises(Exception) as theirs:
        eval(text, {"torch": torch, "nn": torch.nn})
    with pytest.raises(type(theirs.value)):
        eval(text, {"torch": ak, "nn": nn})


LAZY = {
    "LazyLinear(3)": (4, 5), "LazyLinear(3, bias=False)": (2, 4, 5), "LazyConv1d(4, 3)": (2, 3, 7),
    "LazyConv2d(4, 3, padding=1)": (2, 3, 5, 5), "LazyConv2d(4, 3, groups=2, bias=False)": (2, 6, 5, 5),
    "LazyConv2d(2, 2)": (3, 5, 5), "LazyConv3d(2, 2)": (1, 3, 3, 3, 3),
    "LazyConvTranspose1d(4, 3, stride=2)": (2, 3, 7),
    "LazyConvTranspose2d(4, 2)": (2, 3, 5, 5), "LazyConvTranspose3d(2, 2)": (1, 3, 2, 2, 2),
    "LazyBatchNorm1d()": (4, 3), "LazyBatchNorm2d(affine=False)": (2, 3, 4, 4),
    "LazyBatchNorm3d()": (2, 3, 2, 2, 2),
    "LazyInstanceNorm1d(track_running_stats=False)": (2, 3, 7),
    "LazyInstanceNorm2d(affine=False)": (2, 3, 4, 4),
    "LazyInstanceNorm3d(affine=False)": (2, 3, 2, 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("layer", LAZY)
def test_lazy_layers_become_ordinary_ones(layer: str):
    require("torch")
    shape = LAZY[layer]

    def build(torch: Any) -> Any:
        module = eval(f"torch.nn.{layer}", {"torch": torch})
        torch.manual_seed(2)
        module(torch.ones(*shape) + torch.arange(shape[-1]))
        return module

    assert_alike(build, lambda torch: (torch.randn(*shape),))


def test_a_lazy_model_can_be_copied_converted_and_loaded():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(1)).double().eval()
    twin = copy.deepcopy(model)
    assert model(ak.ones(2, 3, dtype=ak.float64)).shape == (2, 1)
    assert type(model[0]) is nn.Linear and model[2].weight.shape == (1, 4)
    assert model[1].running_mean.shape == (4,) and model[1].running_mean.dtype == ak.float64
    twin.load_state_dict(model.state_dict())
    x = ak.randn(2, 3, dtype=ak.float64)
    assert twin(x).tolist() == model(x).tolist()


ROWS = [
    "a + b", "a + a", "b + a[:1]", "a * 2", "3 * b", "a.insert(0, nn.Tanh())", "a.insert(-1, nn.Tanh())",
    "a.insert(2, nn.Tanh())", "a.extend(b)", "a.extend([nn.Tanh()])", "a.append(nn.Tanh())",
    "a.__iadd__(b)", "a.__imul__(3)", "nn.ModuleList(a) + b", "nn.ModuleList(a) + nn.ModuleList(b)",
    "nn.ModuleList(a).__iadd__(b)", "nn.ModuleList(a).extend(x for x in b)", "a[::-1]", "a[-1]",
    # wrong
    "a + [1]", "a + 1", "a * 0", "a * 1.5", "a * -1", "a.insert(4, nn.Tanh())", "a.insert(0, 3)",
    "a.append(3)",
    "nn.ModuleList(a).extend(3)", "nn.ModuleList(a).append(3)", "a[5]", "a.__iadd__(1)", "a.__imul__(0)",
]  # fmt: skip


@pytest.mark.parametrize("text", ROWS)
def test_rows_are_joined_repeated_and_changed_as_in_pytorch(text: str):
    require("torch")
    import torch

    found = []
    for T in (ak, torch):
        a, b = T.nn.Sequential(T.nn.ReLU(), T.nn.Linear(2, 2)), T.nn.Sequential(T.nn.Sigmoid())
        try:
            result = eval(text, {"nn": T.nn, "a": a, "b": b})
        except Exception as error:
            found.append([type(error).__name__, str(error).split("torch.")[0].split("autokit.")[0][:14]])
        else:
            found.append([repr(result), len(list(result.parameters())), repr(a)])
    assert found[0] == found[1]


def test_no_method_of_a_container_is_left_out():
    require("torch")
    import torch

    for name in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"):
        theirs = {each for each in vars(getattr(torch.nn, name)) if each.startswith("__") or each[0] != "_"}
        lacking = {each for each in theirs if not hasattr(getattr(nn, name), each)}
        assert lacking <= {"__parameters__", "__constants__"}


def test_a_list_of_modules_shows_no_extra_text():
    require("torch")
    import torch

    def shown(nn: Any) -> str:
        class Blocks(nn.ModuleList):  # type: ignore[name-defined, misc]
            def extra_repr(self) -> str:
                return "depth=2"

        return f"{Blocks([nn.ReLU(), nn.ReLU()])} {Blocks()}"

    assert shown(nn) == shown(torch.nn)
