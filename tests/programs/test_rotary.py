"""A small Llama: words turned by their places with cosine and sine, beside PyTorch in 20 steps."""

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
        return T.outer(T.arange(end), freqs).float()

    def turned(x: Any, angles: Any) -> Any:
        """Each pair of neighbours in ``x``, turned in its plane by the angle of its place."""
        even, odd = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
        angles = angles.view(1, x.shape[1], 1, -1)
        cos, sin = angles.cos(), angles.sin()
        return T.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(3).type_as(x)

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

        def forward(self, x: Any, angles: Any, mask: Any) -> Any:
            batch, size, _ = x.shape
            h = self.attention_norm(x)
            xq, xk, xv = (w(h).view(batch, size, heads, -1) for w in (self.wq, self.wk, self.wv))
            xq, xk = turned(xq, angles), turned(xk, angles)
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
            self.angles = turns_of_places(width // heads, 2 * length)

        def forward(self, tokens: Any) -> Any:
            h = self.tok_embeddings(tokens)
            size = tokens.shape[1]
            mask = T.triu(T.full((size, size), float("-inf")), diagonal=1)
            for layer in self.layers:
                h = layer(h, self.angles[:size], mask)
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
