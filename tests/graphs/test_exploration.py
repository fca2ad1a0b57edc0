"""Exploring a model gives what hooks and backward() give, and leaves the model as it was."""

from __future__ import annotations

import numpy as np

import autokit as torch
from autokit import nn
from autokit.graphs.exploration import explore_layers


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
