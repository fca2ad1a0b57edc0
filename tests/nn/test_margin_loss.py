"""Losses with a margin beside PyTorch, and the wrong use of every loss."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.nn import functional as F
from tests.support import require

require("torch")
import torch  # noqa: E402

SCORES = np.array([[0.3, 1.5, -0.2], [2.0, 0.1, 1.7], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])


def compare(name: str, input: np.ndarray, target: np.ndarray, weight: Any = None, **options: Any) -> None:
    """The same loss and the same gradient."""
    found = []
    for library in (ak, torch):
        x = library.tensor(input, requires_grad=True)
        given = dict(options)
        if weight is not None:
            given["weight"] = library.tensor(weight)
        loss = getattr(library.nn.functional, name)(x, library.tensor(target), **given)
        weights = np.arange(1.0, loss.numel() + 1).reshape(tuple(loss.shape))
        (loss * library.tensor(weights)).sum().backward()
        found.append((loss.detach().numpy(), x.grad.numpy(), loss.grad_fn.name()))
    for ours, theirs in zip(found[0][:2], found[1][:2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        assert ours.shape == theirs.shape
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize(("p", "reduction"), itertools.product((1, 2), ("mean", "sum", "none")))
def test_multi_margin_loss(p: int, reduction: str):
    target = np.array([0, 2, 1, 2])
    compare("multi_margin_loss", SCORES, target, p=p, reduction=reduction)
    compare("multi_margin_loss", SCORES, target, np.array([1.0, 2, 3]), p=p, margin=0.5, reduction=reduction)
    for one in (np.array(1), np.array([1])):
        compare("multi_margin_loss", SCORES[0], one, p=p, reduction=reduction)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_multilabel_margin_loss(reduction: str):
    target = np.array([[0, -1, 1], [2, 1, -1], [1, 1, -1], [-1, 0, 0]])
    compare("multilabel_margin_loss", SCORES, target, reduction=reduction)
    compare("multilabel_margin_loss", SCORES[0], target[0], reduction=reduction)


def test_second_derivative_of_the_squared_margin():
    x = ak.tensor(SCORES, requires_grad=True)
    target = ak.tensor([0, 2, 1, 2])
    assert ak.autograd.gradcheck(lambda x: F.multi_margin_loss(x, target, p=2, margin=0.7), (x,))
    (slope,) = ak.autograd.grad(F.multi_margin_loss(x, target, p=2, margin=0.7), x, create_graph=True)
    (found,) = ak.autograd.grad((slope * ak.tensor(SCORES)).sum(), x)
    step = 1e-6
    expected = np.zeros_like(SCORES)
    for place in np.ndindex(SCORES.shape):
        ends = []
        for sign in (1, -1):
            moved = SCORES.copy()
            moved[place] += sign * step
            y = ak.tensor(moved, requires_grad=True)
            F.multi_margin_loss(y, target, p=2, margin=0.7).backward()
            ends.append((y.grad.numpy() * SCORES).sum())
        expected[place] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-7)


def test_soft_margin_loss_does_not_overflow():
    x = ak.tensor([-1000.0, 1000.0], requires_grad=True)
    F.soft_margin_loss(x, ak.ones(2), reduction="sum").backward()
    assert x.grad.tolist() == [-1, 0]


@pytest.mark.parametrize("name", ["smooth_l1_loss", "huber_loss"])
def test_a_nan_stays_one_in_the_gradient_that_is_itself_differentiated(name: str):
    x = ak.tensor([float("nan"), 3.0, 0.5], requires_grad=True)
    loss = getattr(F, name)(x, ak.zeros(3), reduction="sum")
    for create_graph in (False, True):
        (slope,) = ak.autograd.grad(loss, x, retain_graph=True, create_graph=create_graph)
        np.testing.assert_array_equal(slope.detach().numpy(), [np.nan, 1, 0.5])


WRONG = {
    "beta": lambda T, F, x, y: F.smooth_l1_loss(x, x, beta=-1),
    "delta": lambda T, F, x, y: F.huber_loss(x, x, delta=0),
    "integers": lambda T, F, x, y: F.mse_loss(y, y),
    "integers in huber": lambda T, F, x, y: F.huber_loss(y, y),
    "mean of integers": lambda T, F, x, y: F.l1_loss(y, y),
    "sizes": lambda T, F, x, y: F.smooth_l1_loss(x, x[:, :2]),
    "weight": lambda T, F, x, y: F.mse_loss(x, x, weight=T.ones(3)),
    "reduction": lambda T, F, x, y: F.huber_loss(x, x, reduction="avg"),
    "reduction of kl": lambda T, F, x, y: F.kl_div(x, x, reduction="avg"),
    "reduction of gaussian": lambda T, F, x, y: F.gaussian_nll_loss(x, x, T.ones(4, 3), reduction="avg"),
    "integers in kl": lambda T, F, x, y: F.kl_div(x[:, 0], y, reduction="sum"),
    "negative variance": lambda T, F, x, y: F.gaussian_nll_loss(x, x, -T.ones(4, 3)),
    "variances": lambda T, F, x, y: F.gaussian_nll_loss(x, x, T.ones(2)),
    "ranking": lambda T, F, x, y: F.margin_ranking_loss(x, x[0], x),
    "p": lambda T, F, x, y: F.multi_margin_loss(x, y, p=3),
    "class": lambda T, F, x, y: F.multi_margin_loss(x, y + 1),
    "samples": lambda T, F, x, y: F.multi_margin_loss(x, y[:2]),
    "kind of classes": lambda T, F, x, y: F.multi_margin_loss(x, y.float()),
    "dimensions": lambda T, F, x, y: F.multi_margin_loss(x[None], y),
    "class weights": lambda T, F, x, y: F.multi_margin_loss(x, y, weight=T.ones(2)),
    "matrix of weights": lambda T, F, x, y: F.multi_margin_loss(x, y, weight=T.ones(2, 2)),
    "named class": lambda T, F, x, y: F.multilabel_margin_loss(x, T.tensor([[0, 3, -1]] * 4)),
    "named shape": lambda T, F, x, y: F.multilabel_margin_loss(x, y),
    "reduction of soft": lambda T, F, x, y: F.multilabel_soft_margin_loss(x, x, reduction="avg"),
    "margin": lambda T, F, x, y: F.triplet_margin_loss(x, x, x, margin=0),
    "triplet": lambda T, F, x, y: F.triplet_margin_with_distance_loss(x, x, x[0]),
    "cosine": lambda T, F, x, y: F.cosine_embedding_loss(x, x, x),
    "cosine of one": lambda T, F, x, y: F.cosine_embedding_loss(x, x[0], y),
    "target": lambda T, F, x, y: F.nll_loss(x, T.tensor([0, 5, 0, 0])),
    "target dtype": lambda T, F, x, y: F.cross_entropy(x, y.float()),
    "integer probabilities": lambda T, F, x, y: F.cross_entropy(x, x.long()),
    "ignored probabilities": lambda T, F, x, y: F.cross_entropy(x, x, ignore_index=1),
    "integer logits": lambda T, F, x, y: F.cross_entropy(x.long(), y),
    "weight dtype": lambda T, F, x, y: F.cross_entropy(x, y, weight=T.ones(3).double()),
    "weight learns": lambda T, F, x, y: F.nll_loss(x, y, weight=T.ones(3, requires_grad=True)),
    "target above 1": lambda T, F, x, y: F.binary_cross_entropy(x * 0, x * 0 + 2),
    "target below 0": lambda T, F, x, y: F.binary_cross_entropy(x * 0, x * 0 - 1),
    "input above 1": lambda T, F, x, y: F.binary_cross_entropy(x * 0 + 2, x * 0),
    "whole variance": lambda T, F, x, y: F.gaussian_nll_loss(x, x, 1),
    "older mean of gaussian": lambda T, F, x, y: F.gaussian_nll_loss(
        x, x, x * x, reduction="elementwise_mean"
    ),
    "list": lambda T, F, x, y: F.cross_entropy(x, [0, 1, 2, 0]),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        x = library.tensor(SCORES.tolist())
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(library, library.nn.functional, x, library.tensor([0, 1, 2, 0]))
        raised.append(caught)
    theirs, ours = raised
    assert ours.type is theirs.type
    words = str(theirs.value).replace("(", " ").replace("_", " ").split()[:1]
    words = [] if words == ["any"] else words  # of which PyTorch says nothing of the variance
    assert all(word.strip("\"'") in str(ours.value).replace("_", " ") for word in words)


def test_warnings():
    x = ak.ones(2, 3)
    with pytest.warns(UserWarning, match="'elementwise_mean' is deprecated"):
        assert F.mse_loss(x, x + 1, reduction="elementwise_mean").item() == 1
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        F.kl_div(x, x)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        F.soft_margin_loss(x, x, size_average=False)
    with pytest.warns(UserWarning, match="different to the input size"):
        F.huber_loss(x, x[0])
