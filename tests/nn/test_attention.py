"""Attention beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("torch")
import torch  # noqa: E402

MASK = np.array([[True, False, True], [False] * 3, [True] * 3])


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": MASK}, {"attn_mask": MASK * 2.0}]
)
def test_scaled_dot_product_attention(options: dict[str, Any]):
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        leaves = [library.tensor(random.randn(2, 2, 3, 4), requires_grad=True) for _ in range(3)]
        given = {k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
        out = library.nn.functional.scaled_dot_product_attention(*leaves, **given)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
