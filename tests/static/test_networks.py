"""Compiled steps of small networks compute the losses of the eager ones, over steps on other numbers."""

import copy

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.nn import functional as F
from autokit.static.step import compile

STEPS = 20
SETTINGS = {"as traced": {"passes": []}, "numpy": {}, "native": {"backend": "native"}}


def mlp(activation, *more):
    return nn.Sequential(nn.Linear(64, 32), *more, activation, nn.Linear(32, 10))


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer(8, 16, batch_first=True), nn.Linear(16, 10)

    def forward(self, x):
        return self.out(self.layer(x)[0][:, -1])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.out = nn.Linear(16, 10)

    def forward(self, x):
        return self.out(self.layer(x).mean(1))


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 16), nn.Linear(16, 10)

    def forward(self, x):
        return self.out(self.table((x.abs() * 10).long()).mean(1))


class Views(nn.Module):
    """Its hidden layer is written through views, and read through views that were made before."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x):
        h = self.hidden(x)
        z = torch.zeros(32, 32)
        turned = z.t()
        z[:, ::2] = torch.relu(h[:, ::2])
        z[:, 1::2] = h[:, 1::2] * 0.5
        turned[0] *= 2
        turned[1].add_(turned[0])
        return self.out(z)


def images(pool):
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), pool(2), nn.Flatten(), nn.Linear(64, 10))


def lenet():
    first = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU()]
    last = [nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)]
    return nn.Sequential(*first, nn.MaxPool2d(2), nn.Flatten(), *last)


def classes():
    return torch.randint(0, 10, (32,))


def numbers():
    return torch.randn(32, 10)


def answers():
    return (torch.rand(32, 10) > 0.5).float()


def sgd(params):
    return torch.optim.SGD(params, 0.1)


def momentum(params):
    return torch.optim.SGD(params, 0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)


ROWS, CROSS = (32, 64), F.cross_entropy
NETWORKS = {
    "relu": (lambda: mlp(nn.ReLU()), sgd, ROWS, classes, CROSS),
    "tanh": (lambda: mlp(nn.Tanh()), sgd, ROWS, numbers, F.mse_loss),
    "gelu": (lambda: mlp(nn.GELU()), sgd, ROWS, answers, F.binary_cross_entropy_with_logits),
    "momentum": (lambda: mlp(nn.ReLU()), momentum, ROWS, classes, CROSS),
    "adam": (lambda: mlp(nn.ReLU()), lambda p: torch.optim.Adam(p, 0.01), ROWS, classes, CROSS),
    "adamw": (lambda: mlp(nn.ReLU()), lambda p: torch.optim.AdamW(p, 0.01), ROWS, classes, CROSS),
    "rmsprop": (lambda: mlp(nn.ReLU()), lambda p: torch.optim.RMSprop(p, 1e-3), ROWS, classes, CROSS),
    "nadam": (lambda: mlp(nn.ReLU()), lambda p: torch.optim.NAdam(p, 1e-3), ROWS, classes, CROSS),
    "layer norm": (lambda: mlp(nn.Tanh(), nn.LayerNorm(32)), sgd, ROWS, classes, CROSS),
    "batch norm": (lambda: mlp(nn.ReLU(), nn.BatchNorm1d(32)), sgd, ROWS, classes, CROSS),
    "dropout": (lambda: mlp(nn.Dropout(0.3), nn.ReLU()), sgd, ROWS, classes, CROSS),
    "max pooling": (lambda: images(nn.MaxPool2d), sgd, (32, 1, 8, 8), classes, CROSS),
    "mean pooling": (lambda: images(nn.AvgPool2d), sgd, (32, 1, 8, 8), classes, CROSS),
    "embedding": (Embedding, sgd, (32, 7), classes, CROSS),
    "rnn": (lambda: Recurrent(nn.RNN), sgd, (32, 5, 8), classes, CROSS),
    "lstm": (lambda: Recurrent(nn.LSTM), sgd, (32, 5, 8), classes, CROSS),
    "gru": (lambda: Recurrent(nn.GRU), sgd, (32, 5, 8), classes, CROSS),
    "transformer": (Attending, sgd, (32, 5, 16), classes, CROSS),
    "lenet": (lenet, sgd, (32, 1, 28, 28), classes, CROSS),
    "views": (Views, sgd, ROWS, classes, CROSS),
}


@pytest.mark.parametrize("backend", ("as traced", "numpy"))
@pytest.mark.parametrize("name", NETWORKS)
def test_losses_buffers_and_masks_are_those_of_the_eager_run(name, backend):
    make, optimizer_of, shape, target, criterion = NETWORKS[name]
    torch.manual_seed(0)
    first = make()
    data = [(torch.randn(*shape), target()) for _ in range(STEPS)]
    losses, models = [], (first, copy.deepcopy(first))
    for place, model in enumerate(models):
        optimizer = optimizer_of(model.parameters())
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)

        def step(x, t, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = criterion(model(x), t)
            loss.backward()
            optimizer.step()
            return loss

        run = compile(step, model=model, optimizer=optimizer, **SETTINGS[backend]) if place else step
        torch.manual_seed(1)  # the masks of dropout
        losses.append([])
        for x, t in data:
            losses[-1].append(run(x, t).item())
            schedule.step()
    assert len(run.plans) == 1
    np.testing.assert_allclose(losses[1], losses[0], rtol=3e-7, atol=3e-7)
    for (key, eager), compiled in zip(models[0].state_dict().items(), models[1].state_dict().values()):
        np.testing.assert_allclose(compiled, eager, rtol=1e-4, atol=1e-5, err_msg=key)
