"""Resizing: errors as PyTorch's."""

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
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2)),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), 2, 2),
    lambda T, F: F.interpolate(T.ones(2, 2), 2),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), 2, mode="linear"),
    lambda T, F: F.interpolate(T.ones(1, 1, 2), 2, mode="bilinear"),
    lambda T, F: F.interpolate(T.ones(1, 1, 2), 2, mode="x"),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), 2, align_corners=True),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), (2, 2, 2)),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), scale_factor=(2, 2, 2)),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), size=3, recompute_scale_factor=True),
    lambda T, F: F.interpolate(T.ones(1, 1, 2, 2), size=3, mode="nearest", antialias=True),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_have_pytorchs_words(wrong: Any):
    ours, theirs = refusals(lambda T: wrong(T, T.nn.functional))
    assert theirs in ours


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda T: T.nn.functional.interpolate(T.ones(1, 1, 2, 2), size=0), RuntimeError),
        (lambda T: T.nn.functional.interpolate(T.ones(1, 1, 2, 2), size=2.5), TypeError),
        (lambda T: T.nn.functional.interpolate(T.ones(1, 1, 2, 2).long(), size=3), NotImplementedError),
    ],
)
def test_errors_have_pytorchs_kind(wrong: Any, kind: type[Exception]):
    for library in (torch, autokit):
        with pytest.raises(kind):
            wrong(library)


def test_the_older_name_warns():
    with pytest.warns(UserWarning, match="upsample` is deprecated"):
        autokit.nn.functional.upsample(autokit.ones(1, 1, 2, 2), scale_factor=2)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_infinity_stays_where_it_is_seen(mode: str):
    x = autokit.ones(1, 1, 8, 8)
    x[..., 0, 0] = float("inf")
    out = autokit.nn.functional.interpolate(x, 16, mode=mode)
    assert autokit.isfinite(out[..., 8:, 8:]).all()


def test_sizes_may_be_tensors_of_one_element():
    for library in (torch, autokit):
        F, size = library.nn.functional, library.tensor([7], dtype=library.int32)
        x = library.ones(1, 1, 4, 4)
        assert F.interpolate(x, size=[size, size]).shape == F.interpolate(x, size=size).shape == (1, 1, 7, 7)
        with pytest.raises(TypeError):
            F.interpolate(x, size=[library.tensor([3, 4]), 5])
