"""Operations on a GPU: results and gradients are the CPU's, and nothing is copied to the CPU on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.nn import functional as F
from tests.gpu import standin

ONE = """
    x.exp() | x.log() | x.sqrt() | x.sin() | x.tanh() | x.sigmoid() | x.relu() | x.abs() | x**3 | -x
    x.erf() | x.floor() | x.round() | x.sign() | x.reciprocal() | x.log1p() | x.clamp(0.6, 1.4) | x.lgamma()
    2**x | 1 - x | x.sum() | x.sum(0) | x.sum((0, 1)) | x.mean(1) | x.var(1) | x.std() | x.prod(1)
    x.norm() | x.norm(dim=1) | x.max() | x.max(1) | x.min(0) | x.argmax(1) | x.amax((0, 1)) | x.median(1)
    x.sort(1) | x.topk(2) | x.argsort(0) | x.cumsum(1) | x.cumprod(0) | x.cummax(1) | x.logsumexp(1)
    x.softmax(1) | x.log_softmax(0) | x.unique() | x.reshape(8) | x.t() | x[1] | x[:, 1:3] | x[x > 1]
    x[[0, 1, 0]] | x[..., None] | x.flip(0) | x.roll(1, 0) | x.unsqueeze(0).expand(3, 2, 4) | x.repeat(2, 1)
    x.tril() | x.diagonal() | x.chunk(2, 1) | x.unbind(0) | x.flatten() | x.half() | x.double() | x.long()
    x > 1 | x.any() | (x > 1).all(1) | x.isnan() | x.masked_fill(x > 1, 0) | x @ x.T
    torch.einsum("ij,kj->ik", x, x) | torch.outer(x[0], x[1]) | torch.cat([x, x]) | torch.stack([x, x], 1)
    torch.where(x > 1, x, -x) | torch.zeros_like(x) | torch.cdist(x, x + 1) | torch.linalg.inv(x @ x.T)
    torch.linalg.det(x[:, :2]) | torch.linalg.solve(x[:, :2], x) | torch.linalg.svd(x)[1]
    torch.linalg.eigh(x @ x.T)[0] | F.gelu(x) | F.silu(x) | F.softplus(x) | F.leaky_relu(x) | F.elu(x)
    F.normalize(x) | F.layer_norm(x, (4,)) | x.sum(-1) | F.batch_norm(x, None, None, training=True)
    F.pad(x, (1, 2)) | F.conv1d(x[None], torch.ones_like(x[None, :, :2]))
    F.conv2d(x[None, None], torch.ones_like(x[:, :2])[None, None], padding=1) | F.max_pool2d(x[None], 2)
    x.histogram(4)[0] | F.avg_pool2d(x[None], 2) | F.unfold(x[None, None], 2)
    F.interpolate(x[None], scale_factor=2) | torch.meshgrid(x[0], x[1])
    F.conv_transpose1d(x[None], torch.ones_like(x[None, :, :2]).transpose(0, 1))
    F.adaptive_avg_pool1d(x[None], 2) | F.cross_entropy(x, torch.ones_like(x[:, 0]).long())
    F.mse_loss(x, x * 2) | F.binary_cross_entropy(x / 4, x / 5) | F.scaled_dot_product_attention(x, x, x)
    F.one_hot(x.long()) | F.cosine_similarity(x, x + 1) | F.smooth_l1_loss(x, 2 * x)
    F.embedding(x.long(), x.T) | x.gather(1, x.long()) | torch.zeros_like(x).scatter(1, x.long()[:, :1], x)
    x.index_select(0, x.long()[0]) | torch.zeros_like(x).scatter_add(1, x.long(), x)
    x.index_add(0, x.long()[0][:2] * 0, x) | torch.bincount(x.long()[0]) | torch.remainder(x, 0.3)
    x // 0.3 | torch.fmod(x, 0.7) | torch.atan2(x, x + 1) | torch.maximum(x, 2 - x) | x.lerp(x * 2, 0.3)
