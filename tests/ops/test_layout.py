"""Results lie in memory as PyTorch's, whatever their operands do: so ``view`` reads them."""

from __future__ import annotations

from typing import Any

import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

TAKEN_AS = {
    "permuted": lambda x: x.permute(0, 2, 3, 1),
    "transposed": lambda x: x.transpose(2, 3),
    "turned": lambda x: x.permute(3, 2, 1, 0),
    "in channels": lambda x: x.contiguous(memory_format=_module(x).channels_last),
    "in rows": lambda x: x,
}


def _module(x: Any) -> Any:
    return torch if isinstance(x, torch.Tensor) else autokit


RESULTS = {
    "softmax": lambda T, x: x.softmax(-1),
    "softmax, not of the last": lambda T, x: x.softmax(1),
    "log_softmax": lambda T, x: x.log_softmax(-1),
    "logsumexp": lambda T, x: x.logsumexp(0),
    "masked_fill": lambda T, x: x.masked_fill(x > 0, 0.0),
    "cumsum": lambda T, x: x.cumsum(1),
    "cumprod": lambda T, x: x.cumprod(1),
    "logcumsumexp": lambda T, x: x.logcumsumexp(1),
    "cat": lambda T, x: T.cat([x, x], 1),
    "sum": lambda T, x: x.sum(0),
    "mean": lambda T, x: x.mean(0),
    "std": lambda T, x: x.std(0),
    "var": lambda T, x: x.var(0),
    "norm": lambda T, x: x.norm(dim=0),
    "prod": lambda T, x: x.prod(0),
    "amax": lambda T, x: x.amax(0),
    "any": lambda T, x: (x > 0).any(0),
    "median": lambda T, x: x.median(0)[0],
    "pad": lambda T, x: T.nn.functional.pad(x, (1, 1)),
    "roll": lambda T, x: x.roll(1, 1),
    "renorm": lambda T, x: x.renorm(2, 1, 1.0),
    "tril": lambda T, x: x.tril(),
    "triu": lambda T, x: x.triu(),
    "layer_norm": lambda T, x: T.nn.functional.layer_norm(x, x.shape[-1:]),
    "batch_norm": lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True),
    "group_norm": lambda T, x: T.nn.functional.group_norm(x, x.shape[1]),
    "group_norm of several channels": lambda T, x: T.nn.functional.group_norm(x, 1),
    "conv2d": lambda T, x: T.nn.functional.conv2d(x, T.ones(2, x.shape[1], 1, 1), T.ones(2)),
    "conv2d without bias": lambda T, x: T.nn.functional.conv2d(x, T.ones(2, x.shape[1], 2, 2)),
    "conv_transpose2d": lambda T, x: T.nn.functional.conv_transpose2d(x, T.ones(x.shape[1], 2, 2, 2)),
    "one_hot": lambda T, x: T.nn.functional.one_hot((x > 0).long(), 2),
}


@pytest.mark.parametrize("taken_as", TAKEN_AS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_lies_as_pytorchs(name: str, taken_as: str):
    mine, yours = (
        RESULTS[name](T, TAKEN_AS[taken_as](T.arange(1.0, 121.0).reshape(2, 3, 4, 5).cos()))
        for T in (autokit, torch)
    )
    assert mine.stride() == yours.stride()


READS = {
    "places": lambda T, x: x[:, T.tensor([0, 1])],
    "a list": lambda T, x: x[..., [2, 0]],
    "a mask": lambda T, x: x[:, T.tensor([True, False, True])],
    "pairs": lambda T, x: x[:, T.tensor([0, 1]), T.tensor([3, 2])],
    "a number beside places": lambda T, x: x[0, :, T.tensor([0, 1])],
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_at_places_can_be_viewed(name: str):
    mine, yours = (READS[name](T, T.arange(24.0).reshape(2, 3, 4)) for T in (autokit, torch))
    assert mine.stride() == yours.stride()
    assert mine.view(-1).tolist() == yours.view(-1).tolist()


def test_dropout_drops_the_same_of_attention_over_permuted_scores():
    def dropped(T: Any) -> Any:
        T.manual_seed(0)
        scores = T.einsum("ibhd,jbhd->ijbh", T.randn(5, 2, 2, 4), T.randn(5, 2, 2, 4))
        return T.nn.functional.dropout(scores.masked_fill(scores > 1, -1e9).softmax(1), 0.5)

    assert (dropped(autokit) == 0).tolist() == (dropped(torch) == 0).tolist()


def test_results_in_rows_are_mapped_over():
    def both(x: Any) -> Any:
        return x.t().softmax(-1) + x.t().cumsum(0) + x.t()[:, [1, 0]].sum(0)

    batch = autokit.arange(12.0).reshape(2, 2, 3).cos()[:, :, :2]
    assert autokit.allclose(autokit.vmap(both)(batch), autokit.stack([both(each) for each in batch]))
