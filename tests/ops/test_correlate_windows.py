"""Convolutions of few windows by a large kernel: the same numbers as by the places of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops import correlate, correlate_windows
from autokit.ops.correlate import Windows, output_sizes
from tests.support import require


@st.composite
def convolutions(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...], Windows]:
    """The shapes of images and of a weight, and how its windows move."""
    dims, groups = draw(st.integers(1, 3)), draw(st.integers(1, 2))

    def of_each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(dims))

    kernel, dilation = of_each(1, 4), of_each(1, 2)
    channels, outputs = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    sizes = tuple(step * (width - 1) + 1 + more for step, width, more in zip(dilation, kernel, of_each(0, 3)))
    windows = Windows(of_each(1, 2), of_each(0, 1), dilation, groups)
    return (2, channels, *sizes), (outputs, channels // groups, *kernel), windows


@settings(max_examples=60, deadline=None)
@given(convolutions(), st.integers(0, 2**32 - 1))
def test_the_numbers_are_those_by_places(shapes: Any, seed: int):
    images, weights, windows = shapes
    random = np.random.RandomState(seed)
    x, weight = random.standard_normal(images), random.standard_normal(weights)
    g = random.standard_normal((2, weights[0], *output_sizes(images[2:], weights[2:], windows)))
    of_outputs, of_channels = random.standard_normal(weights[0]), random.standard_normal(images[1])
    for name, given_ in (
        ("correlate", (x, weight, of_outputs, windows)),
        ("correlate_input_gradient", (g, weight, of_channels, images, windows)),
        ("correlate_weight_gradient", (g, x, weights, windows)),
    ):
        found, expected = (getattr(module, name)(*given_) for module in (correlate_windows, correlate))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_large_kernel_answers_as_in_pytorch(transposed: bool):
    """Gone through by its places, of which there are 262,144, it would take minutes."""
    require("torch")
    import torch

    random = np.random.RandomState(0)
    x = random.standard_normal((2, 2, 3, 2, 3) if transposed else (2, 2, 65, 64, 66))
    weight = random.standard_normal((2, 2, 64, 64, 64))
    assert correlate_windows.suits((64, 64, 64), (3, 2, 3))
    found = []
    for T in (autokit, torch):
        tensors = [T.tensor(each, requires_grad=True) for each in (x, weight)]
        function = T.nn.functional.conv_transpose3d if transposed else T.nn.functional.conv3d
        y = function(*tensors)
        found.append([y, *T.autograd.grad((y * y).mean(), tensors)])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-9)
