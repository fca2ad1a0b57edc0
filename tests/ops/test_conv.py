"""Convolutions: the fast array code beside the plain rule, and errors as PyTorch's."""

from __future__ import annotations

import importlib
import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import autokit
from autokit.nn import functional as F
from autokit.ops import correlate
from autokit.ops.correlate import Windows
from tests.support import require


def plain_correlate(x: np.ndarray, weight: np.ndarray, windows: Windows) -> np.ndarray:
    """A convolution by its definition: each window times the weight."""
    stride, padding, dilation, groups = windows
    ndim = len(stride)
    axes = tuple(range(2, 2 + ndim))
    padded = np.pad(x, [(0, 0), (0, 0), *((size, size) for size in padding)])
    reach = tuple((width - 1) * step + 1 for width, step in zip(weight.shape[2:], dilation))
    seen = sliding_window_view(padded, reach, axis=axes)
    seen = seen[
        (
            slice(None),
            slice(None),
            *(slice(None, None, s) for s in stride),
            *(slice(None, None, s) for s in dilation),
        )
    ]
    parts = [
        np.tensordot(own, weights, ([1, *range(2 + ndim, 2 + 2 * ndim)], range(1, 2 + ndim)))
        for own, weights in zip(np.split(seen, groups, 1), np.split(weight, groups, 0))
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


@st.composite
def convolutions(draw: Any) -> tuple[np.ndarray, np.ndarray, Windows]:
    ndim = draw(st.integers(1, 3))

    def numbers(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    sizes, kernel, groups = numbers(1, 7), numbers(1, 3), draw(st.integers(1, 3))
    windows = Windows(numbers(1, 3), numbers(0, 2), numbers(1, 3), groups)
    assume(min(correlate.output_sizes(sizes, kernel, windows)) > 0)
    inputs, outputs = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    random = np.random.RandomState(draw(st.integers(0, 1000)))
    x = random.uniform(-1, 1, (draw(st.integers(0, 3)), inputs * groups, *sizes))
    return x, random.uniform(-1, 1, (outputs * groups, inputs, *kernel)), windows


@given(convolutions(), st.sampled_from([40, 300, 1 << 18]))
@settings(max_examples=60, deadline=None)
def test_the_fast_convolution_is_the_plain_one(drawn: Any, tile: int):
    x, weight, windows = drawn
    before, correlate.TILE = correlate.TILE, tile
    try:
        out = plain_correlate(x, weight, windows)
        np.testing.assert_allclose(correlate.correlate(x, weight, None, windows), out, atol=1e-12)
        # Both gradients are transposes: ⟨g, x ⋆ w⟩ = ⟨gradient by x, x⟩ = ⟨gradient by w, w⟩.
        g = np.random.RandomState(0).uniform(-1, 1, out.shape)
        by_input = correlate.correlate_input_gradient(g, weight, None, x.shape, windows)
        by_weight = correlate.correlate_weight_gradient(g, x, weight.shape, windows)
        assert by_input.shape == x.shape and by_weight.shape == weight.shape
        for seed in range(3):
            random = np.random.RandomState(seed)
            other_x, other_weight = random.uniform(-1, 1, x.shape), random.uniform(-1, 1, weight.shape)
            np.testing.assert_allclose(
                (by_input * other_x).sum(), (g * plain_correlate(other_x, weight, windows)).sum(), atol=1e-10
            )
            np.testing.assert_allclose(
                (by_weight * other_weight).sum(),
                (g * plain_correlate(x, other_weight, windows)).sum(),
                atol=1e-10,
            )
    finally:
        correlate.TILE = before


def test_half_precision_is_summed_in_single_precision():
    x = autokit.ones(1, 512, 3, 3).half()
    out = autokit.conv2d(x, autokit.full((1, 512, 3, 3), 0.1).half())
    assert out.dtype == autokit.float16
    assert abs(out.item() - 512 * 9 * float(np.float16(0.1))) < 0.5


def test_the_result_is_contiguous_and_a_parameters_gradient_is_its_own():
    x, weight = autokit.ones(2, 3, 5, 5), autokit.ones(4, 3, 3, 3, requires_grad=True)
    out = autokit.conv2d(x, weight)
    assert out.is_contiguous() and out.view(2, -1).shape == (2, 36)
    out.sum().backward()
    assert weight.grad.array.base is None


def pytorch() -> Any:
    require("torch")
    return importlib.import_module("torch")


WRONG = [
    lambda T, F: F.conv2d(T.ones(1, 2, 5, 5), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 2, 5), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 2, 5), T.ones(4, 3, 3, 3), padding=(0, 1), dilation=2),
    lambda T, F: F.conv2d(T.ones(5, 5), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv1d(T.ones(1, 1, 5, 5), T.ones(4, 3, 3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5).double(), T.ones(4, 3, 3, 3), T.ones(4)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5).double(), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5).long(), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), T.ones(3)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), stride=0),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), padding=-1),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), dilation=0),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), stride=(1, 1, 1)),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), groups=2),
    lambda T, F: F.conv2d(T.ones(1, 4, 5, 5), T.ones(3, 2, 3, 3), groups=2),
    lambda T, F: F.conv2d(T.ones(1, 4, 5, 5), T.ones(3, 2, 3, 3), groups=0),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), padding="full"),
    lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), padding="same", stride=2),
    lambda T, F: F.conv2d(T.ones(1, 3, 0, 5), T.ones(4, 3, 1, 1)),
    lambda T, F: F.conv_transpose2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv_transpose2d(T.ones(1, 4, 5, 5), T.ones(4, 3, 3, 3), T.ones(4)),
    lambda T, F: F.conv_transpose2d(T.ones(4, 5), T.ones(4, 3, 3, 3)),
    lambda T, F: F.conv_transpose2d(T.ones(1, 4, 1, 1), T.ones(4, 3, 3, 3), padding=2),
    lambda T, F: F.conv_transpose2d(T.ones(1, 4, 5, 5), T.ones(4, 3, 3, 3), groups=3),
    lambda T, F: F.pad(T.ones(1, 2, 3), (1, 2, 3)),
    lambda T, F: F.pad(T.ones(2), (1, 2, 3, 4)),
    lambda T, F: F.pad(T.ones(2), (-1, -2)),
    lambda T, F: F.pad(T.ones(2), (1, 1), mode="reflect"),
    lambda T, F: F.pad(T.ones(1, 2), (2, 0), mode="reflect"),
    lambda T, F: F.pad(T.ones(1, 2), (3, 0), mode="circular"),
    lambda T, F: F.pad(T.ones(1, 2), (1, 0), mode="x"),
    lambda T, F: F.pad(T.ones(1, 2, 3), (1, 0), mode="reflect", value=1),
    lambda T, F: F.pad(T.ones(1, 2, 3), 1),
    lambda T, F: F.pad([1], (1, 1)),
]

