"""Ten graphs that every learner meets, computed for real: what the pictures are judged by."""

from __future__ import annotations

import autokit as ak
from autokit import nn
from autokit.graphs.model import Graph
from autokit.nn import functional as F


def scalar_chain() -> Graph:
    """A function of a function of a function."""
    x = ak.tensor(0.5, requires_grad=True)
    u = x * 2
    v = u.sin()
    y = v.exp()
    y.backward()
    return ak.graph(y)


def diamond() -> Graph:
    """Two ways from one value to another, which meet."""
    x = ak.tensor(3.0, requires_grad=True)
    a = x.log()
    b = x**2
    c = a - b
    c.backward()
    return ak.graph(c)


def fan_out() -> Graph:
    """One value that several operations use."""
    w = ak.tensor(2.0, requires_grad=True)
    first, second, third = w + 1, w * 3, w.tanh()
    total = first * second / third
    total.backward()
    return ak.graph(total)


def square() -> Graph:
    """A value times itself: two edges between the same two boxes."""
    a = ak.tensor(-3.0, requires_grad=True)
    s = a * a
    s.backward()
    return ak.graph(s)


def broadcasting() -> Graph:
    """A row added to each row of a matrix."""
    x = ak.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]], requires_grad=True)
    bias = ak.tensor([0.5, -0.5, 2.0], requires_grad=True)
    shifted = x + bias
    loss = shifted.mean()
    loss.backward()
    return ak.graph(loss)


def matmul_mlp() -> Graph:
    """A network of two layers, as a beginner writes it."""
    ak.manual_seed(0)
    x, t = ak.randn(4, 3), ak.tensor([0, 2, 1, 1])
    W1 = ak.randn(3, 5, requires_grad=True)
    b1 = ak.zeros(5, requires_grad=True)
    W2 = ak.randn(5, 3, requires_grad=True)
    hidden = (x @ W1 + b1).relu()
    logits = hidden @ W2
    loss = F.cross_entropy(logits, t)
    loss.backward()
    return ak.graph(loss)


class ConvNet(nn.Module):
    """A convolution, a pool and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(36, 3)

    def forward(self, images: ak.Tensor) -> ak.Tensor:
        return self.head(self.features(images).flatten(1))


def conv_net() -> Graph:
    """A convolutional network with its modules."""
    ak.manual_seed(1)
    net = ConvNet()
    images = ak.randn(2, 1, 8, 8)
    loss = F.cross_entropy(net(images), ak.tensor([0, 2]))
    loss.backward()
    return ak.graph(loss)


def rnn_unrolled() -> Graph:
    """The same weights at three moments."""
    ak.manual_seed(2)
    W = ak.randn(3, 3, requires_grad=True)
    U = ak.randn(2, 3, requires_grad=True)
    h = ak.zeros(1, 3)
    for moment in ak.randn(3, 1, 2):
        h = (h @ W + moment @ U).tanh()
    loss = (h**2).sum()
    loss.backward()
    return ak.graph(loss)


def attention() -> Graph:
    """Attention of one head, with its residual connection."""
    ak.manual_seed(3)
    x = ak.randn(4, 6)
    Wq, Wk, Wv = (ak.randn(6, 6, requires_grad=True) for _ in range(3))
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    weights = F.softmax(q @ k.T / 6**0.5, dim=-1)
    out = x + weights @ v
    loss = out.pow(2).mean()
    loss.backward()
    return ak.graph(loss)


def views_and_changes() -> Graph:
    """A view that is changed in place, and what the change does to its base."""
    x = ak.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 2
    y.view(2, 2)[0].mul_(10.0)
    loss = y.sum()
    loss.backward()
    return ak.graph(loss)


STANDARD = {
    make.__name__: make
    for make in (
        *(scalar_chain, diamond, fan_out, square, broadcasting),
        *(matmul_mlp, conv_net, rnn_unrolled, attention, views_and_changes),
    )
}
