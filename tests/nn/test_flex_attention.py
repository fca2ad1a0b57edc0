"""``flex_attention`` and its masks beside PyTorch's, and its gradients, which PyTorch has not on a CPU."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
import autokit.nn.attention.bias
import autokit.nn.attention.flex_attention as ours
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.nn.attention.bias  # noqa: E402
import torch.nn.attention.flex_attention as theirs  # noqa: E402


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch computes without its compiler, which takes seconds for each shape."""
    monkeypatch.setattr(theirs, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    warnings.simplefilter("ignore")


RANDOM = np.random.RandomState(0)
QUERY, TABLE = RANDOM.randn(2, 4, 6, 3), RANDOM.randn(4, 8, 8)
SAME = QUERY, RANDOM.randn(2, 4, 6, 3), RANDOM.randn(2, 4, 6, 3)
GROUPED = QUERY, RANDOM.randn(2, 2, 8, 3), RANDOM.randn(2, 2, 8, 5)
DOCUMENTS = [0, 0, 1, 1, 2, 2, 2, 2]

MASKS = {
    "none": lambda T: None,
    "causal": lambda T: lambda b, h, q, kv: q >= kv,
    "window": lambda T: lambda b, h, q, kv: (q >= kv) & (q - kv <= 2),
    "documents": lambda T: lambda b, h, q, kv: T.tensor(DOCUMENTS)[q] == T.tensor(DOCUMENTS)[kv],
    "rows without keys": lambda T: lambda b, h, q, kv: q > kv,
    "a head": lambda T: lambda b, h, q, kv: (h != 1) & (kv <= q + b),
}
SCORES = {
    "as they are": lambda T: None,
    "relative": lambda T: lambda s, b, h, q, kv: s + (q - kv),
    "alibi": lambda T: lambda s, b, h, q, kv: s + T.exp2(-((h + 1) * 2.0)) * (kv - q),
    "a table": lambda T: lambda s, b, h, q, kv: s + tensors(T, TABLE)[0][h, q, kv],
    "of rows": lambda T: lambda s, b, h, q, kv: s * tensors(T, TABLE)[0][b][q][kv],
    "soft cap": lambda T: lambda s, b, h, q, kv: T.tanh(s / 2) * 2,
    "masked": lambda T: lambda s, b, h, q, kv: T.where(q >= kv, s, -float("inf")),
}


def tensors(library: Any, *arrays: np.ndarray, dtype: str = "float32") -> list[Any]:
    return [library.tensor(array, dtype=getattr(library, dtype)) for array in arrays]


def same(mine: Any, other: Any) -> None:
    assert tuple(mine.shape) == tuple(other.shape)
    assert str(mine.dtype) == str(other.dtype)
    np.testing.assert_allclose(mine.float().numpy(), other.float().numpy(), 1e-4, 1e-5)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_attention_and_its_sums_are_pytorchs(mask: str, score: str):
    for arrays, settings in ((SAME, {}), (GROUPED, {"enable_gqa": True, "scale": 0.3})):
        made = []
        for library, flex in ((autokit, ours), (torch, theirs)):
            query, key, value = tensors(library, *arrays)
            mask_mod = MASKS[mask](library)
            sizes = (*query.shape[:3], key.shape[2])
            blocks = mask_mod and flex.create_block_mask(mask_mod, *sizes, device="cpu", BLOCK_SIZE=2)
            score_mod = SCORES[score](library)
            made.append(
                flex.flex_attention(query, key, value, score_mod, blocks, return_lse=True, **settings)
            )
        for mine, other in zip(*made):
            same(mine, other)


@pytest.mark.parametrize("mask", list(MASKS)[1:])
@pytest.mark.parametrize("size", [2, 3, (4, 2), 128])
@pytest.mark.parametrize("apart", [True, False])
def test_block_masks_are_pytorchs(mask: str, size: Any, apart: bool):
    said = []
    for library, flex in ((autokit, ours), (torch, theirs)):
        made = flex.create_block_mask(
            MASKS[mask](library), 2, 4, 6, 8, device="cpu", BLOCK_SIZE=size, separate_full_blocks=apart
        )
        said.append([])
        for part in (
            made,
            made[0],
            made[:, -1],
            made[1, 2, library.tensor([0])],
            made._adjust(3, 5),
            made.to("cpu"),
        ):
            fields = {name: value for name, value in vars(part).items() if not name.startswith("dq_")}
            fields.pop("mask_mod")
            listed = {n: v.tolist() if isinstance(v, library.Tensor) else v for n, v in fields.items()}
            shown = [
                str(part),
                re.sub(r"mask_mod=.*", "", repr(part)),
                part.to_string(2),
                part.to_string(-1, 1),
            ]
            said[-1].append(
                [listed, *shown, part.to_dense().tolist(), part.numel(), part.sparsity(), part.shape]
            )
    assert said[0] == said[1]


def test_masks_are_made_of_masks_and_of_scores():
    for call in (
        lambda T, f: f.create_mask(
            f.and_masks(MASKS["causal"](T), MASKS["documents"](T)), 1, None, 6, 8, "cpu"
        ),
        lambda T, f: f.create_mask(f.or_masks(MASKS["window"](T), f.noop_mask), 2, 2, 3, 4, "cpu"),
        lambda T, f: f.create_mask(SCORES["masked"](T), None, 2, 3, 4, "cpu"),
        lambda T, f: f.create_mask(f.or_masks(), 1, 1, 2, 2, "cpu"),
    ):
        mine, other = call(autokit, ours), call(torch, theirs)
        assert mine.dtype == autokit.bool and mine.tolist() == other.tolist()


def test_a_mask_is_read_back_from_its_blocks():
    for library, flex in ((autokit, ours), (torch, theirs)):
        counts, indices = library.tensor([[[1, 2]]]).int(), library.tensor([[[[1, 0], [0, 1]]]]).int()
        mask = flex.BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=4, compute_q_blocks=False)
        assert mask.q_indices is None and mask.shape == (1, 1, 8, 8) and mask.sparsity() == 25
        assert mask.to_dense().tolist() == [[[[0, 1], [1, 1]]]]


