"""Attention layers and transformers beside PyTorch's."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import assert_alike, assert_close, twins
from tests.support import require

ATTENTION = [
    "8, 2", "8, 2, bias=False", "8, 2, add_bias_kv=True", "8, 2, add_zero_attn=True", "8, 4, dropout=0.3",
    "8, 2, batch_first=True", "8, 2, kdim=8, vdim=8", "8, 1, batch_first=True, add_bias_kv=True",
]  # fmt: skip


@pytest.mark.parametrize("settings", ATTENTION)
def test_attention(settings: str):
    require("torch")
    assert_alike(
        lambda torch: eval(f"torch.nn.MultiheadAttention({settings})", {"torch": torch}),
        lambda torch: (torch.randn(3, 5, 8),) * 3,
    )


def test_attention_of_three_widths_and_with_masks():
    require("torch")

    def inputs(torch: Any) -> Any:
        padding = torch.tensor([[False, False, True, False]] * 3)
        return (
            torch.randn(5, 3, 8), torch.randn(4, 3, 6), torch.randn(4, 3, 7), padding, True,
            torch.ones(5, 4).triu(1).bool(), False,
        )  # fmt: skip

    assert_alike(lambda torch: torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=7), inputs)


def test_attention_of_one_sample():
    require("torch")
    assert_alike(
        lambda torch: torch.nn.MultiheadAttention(8, 2, batch_first=True),
        lambda torch: (torch.randn(5, 8),) * 3,
    )


LAYER = [
    "8, 2, 16", "8, 2, 16, dropout=0.0, activation='gelu'", "8, 2, 16, batch_first=True, norm_first=True",
    "8, 2, 16, bias=False", "8, 2, 16, 0.2, torch.nn.GELU(), 1e-3", "8, 2, 16, activation=torch.tanh",
]  # fmt: skip


@pytest.mark.parametrize("settings", LAYER)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_layers_and_their_stacks(settings: str):
    require("torch")

    def layer(torch: Any, kind: str) -> Any:
        return eval(f"torch.nn.Transformer{kind}Layer({settings})", {"torch": torch})

    assert_alike(lambda torch: layer(torch, "Encoder"), lambda torch: (torch.randn(3, 4, 8),))
    assert_alike(
        lambda torch: layer(torch, "Decoder"), lambda torch: (torch.randn(3, 4, 8), torch.randn(3, 4, 8))
    )
    assert_alike(
        lambda torch: torch.nn.TransformerEncoder(layer(torch, "Encoder"), 2, torch.nn.LayerNorm(8)),
        lambda torch: (torch.randn(3, 4, 8), torch.nn.Transformer.generate_square_subsequent_mask(
            4 if "batch_first" in settings else 3).bool()),
    )  # fmt: skip
    if "GELU()" in settings:
        return  # PyTorch's copies of a decoder layer forget an activation that is a module, and take ReLU
    assert_alike(
        lambda torch: torch.nn.TransformerDecoder(layer(torch, "Decoder"), 2),
        lambda torch: (torch.randn(3, 4, 8), torch.randn(3, 4, 8)),
    )


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformer(batch_first: bool):
    require("torch")
    import torch

    outputs = []
    settings = {"dropout": 0.0, "batch_first": batch_first, "bias": batch_first}
    pair = twins(lambda torch: torch.nn.Transformer(8, 2, 2, 2, 16, **settings))
    assert repr(pair[0]) == repr(pair[1])
    for library, model in zip((ak, torch), pair):
        library.manual_seed(1)
        source, target = (library.randn(3, 4, 8) if batch_first else library.randn(4, 3, 8) for _ in range(2))
        ahead = model.generate_square_subsequent_mask(4)
        # Each mask hides something that no other one hides.
        second, third = (library.arange(4).expand(3, 4) == place for place in (1, 2))
        out = model(
            source, target, src_mask=ahead.bool(), tgt_mask=ahead.bool(), tgt_is_causal=True,
            src_key_padding_mask=second, memory_key_padding_mask=third, tgt_key_padding_mask=second,
            memory_mask=ahead.bool(),
        )  # fmt: skip
        out.pow(2).sum().backward()
        outputs.append([out, *[parameter.grad for parameter in model.parameters()]])
    for place, (our, their) in enumerate(zip(*outputs, strict=True)):
        assert_close(our, their, str(place), 1e-3, 1e-5)


@pytest.mark.parametrize("wrong", [
    "MultiheadAttention(0, 1)", "MultiheadAttention(8, 3)", "MultiheadAttention(8, 0)",
    "TransformerEncoderLayer(8, 2, activation='tanh')", "TransformerEncoderLayer(8, 3)",
    "Transformer(8, 2, 1, 1, 8)(torch.ones(2, 3, 8), torch.ones(2, 4, 8))",
    "Transformer(8, 2, 1, 1, 8)(torch.ones(2, 3, 6), torch.ones(2, 3, 8))",
    "Transformer(8, 2, 1, 1, 8, batch_first=True)(torch.ones(3, 2, 8), torch.ones(4, 2, 8))",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_wrong_settings_and_inputs(wrong: str):
    require("torch")
    import torch

    with pytest.raises(Exception) as theirs:
        eval(f"torch.nn.{wrong}", {"torch": torch})
    with pytest.raises(type(theirs.value)):
        eval(f"torch.nn.{wrong}", {"torch": ak})


def test_an_error_inside_names_the_innermost_layer():
    model = nn.Sequential(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2))
    model[0].layers[1].linear2 = nn.Linear(15, 8)
    with pytest.raises(RuntimeError) as error:
        model(ak.ones(3, 4, 8))
    assert "[in 0.layers.1.linear2: Linear(in_features=15" in str(error.value)


def test_a_layer_can_be_pickled_with_its_activation():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    x = ak.randn(2, 3, 4)
    again = pickle.loads(pickle.dumps(layer))
    assert again.activation is layer.activation
    assert again(x).tolist() == layer(x).tolist()
