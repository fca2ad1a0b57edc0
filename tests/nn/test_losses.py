"""Every loss of torch.nn as a module beside PyTorch: each reduction with each weight and choice it takes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autokit as ak
from tests.nn.twins import assert_alike
from tests.support import require

require("torch")
import torch  # noqa: E402

REDUCTIONS = ("mean", "sum", "none")

INPUTS: dict[str, Any] = {
    "numbers": lambda T: T.randn(5, 4),
    "row": lambda T: T.randn(5),
    "image": lambda T: T.randn(2, 4, 3, 2),
    "classes": lambda T: T.tensor([0, 3, 1, 2, 3]),
    "classes of an image": lambda T: T.tensor([[[0, 3], [1, 1], [2, 0]], [[3, 3], [1, 2], [0, 1]]]),
    "shares": lambda T: T.randn(5, 4).softmax(1).detach(),
    "logarithms": lambda T: T.randn(5, 4).log_softmax(1).detach(),
    "signs": lambda T: T.tensor([1, -1, 1, 1, -1]),
    "sets": lambda T: T.tensor(
        [[0, -1, 2, 3], [1, 2, -1, 0], [3, 2, 1, 0], [-1, 0, 0, 0], [2, 3, -1, 1]]
    ),
    "zeros and ones": lambda T: (T.randn(5, 4) > 0).float(),
    "positive": lambda T: T.rand(5, 4) + 0.1,
    "table": lambda T: T.arange(21.0).reshape(7, 3),
    "sounds": lambda T: T.randn(6, 2, 5).log_softmax(2).detach(),
    "words": lambda T: T.tensor([[1, 2, 2], [3, 1, 4]]),
    "lengths of sounds": lambda T: T.tensor([6, 5]),
    "lengths of words": lambda T: T.tensor([3, 2]),
    "too short": lambda T: T.tensor([2, 5]),
}  # fmt: skip

WEIGHT = "torch.tensor([0.5, 1.0, 0.0, 2.0])"
LOSSES: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "L1Loss": (("numbers", "numbers"), [""]),
    "MSELoss": (("numbers", "numbers"), [""]),
    "SmoothL1Loss": (("numbers", "numbers"), ["", "beta=0.3", "beta=0.0"]),
    "HuberLoss": (("numbers", "numbers"), ["", "delta=0.3"]),
    "CrossEntropyLoss": (
        ("numbers", "classes"),
        ["", f"{WEIGHT}", "ignore_index=3", "label_smoothing=0.2",
         f"weight={WEIGHT}, ignore_index=1, label_smoothing=0.1"]),
    "CrossEntropyLoss of shares": (
        ("numbers", "shares"), ["", f"{WEIGHT}", "label_smoothing=0.2", f"{WEIGHT}, label_smoothing=0.2"]),
    "CrossEntropyLoss of an image": (
        ("image", "classes of an image"),
        ["", f"{WEIGHT}", "ignore_index=3", f"{WEIGHT}, label_smoothing=0.2, ignore_index=0"]),
    "LinearCrossEntropyLoss": (
        ("numbers", "classes"), ["4, 4", "4, 4, bias=True", f"4, 4, weight={WEIGHT}, label_smoothing=0.1"]),
    "NLLLoss": (("logarithms", "classes"), ["", f"{WEIGHT}", f"{WEIGHT}, ignore_index=3"]),
    "NLLLoss2d": (("image", "classes of an image"), ["", f"{WEIGHT}, ignore_index=3"]),
    "BCELoss": (("shares", "zeros and ones"), ["", f"{WEIGHT}", "torch.arange(20.0).reshape(5, 4) / 8"]),
    "BCEWithLogitsLoss": (
        ("numbers", "zeros and ones"),
        ["", f"{WEIGHT}", f"pos_weight={WEIGHT}", f"{WEIGHT}, pos_weight={WEIGHT}"]),
    "KLDivLoss": (("logarithms", "shares"), [""]),
    "KLDivLoss of logarithms": (("logarithms", "logarithms"), ["log_target=True"]),
    "PoissonNLLLoss": (("numbers", "positive"), ["", "full=True"]),
    "PoissonNLLLoss of rates": (("positive", "positive"), ["log_input=False", "log_input=False, eps=0.1"]),
    "GaussianNLLLoss": (("numbers", "numbers", "positive"), ["", "full=True", "eps=0.5"]),
    "SoftMarginLoss": (("row", "signs"), [""]),
    "HingeEmbeddingLoss": (("row", "signs"), ["", "margin=0.3"]),
    "MarginRankingLoss": (("row", "row", "signs"), ["", "margin=0.3"]),
    "CosineEmbeddingLoss": (("numbers", "numbers", "signs"), ["", "margin=0.3"]),
    "MultiLabelMarginLoss": (("numbers", "sets"), [""]),
    "MultiLabelSoftMarginLoss": (("numbers", "zeros and ones"), ["", f"{WEIGHT}"]),
    "MultiMarginLoss": (("numbers", "classes"), ["", "p=2", "margin=0.3", f"weight={WEIGHT}"]),
    "TripletMarginLoss": (("numbers",) * 3, ["", "margin=0.3", "p=1", "eps=0.5", "swap=True"]),
    "TripletMarginWithDistanceLoss": (
        ("numbers",) * 3,
        ["", "swap=True", "distance_function=torch.nn.PairwiseDistance(1), margin=0.3"]),
    "CTCLoss": (
        ("sounds", "words", "lengths of sounds", "lengths of words"), ["", "blank=0, zero_infinity=True"]),
    "CTCLoss of what is too short": (
        ("sounds", "words", "too short", "lengths of words"), ["zero_infinity=True"]),
}  # fmt: skip

CASES = [
    (name, options, reduction)
    for name, (_, choices) in LOSSES.items()
    for options in choices
    for reduction in (*REDUCTIONS, *(["batchmean"] if "KLDiv" in name else []))
]


@pytest.mark.filterwarnings("ignore:.NLLLoss2d. has been deprecated:FutureWarning")
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss")
@pytest.mark.parametrize(("name", "options", "reduction"), CASES)
def test_a_loss_is_pytorchs(name: str, options: str, reduction: str):
    settings = ", ".join(each for each in (options, f"reduction={reduction!r}") if each)
    assert_alike(
        lambda torch: eval(f"torch.nn.{name.split()[0]}({settings})", {"torch": torch}),
        lambda torch: tuple(INPUTS[what](torch) for what in LOSSES[name][0]),
    )


def test_no_loss_is_left_out():
    names = {name for name in dir(torch.nn) if "Loss" in name and isinstance(getattr(torch.nn, name), type)}
    names.add("NLLLoss2d")
    held = {name.split()[0] for name in LOSSES}
    assert held | {"AdaptiveLogSoftmaxWithLoss"} == names  # which has a test file of its own


def test_no_activation_is_left_out():
    from tests.nn.test_modules import LAYERS

    names = {
        name
        for name in torch.nn.modules.activation.__all__
        if name != "MultiheadAttention"  # held to PyTorch's in test_attention.py
    }
    assert names <= {layer.split("(")[0] for layer in LAYERS}


def test_layers_that_autokit_lacks_say_so():
    """Those of several processes, of several GPUs, and two that PyTorch keeps for old programs."""
    kinds = {
        name
        for name in dir(torch.nn)
        if isinstance(getattr(torch.nn, name), type) and issubclass(getattr(torch.nn, name), torch.nn.Module)
    }
    lacking = {name for name in kinds if name not in dir(ak.nn)}
    assert lacking == {"Container", "CrossMapLRN2d", "SyncBatchNorm"}
    for name in lacking:
        with pytest.raises(AttributeError, match=f"PyTorch has torch.nn.{name}"):
            getattr(ak.nn, name)


BAGS = ["EmbeddingBag(7, 3)", "EmbeddingBag(7, 3, mode='sum')", "EmbeddingBag(7, 3, mode='max')",
        "EmbeddingBag(7, 3, max_norm=1.0, norm_type=1.0)", "EmbeddingBag(7, 3, padding_idx=2)",
        "EmbeddingBag(7, 3, include_last_offset=True)",
        "EmbeddingBag.from_pretrained(torch.arange(21.0).reshape(7, 3), freeze=False, mode='sum')",
]  # fmt: skip


@pytest.mark.parametrize("layer", BAGS)
def test_bags_of_embeddings(layer: str):
    def build(torch: Any) -> Any:
        return eval(f"torch.nn.{layer}", {"torch": torch})

    index, offsets = [1, 2, 2, 0, 6, 2], [0, 2, 6] if "last" in layer else [0, 2, 3]
    assert_alike(build, lambda torch: (torch.tensor(index), torch.tensor(offsets)))
    if "last" not in layer:
        assert_alike(build, lambda torch: (torch.tensor(index).reshape(2, 3),))
    if "sum" in layer:
        weights = [0.5, 1.0, 2.0, -1.0, 0.0, 1.5]
        assert_alike(build, lambda torch: (torch.tensor(index), torch.tensor(offsets), torch.tensor(weights)))


def test_a_target_to_ignore_counts_for_nothing_in_a_linear_loss():
    """PyTorch 2.13 forgets the index on this way."""
    loss = ak.nn.LinearCrossEntropyLoss(4, 3, ignore_index=1)
    x = ak.randn(3, 4)
    some = ak.nn.functional.cross_entropy(loss.linear(x[:2]), ak.tensor([0, 2]))
    assert loss(x, ak.tensor([0, 2, 1])).item() == pytest.approx(some.item())


def test_the_older_name_warns():
    for T in (ak, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            T.nn.NLLLoss2d()
        assert [each.category for each in caught] == [FutureWarning]
        assert str(caught[0].message).startswith(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead"
        )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_node_of_a_loss_of_probabilities_has_pytorchs_name(reduction: str):
    names = []
    for T in (ak, torch):
        logits = T.zeros(2, 3, requires_grad=True)
        loss = T.nn.functional.cross_entropy(logits, T.full((2, 3), 1 / 3), reduction=reduction)
        names.append(loss.grad_fn.name())
    assert names[0] == names[1]
