"""autokit.nn: layers, containers and losses as modules."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from tests.support import require


def twins(build: Any, seed: int = 0) -> tuple[Any, Any]:
    """The same model here and in PyTorch, from the same seed."""
    import torch

    ak.manual_seed(seed)
    torch.manual_seed(seed)
    return build(nn), build(torch.nn)


@pytest.mark.parametrize(
    "build",
    [
        lambda nn: nn.Linear(3, 2),
        lambda nn: nn.Linear(64, 32),
        lambda nn: nn.Linear(3, 2, bias=False),
        lambda nn: nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)),
    ],
)
def test_the_same_seed_gives_the_same_parameters_and_outputs(build: Any):
    require("torch")
    import torch

    ours, theirs = twins(build)
    for (name, our), (their_name, their) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert name == their_name
        np.testing.assert_array_equal(our.detach().numpy(), their.detach().numpy())
    features = next(ours.parameters()).shape[1]
    x = np.random.RandomState(0).randn(4, features).astype("float32")
    np.testing.assert_allclose(
        ours(ak.from_numpy(x)).detach().numpy(),
        theirs(torch.from_numpy(x)).detach().numpy(),
        rtol=1e-5,
        atol=1e-6,
    )


def test_linear_literally():
    ak.manual_seed(0)
    layer = nn.Linear(3, 2)
    assert str(layer.weight) == (
        "Parameter containing:\ntensor([[-0.0043,  0.3097, -0.4752],\n"
        "        [-0.4249, -0.2224,  0.1548]], requires_grad=True)"
    )
    assert layer(ak.ones(1, 3)).grad_fn.name() == "AddmmBackward0"
    assert nn.Linear(3, 2, bias=False).bias is None
    assert nn.Linear(3, 2, dtype=ak.float64).weight.dtype == ak.float64


def test_simple_layers():
    x = ak.tensor([[-1.0, 2.0]])
    assert nn.ReLU()(x).tolist() == [[0, 2]]
    assert nn.Identity(3, anything=4)(x) is x
    assert nn.Flatten()(ak.ones(2, 3, 4)).shape == (2, 12)
    assert nn.Flatten(0)(ak.ones(2, 3)).shape == (6,)
    assert nn.Softmax(dim=1)(x).sum().item() == pytest.approx(1)
    np.testing.assert_allclose(nn.LogSoftmax(1)(x).exp().numpy(), nn.Softmax(1)(x).numpy(), rtol=1e-6)
    np.testing.assert_allclose(nn.Tanh()(x).numpy(), np.tanh(x.numpy()), rtol=1e-6)
    np.testing.assert_allclose(nn.Sigmoid()(x).numpy(), 1 / (1 + np.exp(-x.numpy())), rtol=1e-6)
    y = x.clone()
    assert nn.ReLU(inplace=True)(y) is y and y.tolist() == [[0, 2]]


def test_dropout_only_while_training():
    layer = nn.Dropout(0.5)
    x = ak.ones(1000)
    assert set(layer(x).tolist()) == {0.0, 2.0}
    assert layer.eval()(x) is x
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


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
    model.append(nn.ReLU()).extend([nn.Identity()]).insert(0, nn.Flatten())
    assert [type(layer).__name__ for layer in model] == ["Flatten", "Tanh", "Linear", "ReLU", "Identity"]
    named = nn.Sequential(OrderedDict(first=nn.Linear(2, 2), act=nn.ReLU()))
    assert named.first is named[0]
    with pytest.raises(IndexError, match="there are 2 modules"):
        named[2]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)


def test_module_list():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    assert len(list(layers.parameters())) == 2
    assert isinstance(layers[:1], nn.ModuleList) and len(layers[:1]) == 1
    layers += [nn.Tanh()]
    assert [type(layer).__name__ for layer in layers + [nn.Identity()]] == [
        "Linear",
        "ReLU",
        "Tanh",
        "Identity",
    ]
    del layers[:2]
    assert [name for name, _ in layers.named_children()] == ["0"]
    with pytest.raises(NotImplementedError):
        layers(ak.ones(1))


def test_losses_hold_the_settings_of_their_functions():
    x, y = ak.tensor([[2.0, 0.0], [0.0, 1.0]]), ak.tensor([0, 1])
    F = nn.functional
    weight = ak.tensor([1.0, 3.0])
    pairs = [
        (
            nn.CrossEntropyLoss(weight, label_smoothing=0.1),
            F.cross_entropy(x, y, weight, label_smoothing=0.1),
            y,
        ),
        (
            nn.CrossEntropyLoss(ignore_index=1, reduction="sum"),
            F.cross_entropy(x, y, ignore_index=1, reduction="sum"),
            y,
        ),
        (nn.NLLLoss(weight), F.nll_loss(x, y, weight), y),
        (nn.MSELoss(reduction="sum"), F.mse_loss(x, x * 0, reduction="sum"), x * 0),
        (nn.L1Loss(), F.l1_loss(x, x * 0), x * 0),
        (nn.BCELoss(), F.binary_cross_entropy(x / 2, x * 0 + 1), x * 0 + 1),
        (
            nn.BCEWithLogitsLoss(pos_weight=weight),
            F.binary_cross_entropy_with_logits(x, x, pos_weight=weight),
            x,
        ),
    ]
    for module, expected, target in pairs:
        input = x / 2 if isinstance(module, nn.BCELoss) else x
        assert module(input, target).item() == expected.item(), module
    assert "weight" in nn.CrossEntropyLoss(weight).state_dict()
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        nn.MSELoss(reduction="average")
