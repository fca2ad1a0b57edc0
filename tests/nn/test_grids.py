"""``affine_grid`` and ``grid_sample`` beside PyTorch's, with their gradients."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.support import require

require("torch")
if importlib.util.find_spec("torch"):
    import torch


def results(function: Any, *arrays: np.ndarray) -> list[list[np.ndarray]]:
    """The result and the gradients by ``arrays``, of autokit and of PyTorch."""
    made = []
    for T in (autokit, torch):
        tensors = [T.tensor(array, requires_grad=True) for array in arrays]
        out = function(T, *tensors)
        weights = T.linspace(-1, 1, out.numel(), dtype=T.float64).reshape(tuple(out.shape))
        slopes = T.autograd.grad((out * weights).sum(), tensors, materialize_grads=True)
        made.append([each.detach().numpy() for each in (out, *slopes)])
    return made


@given(
    st.sampled_from(["bilinear", "nearest", "bicubic"]),
    st.sampled_from(["zeros", "border", "reflection"]),
    st.booleans(),
    st.integers(1, 2),
    st.lists(st.integers(1, 4), min_size=2, max_size=3),
    st.integers(0, 2**20),
)
@settings(max_examples=150)
def test_grid_sample(mode: str, padding: str, aligned: bool, channels: int, sizes: list[int], seed: int):
    if len(sizes) == 3 and mode == "bicubic":
        sizes = sizes[:2]
    random = np.random.RandomState(seed)
    image = random.uniform(-1, 1, (2, channels, *sizes))
    grid = random.uniform(-2.5, 2.5, (2, *(2, 3, 2)[: len(sizes)], len(sizes)))

    def read(T: Any, image: Any, grid: Any) -> Any:
        return T.nn.functional.grid_sample(image, grid, mode, padding, aligned)

    for mine, other in zip(*results(read, image, grid)):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 1, 2, 3, 4)])
def test_affine_grid(size: tuple[int, ...], aligned: bool):
    theta = np.random.RandomState(0).uniform(-1, 1, (2, len(size) - 2, len(size) - 1))

    def make(T: Any, theta: Any) -> Any:
        return T.nn.functional.affine_grid(theta, T.Size(size), align_corners=aligned)

    for mine, other in zip(*results(make, theta)):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("height, width", [(28, 28), (11, 100), (5, 7), (2, 16)])
def test_a_map_onto_the_pixels_themselves_has_pytorchs_gradient(
    height: int, width: int, aligned: bool, mode: str
):
    # Each point lies on a kink: the last digit of its place decides on which side.
    random = np.random.RandomState(0)
    image, weights = (random.rand(1, 2, height, width).astype(np.float32) for _ in range(2))
    for shift in (0, 2 / width):
        found = []
        for T in (autokit, torch):
            theta = T.tensor([[[1.0, 0.0, shift], [0.0, 1.0, 0.0]]], requires_grad=True)
            grid = T.nn.functional.affine_grid(theta, image.shape, align_corners=aligned)
            read = T.nn.functional.grid_sample(T.from_numpy(image), grid, mode, align_corners=aligned)
            (read * T.from_numpy(weights)).sum().backward()
            found.append([each.detach().numpy() for each in (grid, read, theta.grad)])
        (grid, *mine), (expected, *others) = found
        np.testing.assert_array_equal(grid, expected)
        for one, other in zip(mine, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-2)


def test_the_identity_gives_the_image_back():
    F = autokit.nn.functional
    image = autokit.rand(1, 2, 3, 4)
    theta = autokit.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    for aligned in (True, False):
        grid = F.affine_grid(theta, image.shape, align_corners=aligned)
        assert autokit.allclose(F.grid_sample(image, grid, align_corners=aligned), image, atol=1e-6)


@pytest.mark.parametrize(
    "program",
    [
        "F.grid_sample(T.ones(1, 1, 2, 2), T.zeros(1, 2, 2, 2), mode='linear')",
        "F.grid_sample(T.ones(1, 1, 2, 2), T.zeros(1, 2, 2, 2), padding_mode='none')",
        "F.grid_sample(T.ones(1, 1, 2, 2), T.zeros(2, 2, 2, 2), align_corners=True)",
        "F.grid_sample(T.ones(1, 1, 2, 2), T.zeros(1, 2, 2, 3), align_corners=True)",
        "F.grid_sample(T.ones(1, 1, 2, 2), T.zeros(1, 2, 2, 2, 3), align_corners=True)",
        "F.grid_sample(T.ones(1, 1, 0, 2), T.zeros(1, 2, 2, 2), align_corners=True)",
        "F.affine_grid(T.ones(1, 2, 3), (1, 1, 2), align_corners=True)",
        "F.affine_grid(T.ones(1, 2, 2), (1, 1, 2, 2), align_corners=True)",
        "F.affine_grid(T.ones(1, 2, 3).long(), (1, 1, 2, 2), align_corners=True)",
        "F.affine_grid(T.ones(1, 2, 3), (1, 1, 0, 2), align_corners=True)",
    ],
)
def test_errors_are_pytorchs(program: str):
    words = []
    for T in (autokit, torch):
        with pytest.raises((RuntimeError, ValueError, NotImplementedError)) as caught:
            eval(program, {"T": T, "F": T.nn.functional})
        words.append((caught.type, str(caught.value)[:32]))
    assert words[0] == words[1]


def test_points_that_are_no_numbers_do_no_harm():
    grid = autokit.tensor([[[[float("nan"), 0.0], [float("inf"), 0.0]]]])
    for padding in ("zeros", "border", "reflection"):
        read = autokit.nn.functional.grid_sample(
            autokit.ones(1, 1, 2, 2), grid, padding_mode=padding, align_corners=True
        )
        assert read.shape == (1, 1, 1, 2)


def test_who_says_nothing_of_the_corners_is_warned():
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        autokit.nn.functional.affine_grid(autokit.ones(1, 2, 3), (1, 1, 2, 2))
