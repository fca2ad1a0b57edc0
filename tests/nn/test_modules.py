"""Every layer beside PyTorch's: text, first state, outputs, state after, gradients."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import assert_alike
from tests.support import require


def randn(*shapes: tuple[int, ...]) -> Any:
    return lambda torch: tuple(torch.randn(*shape) for shape in shapes)


IMAGE, SIGNAL, VOLUME = (2, 4, 6, 5), (2, 4, 9), (2, 4, 5, 4, 6)
LAYERS = {
    # linear
    "Linear(3, 2)": (4, 3), "Linear(3, 2, bias=False)": (2, 4, 3), "Linear(64, 32)": (4, 64),
    "Linear(3, 2, dtype=torch.float32)": (3,), "Identity()": (2, 3), "Flatten()": (2, 3, 4),
    "Flatten(0, 1)": (2, 3, 4), "Unflatten(1, (2, 3))": (2, 6), "Unflatten(-1, [2, -1])": (3, 6),
    # activations
    "ReLU()": (3, 4), "ReLU(inplace=True)": (3, 4), "ReLU6()": (3, 4), "ReLU6(inplace=True)": (3, 4),
    "LeakyReLU()": (3, 4), "LeakyReLU(0.2, inplace=True)": (3, 4), "PReLU()": (3, 4), "PReLU(4, 0.1)": (3, 4),
    "RReLU(0.1, 0.3)": (3, 4), "RReLU(inplace=True)": (3, 4), "RReLU().eval()": (3, 4),
    "ELU(0.5)": (3, 4), "ELU(inplace=True)": (3, 4), "CELU(0.7)": (3, 4), "CELU(0.7, True)": (3, 4),
    "SELU()": (3, 4), "SELU(inplace=True)": (3, 4), "GELU()": (3, 4), "GELU('tanh')": (3, 4),
    "SiLU()": (3, 4), "SiLU(True)": (3, 4), "Mish()": (3, 4), "Mish(True)": (3, 4), "Softplus()": (3, 4),
    "Softplus(2, 1)": (3, 4), "Softsign()": (3, 4), "Tanh()": (3, 4), "Sigmoid()": (3, 4),
    "LogSigmoid()": (3, 4), "Tanhshrink()": (3, 4), "Hardtanh()": (3, 4), "Hardtanh(-2, 0.5, True)": (3, 4),
    "Hardsigmoid()": (3, 4), "Hardsigmoid(True)": (3, 4), "Hardswish()": (3, 4), "Hardswish(True)": (3, 4),
    "Hardshrink()": (3, 4), "Hardshrink(0.2)": (3, 4), "Softshrink()": (3, 4), "Softshrink(1)": (3, 4),
    "Threshold(0.1, 20)": (3, 4), "Threshold(0.1, 20, inplace=True)": (3, 4), "GLU()": (3, 4),
    "GLU(0)": (4, 3),
    "Softmax(dim=1)": (3, 4), "Softmax(-1)": (2, 3, 4), "LogSoftmax(dim=0)": (3, 4), "Softmin(1)": (3, 4),
    "Softmax2d()": IMAGE,
    # dropout
    "Dropout()": (5, 6), "Dropout(0.2)": (5, 6), "Dropout(0.0)": (5, 6), "Dropout(1.0)": (5, 6),
    "Dropout(inplace=True)": (5, 6), "Dropout().eval()": (5, 6), "Dropout1d()": SIGNAL,
    "Dropout2d(0.4)": IMAGE, "Dropout3d()": VOLUME, "AlphaDropout()": (5, 6), "AlphaDropout(0.2)": (5, 6),
    "FeatureAlphaDropout()": IMAGE,
    # convolutions
    "Conv1d(4, 6, 3)": SIGNAL, "Conv1d(4, 6, 3, stride=2, padding=1, groups=2)": (4, 9),
    "Conv1d(4, 2, 3, padding='same', padding_mode='circular')": SIGNAL,
    "Conv1d(4, 2, 4, dilation=2, padding='same', padding_mode='reflect')": SIGNAL,
    "Conv2d(4, 6, 3)": IMAGE, "Conv2d(4, 6, (3, 2), (2, 1), (1, 0), bias=False)": IMAGE,
    "Conv2d(4, 4, 3, padding='same', groups=4)": IMAGE, "Conv2d(4, 4, 3, padding='valid', dilation=2)": IMAGE,
    "Conv2d(4, 2, 3, padding=1, padding_mode='reflect')": IMAGE,
    "Conv2d(4, 2, 3, padding=(2, 1), padding_mode='replicate')": (4, 6, 5),
    "Conv2d(4, 2, 3, padding='valid', padding_mode='replicate')": IMAGE,
    "Conv3d(4, 2, 3, padding=1)": VOLUME, "Conv3d(4, 2, (1, 2, 3), padding=(0, 1, 2), stride=2)": VOLUME,
    "ConvTranspose1d(4, 6, 3, stride=2, output_padding=1)": SIGNAL, "ConvTranspose1d(4, 6, 3)": (4, 9),
    "ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2)": IMAGE, "ConvTranspose2d(4, 2, 2, 2, bias=False)": IMAGE,
    "ConvTranspose2d(4, 2, (3, 2), dilation=2)": IMAGE, "ConvTranspose3d(4, 2, 2, stride=2)": VOLUME,
    # pooling
    "MaxPool1d(3)": SIGNAL, "MaxPool1d(3, 2, 1, return_indices=True)": SIGNAL, "MaxPool2d(2)": IMAGE,
    "MaxPool2d((3, 2), (2, 1), (1, 0))": IMAGE, "MaxPool2d(2, ceil_mode=True)": IMAGE,
    "MaxPool2d(2, dilation=2, stride=1)": (4, 6, 5), "MaxPool3d(2)": VOLUME,
    "MaxPool2d(2, return_indices=True)": IMAGE,
    "AvgPool1d(3)": SIGNAL, "AvgPool1d(3, 2, 1, count_include_pad=False)": SIGNAL, "AvgPool2d(2)": IMAGE,
    "AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)": IMAGE,
    "AvgPool2d(2, divisor_override=3)": IMAGE, "AvgPool3d(2, 1)": VOLUME, "LPPool1d(2, 3)": SIGNAL,
    "LPPool2d(1.5, (2, 3), stride=2)": (2, 4, 6, 6), "LPPool3d(2, 2)": VOLUME,
    "AdaptiveAvgPool1d(4)": SIGNAL, "AdaptiveAvgPool2d(1)": IMAGE, "AdaptiveAvgPool2d((None, 3))": IMAGE,
    "AdaptiveAvgPool3d(2)": VOLUME, "AdaptiveMaxPool1d(4)": SIGNAL, "AdaptiveMaxPool2d((2, 3))": IMAGE,
    "AdaptiveMaxPool2d(2, return_indices=True)": IMAGE, "AdaptiveMaxPool3d(2)": VOLUME,
    "FractionalMaxPool2d(2, output_size=(3, 4))": IMAGE, "FractionalMaxPool2d((3, 1), 2, None, True)": IMAGE,
    "FractionalMaxPool2d(2, output_size=(0, 2))": IMAGE,
    "FractionalMaxPool2d(2, output_ratio=0.7)": (4, 6, 5), "FractionalMaxPool2d(2, output_size=1)": IMAGE,
    "FractionalMaxPool3d(2, output_ratio=(0.5, 0.5, 0.6))": VOLUME,
    "FractionalMaxPool3d((1, 2, 3), output_size=(3, 2, 3), return_indices=True)": VOLUME,
    # padding
    "ZeroPad1d(2)": SIGNAL, "ZeroPad2d((1, 0, 2, 3))": IMAGE, "ZeroPad3d(1)": VOLUME,
    "ConstantPad1d(1, 3.5)": SIGNAL,
    "ConstantPad2d((-1, 1, 0, 2), 7)": IMAGE, "ConstantPad3d(1, 0.5)": VOLUME, "ReflectionPad1d(2)": SIGNAL,
    "ReflectionPad2d((1, 0, 2, 3))": IMAGE, "ReflectionPad3d(1)": VOLUME, "ReplicationPad1d((1, 2))": SIGNAL,
    "ReplicationPad2d(2)": IMAGE, "ReplicationPad3d(1)": VOLUME, "CircularPad1d(2)": SIGNAL,
    "CircularPad2d((1, 0, 2, 3))": IMAGE, "CircularPad3d(1)": VOLUME,
    # normalization
    "BatchNorm1d(4)": (6, 4), "BatchNorm1d(4, momentum=None)": SIGNAL, "BatchNorm1d(4).eval()": (6, 4),
    "BatchNorm1d(4, track_running_stats=False).eval()": (6, 4), "BatchNorm2d(4)": IMAGE,
    "BatchNorm2d(4, affine=False, eps=1e-3, momentum=0.3)": IMAGE,
    "BatchNorm2d(4, track_running_stats=False)": IMAGE,
    "BatchNorm2d(4, bias=False)": IMAGE, "BatchNorm3d(4)": VOLUME,
    "InstanceNorm1d(4)": SIGNAL, "InstanceNorm1d(4, affine=True)": (4, 9),
    "InstanceNorm2d(4, affine=True, track_running_stats=True)": IMAGE,
    "InstanceNorm2d(4, track_running_stats=True).eval()": IMAGE, "InstanceNorm3d(4)": VOLUME,
    "LayerNorm(5)": (2, 3, 5), "LayerNorm([3, 5])": (2, 3, 5), "LayerNorm((3, 5), bias=False)": (2, 3, 5),
    "LayerNorm(5, elementwise_affine=False, eps=1e-3)": (2, 3, 5), "GroupNorm(2, 4)": IMAGE,
    "GroupNorm(1, 4, affine=False)": IMAGE, "GroupNorm(4, 4, bias=False)": SIGNAL, "RMSNorm(5)": (2, 3, 5),
    "RMSNorm((3, 5), eps=1e-5)": (2, 3, 5), "RMSNorm(5, elementwise_affine=False)": (2, 3, 5),
    "LocalResponseNorm(3)": IMAGE, "LocalResponseNorm(2, 0.1, 0.5, 2.0)": IMAGE,
    # other sizes and orders
    "Upsample(scale_factor=2)": IMAGE, "Upsample((3, 7), mode='bilinear')": IMAGE,
    "Upsample(scale_factor=(2, 1.5), mode='bicubic', align_corners=True)": IMAGE,
    "Upsample(5, mode='linear')": SIGNAL, "UpsamplingNearest2d(scale_factor=2)": IMAGE,
    "UpsamplingBilinear2d(size=(7, 7))": IMAGE, "PixelShuffle(2)": IMAGE, "PixelUnshuffle(2)": (2, 1, 4, 6),
    "ChannelShuffle(2)": IMAGE, "Unfold((2, 3), padding=1)": IMAGE, "Fold((4, 5), (2, 2))": (2, 8, 12),
}  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_of_one_input(layer: str):
    require("torch")
    assert_alike(lambda torch: eval(f"torch.nn.{layer}", {"torch": torch}), randn(LAYERS[layer]))


PAIRS = {
    "Bilinear(3, 4, 2)": ((5, 3), (5, 4)), "Bilinear(3, 4, 2, bias=False)": ((2, 5, 3), (2, 5, 4)),
    "CosineSimilarity()": ((3, 4), (3, 4)), "CosineSimilarity(dim=0)": ((3, 4), (3, 4)),
    "PairwiseDistance()": ((3, 4), (3, 4)), "PairwiseDistance(1, keepdim=True)": ((3, 4), (3, 4)),
    "MSELoss()": ((3, 4), (3, 4)), "MSELoss(reduction='sum')": ((3, 4), (3, 4)), "L1Loss()": ((3, 4), (3, 4)),
    "SmoothL1Loss(beta=0.5)": ((3, 4), (3, 4)), "HuberLoss('sum', 0.5)": ((3, 4), (3, 4)),
    "KLDivLoss(reduction='batchmean', log_target=True)": ((3, 4), (3, 4)),
    "PoissonNLLLoss(full=True)": ((3, 4), (3, 4)), "SoftMarginLoss()": ((5,), "signs"),
    "BCEWithLogitsLoss()": ((3, 4), (3, 4)),
    "BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))": ((3, 4), (3, 4)),
    "MultiLabelSoftMarginLoss(torch.ones(4) / 3)": ((3, 4), (3, 4)),
    "GaussianNLLLoss()": ((3, 4), (3, 4), "positive"),
    "CrossEntropyLoss()": ((3, 4), (3, 4)),
    "CrossEntropyLoss(torch.arange(4.0), label_smoothing=0.1)": ((5, 4), "classes"),
    "CrossEntropyLoss(ignore_index=1, reduction='none')": ((5, 4), "classes"),
    "NLLLoss(torch.arange(4.0))": ((5, 4), "classes"), "MultiMarginLoss(2, 0.5)": ((5, 4), "classes"),
    "BCELoss()": ("probabilities", "probabilities"), "HingeEmbeddingLoss(0.5)": ((5,), "signs"),
    "MarginRankingLoss(0.1)": ((5,), (5,), "signs"), "CosineEmbeddingLoss(0.1)": ((5, 4), (5, 4), "signs"),
    "TripletMarginLoss(2.0, swap=True)": ((5, 4), (5, 4), (5, 4)),
    "TripletMarginWithDistanceLoss(margin=2.0)": ((5, 4), (5, 4), (5, 4)),
    "MultiLabelMarginLoss()": ((5, 4), "sets"),
}  # fmt: skip


def made(torch: Any, what: Any) -> Any:
    """The input that a word or a shape stands for."""
    return {
        "classes": lambda: torch.tensor([0, 3, 1, 2, 3]),
        "signs": lambda: torch.tensor([1, -1, 1, 1, -1]),
        "sets": lambda: torch.tensor([[0, -1, 2, 3], [1, 2, -1, 0], [3, 2, 1, 0], [-1, 0, 0, 0],
                                      [2, 3, -1, 1]]),
        "positive": lambda: torch.rand(3, 4) + 0.1,
        "probabilities": lambda: torch.rand(3, 4),
    }.get(what, lambda: torch.randn(*what))()  # fmt: skip


@pytest.mark.parametrize("layer", PAIRS)
def test_layers_and_losses_of_several_inputs(layer: str):
    require("torch")
    assert_alike(
        lambda torch: eval(f"torch.nn.{layer}", {"torch": torch}),
        lambda torch: tuple(made(torch, what) for what in PAIRS[layer]),
    )


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_unpooling_puts_back_what_pooling_took(ndim: int):
    require("torch")

    def build(torch: Any) -> Any:
        return getattr(torch.nn, f"MaxUnpool{ndim}d")(2)

    def inputs(torch: Any) -> Any:
        pool = getattr(torch.nn, f"MaxPool{ndim}d")(2, return_indices=True)
        values, places = pool(torch.randn(2, 3, *[4] * ndim))
        return values.detach(), places

    assert_alike(build, inputs)


def test_a_transposed_convolution_chooses_between_sizes():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2)
    assert layer(ak.zeros(1, 1, 4, 4), output_size=(10, 9)).shape == (1, 1, 10, 9)
    assert layer(ak.zeros(1, 1, 4, 4), output_size=[1, 1, 9, 10]).shape == (1, 1, 9, 10)
    with pytest.raises(ValueError, match=r"valid sizes range from .9, 9. to .10, 10."):
        layer(ak.zeros(1, 1, 4, 4), output_size=(12, 9))
    with pytest.raises(ValueError, match="output_size must have 2 or 4 elements"):
        layer(ak.zeros(1, 1, 4, 4), output_size=(9,))


EMBEDDINGS = [
    "Embedding(7, 3)", "Embedding(7, 3, padding_idx=2)", "Embedding(7, 3, -1, max_norm=1.0)",
    "Embedding(7, 3, scale_grad_by_freq=True, norm_type=1.0, max_norm=2.0)",
    "Embedding.from_pretrained(torch.arange(21.0).reshape(7, 3))",
    "Embedding.from_pretrained(torch.arange(21.0).reshape(7, 3), freeze=False, padding_idx=0)",
]  # fmt: skip


@pytest.mark.parametrize("layer", EMBEDDINGS)
def test_embeddings(layer: str):
    require("torch")
    assert_alike(
        lambda torch: eval(f"torch.nn.{layer}", {"torch": torch}),
        lambda torch: (torch.tensor([[1, 2, 2], [0, 6, 2]]),),
    )


WRONG = [
    "Conv2d(4, 6, 3, groups=3)", "Conv2d(3, 6, 3, groups=0)", "Conv2d(4, 6, 3, padding='full')",
    "Conv2d(4, 6, 3, padding='same', stride=2)", "Conv2d(4, 6, 3, padding_mode='mirror')",
    "ConvTranspose2d(4, 6, 3, padding_mode='reflect')", "Dropout(1.5)", "Dropout2d(-0.1)", "GroupNorm(3, 4)",
    "Hardtanh(1, -1)", "Embedding(3, 2, padding_idx=3)", "Embedding(3, 2, _weight=torch.ones(2, 2))",
    "Embedding.from_pretrained(torch.ones(3))", "Bilinear(0, 1, 1)",
    "Unflatten(1, 3)", "Unflatten(1, (2.0, 1))", "MultiMarginLoss(3)",
    "MultiMarginLoss(weight=torch.ones(2, 2))",
    "FractionalMaxPool2d(2)", "FractionalMaxPool2d(2, 3, 0.5)", "FractionalMaxPool2d(2, output_ratio=1.5)",
    "FractionalMaxPool3d(0, 2)", "LinearCrossEntropyLoss(2, 3, weight=torch.ones(2))",
    "LinearCrossEntropyLoss(2, 3, label_smoothing=2.0)",
    "TripletMarginLoss(0)", "TripletMarginWithDistanceLoss(margin=-1)", "HuberLoss(delta='1')",
]  # fmt: skip


@pytest.mark.parametrize("layer", WRONG)
def test_wrong_settings_are_refused_in_the_same_words(layer: str):
    from tests.ops.beside import refusals

    ours, theirs = refusals(lambda T: eval(f"torch.nn.{layer}", {"torch": T}))
    assert ours.lower().split()[:3] == theirs.lower().split()[:3]


WRONG_INPUTS = {
    "Linear(3, 2)": ak.ones(4, 5), "Conv2d(3, 2, 3)": ak.ones(1, 4, 5, 5), "BatchNorm1d(3)": ak.ones(4, 5),
    "BatchNorm2d(3)": ak.ones(4, 3), "LayerNorm(3)": ak.ones(4, 5), "GroupNorm(2, 4)": ak.ones(2, 3, 2),
    "InstanceNorm2d(3, affine=True)": ak.ones(2, 4, 3, 3), "Embedding(3, 2)": ak.tensor([3]),
    "PReLU(3)": ak.ones(2, 4), "MaxPool2d(2)": ak.ones(3), "Softmax2d()": ak.ones(2, 3),
    "FractionalMaxPool2d(3, 3)": ak.ones(1, 4, 4), "FractionalMaxPool3d(2, 2)": ak.ones(1, 2, 2, 4),
    "ReflectionPad2d(4)": ak.ones(1, 3, 3), "PixelShuffle(2)": ak.ones(1, 3, 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("layer", WRONG_INPUTS)
def test_wrong_input_names_the_layer_by_its_path(layer: str):
    require("torch")
    import torch

    input = WRONG_INPUTS[layer]
    theirs = eval(f"torch.nn.{layer}")
    with pytest.raises(Exception) as their_error:
        theirs(torch.from_numpy(input.numpy()))
    ours = nn.Sequential(nn.Identity(), nn.Sequential(eval(f"nn.{layer}")))
    with pytest.raises(type(their_error.value)) as error:
        ours(input)
    assert str(error.value).endswith(f"[in 1.0: {ours[1][0]}]")
    assert str(error.value).count("[in ") == 1


def test_an_error_in_a_learners_own_module_is_left_alone():
    class Mine(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("mine")

    with pytest.raises(ValueError) as error:
        nn.Sequential(Mine())(ak.ones(1))
    assert str(error.value) == "mine"


def test_a_batch_of_one_cannot_be_normalized():
    with pytest.raises(ValueError, match=r"more than 1 value per channel.*in 0: BatchNorm1d"):
        nn.Sequential(nn.BatchNorm1d(3))(ak.ones(1, 3))
