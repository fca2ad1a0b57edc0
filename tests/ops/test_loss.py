"""Losses beside PyTorch's: values, gradients and second gradients in each reduction; and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, compare_errors, functional, numbers

REDUCTIONS = ["mean", "sum", "none"]
X, Y = numbers(4, 3), numbers(4, 3, seed=1)
SHARES, POSITIVE = numbers(4, 3, low=0.05, high=0.95), numbers(4, 3, low=0.1, high=3)
ROW = numbers(4)
CLASSES = np.array([0, 2, 1, 2])

KINKS = [
    ("l1_loss", {}, (np.array([1.0, 2]), np.array([1.0, 3]))),
    ("smooth_l1_loss", {"beta": 0.0}, (X, Y)),
    ("smooth_l1_loss", {}, (np.array([1.0, -1.0, 0.0, 0.5]), np.zeros(4))),
    ("huber_loss", {}, (np.array([np.inf, -np.inf, 0.5]), np.zeros(3))),
    ("huber_loss", {"delta": 2.0}, (np.array([2.0, -2.0, 0.0, 0.5]), np.zeros(4))),
    ("binary_cross_entropy", {}, (np.array([0.25, 0.5]), np.array([1.0, 0.0]))),
    ("binary_cross_entropy_with_logits", {}, (np.array([-800.0, 900.0, 0.0]), np.array([0.0, 1.0, 1.0]))),
    ("cosine_embedding_loss", {}, (ROW, ROW + 1, np.array(1))),
    ("gaussian_nll_loss", {"full": True}, (X, Y, POSITIVE[:, 0])),
]
"""What is special; ``tests.fuzz`` and the layers of losses have the rest."""


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides", "ignore:Using a target size")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "options", "arrays"), KINKS)
def test_a_loss_of_pairs_is_pytorchs(name: str, options: Any, arrays: Any, reduction: str):
    compare(functional(name, reduction=reduction, **options), *arrays)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_shapes_that_broadcast_and_other_dtypes():
    compare(lambda T, x, y: T.nn.functional.mse_loss(x, y), X, Y[0])
    compare(lambda T, x, y: T.nn.functional.mse_loss(x.float(), y), X, Y, tolerance=1e-6)
    compare(functional("l1_loss"), X.astype("float16"), Y.astype("float16"), second=False)
    compare(functional("kl_div", reduction="batchmean"), X, POSITIVE)


WEIGHT = np.array([0.5, 0.0, 2.0])
IMAGE, IMAGE_CLASSES = numbers(2, 3, 2, 2), np.array([[[0, 2], [1, 1]], [[2, 0], [0, 1]]])
TARGETS = [
    (X, CLASSES, -100),
    (X, np.array([0, -100, 1, 2]), -100),
    (X, CLASSES, 2),
    (X[:, :1], np.zeros(4, np.int64), -100),
    (IMAGE, IMAGE_CLASSES, -100),
    (IMAGE, IMAGE_CLASSES, 1),
    (X[0], np.array(1), -100),
    (np.array([[1000.0, -1000.0, 0.0]]), np.array([1]), -100),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize(("scores", "target", "ignored"), TARGETS)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_a_loss_of_classes_is_pytorchs(
    name: str, scores: Any, target: Any, ignored: int, weight: Any, reduction: str
):
    def program(T: Any, x: Any, y: Any) -> Any:
        classes = x.shape[1 if x.ndim > 1 else 0]
        w = None if weight is None else T.tensor(weight[:classes])
        return getattr(T.nn.functional, name)(x, y, w, ignore_index=ignored, reduction=reduction)

    compare(program, scores, target, second=name != "nll_loss")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_spread_targets_is_pytorchs(smoothing: float, weight: Any, reduction: str):
    def program(T: Any, x: Any, y: Any) -> Any:
        w = None if weight is None else T.tensor(weight)
        settings: Any = {"ignore_index": 1} if not y.is_floating_point() else {}
        return T.nn.functional.cross_entropy(
            x, y, w, reduction=reduction, label_smoothing=smoothing, **settings
        )

    for scores, target in ((X, SHARES), (IMAGE, np.abs(IMAGE)), (X[0], SHARES[0]), (X, CLASSES)):
        compare(program, scores, target)
    compare(program, IMAGE, IMAGE_CLASSES)


def test_weights_of_yes_and_no():
    for weight in (numbers(3, low=0.1), numbers(4, 1, low=0.1), POSITIVE):
        for name, x in (("binary_cross_entropy_with_logits", X), ("binary_cross_entropy", SHARES)):
            compare(lambda T, x, y, w: getattr(T.nn.functional, name)(x, y, w.detach()), *(x, SHARES, weight))
        compare(
            lambda T, x, y, w: T.nn.functional.binary_cross_entropy_with_logits(x, y, pos_weight=w.detach()),
            *(X, SHARES, weight + 1),
        )


def test_a_nearly_certain_prediction_has_a_finite_loss():
    x = autokit.tensor([[1e4, 0.0], [0.0, 1e4]], requires_grad=True)
    loss = autokit.nn.functional.cross_entropy(x, autokit.tensor([0, 0]))
    loss.backward()
    assert loss.item() == 5000 and x.grad is not None and x.grad.tolist() == [[0, 0], [-0.5, 0.5]]
    for name, values in (
        ("soft_margin_loss", [-1000.0, 1000.0]),
        ("binary_cross_entropy_with_logits", [-1e3, 1e3]),
    ):
        y = autokit.tensor(values, requires_grad=True)
        getattr(autokit.nn.functional, name)(y, autokit.ones(2), reduction="sum").backward()
        assert y.grad is not None and y.grad.tolist() == [-1, 0]


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_no_sample_no_mean():
    for reduction, total in (("mean", np.nan), ("sum", 0.0)):
        nothing, classes = autokit.zeros(0, 3, requires_grad=True), autokit.zeros(0, dtype=autokit.int64)
        loss = autokit.nn.functional.cross_entropy(nothing, classes, reduction=reduction)
        np.testing.assert_equal(loss.item(), total)


# ---------------------------------------------------------------- wrong use


REFUSED = {
    '"mse_loss" not implemented for int64': lambda T, F, x, y: F.mse_loss(y, y),
    "The size of tensor a (3) must match": lambda T, F, x, y: F.mse_loss(x, x[:, :2]),
    "Target -1 is out of bounds": lambda T, F, x, y: F.cross_entropy(x, T.tensor([0, -1, 0, 0])),
    "Target 5 is out of bounds": lambda T, F, x, y: F.nll_loss(x, T.tensor([0, 5, 0, 0])),
    "must be the same as input size": lambda T, F, x, y: F.binary_cross_entropy(x * 0, x[0] * 0),
    "expected scalar type Long but found float32": lambda T, F, x, y: F.cross_entropy(x, y.float()),
    "target.argmax(1) gives classes": lambda T, F, x, y: F.cross_entropy(x, x.long()),
    "match target batch_size (3)": lambda T, F, x, y: F.cross_entropy(x, y[:3]),
    "all 3 classes or no classes": lambda T, F, x, y: F.cross_entropy(x, y, T.ones(2)),
    "all elements of target should be": lambda T, F, x, y: F.binary_cross_entropy(x * 0, x * 0 + 2),
    "put a sigmoid before": lambda T, F, x, y: F.binary_cross_entropy(x * 0 + 2, x * 0),
    "convert it with .float()": lambda T, F, x, y: F.binary_cross_entropy(x[:, 0] * 0, y),
    "var is of incorrect size": lambda T, F, x, y: F.gaussian_nll_loss(x[:1], x[:1], x[0].exp()),
    "must be Tensor, not list": lambda T, F, x, y: F.cross_entropy(x, [0, 1, 2, 0]),
}


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("words", REFUSED)
def test_what_pytorch_refuses_is_refused_in_a_sentence(words: str):
    scores, classes = X.astype(np.float32), [0, 1, 2, 0]
    assert words in compare_errors(lambda T, *two: REFUSED[words](T, T.nn.functional, *two), scores, classes)


def test_warnings_of_mistakes_that_no_error_shows():
    F = autokit.nn.functional
    x, y = autokit.tensor(X.tolist(), requires_grad=True), autokit.tensor(CLASSES)
    with pytest.warns(UserWarning, match=r"cross_entropy\(\) takes logits .* Leave the softmax out"):
        F.cross_entropy(x.softmax(1), y)
    with pytest.warns(UserWarning, match="Leave the sigmoid out"):
        F.binary_cross_entropy_with_logits(x.sigmoid()[:, :1].squeeze(1), autokit.ones(4))
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(x, x.detach()[0])
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        F.kl_div(x, x.detach().exp())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.cross_entropy(x, y)
        F.binary_cross_entropy(x.sigmoid(), autokit.ones(4, 3))