def _calls() -> list[Any]:
    causal = MASKS["causal"]

    def mask(T: Any, f: Any, *sizes: int) -> Any:
        return f.create_block_mask(causal(T), *sizes, device="cpu", BLOCK_SIZE=2)

    return [
        lambda T, f, x: f.flex_attention(x[0], x[0], x[0]),
        lambda T, f, x: f.flex_attention(x[0, 0, 0], x[0, 0], x[0, 0]),
        lambda T, f, x: f.flex_attention(x, x[..., :2], x),
        lambda T, f, x: f.flex_attention(x, x[:, :2], x[:, :2]),
        lambda T, f, x: f.flex_attention(x, x[:, :3], x[:, :3], enable_gqa=True),
        lambda T, f, x: f.flex_attention(x, x[:1], x[:1]),
        lambda T, f, x: f.flex_attention(x, x[:1], x[:1], block_mask=mask(T, f, 1, 1, 6, 6)),
        lambda T, f, x: f.flex_attention(x[:1], x, x, block_mask=mask(T, f, 1, 1, 6, 6)),
        lambda T, f, x: f.flex_attention(x, x, x, block_mask=mask(T, f, 1, 1, 4, 6)),
        lambda T, f, x: f.flex_attention(x, x, x, block_mask=mask(T, f, 1, 1, 8, 8)),
        lambda T, f, x: f.flex_attention(x, x, x, block_mask=mask(T, f, 1, 1, 6, 6)[0]),
        lambda T, f, x: f.flex_attention(x, x, x, return_lse=True, return_aux=f.AuxRequest(lse=True)),
        lambda T, f, x: f.flex_attention(x, x, x, kernel_options={"BACKEND": "slow"}),
        lambda T, f, x: f.flex_attention(
            x, x, x, kernel_options={"BACKEND": "AUTO", "FORCE_USE_FLEX_ATTENTION": True}
        ),
        lambda T, f, x: f.create_block_mask(SCORES["relative"](T), 1, 1, 4, 4, device="cpu"),
        lambda T, f, x: f.create_block_mask(lambda q, kv: q > kv, 1, 1, 4, 4, device="cpu"),
        lambda T, f, x: f.create_block_mask(lambda b, h, q, kv: q - kv, 1, 1, 4, 4, device="cpu"),
        lambda T, f, x: f.create_block_mask(lambda b, h, q, kv: True, 1, 1, 4, 4, device="cpu"),
        lambda T, f, x: f.create_block_mask(lambda b, h, q, kv: q if q > 1 else kv, 1, 1, 4, 4, device="cpu"),
        lambda T, f, x: f.or_masks(1),
        lambda T, f, x: f.and_masks(f.noop_mask, None),
        lambda T, f, x: f.BlockMask.from_kv_blocks(T.tensor([1]), T.tensor([1])),
        lambda T, f, x: f.BlockMask.from_kv_blocks(T.ones(1, 1), T.ones(1, 1, 1), T.ones(1, 1)),
        lambda T, f, x: mask(T, f, 1, 1, 4, 4)[0].mask_mod(*T.arange(4)),
    ]


