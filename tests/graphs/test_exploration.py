"""Exploring a model gives what hooks and backward() give, and leaves the model as it was."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.graphs.exploration import explore_layers, spread


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


def loss(output: torch.Tensor) -> torch.Tensor:
    return output.pow(2).mean()


def test_activations_and_gradients_are_those_of_a_run() -> None:
    torch.manual_seed(0)
    net, x = Net(), torch.randn(5, 3)
    explored = {each.layer.path: each for each in explore_layers(net, (x,), loss).layers}
    net.eval()
    kept: dict[str, torch.Tensor] = {}
    for path, module in net.named_modules():

        def keep(module: nn.Module, args: object, output: torch.Tensor, path: str = path) -> None:
            output.retain_grad()
            kept[path] = output

        module.register_forward_hook(keep)
    loss(net(x)).backward()
    assert explored.keys() == kept.keys()
    for path, output in kept.items():
        for found, expected in ((explored[path].activation, output), (explored[path].gradient, output.grad)):
            values = expected.detach().numpy()
            assert found is not None and found.shape == values.shape and sum(found.counts) == values.size
            np.testing.assert_allclose(
                [found.minimum, found.maximum, found.mean, found.deviation],
                [values.min(), values.max(), values.mean(dtype=float), values.std(dtype=float)],
                rtol=1e-5,
                atol=1e-8,
            )
    for path in ("body.0", "head"):
        for weights in explored[path].weights:
            parameter = net.get_parameter(f"{path}.{weights.name}")
            np.testing.assert_allclose(
                weights.gradient_norm, np.linalg.norm(parameter.grad.numpy()), rtol=1e-5
            )


def test_the_model_stays_as_it_was() -> None:
    torch.manual_seed(0)
    net, x = Net(), torch.randn(5, 3)
    net.body[1].eval()
    before, drawn = {name: each.clone() for name, each in net.state_dict().items()}, torch.get_rng_state()
    explore_layers(net, (x,))
    assert net.training and not net.body[1].training and net.head._hooks is None
    assert all(parameter.grad is None for parameter in net.parameters()) and torch.equal(
        torch.get_rng_state(), drawn
    )
    for name, each in net.state_dict().items():
        assert torch.equal(each, before[name])


def test_a_lazy_layer_stays_lazy() -> None:
    model = nn.Sequential(nn.LazyLinear(2))
    assert explore_layers(model, (torch.ones(1, 3),)).layers[1].weights[0].shape == (2, 3)
    assert model[0].has_uninitialized_params()


def test_nodes_know_their_modules() -> None:
    graph = explore_layers(Net(), (torch.ones(2, 3),)).graph
    assert {"body.0", "body.2", "head"} <= {node.module for node in graph.nodes}


def test_what_is_not_finite_is_counted() -> None:
    found = spread(np.array([1.0, np.nan, np.inf, 0.0, 0.0]))
    assert found is not None and (found.bad, found.zeros, found.minimum, found.maximum) == (2, 0.4, 0.0, 1.0)
    assert spread(np.array([])) is None


def test_what_cannot_be_explored_is_told() -> None:
    with pytest.raises(TypeError, match="'model' must be a Module, not int"):
        explore_layers(3, ())  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match=r"fails in its layer 'body\.0'"):
        explore_layers(Net(), (torch.ones(2, 4),))
    with pytest.raises(TypeError, match="a Tensor of one element, and is"):
        explore_layers(Net(), (torch.ones(2, 3),), lambda output: output)


def test_an_input_bears_the_learners_name_or_that_of_the_parameter():
    class Scaled(nn.Module):
        def forward(self, pixels):
            return pixels * self.bias

        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(1))

    batch = torch.ones(2, 3)
    assert explore_layers(Scaled(), (batch,)).graph.nodes[0].name == "batch"
    assert explore_layers(Scaled(), (torch.ones(2, 3),)).graph.nodes[0].name == "pixels"
    layer = nn.Linear(3, 2)
    assert explore_layers(layer, (torch.ones(2, 3),)).graph.nodes[0].name == "input"
