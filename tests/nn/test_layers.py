"""Every layer and every loss beside PyTorch's: text, first state, outputs, state after, gradients."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.nn.twins import assert_alike, assert_both, assert_same_error, pytorch

IMAGE, SIGNAL, VOLUME = (2, 4, 6, 5), (2, 4, 9), (2, 4, 5, 4, 6)
LAYERS = {
    # linear
    "Linear(3, 2)": (4, 3), "Linear(3, 2, bias=False)": (2, 4, 3), "Linear(64, 32)": (4, 64),
    "Linear(3, 2, dtype=torch.float32)": (3,), "Identity()": (2, 3), "Flatten()": (2, 3, 4),
    "Flatten(0, 1)": (2, 3, 4), "Unflatten(1, (2, 3))": (2, 6), "Unflatten(-1, [2, -1])": (3, 6),
    # activations
    "ReLU()": (3, 4), "ReLU(inplace=True)": (3, 4), "ReLU6()": (3, 4), "ReLU6(inplace=True)": (3, 4),
    "LeakyReLU()": (3, 4), "LeakyReLU(0.2, inplace=True)": (3, 4), "PReLU()": (3, 4), "PReLU(4, 0.1)": (3, 4),
    "ELU(0.5)": (3, 4), "ELU(inplace=True)": (3, 4), "CELU(0.7)": (3, 4), "CELU(0.7, True)": (3, 4),
    "SELU()": (3, 4), "SELU(inplace=True)": (3, 4), "GELU()": (3, 4), "GELU('tanh')": (3, 4),
    "SiLU()": (3, 4), "SiLU(True)": (3, 4), "Mish()": (3, 4), "Mish(True)": (3, 4), "Softplus()": (3, 4),
    "Softplus(2, 1)": (3, 4), "Softsign()": (3, 4), "Tanh()": (3, 4), "Sigmoid()": (3, 4),
    "LogSigmoid()": (3, 4), "Tanhshrink()": (3, 4), "Hardtanh()": (3, 4), "Hardtanh(-2, 0.5, True)": (3, 4),
    "Hardsigmoid()": (3, 4), "Hardsigmoid(True)": (3, 4), "Hardswish()": (3, 4), "Hardswish(True)": (3, 4),
    "Hardshrink()": (3, 4), "Hardshrink(0.2)": (3, 4), "Softshrink()": (3, 4), "Softshrink(1)": (3, 4),
    "Threshold(0.1, 20)": (3, 4), "Threshold(0.1, 20, inplace=True)": (3, 4), "GLU()": (3, 4),
    "GLU(0)": (4, 3), "Softmax(dim=1)": (3, 4), "Softmax(-1)": (2, 3, 4), "LogSoftmax(dim=0)": (3, 4),
    "Softmin(1)": (3, 4),
    # dropout
    "Dropout()": (5, 6), "Dropout(0.2)": (5, 6), "Dropout(0.0)": (5, 6), "Dropout(1.0)": (5, 6),
    "Dropout(inplace=True)": (5, 6), "Dropout().eval()": (5, 6), "Dropout1d()": SIGNAL,
    "Dropout2d(0.4)": IMAGE, "Dropout3d()": VOLUME, "AlphaDropout()": (5, 6), "AlphaDropout(0.2)": (5, 6),
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
    "AvgPool3d(2, 1)": VOLUME,
    "AdaptiveAvgPool1d(4)": SIGNAL, "AdaptiveAvgPool2d(1)": IMAGE, "AdaptiveAvgPool2d((None, 3))": IMAGE,
    "AdaptiveAvgPool3d(2)": VOLUME, "AdaptiveMaxPool1d(4)": SIGNAL, "AdaptiveMaxPool2d((2, 3))": IMAGE,
    "AdaptiveMaxPool2d(2, return_indices=True)": IMAGE, "AdaptiveMaxPool3d(2)": VOLUME,
    # padding
    "ZeroPad1d(2)": SIGNAL, "ZeroPad2d((1, 2, 0, 1))": IMAGE, "ZeroPad3d(1)": VOLUME,
    "ConstantPad1d((1, 2), 3.5)": SIGNAL, "ConstantPad2d(1, 2.0)": IMAGE, "ConstantPad3d(1, -1.0)": VOLUME,
    "ReflectionPad1d(2)": SIGNAL, "ReflectionPad2d((1, 2, 0, 1))": IMAGE, "ReflectionPad3d(1)": VOLUME,
    "ReplicationPad1d(2)": SIGNAL, "ReplicationPad2d(1)": IMAGE, "ReplicationPad3d(1)": VOLUME,
    "CircularPad1d(2)": SIGNAL, "CircularPad2d(1)": IMAGE, "CircularPad3d(1)": VOLUME,
    # normalization
    "BatchNorm1d(3)": (5, 3), "BatchNorm1d(4)": SIGNAL, "BatchNorm2d(4)": IMAGE, "BatchNorm3d(4)": VOLUME,
    "BatchNorm2d(4, eps=1e-3, momentum=None)": IMAGE, "BatchNorm2d(4, affine=False)": IMAGE,
    "BatchNorm2d(4, track_running_stats=False)": IMAGE, "BatchNorm1d(3).eval()": (5, 3),
    "BatchNorm1d(3, track_running_stats=False).eval()": (5, 3), "BatchNorm1d(3, bias=False)": (5, 3),
    "InstanceNorm1d(4)": SIGNAL, "InstanceNorm2d(4, affine=True)": IMAGE, "InstanceNorm2d(4)": (4, 6, 5),
    "InstanceNorm3d(4, track_running_stats=True)": VOLUME,
    "InstanceNorm2d(4, track_running_stats=True).eval()": IMAGE,
    "GroupNorm(2, 4)": IMAGE, "GroupNorm(2, 8, affine=False)": (3, 8), "GroupNorm(1, 4, bias=False)": SIGNAL,
    "LayerNorm(5)": IMAGE, "LayerNorm((6, 5), bias=False)": IMAGE,
    "LayerNorm([6, 5], elementwise_affine=False)": IMAGE, "RMSNorm(5)": IMAGE,
    "RMSNorm((6, 5), eps=0.1)": IMAGE, "RMSNorm(5, elementwise_affine=False)": IMAGE,
    "LocalResponseNorm(3)": IMAGE, "LocalResponseNorm(2, 1e-2, 0.5, 2.0)": SIGNAL,
    # images in other sizes and orders
    "Upsample(scale_factor=2)": IMAGE, "Upsample((9, 8), mode='bilinear')": IMAGE,
    "Upsample(scale_factor=(2, 1.5), mode='bilinear', align_corners=True)": IMAGE,
    "Upsample(12, mode='linear')": SIGNAL, "UpsamplingNearest2d(scale_factor=2)": IMAGE,
    "UpsamplingBilinear2d((7, 9))": IMAGE, "PixelShuffle(2)": IMAGE,
    "Unfold((2, 3), padding=1)": IMAGE, "Fold((4, 5), (2, 2))": (2, 8, 12),
}  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_of_one_input(layer: str):
    assert_alike(f"nn.{layer}", lambda torch: (torch.randn(*LAYERS[layer]),))


INPUTS: dict[str, Any] = {
    "numbers": lambda T: T.randn(5, 4),
    "row": lambda T: T.randn(5),
    "image": lambda T: T.randn(2, 4, 3, 2),
    "classes": lambda T: T.tensor([0, 3, 1, 2, 3]),
    "classes of an image": lambda T: T.tensor([[[0, 3], [1, 1], [2, 0]], [[3, 3], [1, 2], [0, 1]]]),
    "shares": lambda T: T.tensor(T.randn(5, 4).softmax(1).tolist()),
    "logarithms": lambda T: T.tensor(T.randn(5, 4).log_softmax(1).tolist()),
    "signs": lambda T: T.tensor([1, -1, 1, 1, -1]),
    "zeros and ones": lambda T: (T.randn(5, 4) > 0).float(),
    "positive": lambda T: T.rand(5, 4) + 0.1,
    "threes": lambda T: T.randn(5, 3),
    "indices": lambda T: T.tensor([[1, 2, 2], [0, 6, 2]]),
}
WEIGHT = "torch.tensor([0.5, 1.0, 0.0, 2.0])"
PAIRS: list[tuple[str, list[str], list[str]]] = [
    ("Bilinear", ["numbers", "threes"], ["4, 3, 2", "4, 3, 2, bias=False"]),
    ("CosineSimilarity", ["numbers", "numbers"], ["", "dim=0"]),
    ("PairwiseDistance", ["numbers", "numbers"], ["", "1, keepdim=True"]),
    ("Embedding", ["indices"], ["7, 3", "7, 3, padding_idx=2", "7, 3, -1, max_norm=1.0"]),
    ("Embedding", ["indices"], ["7, 3, scale_grad_by_freq=True, norm_type=1.0, max_norm=2.0"]),
]
LOSSES: list[tuple[str, list[str], list[str]]] = [
    ("L1Loss", ["numbers", "numbers"], [""]),
    ("MSELoss", ["numbers", "numbers"], [""]),
    ("SmoothL1Loss", ["numbers", "numbers"], ["", "beta=0.3", "beta=0.0"]),
    ("HuberLoss", ["numbers", "numbers"], ["", "delta=0.3"]),
    ("CrossEntropyLoss", ["numbers", "classes"], ["", WEIGHT, "ignore_index=3", "label_smoothing=0.2"]),
    ("CrossEntropyLoss", ["numbers", "classes"], [f"{WEIGHT}, ignore_index=1, label_smoothing=0.1"]),
    ("CrossEntropyLoss", ["numbers", "shares"], ["", WEIGHT, "label_smoothing=0.2"]),
    ("CrossEntropyLoss", ["image", "classes of an image"], ["", WEIGHT, "ignore_index=3"]),
    ("NLLLoss", ["logarithms", "classes"], ["", WEIGHT, f"{WEIGHT}, ignore_index=3"]),
    ("BCELoss", ["shares", "zeros and ones"], ["", WEIGHT]),
    ("BCEWithLogitsLoss", ["numbers", "zeros and ones"], ["", WEIGHT, f"pos_weight={WEIGHT}"]),
    ("KLDivLoss", ["logarithms", "shares"], [""]),
    ("KLDivLoss", ["logarithms", "logarithms"], ["log_target=True"]),
    ("PoissonNLLLoss", ["numbers", "positive"], ["", "full=True"]),
    ("PoissonNLLLoss", ["positive", "positive"], ["log_input=False", "log_input=False, eps=0.1"]),
    ("GaussianNLLLoss", ["numbers", "numbers", "positive"], ["", "full=True", "eps=0.5"]),
    ("SoftMarginLoss", ["row", "signs"], [""]),
    ("HingeEmbeddingLoss", ["row", "signs"], ["", "margin=0.3"]),
    ("MarginRankingLoss", ["row", "row", "signs"], ["", "margin=0.3"]),
    ("CosineEmbeddingLoss", ["numbers", "numbers", "signs"], ["", "margin=0.3"]),
    ("MultiLabelSoftMarginLoss", ["numbers", "zeros and ones"], ["", WEIGHT]),
    ("TripletMarginLoss", ["numbers", "numbers", "numbers"], ["", "2.0, swap=True", "p=1.0"]),
]
REDUCTIONS = ("mean", "sum", "none")


@pytest.mark.parametrize(
    ("layer", "inputs"), [(f"{name}({how})", inputs) for name, inputs, hows in PAIRS for how in hows]
)
def test_layers_of_several_inputs(layer: str, inputs: list[str]):
    assert_alike(f"nn.{layer}", lambda T: tuple(INPUTS[what](T) for what in inputs))


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "inputs", "how"), [(name, inputs, how) for name, inputs, hows in LOSSES for how in hows]
)
def test_losses(name: str, inputs: list[str], how: str, reduction: str):
    settings = ", ".join(each for each in (how, f"reduction={reduction!r}") if each)
    assert_alike(f"nn.{name}({settings})", lambda T: tuple(INPUTS[what](T) for what in inputs))


def test_no_ranked_layer_is_left_out():
    """Those of PyTorch's that autokit lacks, and no others."""
    kinds = [getattr(pytorch.nn, name) for name in dir(pytorch.nn)]
    theirs = {
        each.__name__ for each in kinds if isinstance(each, type) and issubclass(each, pytorch.nn.Module)
    }
    lacking = theirs - {*dir(nn)}
    assert lacking == {
        "AdaptiveLogSoftmaxWithLoss", "CTCLoss", "ChannelShuffle", "Container", "CrossMapLRN2d",
        "EmbeddingBag", "FeatureAlphaDropout", "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d",
        "LPPool2d", "LPPool3d", "LinearCrossEntropyLoss", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
        "MultiLabelMarginLoss", "MultiMarginLoss", "NLLLoss2d", "PixelUnshuffle", "RNNCellBase", "RReLU",
        "Softmax2d", "SyncBatchNorm", "TripletMarginWithDistanceLoss",
    }  # fmt: skip
    with pytest.raises(AttributeError, match=r"autokit leaves out torch\.nn\.CTCLoss"):
        _ = nn.CTCLoss
    with pytest.raises(AttributeError, match="did you mean 'ReLU'"):
        _ = nn.Relu


