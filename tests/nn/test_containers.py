"""Containers and lazy layers beside PyTorch's."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import BOTH, assert_alike, assert_same_error, assert_same_state, twins

BUILDS = [
    "nn.ModuleDict({'b': nn.Linear(2, 3), 'a': nn.ReLU()})",
    "nn.ModuleDict([('b', nn.Linear(2, 3)), ['a', nn.Tanh()]])",
    "nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.zeros(4)), 'text'])", "nn.ParameterList()",
    "nn.ParameterList([torch.ones(1), torch.ones(2), torch.ones(3)])[1:]",
    "nn.Sequential(nn.ModuleDict({'x': nn.ParameterList([torch.ones(2)])}))",
    "nn.ModuleList([nn.Linear(2, 2), nn.ReLU()]).pop(0)", "nn.Sequential(nn.Linear(2, 2), nn.ReLU()).pop(-1)",
    "nn.Sequential(nn.ReLU(), nn.Tanh()) + nn.Sequential(nn.Sigmoid())",
    "nn.ModuleList([nn.ReLU()]) + [nn.Tanh()]", "nn.Sequential(nn.ReLU(), nn.Tanh())[::-1]",
    "nn.Sequential(nn.ReLU()).insert(0, nn.Tanh()).append(nn.ReLU()).extend([nn.Tanh()])",
    "nn.LazyLinear(3)", "nn.LazyConv2d(4, 3, padding=1)", "nn.LazyBatchNorm2d()",
    "nn.LazyConvTranspose1d(4, 3)",
]  # fmt: skip


@pytest.mark.parametrize("text", BUILDS)
def test_built_and_printed(text: str):
    mine, wanted = twins(text)
    assert repr(mine) == repr(wanted)
    if "Lazy" not in text:
        assert_same_state(mine, wanted)


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
    assert parameters.pop("a").tolist() == [1] and list(parameters) == ["b"] and "b" in parameters
    assert str(parameters) == "ParameterDict(  (b): Parameter containing: [torch.float32 of size 2])"
    parameters.clear()
    assert not len(parameters)
    values = nn.ParameterList([ak.ones(1)])
    values += [ak.zeros(2)]
    values[0] = ak.zeros(3)
    assert [tuple(value.shape) for value in values] == [(3,), (2,)] and values[-1].tolist() == [0, 0]


def test_sequential_as_a_list():
    layers = [nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)]
    model = nn.Sequential(*layers)
    assert list(model) == layers and len(model) == 3
    assert model[-1] is layers[2] and model[0] is layers[0]
    assert isinstance(model[1:], nn.Sequential) and list(model[1:]) == layers[1:]
    assert [name for name, _ in model[1:].named_children()] == ["1", "2"]
    model[1] = nn.Tanh()
    assert [type(layer).__name__ for layer in model] == ["Linear", "Tanh", "Linear"]
    del model[0]
    assert [name for name, _ in model.named_children()] == ["0", "1"]
    named = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), act=nn.ReLU()))
    assert named.first is named[0]
    with pytest.raises(IndexError, match="there are 2 modules"):
        named[2]


def test_a_module_list_computes_nothing_by_itself():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    layers += [nn.Tanh()]
    del layers[:2]
    assert [name for name, _ in layers.named_children()] == ["0"] and isinstance(layers[0], nn.Tanh)
    with pytest.raises(NotImplementedError):
        layers(ak.ones(1))


@pytest.mark.parametrize("text", [
    "nn.ModuleDict(3)", "nn.ModuleDict({'a': 3})", "nn.ModuleDict({'a.b': nn.ReLU()})",
    "nn.ParameterList([torch.ones(1)])[1]", "nn.ParameterList([torch.ones(1)])['0']",
    "nn.ModuleList([nn.ReLU()])['0']", "nn.Sequential(nn.ReLU())[0.0]", "nn.Sequential(3)",
    "nn.ModuleList([nn.ReLU()]).append(3)", "nn.LazyLinear(3).weight.shape",
    "nn.LazyConv2d(4, 3)(torch.ones(3))", "nn.LazyConv2d(2, 2)(torch.ones(1, 1, 1, 3, 3))",
])  # fmt: skip
def test_wrong_use(text: str):
    assert_same_error(text)


LAZY = {
    "LazyLinear(3)": (4, 5), "LazyLinear(3, bias=False)": (2, 4, 5), "LazyConv1d(4, 3)": (2, 3, 7),
    "LazyConv2d(4, 3, padding=1)": (2, 3, 5, 5), "LazyConv2d(4, 3, groups=2, bias=False)": (2, 6, 5, 5),
    "LazyConv2d(2, 2)": (3, 5, 5), "LazyConv3d(2, 2)": (1, 3, 3, 3, 3),
    "LazyConvTranspose1d(4, 3, stride=2)": (2, 3, 7), "LazyConvTranspose2d(4, 2)": (2, 3, 5, 5),
    "LazyConvTranspose3d(2, 2)": (1, 3, 2, 2, 2), "LazyBatchNorm1d()": (4, 3),
    "LazyBatchNorm2d(affine=False)": (2, 3, 4, 4), "LazyBatchNorm3d()": (2, 3, 2, 2, 2),
    "LazyInstanceNorm1d(track_running_stats=False)": (2, 3, 7),
    "LazyInstanceNorm2d(affine=False, track_running_stats=True)": (2, 3, 4, 4),
}  # fmt: skip


@pytest.mark.parametrize("layer", LAZY)
def test_lazy_layers_become_ordinary_ones(layer: str):
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
    weight = model[0].weight
    assert model(ak.ones(2, 3, dtype=ak.float64)).shape == (2, 1)
    assert type(model[0]) is nn.Linear and model[2].weight.shape == (1, 4)
    assert model[0].weight is weight and type(weight) is nn.Parameter and not model[0].training
    assert model[1].running_mean.shape == (4,) and model[1].running_mean.dtype == ak.float64
    twin.load_state_dict(model.state_dict())
    x = ak.randn(2, 3, dtype=ak.float64)
    assert twin(x).tolist() == model(x).tolist()


def test_a_model_that_waits_for_its_shapes_says_so():
    model = nn.Sequential(nn.LazyLinear(4))
    with pytest.raises(ValueError, match="call the model once"):
        sum(parameter.numel() for parameter in model.parameters())
    assert str(model[0].weight) == "<UninitializedParameter>"
    for torch in BOTH:
        assert "UninitializedParameter" in str(torch.nn.LazyConv2d(2, 3).bias)
