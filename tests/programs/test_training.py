"""The training programs of the sources: nothing in them is autokit's but the import."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require


def digits(torch: Any) -> tuple[Any, Any]:
    from autokit.datasets import Digits

    source = Digits(train=True)
    return torch.from_numpy(source.data.numpy()), torch.from_numpy(source.targets.numpy())


def two_layers(torch: Any) -> Any:
    nn = torch.nn
    F = torch.nn.functional

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Linear(64, 32)
            self.fc2 = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            x = x.view(-1, 64)
            x = F.relu(self.fc1(x))
            return self.fc2(x)

    return Net()


def train(torch: Any, steps: int, accumulate: int = 1, **settings: Any) -> tuple[list[float], Any]:
    """Losses of the first ``steps`` batches, and the model that they made."""
    torch.manual_seed(0)
    model = two_layers(torch)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    dataset = torch.utils.data.TensorDataset(*digits(torch))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    losses: list[float] = []
    optimizer.zero_grad()
    while len(losses) < steps:
        for images, labels in loader:
            loss = criterion(model(images), labels) / accumulate
            loss.backward()
            losses.append(loss.item())
            if len(losses) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
            if len(losses) == steps:
                break
    return losses, model


@pytest.mark.parametrize(
    "settings",
    [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "weight_decay": 0.01}],
    ids=["plain", "nesterov", "decay"],
)
@pytest.mark.parametrize("accumulate", [1, 4])
def test_the_same_seed_trains_to_the_same_losses_and_parameters(settings: dict[str, Any], accumulate: int):
    require("sklearn")
    require("torch")
    import torch

    ours, our_model = train(ak, 60, accumulate, **settings)
    theirs, their_model = train(torch, 60, accumulate, **settings)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    for our, their in zip(our_model.parameters(), their_model.parameters(), strict=True):
        np.testing.assert_allclose(our.detach().numpy(), their.detach().numpy(), atol=1e-5)


def test_a_two_layer_network_learns_the_digits():
    require("sklearn")
    from autokit.datasets import Digits

    losses, model = train(ak, 450, lr=0.5)
    assert losses[0] == pytest.approx(2.3, abs=0.1) and np.mean(losses[-20:]) < 0.2
    held_out = Digits(train=False)
    with ak.no_grad():
        correct = (model(held_out.data).argmax(dim=1) == held_out.targets).float().mean().item()
    assert correct > 0.93


def test_gradients_accumulate_over_four_steps_to_that_of_the_whole_batch():
    require("sklearn")
    images, labels = digits(ak)
    images, labels = images[:32], labels[:32]
    ak.manual_seed(0)
    model = two_layers(ak)
    criterion = ak.nn.CrossEntropyLoss()
    criterion(model(images), labels).backward()
    whole = [parameter.grad.numpy().copy() for parameter in model.parameters()]
    model.zero_grad()
    for part in range(4):
        rows = slice(8 * part, 8 * part + 8)
        (criterion(model(images[rows]), labels[rows]) / 4).backward()
    for parameter, expected in zip(model.parameters(), whole, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), expected, rtol=1e-5, atol=1e-6)


def branching(torch: Any) -> Any:
    nn = torch.nn

    class Branching(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.small = nn.Linear(4, 2)
            self.large = nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            if x.sum() > 10:
                return self.large(x)
            return self.small(x)

    torch.manual_seed(0)
    return Branching()


def test_a_forward_that_branches_on_a_value_trains_only_the_branch_it_took():
    model = branching(ak)
    model(ak.full((1, 4), 3.0)).sum().backward()
    assert model.large.weight.grad.tolist() == [[3, 3, 3, 3], [3, 3, 3, 3]]
    assert model.small.weight.grad is None
    model.zero_grad()
    model(ak.ones(1, 4)).sum().backward()
    assert model.small.weight.grad.tolist() == [[1, 1, 1, 1], [1, 1, 1, 1]]
    assert model.large.weight.grad is None
