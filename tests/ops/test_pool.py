"""Pooling: errors as PyTorch's, and random settings beside it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import autokit
from autokit.ops import adaptive_pool, native, pooling
from tests.ops.beside import refusals
from tests.support import require

require("torch")
torch: Any = importlib.import_module("torch")


@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=2),
    st.lists(st.integers(1, 3), min_size=2, max_size=2),
    st.lists(st.integers(1, 3), min_size=2, max_size=2),
    st.integers(0, 1),
    st.integers(1, 2),
    st.booleans(),
    st.integers(0, 1000),
)
@settings(max_examples=80, deadline=None)
def test_random_windows_give_pytorchs_maxima_places_means_and_gradients(
    sizes: Any, kernel: Any, stride: Any, padding: int, dilation: int, ceil_mode: bool, seed: int
):
    array = np.random.RandomState(seed).randint(-3, 4, (2, 2, *sizes)).astype(np.float64)  # with ties
    for size, width, skip in zip(sizes, kernel, stride):
        # With ceil_mode a window may stand out, as long as it begins in the input.
        end = size if ceil_mode else size + padding - dilation * (width - 1)
        begins = range(-padding, end, skip)
        assume(all(any(0 <= b + at * dilation < size for at in range(width)) for b in begins))
    kinds = {
        "max_pool2d": {"dilation": dilation, "return_indices": True},
        "avg_pool2d": {"count_include_pad": seed % 2 == 0},
    }
    for name, more in kinds.items():
        answers = []
        for library in (torch, autokit):
            x = library.tensor(array, requires_grad=True)
            pool = getattr(library.nn.functional, name)
            try:
                pooled = pool(x, kernel, stride, padding, ceil_mode=ceil_mode, **more)
            except RuntimeError:
                answers.append(None)
                continue
            values, *places = pooled if isinstance(pooled, tuple) else (pooled,)
            (values * values).sum().backward()
            answers.append([each.detach().numpy() for each in (values, *places, x.grad)])
        theirs, ours = answers
        assert (theirs is None) == (ours is None)
        for one, other in zip(theirs or (), ours or ()):
            np.testing.assert_allclose(other, one, atol=1e-12)


@given(st.integers(1, 3), st.integers(1, 60), st.data())
@settings(max_examples=60, deadline=None)
def test_of_equals_and_of_nans_the_one_that_pytorch_takes(ndim: int, images: int, data: Any):
    """Of equal numbers the first, and of several NaN the last, for windows and for adaptive regions."""
    sizes = data.draw(st.lists(st.integers(2, 7), min_size=ndim, max_size=ndim))
    random = np.random.RandomState(data.draw(st.integers(0, 1000)))
    array = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], size=(images, *sizes))
    pools = [
        (f"max_pool{ndim}d", 2, {"stride": 1}),
        (
            f"adaptive_max_pool{ndim}d",
            data.draw(st.lists(st.integers(1, 5), min_size=ndim, max_size=ndim)),
            {},
        ),
    ]
    for name, size, more in pools:
        answers = []
        for library in (torch, autokit):
            x = library.tensor(array, requires_grad=True)
            values, places = getattr(library.nn.functional, name)(x, size, return_indices=True, **more)
            values.sum().backward()
            answers.append([each.detach().numpy() for each in (values, places, x.grad)])
        for one, other in zip(*answers):
            np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("sizes", [(28, 28), (29, 31), (3, 40), (2, 2)])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("specials", [(), (-0.0, np.inf), (-0.0, np.nan, np.inf, -np.inf)])
@pytest.mark.parametrize("by_loop", [False, True])
def test_the_maxima_of_many_pairs_of_pairs_are_where_pytorch_finds_them(
    sizes: Any, ceil_mode: bool, specials: tuple[float, ...], by_loop: bool
):
    if by_loop:
        require("numba")
    random = np.random.RandomState(0)
    images = -(-native.LARGE // (3 * sizes[0] * sizes[1]))
    array = random.randint(-2, 3, (images, 3, *sizes)).astype(np.float32)  # with ties
    for special in specials:
        array[random.uniform(size=array.shape) < 0.02] = special
    answers = []
    for library in (torch, autokit):
        x = library.tensor(array, requires_grad=True)
        with autokit.backends.numba.flags(enabled=by_loop):
            values, places = library.nn.functional.max_pool2d(x, 2, ceil_mode=ceil_mode, return_indices=True)
        values.sum().backward()
        answers.append([each.detach().numpy() for each in (values, places, x.grad)])
    for one, other in zip(*answers):
        np.testing.assert_array_equal(other, one)
    used = "native_pooling.places_of_maxima" in {key[0] for key in native._ready}
    assert used or ceil_mode or not by_loop


def test_the_gradient_of_an_unpoolings_gradient_adds_up_where_windows_overlap():
    array = np.random.RandomState(0).uniform(-1, 1, (1, 2, 9))
    answers = []
    for library in (torch, autokit):
        x = library.tensor(array, requires_grad=True)
        values, places = library.nn.functional.max_pool1d(x, 3, 1, return_indices=True)
        out = library.nn.functional.max_unpool1d(values, places, 3, 1)
        g = library.tensor(np.cos(np.arange(18.0)).reshape(1, 2, 9), requires_grad=True)
        (by_x,) = library.autograd.grad(out, x, g, create_graph=True)
        (by_g,) = library.autograd.grad((by_x * x.detach()).sum(), g)
        answers.append([each.detach().numpy() for each in (out, by_x, by_g)])
    for one, other in zip(*answers):
        np.testing.assert_allclose(other, one, atol=1e-12)


WRONG = [
    (
        lambda T, F: F.max_pool2d(T.ones(1, 1, 2, 2), 3),
        "Given input size: (1x2x2). Calculated output size: (1x0x0)",
    ),
    (lambda T, F: F.max_pool2d(T.ones(2, 2), 3), "non-empty 3D or 4D (batch mode) tensor expected for input"),
    (
        lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4), 2, padding=2),
        "pad should be at most half of effective kernel size",
    ),
    (lambda T, F: F.max_pool2d(T.ones(1, 1, 9, 9), 3, padding=2, dilation=2), "equal to half of kernel size"),
    (lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4), 2, stride=0), "stride should not be zero"),
    (
        lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4), (2, 2, 2)),
        "max_pool2d: kernel_size must either be a single int, or a tuple of two ints",
    ),
    (lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4).bool(), 2), "\"max_pool2d\" not implemented for 'Bool'"),
    (lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4), 2, dilation=0), "dilation should be greater than zero"),
    (lambda T, F: F.max_pool2d(T.ones(1, 1, 4, 4), 2, padding=-1), "pad must be non-negative"),
    (lambda T, F: F.max_pool1d(T.ones(4), 2), ""),
    (lambda T, F: F.max_pool1d(T.ones(4, 4), 5), ""),
    (lambda T, F: F.max_pool1d(T.ones(4, 8), 2, padding=2), "at most half of"),
    (lambda T, F: F.max_pool3d(T.ones(4, 8), 2), "non-empty 4D or 5D (batch mode) tensor expected for input"),
    (
        lambda T, F: F.avg_pool2d(T.ones(1, 1, 2, 2), 3),
        "Given input size: (1x2x2). Calculated output size: (1x0x0)",
    ),
    (lambda T, F: F.avg_pool2d(T.ones(1, 1, 4, 4), 2, divisor_override=0), "divisor must be not zero"),
    (lambda T, F: F.avg_pool1d(T.ones(2), 2), ""),
    (
        lambda T, F: F.adaptive_avg_pool2d(T.ones(2, 2), 2),
        "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got",
    ),
    (lambda T, F: F.adaptive_avg_pool2d(T.ones(1, 2, 2), (1, 2, 3)), "Input dimension should be at least 4"),
    (
        lambda T, F: F.adaptive_avg_pool2d(T.ones(1, 2, 2), -1),
        "elements of output_size must be greater than or equal to 0",
    ),
    (
        lambda T, F: F.adaptive_avg_pool2d(T.ones(1, 4, 4).long(), 2),
        "\"adaptive_avg_pool2d\" not implemented for 'Long'",
    ),
    (
        lambda T, F: F.adaptive_max_pool2d(T.ones(2, 2), 2),
        "adaptive_max_pool2d(): Expected 3D or 4D tensor, but got",
    ),
    (
        lambda T, F: F.max_unpool2d(T.ones(1, 1, 2, 2), T.ones(1, 1, 2, 2).long() * 99, 2),
        "Found an invalid max index: 99 (output volumes are of size 4x4)",
    ),
    (
        lambda T, F: F.max_unpool2d(T.ones(1, 1, 2, 2), T.ones(1, 1, 2, 2), 2),
        "elements in indices should be type int64 but got: Float",
    ),
    (
        lambda T, F: F.max_unpool2d(T.ones(1, 1, 2, 2), T.ones(1, 1, 2, 3).long(), 2),
        "Expected shape of indices to be same as that of the input tensor",
    ),
    (
        lambda T, F: F.max_unpool2d(T.ones(1, 1, 2, 2), T.ones(1, 1, 2, 2).long(), 2, output_size=(9, 9)),
        'invalid output_size "(9, 9)" (dim 0 must be between 2 and 6)',
    ),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_errors_are_pytorchs(wrong: Any, words: str):
    ours, theirs = refusals(lambda T: wrong(T, T.nn.functional))
    assert words in theirs and words in ours


def test_a_window_that_sees_only_padding_has_no_maximum():
    with pytest.raises(RuntimeError, match="sees nothing but padding"):
        autokit.max_pool2d(autokit.ones(1, 1, 1, 3), 2, 1, 1, 2)  # PyTorch writes where it must not


def test_empty_results():
    assert autokit.nn.functional.adaptive_avg_pool2d(autokit.ones(1, 4, 4), 0).shape == (1, 0, 0)
    assert autokit.nn.functional.adaptive_max_pool2d(autokit.ones(0, 1, 4, 4), 2).shape == (0, 1, 2, 2)


@given(st.data())
def test_all_windows_at_once_give_the_places_that_blocks_of_images_give(data: st.DataObject):
    """What computes on a GPU, and for samples; of few different numbers, so that many are equal."""
    ndim = data.draw(st.integers(1, 2), "dimensions")

    def numbers(least: int, most: int) -> tuple[int, ...]:
        return tuple(data.draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    kernel, stride, dilation = numbers(1, 3), numbers(1, 3), numbers(1, 2)
    sizes = tuple((width - 1) * step + 1 + more for width, step, more in zip(kernel, dilation, numbers(0, 5)))
    output = tuple(
        (size - (width - 1) * step - 1) // skip + 1
        for size, width, step, skip in zip(sizes, kernel, dilation, stride)
    )
    values = st.sampled_from([0.0, 1.0, -np.inf, np.nan])
    images = data.draw(arrays(np.float32, (2, *sizes), elements=values))
    windows = pooling.Pooling(sizes, kernel, stride, (0,) * ndim, dilation, output)
    expected = pooling._places_in_blocks(images, windows)
    np.testing.assert_array_equal(pooling._places_in_windows(images, windows), expected)


@given(st.data())
def test_regions_are_pooled_alike_one_by_one_as_windows_and_by_a_table(data: st.DataObject):
    own = tuple(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=2), "sizes"))
    sizes = tuple([data.draw(st.integers(1, size + 1), "regions") for size in own])
    values = st.sampled_from([0.0, 1.0, -np.inf, np.nan])
    images = data.draw(arrays(np.float32, (2, *own), elements=values))
    expected = adaptive_pool._places_by_region(images, sizes)
    np.testing.assert_array_equal(adaptive_pool._places(images, own, sizes), expected)
    np.testing.assert_array_equal(adaptive_pool._places_by_table(images, own, sizes), expected)
