"""A small Llama: words turned by their places as complex numbers, beside PyTorch in 20 steps of training."""

from __future__ import annotations

from typing import Any

import numpy as np

import autokit
from tests.support import require


def llama(T: Any) -> tuple[list[float], list[np.ndarray]]:
    """The losses of 20 steps, and the parameters after them."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    width, heads, length, words = 16, 2, 6, 11

    def turns_of_places(dim: int, end: int, theta: float = 10000.0) -> Any:
        freqs = 1.0 / (theta ** (T.arange(0, dim, 2)[: (dim // 2)].float() / dim))
        freqs = T.outer(T.arange(end), freqs).float()
        return T.polar(T.ones_like(freqs), freqs)  # complex64

    def turned(xq: Any, xk: Any, freqs_cis: Any) -> tuple[Any, Any]:
        xq_ = T.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
        xk_ = T.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
        freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
        xq_out = T.view_as_real(xq_ * freqs_cis).flatten(3)
        xk_out = T.view_as_real(xk_ * freqs_cis).flatten(3)
        return xq_out.type_as(xq), xk_out.type_as(xk)

    class RMSNorm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(T.ones(width))

        def forward(self, x: Any) -> Any:
            return x * T.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width, bias=False) for _ in range(4))
            self.w1, self.w3 = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
            self.w2 = nn.Linear(2 * width, width, bias=False)
            self.attention_norm, self.ffn_norm = RMSNorm(), RMSNorm()

        def forward(self, x: Any, freqs_cis: Any, mask: Any) -> Any:
            batch, size, _ = x.shape
            h = self.attention_norm(x)
            xq, xk, xv = (w(h).view(batch, size, heads, -1) for w in (self.wq, self.wk, self.wv))
            xq, xk = turned(xq, xk, freqs_cis)
            xq, xk, xv = (each.transpose(1, 2) for each in (xq, xk, xv))
            scores = xq @ xk.transpose(2, 3) / (width // heads) ** 0.5 + mask
            mixed = (F.softmax(scores, dim=-1) @ xv).transpose(1, 2).reshape(batch, size, -1)
            x = x + self.wo(mixed)
            h = self.ffn_norm(x)
            return x + self.w2(F.silu(self.w1(h)) * self.w3(h))

    class Llama(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok_embeddings, self.output = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
            self.layers, self.norm = nn.ModuleList([Block() for _ in range(2)]), RMSNorm()
            self.freqs_cis = turns_of_places(width // heads, 2 * length)

        def forward(self, tokens: Any) -> Any:
            h = self.tok_embeddings(tokens)
            size = tokens.shape[1]
            mask = T.triu(T.full((size, size), float("-inf")), diagonal=1)
            for layer in self.layers:
                h = layer(h, self.freqs_cis[:size], mask)
            return self.output(self.norm(h))

    model = Llama()
    optimizer = T.optim.AdamW(model.parameters(), lr=0.01)
    tokens = T.randint(0, words, (4, length + 1))
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, words), tokens[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [each.detach().numpy() for each in model.parameters()]


def test_a_small_llama_learns_as_in_pytorch():
    require("torch")
    import torch

    ours, theirs = llama(autokit), llama(torch)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    assert ours[0][-1] < ours[0][0] / 2
    for mine, other in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, other, atol=2e-3)


def trained(T: Any, method: str) -> list[float]:
    """A complex parameter that is fitted to a turn by a method that sees it as pairs of real numbers."""
    T.manual_seed(1)
    angle = T.linspace(0, 3, 8)
    x, y = T.polar(T.ones(8), angle), T.polar(T.full((8,), 2.0), angle + 1)
    turn = T.nn.Parameter(T.tensor([0.3 + 0.1j]))
    assert turn.is_leaf and turn.dtype == T.complex64
    optimizer = getattr(T.optim, method)([turn], lr=0.05)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (turn * x - y).abs().square().mean()
        loss.backward()
        assert turn.grad.is_complex()
        optimizer.step()
        losses.append(loss.item())
    return [*losses, *turn.detach().real.tolist(), *turn.detach().imag.tolist()]


def test_complex_parameters_are_trained_as_in_pytorch():
    require("torch")
    import torch

    for method in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
        np.testing.assert_allclose(
            trained(autokit, method), trained(torch, method), rtol=1e-4, err_msg=method
        )