def test_the_older_way_to_choose_a_reduction_is_understood():
    x = ak.tensor([1.0, 3.0])
    for settings, expected in (({"size_average": False}, 10), ({"reduce": False}, [1, 9])):
        with pytest.warns(UserWarning, match="please use reduction="):
            loss = nn.MSELoss(**settings)
        assert loss(x, x * 0).tolist() == expected


def test_a_learner_may_derive_from_a_layer():
    class Scaled(nn.LeakyReLU):
        scale: float = 3.0

        def __init__(self, slope: float) -> None:
            super().__init__(slope)
            self.gain = 2.0

        def forward(self, input: Any) -> Any:
            return super().forward(input) * self.gain * self.scale

    assert Scaled(0.5)(ak.tensor([-1.0, 1.0])).tolist() == [-3, 6]


def test_the_weight_of_a_loss_moves_with_it():
    loss = nn.CrossEntropyLoss(ak.tensor([1.0, 2.0]))
    assert list(loss.state_dict()) == ["weight"] and loss.double().weight.dtype == ak.float64


def test_pretrained_embeddings():
    table = ak.arange(21.0).reshape(7, 3)
    layer = nn.Embedding.from_pretrained(table)
    assert not layer.weight.requires_grad and layer(ak.tensor([2])).tolist() == [[6, 7, 8]]
    assert nn.Embedding.from_pretrained(table, freeze=False, padding_idx=-1).padding_idx == 6


