"""Functions of nn.functional that draw, and what the newer ones say of wrong use, beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import on_intel, require

require("torch")
import torch  # noqa: E402

LOGITS = np.random.RandomState(0).randn(5, 3)


@pytest.mark.skipif(on_intel(), reason="PyTorch draws exponential numbers from another stream on Intel")
@pytest.mark.parametrize("options", [{}, {"tau": 0.3}, {"hard": True}, {"hard": True, "dim": 0}])
def test_gumbel_softmax_draws_as_pytorch(options: dict[str, Any]):
    found = []
    for library in (ak, torch):
        library.manual_seed(1)
        x = library.tensor(LOGITS, requires_grad=True)
        out = library.nn.functional.gumbel_softmax(x, **options)
        (out * library.tensor(LOGITS)).sum().backward()
        found.append((out.detach().numpy(), x.grad.numpy(), out.grad_fn.name()))
    for ours, theirs in zip(found[0][:2], found[1][:2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    assert found[0][2] == found[1][2]


def test_gumbel_softmax_draws_each_class_as_often_as_its_probability_says():
    ak.manual_seed(0)
    chances = np.array([0.2, 0.5, 0.3])
    draws = ak.nn.functional.gumbel_softmax(ak.tensor(np.log(chances)).expand(20_000, 3), hard=True)
    assert set(np.unique(draws.numpy().round(12))) == {0, 1}
    np.testing.assert_allclose(draws.numpy().mean(axis=0), chances, atol=0.02)


def test_a_shortened_row_is_shortened_in_the_table():
    w = ak.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], requires_grad=True)
    version = w._version
    out = ak.nn.functional.embedding(ak.tensor([0, 1, 0]), w, max_norm=1.0)
    np.testing.assert_allclose(w.detach().numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)
    assert w.is_leaf and w._version > version
    out.sum().backward()
    assert w.grad.tolist() == [[2, 2], [1, 1], [0, 0]]


KNOWN = ("index", "be Tensor")
"""Beginnings of ours that PyTorch says otherwise."""

WRONG = {
    "first weight": lambda T, F, x: F.bilinear(x, x, T.ones(5, 2, 3)),
    "second weight": lambda T, F, x: F.bilinear(x, x, T.ones(5, 3, 2)),
    "bias": lambda T, F, x: F.bilinear(x, x, T.ones(5, 3, 3), T.ones(2)),
    "bias is no tensor": lambda T, F, x: F.bilinear(x, x, T.ones(5, 3, 3), 1.0),
    "dimensions": lambda T, F, x: F.bilinear(x, x[None], T.ones(5, 3, 3)),
    "samples": lambda T, F, x: F.bilinear(x, x[:1], T.ones(5, 3, 3)),
    "dtypes": lambda T, F, x: F.bilinear(x, x.double(), T.ones(5, 3, 3)),
    "a list": lambda T, F, x: F.one_hot([1]),
    "negative class": lambda T, F, x: F.one_hot(T.tensor([-1])),
    "class": lambda T, F, x: F.one_hot(T.tensor([5]), 3),
    "float class": lambda T, F, x: F.one_hot(x),
    "int32 class": lambda T, F, x: F.one_hot(T.tensor([1], dtype=T.int32)),
    "bool class": lambda T, F, x: F.one_hot(T.tensor([True])),
    "no class": lambda T, F, x: F.one_hot(T.zeros(0, dtype=T.int64)),
    "no class of 0": lambda T, F, x: F.one_hot(T.zeros(0, dtype=T.int64), 0),
    "of -2 classes": lambda T, F, x: F.one_hot(T.tensor([1]), -2),
    "of 2.0 classes": lambda T, F, x: F.one_hot(T.tensor([1]), 2.0),
    "integer logits": lambda T, F, x: F.gumbel_softmax(T.tensor([1, 2])),
    "dimension": lambda T, F, x: F.gumbel_softmax(x, dim=3),
    "logits in a list": lambda T, F, x: F.gumbel_softmax([1.0]),
    "row too long and far": lambda T, F, x: F.embedding(T.tensor([7]), x, max_norm=1.0),
    "top sizes": lambda T, F, x: T.layer_norm(x, (2,)),
    "top table": lambda T, F, x: T.embedding(x, T.tensor([9])),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(library, library.nn.functional, library.ones(2, 3))
        raised.append(caught)
    theirs, ours = raised
    assert ours.type is theirs.type
    words = str(theirs.value).replace("(", " ").split()[:1]
    assert all(word in str(ours.value) for word in words) or any(known in str(ours.value) for known in KNOWN)


def test_a_deprecated_argument_warns():
    with pytest.warns(UserWarning, match="`eps` parameter is deprecated"):
        ak.nn.functional.gumbel_softmax(ak.ones(2), eps=1e-3)


def test_reductions_at_the_top_are_numbers():
    with pytest.raises(TypeError, match=r"argument .reduction. .* must be int, not str"):
        ak.kl_div(ak.ones(2), ak.ones(2), "mean")
    with pytest.raises(ValueError, match="0 for none, 1 for mean and 2 for sum"):
        ak.kl_div(ak.ones(2), ak.ones(2), 3)
    assert ak.dropout(ak.ones(3), 0.5, False).tolist() == [1, 1, 1]
    x = ak.ones(4)
    assert ak.dropout_(x, 1.0, True) is x and x.tolist() == [0, 0, 0, 0]
