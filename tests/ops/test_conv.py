"""Convolutions: the fast array code beside the plain rule, and errors as PyTorch's."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import autokit
from autokit.nn import functional as F
from autokit.ops import correlate, correlate_native, correlate_rows, native
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
def convolutions(draw: Any, most: int = 3) -> tuple[np.ndarray, np.ndarray, Windows]:
    """With strides, dilations and groups up to ``most``."""
    ndim = draw(st.integers(1, 3))

    def numbers(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    sizes, kernel, groups = numbers(1, 7), numbers(1, 3), draw(st.integers(1, most))
    windows = Windows(numbers(1, most), numbers(0, 2), numbers(1, most), groups)
    assume(min(correlate.output_sizes(sizes, kernel, windows)) > 0)
    inputs, outputs = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    random = np.random.RandomState(draw(st.integers(0, 1000)))
    x = random.uniform(-1, 1, (draw(st.integers(0, 3)), inputs * groups, *sizes))
    return x, random.uniform(-1, 1, (outputs * groups, inputs, *kernel)), windows


@given(convolutions(), st.sampled_from([40, 300, 1 << 18]))
@settings(max_examples=60, deadline=None)
def test_the_fast_convolution_is_the_plain_one(drawn: Any, tile: int):
    before, correlate.TILE = correlate.TILE, tile
    try:
        is_the_plain_one(correlate, *drawn)
    finally:
        correlate.TILE = before


@given(convolutions(), st.sampled_from([40, 300, 1 << 18]))
@settings(max_examples=60, deadline=None)
def test_the_convolution_by_loops_is_the_plain_one(drawn: Any, together: int):
    require("numba")
    assume(len(drawn[0]))  # no images are not large
    before, correlate_native.TOGETHER = correlate_native.TOGETHER, together
    try:
        is_the_plain_one(correlate_native, *drawn)
    finally:
        correlate_native.TOGETHER = before


@given(
    convolutions(1), st.sampled_from([60, 400, 1 << 18]), st.sampled_from([40, 1 << 18]), st.integers(1, 3)
)
@settings(max_examples=100, deadline=None)
def test_the_convolution_by_rows_is_the_plain_one(drawn: Any, small: int, tile: int, parts: int):
    limits = {"SMALL": small, "SMALL_OF_ONE": small, "FEWEST_COLUMNS": 1, "FEWEST_LINES": 1, "TILE": tile}
    limits |= {"LEAST_ROWS": 1, "PARTS": parts, "WORK": 1, "LEAST_WORK": 1}
    with pytest.MonkeyPatch.context() as changed:
        for name, value in limits.items():
            changed.setattr(correlate_rows, name, value)
        is_the_plain_one(correlate_rows, *drawn)


def is_the_plain_one(fast: Any, x: np.ndarray, weight: np.ndarray, windows: Windows) -> None:
    out, ndim = plain_correlate(x, weight, windows), len(windows.stride)
    bias = np.random.RandomState(1).uniform(-1, 1, len(weight))
    np.testing.assert_allclose(fast.correlate(x, weight, None, windows), out, atol=1e-12)
    by_channel = bias.reshape((-1,) + (1,) * ndim)
    np.testing.assert_allclose(fast.correlate(x, weight, bias, windows), out + by_channel, atol=1e-12)
    # Both gradients are transposes: ⟨g, x ⋆ w⟩ = ⟨gradient by x, x⟩ = ⟨gradient by w, w⟩.
    g = np.random.RandomState(0).uniform(-1, 1, out.shape)
    by_input = fast.correlate_input_gradient(g, weight, None, x.shape, windows)
    by_weight = fast.correlate_weight_gradient(g, x, weight.shape, windows)
    assert by_input.shape == x.shape and by_weight.shape == weight.shape
    of_channel = np.random.RandomState(1).uniform(-1, 1, x.shape[1])
    np.testing.assert_allclose(
        fast.correlate_input_gradient(g, weight, of_channel, x.shape, windows),
        by_input + of_channel.reshape((-1,) + (1,) * ndim),
        atol=1e-12,
    )
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


LARGE = [  # channels, outputs, sizes, kernel, settings of images that are worth a loop
    (16, 32, (28, 28), (3, 3), {"padding": 1}),
    (6, 5, (30, 17), (4, 3), {"stride": 2, "padding": (1, 0), "dilation": (1, 2), "groups": 1}),
    (6, 9, (31, 33), (3, 3), {"stride": (3, 1), "groups": 3}),
    (8, 8, (1100,), (5,), {"groups": 8}),
    (2, 4, (9, 12, 14), (2, 3, 2), {"padding": 1}),
]


@pytest.mark.parametrize(("inputs", "outputs", "sizes", "kernel", "settings"), LARGE)
@pytest.mark.parametrize("count", [1, 13])
def test_large_convolutions_go_through_loops_whose_results_numpy_has_too(
    inputs: int, outputs: int, sizes: Any, kernel: Any, settings: Any, count: int
):
    require("numba")
    convolve = getattr(autokit, f"conv{len(sizes)}d")
    random = np.random.RandomState(0)
    count = max(count, -(-native.LARGE // (inputs * int(np.prod(sizes)))))
    x, weight, bias = (
        autokit.tensor(random.uniform(-1, 1, shape).astype(np.float32), requires_grad=True)
        for shape in (
            (count, inputs, *sizes),
            (outputs, inputs // settings.get("groups", 1), *kernel),
            (outputs,),
        )
    )

    def both_ways() -> list[np.ndarray]:
        out = convolve(x, weight, bias, **settings)
        g = autokit.tensor(np.random.RandomState(1).uniform(-1, 1, out.shape).astype(np.float32))
        return [out.detach().numpy(), *[each.numpy() for each in autokit.autograd.grad(out, (x, weight), g)]]

    with autokit.backends.numba.flags(enabled=False):
        expected = both_ways()
    for made, by_numpy in zip(both_ways(), expected):
        np.testing.assert_allclose(made, by_numpy, rtol=1e-5, atol=1e-6 * np.abs(by_numpy).max())
    assert {key[0] for key in native._ready} >= {
        "native_convolution.shifted_sums",
        "native_convolution.shifted_products",
    }


@pytest.mark.parametrize("by_numba", [True, False])
def test_a_large_convolution_does_not_depend_on_the_number_of_threads(by_numba: bool):
    random = np.random.RandomState(0)
    x, weight = (
        autokit.tensor(random.uniform(-1, 1, shape).astype(np.float32), requires_grad=True)
        for shape in ((41, 15, 20, 20), (17, 15, 3, 3))
    )
    found, before = [], autokit.get_num_threads()
    try:
        for threads in (1, 2, 4):
            autokit.set_num_threads(threads)
            with autokit.backends.numba.flags(enabled=by_numba):
                out = autokit.conv2d(x, weight)
                found.append([out.detach(), *autokit.autograd.grad(out.square().sum(), (x, weight))])
    finally:
        autokit.set_num_threads(before)
    for other in found[1:]:
        assert all(autokit.equal(a, b) for a, b in zip(found[0], other))


@pytest.mark.parametrize("inputs", [1, 2, 3])
@pytest.mark.parametrize("special", [np.inf, np.nan])
def test_an_infinity_or_a_nan_gets_to_no_window_that_does_not_see_it(inputs: int, special: float):
    """Kernels of as many places as make whole threes, and of one and of two more."""
    array = np.ones((5, 2 * inputs, 100, 100), np.float32)
    array[0, 0, 0, 0] = special
    x = autokit.tensor(array, requires_grad=True)
    weight = autokit.ones(6, inputs, 2, 2)
    out = autokit.conv2d(x, weight, groups=2)
    expected = np.full(out.shape, 4.0 * inputs)
    expected[0, :3, 0, 0] = special
    np.testing.assert_array_equal(out.detach().numpy(), expected)
    g = autokit.ones_like(out)
    g[0, 0, 0, 0] = special
    (by_input,) = autokit.autograd.grad(out, x, g)
    assert (~by_input.isfinite()).nonzero().tolist() == [
        [0, channel, *place] for channel in range(inputs) for place in ((0, 0), (0, 1), (1, 0), (1, 1))
    ]


@pytest.mark.parametrize("special", [np.inf, np.nan])
@given(drawn=convolutions(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_not_finite_gets_where_it_does_in_pytorch(special: float, drawn: Any, data: Any):
    """In float64, where PyTorch multiplies by the padding and by no other zeros, as we do in all dtypes."""
    x, weight, windows = drawn
    assume(len(x) or data.draw(st.booleans()))
    g = np.random.RandomState(0).uniform(-1, 1, plain_correlate(x, weight, windows).shape)
    into = data.draw(st.sampled_from([x, weight, g] if len(x) else [weight]))
    into[tuple(data.draw(st.sampled_from([0, size // 2, size - 1])) for size in into.shape)] = special
    stride, padding, dilation, _ = windows
    behind = tuple(  # how much of x lies behind the last window
        size - ((count - 1) * skip - 2 * pad + step * (width - 1) + 1)
        for size, count, width, skip, pad, step in zip(
            x.shape[2:], g.shape[2:], weight.shape[2:], stride, padding, dilation
        )
    )
    for name, a, b, more in (("conv", x, g, {}), ("conv_transpose", g, x, {"output_padding": behind})):
        found = []
        for library in (autokit, pytorch()):
            convolve = getattr(library.nn.functional, f"{name}{x.ndim - 2}d")
            operands = [library.tensor(each, requires_grad=True) for each in (a, weight)]
            out = convolve(*operands, **windows._asdict(), **more)
            found.append([out.detach(), *library.autograd.grad(out, operands, library.tensor(b))])
        for mine, other in zip(*found):
            np.testing.assert_allclose(mine.numpy(), other.numpy(), atol=1e-10)


@pytest.mark.parametrize(("inputs", "outputs", "sizes", "kernel", "settings"), LARGE)
@pytest.mark.parametrize("place", ["input", "weight", "gradient"])
def test_what_is_not_finite_gets_to_the_same_places_of_large_images(
    inputs: int, outputs: int, sizes: Any, kernel: Any, settings: Any, place: str
):
    """With Numba, without it and as PyTorch in float64."""
    random = np.random.RandomState(0)
    count = -(-native.LARGE // (inputs * int(np.prod(sizes))))
    shapes = (count, inputs, *sizes), (outputs, inputs // settings.get("groups", 1), *kernel)
    arrays = {name: random.uniform(-1, 1, shape) for name, shape in zip(("input", "weight"), shapes)}
    name = f"conv{len(sizes)}d"
    out = getattr(autokit, name)(*map(autokit.tensor, arrays.values()), **settings)
    arrays["gradient"] = random.uniform(-1, 1, out.shape)
    arrays[place][(0, 0, *(-1 for _ in sizes))] = np.inf

    def gradients(library: Any, dtype: str) -> list[np.ndarray]:
        x, weight, g = (library.tensor(each.astype(dtype)) for each in arrays.values())
        leaves = x.requires_grad_(), weight.requires_grad_()
        out = getattr(library.nn.functional, name)(*leaves, **settings)
        return [np.isnan(each.numpy()) for each in library.autograd.grad(out, leaves, g)]

    expected = gradients(pytorch(), "float64")
    for by_numba in (False, True):
        with autokit.backends.numba.flags(enabled=by_numba):
            for mine, other in zip(gradients(autokit, "float32"), expected):
                np.testing.assert_array_equal(mine, other)


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
    from tests.ops.beside import refusals

    ours, theirs = refusals(lambda T: wrong(T, T.nn.functional))
    assert theirs.rstrip(".") in ours


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