@pytest.mark.parametrize("number", range(len(_calls())))
def test_mistakes_raise_as_in_pytorch(number: int):
    call = _calls()[number]
    with pytest.raises(Exception) as expected:
        call(torch, theirs, torch.ones(2, 4, 6, 3))
    with pytest.raises(expected.type):
        call(autokit, ours, autokit.ones(2, 4, 6, 3))


def test_what_else_is_returned_is_what_is_asked_for():
    query, key, value = tensors(autokit, *SAME)
    blocks = ours.create_block_mask(MASKS["rows without keys"](autokit), None, None, 6, 6)
    out, more = ours.flex_attention(
        query, key, value, block_mask=blocks, return_aux=ours.AuxRequest(max_scores=True)
    )
    assert more.lse is None and out.shape == query.shape
    scores = query @ key.mT / math.sqrt(3)
    scores[..., autokit.ones(6, 6).triu().bool()] = -math.inf
    assert autokit.allclose(more.max_scores, scores.amax(-1))
    _, more = ours.flex_attention(query, key, value, block_mask=blocks, return_aux=ours.AuxRequest(lse=True))
    assert autokit.allclose(more.lse, scores.logsumexp(-1)) and more.max_scores is None


@pytest.mark.parametrize("mask", ["none", "causal", "rows without keys", "a head"])
def test_gradients_are_those_of_attention_written_out(mask: str):
    """Also of what the function of the scores uses, and zeros for a query that may look nowhere."""
    grads = []
    for library in (autokit, torch):
        query, key, value, table = tensors(library, *GROUPED, TABLE, dtype="float64")
        leaves = [each.requires_grad_() for each in (query, key, value, table)]
        allowed = MASKS[mask](library)
        if library is autokit:
            blocks = allowed and ours.create_block_mask(allowed, 2, 4, 6, 8, device="cpu")
            bias = lambda s, b, h, q, kv, table=table: s + table[h, q, kv]  # noqa: E731
            out = ours.flex_attention(query, key, value, bias, blocks, enable_gqa=True)
        else:
            places = torch.ones(2, 4, 6, 8, dtype=torch.bool)
            if allowed is not None:
                places = theirs.create_mask(allowed, 2, 4, 6, 8, device="cpu")
            added = torch.where(places, table[:, :6], -math.inf)
            out = torch.nn.functional.scaled_dot_product_attention(
                query, key.repeat_interleave(2, 1), value.repeat_interleave(2, 1), added
            )
            out = torch.where(places.any(-1, keepdim=True), out, 0)
        first = library.autograd.grad((out**2).sum(), leaves, create_graph=True)
        second = library.autograd.grad(sum((g**2).sum() for g in first), leaves)
        grads.append([out, *first, *second])
    for mine, other in zip(*grads):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), 1e-7, 1e-7)


def test_half_precision_and_a_batch_of_one_key():
    made = []
    for library, flex in ((autokit, ours), (torch, theirs)):
        query, key, value = tensors(library, *SAME, dtype="float16")
        blocks = flex.create_block_mask(flex.noop_mask, 2, 1, 6, 6, device="cpu")
        made.append(flex.flex_attention(query, key[:1], value[:1].float(), block_mask=blocks))
    assert str(made[0].dtype) == str(made[1].dtype) == "torch.float16"
    np.testing.assert_allclose(made[0].numpy(), made[1].numpy(), 2e-3, 2e-3)


@pytest.mark.parametrize("sizes", [(2, 2), (2, 4), (4, 2)])
@pytest.mark.parametrize("name", ["causal_upper_left", "causal_lower_right"])
def test_causal_biases_are_pytorchs(name: str, sizes: tuple[int, int]):
    made = []
    for library in (autokit, torch):
        query, key, value = tensors(
            library, *[array[..., :n, :] for array, n in zip(SAME, (sizes[0], *sizes[1:] * 2))]
        )
        bias = getattr(library.nn.attention.bias, name)(*sizes)
        assert isinstance(bias, library.nn.attention.bias.CausalBias) and bias.seq_len_kv == sizes[1]
        attend = library.nn.functional.scaled_dot_product_attention
        made.append((attend(query, key, value, bias), repr(bias), bias.variant.name))
        with pytest.raises(ValueError, match="causal"):
            attend(query, key, value, bias, is_causal=True)
        with pytest.raises(AssertionError):
            getattr(library.nn.attention.bias, name)(2)
    same(made[0][0], made[1][0])
    assert made[0][1:] == made[1][1:]