OTHER_WORDS = [  # where PyTorch's own words list signatures, or name another function
    (lambda T, F: F.conv2d([1], T.ones(4, 3, 3, 3)), TypeError, "must be Tensor, not list"),
    (lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), None), TypeError, "must be Tensor, not NoneType"),
    (lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3, 3), stride=1.5), TypeError, "tuple of ints"),
    (lambda T, F: F.conv2d(T.ones(1, 3, 5, 5), T.ones(4, 3, 3)), RuntimeError, "4 dimensions"),
    (
        lambda T, F: F.conv_transpose2d(T.ones(1, 4, 5, 5), T.ones(4, 3, 3, 3), output_padding=1),
        RuntimeError,
        "output padding must be smaller",
    ),
    (lambda T, F: F.conv2d(T.ones(1, 1, 2, 2) > 0, T.ones(1, 1, 1, 1) > 0), NotImplementedError, "Bool"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_begin_with_pytorchs_words(wrong: Any):
    torch = pytorch()
    with pytest.raises(Exception) as theirs:
        wrong(torch, torch.nn.functional)
    with pytest.raises(type(theirs.value), match=re.escape(str(theirs.value).rstrip("."))):
        wrong(autokit, F)


@pytest.mark.parametrize(("wrong", "kind", "words"), OTHER_WORDS)
def test_errors_have_pytorchs_kind(wrong: Any, kind: type[Exception], words: str):
    torch = pytorch()
    with pytest.raises(kind):
        wrong(torch, torch.nn.functional)
    with pytest.raises(kind, match=words):
        wrong(autokit, F)


@pytest.mark.parametrize("shape", [(4, 0, 3, 3), (0, 3, 3, 3), (4, 3, 0, 3)])
def test_a_weight_without_elements_is_refused(shape: tuple[int, ...]):
    with pytest.raises(RuntimeError, match="a weight that has elements"):
        F.conv2d(autokit.ones(1, shape[1], 5, 5), autokit.ones(*shape))


def test_padding_same_warns_where_one_side_gets_more():
    with pytest.warns(UserWarning, match="even kernel lengths"):
        autokit.conv2d(autokit.ones(1, 1, 4, 4), autokit.ones(1, 1, 2, 2), padding="same")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        autokit.conv2d(autokit.ones(1, 1, 4, 4), autokit.ones(1, 1, 3, 3), padding="same")