def test_a_transposed_convolution_chooses_between_sizes():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2)
    assert layer(ak.zeros(1, 1, 4, 4), output_size=(10, 9)).shape == (1, 1, 10, 9)
    assert layer(ak.zeros(1, 1, 4, 4), output_size=[1, 1, 9, 10]).shape == (1, 1, 9, 10)
    with pytest.raises(ValueError, match=r"valid sizes range from .9, 9. to .10, 10."):
        layer(ak.zeros(1, 1, 4, 4), output_size=(12, 9))


def test_running_statistics_take_in_one_batch_after_another():
    def run(torch: Any, layer: Any) -> Any:
        torch.manual_seed(0)
        for _ in range(3):
            layer(torch.randn(4, 3) * 3 + 1)
        return layer.eval()(torch.ones(2, 3))

    assert_both(run, "nn.BatchNorm1d(3, momentum=0.3)")


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax(hard: bool):
    def run(torch: Any, _: Any) -> Any:
        torch.manual_seed(3)
        logits = torch.tensor([[1.0, 2.0, 0.5]] * 4, requires_grad=True)
        out = torch.nn.functional.gumbel_softmax(logits, tau=0.7, hard=hard)
        (out * torch.arange(3.0)).sum().backward()
        return out, logits.grad

    assert_both(run)


