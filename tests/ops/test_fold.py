"""Blocks and shuffles: errors as PyTorch's, and what they are for."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import autokit
from tests.ops.beside import refusals
from tests.support import require

require("torch")
torch: Any = importlib.import_module("torch")

WRONG = [
    lambda T, F: F.unfold(T.ones(1, 1, 2, 2), 3),
    lambda T, F: F.unfold(T.ones(1, 0, 2, 2), 1),
    lambda T, F: F.unfold(T.ones(1, 1, 4, 4), 0),
    lambda T, F: F.unfold(T.ones(1, 1, 4, 4), 2, stride=0),
    lambda T, F: F.unfold(T.ones(1, 1, 4, 4), 2, dilation=0),
    lambda T, F: F.unfold(T.ones(1, 1, 4, 4), 2, padding=-1),
    lambda T, F: F.unfold(T.ones(1, 1, 4, 4), (2, 2, 2)),
    lambda T, F: F.fold(T.ones(1, 4, 8), (4, 4), 2),
    lambda T, F: F.fold(T.ones(1, 3, 9), (4, 4), 2),
    lambda T, F: F.fold(T.ones(9), (2, 2), 3),
    lambda T, F: F.pixel_shuffle(T.ones(1, 3, 2, 2), 2),
    lambda T, F: F.pixel_shuffle(T.ones(2, 2), 2),
    lambda T, F: F.pixel_shuffle(T.ones(1, 4, 2, 2), 0),
    lambda T, F: F.pixel_unshuffle(T.ones(1, 4, 3, 2), 2),
    lambda T, F: F.channel_shuffle(T.ones(1, 3, 2, 2), 2),
    lambda T, F: F.channel_shuffle(T.ones(1, 4, 2, 2), 0),
    lambda T, F: F.channel_shuffle(T.ones(2, 2), 2),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_begin_with_pytorchs_words(wrong: Any):
    ours, theirs = refusals(lambda T: wrong(T, T.nn.functional))
    assert theirs in ours


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda T: T.nn.functional.unfold(T.ones(2, 2), 1), IndexError),
        (lambda T: T.nn.functional.unfold(T.ones(1, 1, 4, 4).long(), 2), NotImplementedError),
        (lambda T: T.nn.functional.fold(T.ones(1, 4, 9).long(), 4, 2), NotImplementedError),
        (lambda T: T.nn.functional.unfold([1], 2), TypeError),
        (lambda T: T.nn.functional.fold(T.ones(1, 4, 1), (1, 1), 2), RuntimeError),
    ],
)
def test_errors_have_pytorchs_kind(wrong: Any, kind: type[Exception]):
    for library in (torch, autokit):
        with pytest.raises(kind):
            wrong(library)


def test_a_convolution_is_a_product_of_matrices_on_the_columns():
    x, weight = autokit.randn(2, 3, 5, 6), autokit.randn(4, 3, 3, 2)
    columns = autokit.nn.functional.unfold(x, (3, 2))
    out = (weight.reshape(4, -1) @ columns).reshape(2, 4, 3, 5)
    assert autokit.allclose(out, autokit.conv2d(x, weight), atol=1e-5)


def test_shuffles_undo_each_other():
    x = autokit.randn(2, 8, 3, 2)
    assert autokit.equal(autokit.pixel_unshuffle(autokit.pixel_shuffle(x, 2), 2), x)
    assert autokit.equal(autokit.channel_shuffle(autokit.channel_shuffle(x, 2), 4), x)
