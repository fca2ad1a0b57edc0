"""Self-attention as one operation on a GPU: the numbers of the single operations, and no copy to the CPU."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

TIMES, SAMPLES, WIDTH, HEADS = 20, 3, 8, 2


def square(*, nowhere: bool = False) -> torch.Tensor:
    mask = torch.rand(TIMES, TIMES) < 0.3
    mask[0] = nowhere
    return mask


def given(kind: str, where: str) -> dict[str, Any]:
    torch.manual_seed(5)
    late = torch.arange(TIMES)[None] > torch.tensor([[TIMES], [TIMES - 3], [4]])
    masks: dict[str, dict[str, Any]] = {
        "none": {},
        "causal": {"attn_mask": nn.Transformer.generate_square_subsequent_mask(TIMES), "is_causal": True},
        "bools": {"attn_mask": square()},
        "numbers": {"attn_mask": torch.randn(TIMES, TIMES)},
        "of each head": {"attn_mask": torch.randn(SAMPLES * HEADS, TIMES, TIMES)},
        "padding": {"key_padding_mask": late},
        "both": {"key_padding_mask": late, "attn_mask": square()},
    }
    return {
        name: each.to(where) if isinstance(each, torch.Tensor) else each for name, each in masks[kind].items()
    }


@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.parametrize("kind", ["none", "causal", "bools", "numbers", "of each head", "padding", "both"])
def test_it_is_the_cpus(kind: str, second_order: bool):
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(WIDTH, HEADS)
    x = torch.rand(TIMES, SAMPLES, WIDTH)
    found = []
    for where in ("cpu", "cuda"):
        moved = copy.deepcopy(layer).to(where)
        at = x.detach().to(where).requires_grad_()
        settings = given(kind, where)
        standin.launches.clear()
        standin.copies.clear()
        made, _ = moved(at, at, at, need_weights=False, **settings)
        assert ("shares" in standin.launches) == (
            where == "cuda" and not isinstance(at.array, np.ndarray)
        ) or (not standin.launches)
        leaves = [at, *moved.parameters()]
        first = torch.autograd.grad(made.pow(2).sum(), leaves, create_graph=second_order)
        if second_order:
            first += torch.autograd.grad(sum(each.pow(2).sum() for each in first), leaves)
        assert not standin.copies
        found.append([each.detach().cpu().numpy() for each in (made, *first)])
    for here, there in zip(*found):
        np.testing.assert_allclose(there, here, rtol=2e-3, atol=1e-5 * np.abs(here).max())


@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["none", "causal", "bools", "numbers", "both"])
def test_attention_of_three_is_the_cpus(kind: str, dtype: str, second_order: bool):
    torch.manual_seed(0)
    width = 4 if kind == "both" else 5  # PyTorch takes two masks where all widths are the same
    shapes = (2, 3, TIMES, 4), (2, 3, TIMES + 2, 4), (2, 3, TIMES + 2, width)
    operands = [torch.rand(*shape, dtype=getattr(torch, dtype)) for shape in shapes]
    mask = {"bools": torch.rand(TIMES, TIMES + 2) < 0.7, "numbers": torch.randn(3, TIMES, TIMES + 2)}.get(
        kind
    )
    if kind == "both":
        mask = torch.rand(TIMES, TIMES + 2) < 0.9
        mask[:, 0] = True
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(operands[0].dtype)
    found = []
    for where in ("cpu", "cuda"):
        q, k, v = (each.detach().to(where).requires_grad_() for each in operands)
        at = None if mask is None else mask.to(where)
        standin.launches.clear()
        standin.copies.clear()
        made = nn.functional.scaled_dot_product_attention(q, k, v, at, is_causal=kind in ("causal", "both"))
        assert where == "cpu" or not standin.launches or "shares" in standin.launches
        first = torch.autograd.grad(made.pow(2).sum(), (q, k, v), create_graph=second_order)
        if second_order:
            first += torch.autograd.grad(sum(each.pow(2).sum() for each in first), (q, k, v))
        assert not standin.copies
        found.append([each.detach().cpu().numpy() for each in (made, *first)])
    for here, there in zip(*found):
        np.testing.assert_allclose(there, here, rtol=2e-3, atol=1e-5 * np.abs(here).max())


def test_what_does_not_fit_is_refused_as_on_the_cpu():
    q, k = torch.rand(2, 3, TIMES, 4, device="cuda"), torch.rand(2, 3, TIMES, 4, device="cuda")
    attention = nn.functional.scaled_dot_product_attention
    for mask in (torch.ones(TIMES + 1, TIMES, device="cuda") > 0, torch.ones(TIMES, TIMES) > 0):
        with pytest.raises(RuntimeError):
            attention(q, k, k, mask)
    with pytest.raises(RuntimeError):
        attention(q, k[..., :3], k)
    assert attention(q[:0], k[:0], k[:0]).shape == (0, 3, TIMES, 4)


def test_a_query_that_may_look_nowhere_finds_nothing():
    layer = nn.MultiheadAttention(WIDTH, HEADS, bias=False).to("cuda")
    x = torch.rand(TIMES, SAMPLES, WIDTH, device="cuda", requires_grad=True)
    made, _ = layer(x, x, x, need_weights=False, attn_mask=square(nowhere=True).to("cuda"))
    made.sum().backward()
    assert (made[0] == 0).all() and made.isfinite().all() and x.grad.isfinite().all()


@pytest.mark.parametrize("training", [True, False])
def test_under_autocast_the_products_are_of_float16(training: bool):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 16, dropout=0.0).train(training).to("cuda")
    x = torch.rand(TIMES, SAMPLES, WIDTH, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        half = layer(x)
    half.float().sum().backward()
    np.testing.assert_allclose(half.float().detach().cpu(), layer(x).detach().cpu(), rtol=2e-2, atol=2e-2)


def test_a_picture_still_shows_each_operation():
    layer = nn.MultiheadAttention(WIDTH, HEADS).to("cuda")
    x = torch.rand(TIMES, SAMPLES, WIDTH, device="cuda")
    with torch.recording():
        made, _ = layer(x, x, x, need_weights=False)
    labels = {node.operation for node in torch.graph(made).nodes}
    assert "softmax" in labels and "attention_of_heads" not in labels
