"""Attention in several heads, and transformers, beside PyTorch's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import assert_alike, assert_both, assert_same_error

L, S, N, E, HEADS = 3, 4, 2, 6, 2
BANNED = np.array([[False, True, False, False], [False, False, True, True], [False] * 4])
PADDED = np.array([[False, False, True, False], [True, False, False, False]])
FLOATS = np.random.RandomState(3).randn(N * HEADS, L, S)
CAUSAL = np.triu(np.ones((L, S), bool), 1)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no weights": {"need_weights": False},
    "weights of each head": {"average_attn_weights": False},
    "mask": {"attn_mask": BANNED},
    "mask of numbers": {"attn_mask": BANNED * 0.7},
    "mask of heads": {"attn_mask": FLOATS},
    "padding": {"key_padding_mask": PADDED},
    "both": {"key_padding_mask": PADDED, "attn_mask": BANNED},
    "one more": {"bias": True, "attn_mask": BANNED, "key_padding_mask": PADDED},
    "one of zeros": {"add_zero_attn": True, "attn_mask": BANNED, "key_padding_mask": PADDED},
    "apart": {"apart": True},
    "causal": {"is_causal": True, "attn_mask": CAUSAL},
    "causal, no weights": {"is_causal": True, "need_weights": False, "attn_mask": CAUSAL},
    "self": {"itself": True},
    "no bias": {"no_bias": True},
}


def attend(torch: Any, options: dict[str, Any], batched: bool = True) -> list[Any]:
    random = np.random.RandomState(0)
    leaves: list[Any] = []

    def leaf(*shape: int) -> Any:
        leaves.append(torch.tensor(random.randn(*shape), requires_grad=True))
        return leaves[-1]

    given = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    samples = (N,) if batched else ()
    query = leaf(L, *samples, E)
    if given.pop("itself", False):
        key = value = query
    elif given.pop("apart", False):
        key, value = leaf(S, *samples, 5), leaf(S, *samples, 3)
        given["use_separate_proj_weight"] = True
        for name, size in (("q", E), ("k", 5), ("v", 3)):
            given[f"{name}_proj_weight"] = leaf(E, size)
    else:
        key, value = leaf(S, *samples, E), leaf(S, *samples, E)
    more = (leaf(1, 1, E), leaf(1, 1, E)) if given.pop("bias", False) else (None, None)
    in_bias, out_bias = (None, None) if given.pop("no_bias", False) else (leaf(3 * E), leaf(E))
    together = None if "use_separate_proj_weight" in given else leaf(3 * E, E)
    zero = given.pop("add_zero_attn", False)
    out, weights = torch.nn.functional.multi_head_attention_forward(
        query, key, value, E, HEADS, together, in_bias, *more, zero, 0.0, leaf(E, E), out_bias, **given
    )
    end = (out * out).sum()
    if weights is not None:
        end = end + (weights * torch.tensor(random.randn(*weights.shape))).sum()
    end.backward()
    return [out, *([] if weights is None else [weights]), *[each.grad for each in leaves]]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_multi_head_attention(options: dict[str, Any]):
    assert_both(lambda torch, _: attend(torch, options))


@pytest.mark.parametrize(
    "options", [{}, {"need_weights": False}, {"attn_mask": BANNED, "key_padding_mask": PADDED[0]}]
)
def test_multi_head_attention_of_one_sample(options: dict[str, Any]):
    assert_both(lambda torch, _: attend(torch, options, batched=False))


ATTENTION = [
    "8, 2", "8, 2, bias=False", "8, 2, add_bias_kv=True", "8, 2, add_zero_attn=True", "8, 4, dropout=0.3",
    "8, 2, batch_first=True", "8, 2, kdim=8, vdim=8", "8, 1, batch_first=True, add_bias_kv=True",
]  # fmt: skip


@pytest.mark.parametrize("settings", ATTENTION)
def test_attention(settings: str):
    assert_alike(f"nn.MultiheadAttention({settings})", lambda torch: (torch.randn(3, 5, 8),) * 3)


def test_attention_of_three_widths_and_with_masks():
    def inputs(torch: Any) -> Any:
        padding = torch.tensor([[False, False, True, False]] * 3)
        return (
            torch.randn(5, 3, 8), torch.randn(4, 3, 6), torch.randn(4, 3, 7), padding, True,
            torch.ones(5, 4).triu(1).bool(), False,
        )  # fmt: skip

    assert_alike("nn.MultiheadAttention(8, 2, kdim=6, vdim=7)", inputs)
    assert_alike("nn.MultiheadAttention(8, 2, batch_first=True)", lambda torch: (torch.randn(5, 8),) * 3)


LAYER = [
    "8, 2, 16", "8, 2, 16, dropout=0.0, activation='gelu'", "8, 2, 16, batch_first=True, norm_first=True",
    "8, 2, 16, bias=False", "8, 2, 16, 0.2, nn.GELU(), 1e-3", "8, 2, 16, activation=torch.tanh",
]  # fmt: skip


@pytest.mark.parametrize("settings", LAYER)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_layers_and_their_stacks(settings: str):
    encoder, decoder = (f"nn.Transformer{kind}Layer({settings})" for kind in ("Encoder", "Decoder"))
    times = 4 if "batch_first" in settings else 3

    def one(torch: Any) -> Any:
        return (torch.randn(3, 4, 8),)

    def two(torch: Any) -> Any:
        return torch.randn(3, 4, 8), torch.randn(3, 4, 8)

    def masked(torch: Any) -> Any:
        return torch.randn(3, 4, 8), torch.nn.Transformer.generate_square_subsequent_mask(times).bool()

    assert_alike(encoder, one)
    assert_alike(decoder, two)
    assert_alike(f"nn.TransformerEncoder({encoder}, 2, nn.LayerNorm(8))", masked)
    if "GELU()" not in settings:  # PyTorch's copies of a decoder layer forget an activation that is a module
        assert_alike(f"nn.TransformerDecoder({decoder}, 2)", two)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformer(batch_first: bool):
    def run(torch: Any, model: Any) -> Any:
        torch.manual_seed(1)
        source, target = (torch.randn(3, 4, 8) if batch_first else torch.randn(4, 3, 8) for _ in range(2))
        ahead = model.generate_square_subsequent_mask(4)
        # Each mask hides something that no other one hides.
        second, third = (torch.arange(4).expand(3, 4) == place for place in (1, 2))
        out = model(
            source, target, src_mask=ahead.bool(), tgt_mask=ahead.bool(), tgt_is_causal=True,
            src_key_padding_mask=second, memory_key_padding_mask=third, tgt_key_padding_mask=second,
            memory_mask=ahead.bool(),
        )  # fmt: skip
        out.pow(2).sum().backward()
        return [out, *[parameter.grad for parameter in model.parameters()]]

    settings = f"dropout=0.0, batch_first={batch_first}, bias={batch_first}"
    assert_both(run, f"nn.Transformer(8, 2, 2, 2, 16, {settings})", 1e-3)


@pytest.mark.parametrize("wrong", [
    "nn.MultiheadAttention(0, 1)", "nn.MultiheadAttention(8, 3)", "nn.MultiheadAttention(8, 0)",
    "nn.TransformerEncoderLayer(8, 2, activation='tanh')", "nn.TransformerEncoderLayer(8, 3)",
    "nn.Transformer(8, 2, 1, 1, 8)(torch.ones(2, 3, 8), torch.ones(2, 4, 8))",
    "nn.Transformer(8, 2, 1, 1, 8)(torch.ones(2, 3, 6), torch.ones(2, 3, 8))",
    "nn.Transformer(8, 2, 1, 1, 8, batch_first=True)(torch.ones(3, 2, 8), torch.ones(4, 2, 8))",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_wrong_settings_and_inputs(wrong: str):
    assert_same_error(wrong)


def test_an_error_inside_names_the_innermost_layer():
    model = nn.Sequential(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2))
    model[0].layers[1].linear2 = nn.Linear(15, 8)
    with pytest.raises(RuntimeError) as error:
        model(ak.ones(3, 4, 8))
    assert "[in 0.layers.1.linear2: Linear(in_features=15" in str(error.value)


def test_a_layer_can_be_pickled_with_its_activation():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    x = ak.randn(2, 3, 4)
    assert pickle.loads(pickle.dumps(layer))(x).tolist() == layer(x).tolist()


@pytest.mark.parametrize("wrong", [
    "attn_mask=torch.ones(2, 2) > 2", "attn_mask=torch.ones(2, 3, 3) > 2",
    "key_padding_mask=torch.ones(1, 3) > 2", "key_padding_mask=torch.ones(2, 5) > 2", "is_causal=True",
])  # fmt: skip
def test_a_mask_of_a_wrong_shape_is_refused_though_it_would_broadcast(wrong: str):
    assert_same_error(f"(lambda x: nn.MultiheadAttention(6, 2)(x, x, x, {wrong}))(torch.ones(3, 2, 6))")