"""
"""Calls of one matrix of two rows and four columns."""


def parts(text: str) -> list[str]:
    """The programs of a table, between its bars."""
    return [part.strip() for part in text.replace("\n", "|").split("|") if part.strip()]


X = np.array([[0.5, 1.25, 1.75, 0.25], [1.5, 0.75, 0.6, 1.1]])
ON_THE_CPU = {"x.unique()", "x.histogram(4)[0]", "torch.bincount(x.long()[0])", "F.one_hot(x.long())"}
"""Calls that ask the GPU for numbers, on which the shape of the result depends."""


def run(call: Callable[..., Any], device: str, dtype: Any) -> list[Any]:
    """The results, and the first and second gradients, of a weighted sum of them."""
    x = torch.tensor(X, dtype=dtype, device=device, requires_grad=True)
    standin.copies.clear()
    result = call(x)
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    ends = [part for part in results if part.requires_grad]
    if ends:
        total = sum(((part * part).sum() for part in ends), 0)
        (first,) = torch.autograd.grad(total, x, create_graph=True)
        results.append(first)
        if first.requires_grad:
            results += torch.autograd.grad((first * first).sum(), x)
    return results


@pytest.mark.parametrize("text", parts(ONE))
def test_the_results_are_those_of_the_cpu(gpu: str, text: str):
    call = eval(f"lambda x: {text}", {"torch": torch, "F": F})
    here, there = run(call, "cpu", torch.float64), run(call, "cuda", torch.float64)
    assert not standin.copies or text in ON_THE_CPU, f"copied to the CPU: {standin.copies}"
    assert len(here) == len(there)
    for ours, theirs in zip(here, there):
        assert theirs.is_cuda and theirs.dtype == ours.dtype and theirs.shape == ours.shape
        expected = ours.detach().numpy()
        np.testing.assert_allclose(theirs.detach().cpu().numpy(), expected, rtol=1e-6, atol=1e-9)


MAKERS = """
    torch.zeros(2) | torch.arange(5) | torch.linspace(0, 1, 5) | torch.eye(3) | torch.full((2, 2), 3.0)
    torch.ones(()) | torch.tensor([[1, 2]]) | torch.rand(4) | torch.randn(4) | torch.randint(9, (3,))
    torch.randperm(5)
"""


@pytest.mark.parametrize("text", parts(MAKERS))
def test_what_makes_a_tensor_makes_the_same_one_there(gpu: str, text: str):
    torch.manual_seed(3)
    ours = eval(text)
    torch.manual_seed(3)
    with torch.device("cuda"):
        theirs = eval(text)
    assert theirs.is_cuda and torch.equal(theirs.cpu(), ours)


CHANGES = """
    x.add_(1) | x.mul_(x) | x.zero_() | x.fill_(3) | x.clamp_(0, 1) | x[0] = 5 | x[:, 1] = x[:, 2]
    x[x > 1] = 0 | x.exp_() | x[[0, 1], [1, 2]] = 7 | x.copy_(torch.ones(4)) | x.masked_fill_(x > 1, 2)
    x.scatter_(1, (x * 0).long(), 2.0) | x.t_() | x.index_add_(0, (x[0] * 0).long()[:2], x.clone()) | x += 1
    x /= 2 | x.normal_() | x.uniform_(0, 2) | x.bernoulli_(0.5)
"""


@pytest.mark.parametrize("text", parts(CHANGES))
def test_a_change_in_place_is_that_of_the_cpu(gpu: str, text: str):
    seen = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        names = {"torch": torch, "x": torch.tensor(X, device=device)}
        exec(text, names)
        seen.append(names["x"])
    assert seen[1].is_cuda
    np.testing.assert_allclose(seen[1].cpu().numpy(), seen[0].numpy(), rtol=1e-6)