# ---------------------------------------------------------------- wrong use


@pytest.mark.parametrize("layer", [
    "Conv2d(4, 6, 3, groups=3)", "Conv2d(3, 6, 3, groups=0)", "Conv2d(4, 6, 3, padding='full')",
    "Conv2d(4, 6, 3, padding='same', stride=2)", "Conv2d(4, 6, 3, padding_mode='mirror')",
    "ConvTranspose2d(4, 6, 3, padding_mode='reflect')", "Dropout(1.5)", "Dropout2d(-0.1)", "GroupNorm(3, 4)",
    "Hardtanh(1, -1)", "Embedding(3, 2, padding_idx=3)", "Embedding.from_pretrained(torch.ones(3))",
    "Bilinear(0, 1, 1)", "Threshold(1.0)", "Softplus(beeta=2)", "Linear(2)", "Linear(2, 3, biass=True)",
])  # fmt: skip
def test_wrong_settings_are_refused_as_in_pytorch(layer: str):
    assert_same_error(f"nn.{layer}")


@pytest.mark.parametrize(("layer", "shape"), [
    ("Linear(3, 2)", (4, 5)), ("Conv2d(3, 2, 3)", (1, 4, 5, 5)), ("BatchNorm1d(3)", (4, 5)),
    ("BatchNorm2d(3)", (4, 3)), ("LayerNorm(3)", (4, 5)), ("GroupNorm(2, 4)", (2, 3, 2)),
    ("InstanceNorm2d(3, affine=True)", (2, 4, 3, 3)), ("MaxPool2d(2)", (3,)),
    ("ReflectionPad2d(4)", (1, 3, 3)), ("PixelShuffle(2)", (1, 3, 2, 2)),
])  # fmt: skip
def test_wrong_input_names_the_layer_by_its_path(layer: str, shape: tuple[int, ...]):
    said = assert_same_error(f"nn.Sequential(nn.Identity(), nn.Sequential(nn.{layer}))(torch.ones({shape}))")
    assert said.endswith(f"[in 1.0: {eval(f'nn.{layer}')}]") and said.count("[in ") == 1


def test_an_index_without_a_row_names_the_layer():
    with pytest.raises(IndexError, match=r"\[in 0: Embedding\(3, 2\)\]"):
        nn.Sequential(nn.Embedding(3, 2))(ak.tensor([3]))


def test_an_error_in_a_learners_module_is_left_alone():
    class Mine(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("mine")

    with pytest.raises(ValueError) as error:
        nn.Sequential(Mine())(ak.ones(1))
    assert str(error.value) == "mine"


def test_linear_literally():
    ak.manual_seed(0)
    layer = nn.Linear(3, 2)
    assert str(layer.weight) == (
        "Parameter containing:\ntensor([[-0.0043,  0.3097, -0.4752],\n"
        "        [-0.4249, -0.2224,  0.1548]], requires_grad=True)"
    )
    assert layer(ak.ones(1, 3)).grad_fn.name() == "AddmmBackward0"
