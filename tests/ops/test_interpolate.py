"""Resizing images, reading them at points, and channels as pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle import compare, functional, numbers, refused

MODES = {
    1: ["nearest", "nearest-exact", "linear", "area"],
    3: ["nearest", "nearest-exact", "trilinear", "area"],
}
MODES[2] = ["nearest", "nearest-exact", "bilinear", "bicubic", "area"]
SMOOTH = ("linear", "bilinear", "trilinear", "bicubic")


@pytest.mark.parametrize(("ndim", "mode"), [(ndim, mode) for ndim in MODES for mode in MODES[ndim]])
@pytest.mark.parametrize("options", [{"size": 7}, {"size": 2}, {"scale_factor": 2}, {"scale_factor": 0.6}])
def test_resizing(ndim: int, mode: str, options: Any):
    x = numbers(2, 3, *(5, 4, 3)[:ndim])
    compare(lambda torch, x: torch.nn.functional.interpolate(x * x, mode=mode, **options), x)
    if mode in SMOOTH:
        options = options | {"align_corners": True}
        compare(lambda torch, x: torch.nn.functional.interpolate(x * x, mode=mode, **options), x)


@pytest.mark.parametrize(("ndim", "mode"), [(ndim, mode) for ndim in MODES for mode in MODES[ndim]])
@pytest.mark.parametrize("scale", [1.1, 1.3])
def test_a_scale_that_rounds_to_the_same_size_copies_where_pytorch_does(ndim: int, mode: str, scale: float):
    for factors in ((scale,) * ndim, (scale, *(2.0,) * (ndim - 1))):
        program = functional("interpolate", None, factors, mode)
        # PyTorch's gradient is that of a copy even where it resamples.
        compare(program, numbers(1, 1, *(3,) * ndim), gradients=False)


def test_the_gradient_of_a_copy():
    x = numbers(1, 1, 3, 3)
    for mode in ("nearest", "bilinear"):
        compare(lambda torch, x: torch.nn.functional.interpolate(x * x, scale_factor=1.3, mode=mode), x)


def test_resizing_bytes_and_what_is_not_finite():
    compare(functional("interpolate", scale_factor=2), np.arange(12, dtype=np.uint8).reshape(1, 1, 3, 4))
    x = np.ones((1, 1, 4, 4))
    x[0, 0, 1, 1] = np.nan
    compare(functional("interpolate", scale_factor=2, mode="bilinear"), x, gradients=False)


ERRORS = [
    (lambda torch, x: torch.nn.functional.interpolate(x), "one of size and scale_factor"),
    (lambda torch, x: torch.nn.functional.interpolate(x, size=2, mode="linear"), "4D input"),
    (lambda torch, x: torch.nn.functional.interpolate(x, size=2, mode="cubic"), "mode"),
    (lambda torch, x: torch.nn.functional.interpolate(x, size=2, align_corners=True), "align_corners"),
    (lambda torch, x: torch.nn.functional.interpolate(x.long(), size=2, mode="bilinear"), "floating"),
    (lambda torch, x: torch.nn.functional.pixel_shuffle(x, 2), "divisible"),
]


test_what_errors_say = refused(ERRORS, numbers(2, 3, 5, 5))


# ---------------------------------------------------------------- channels and pixels


def test_channels_and_pixels():
    compare(lambda torch, x: torch.nn.functional.pixel_shuffle(x * x, 2), numbers(2, 8, 3, 2))
