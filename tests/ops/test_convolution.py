"""Convolutions, transposed convolutions, and windows as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, numbers, refused

TRANSPOSED = [
    ((2, 3, 5), (3, 4, 3), {}),
    ((3, 5), (3, 4, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((2, 3, 4, 5), (3, 2, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((2, 4, 4, 3), (4, 2, 2, 3), {"groups": 2, "stride": (1, 3), "output_padding": (0, 2)}),
    ((2, 3, 3, 3), (3, 2, 2, 2), {"dilation": 2, "padding": 1}),
    ((2, 2, 3, 2, 3), (2, 3, 2, 2, 2), {"stride": 2}),
]


@pytest.mark.parametrize(("shape", "weight", "options"), TRANSPOSED)
def test_a_transposed_convolution_and_its_gradients(shape: Any, weight: Any, options: Any):
    name = f"conv_transpose{len(weight) - 2}d"
    bias = numbers(weight[1] * options.get("groups", 1), seed=2)
    program = lambda torch, *operands: getattr(torch, name)(*operands, **options)  # noqa: E731
    compare(program, numbers(*shape), numbers(*weight, seed=1), bias)
    compare(program, numbers(*shape), numbers(*weight, seed=1))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_other_dtypes(dtype: str):
    compare(
        lambda torch, x, w, b: torch.conv2d(x, w, b, padding=1),
        *[numbers(*shape).astype(dtype) for shape in ((2, 3, 5, 5), (4, 3, 3, 3), (4,))],
        second=False,
        tolerance=2e-2 if dtype == "float16" else 1e-4,
    )
    compare(
        lambda torch, x, w: torch.conv1d(x, w),
        np.arange(12).reshape(1, 2, 6),
        np.arange(8).reshape(2, 2, 2) - 3,
    )


@st.composite
def convolutions(draw: Any) -> Any:
    ndim, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))

    def each(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    sizes, kernel = each(1, 7), each(1, 3)
    options = {"stride": each(1, 3), "padding": each(0, 2), "dilation": each(1, 3), "groups": groups}
    reached = zip(sizes, options["padding"], options["dilation"], kernel)
    assume(all(size + 2 * pad >= apart * (width - 1) + 1 for size, pad, apart, width in reached))
    if draw(st.booleans()):
        options |= {"padding": "same", "stride": 1}
    inputs, outputs = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    x = numbers(draw(st.integers(0, 3)), inputs * groups, *sizes)
    weight, bias = numbers(outputs * groups, inputs, *kernel, seed=1), numbers(outputs * groups, seed=2)
    arrays = [x[0] if len(x) == 1 else x, weight, bias]
    return arrays[: draw(st.integers(2, 3))], options


@given(convolutions())
@settings(max_examples=100, deadline=None)
@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_any_shape_stride_padding_dilation_and_groups(drawn: Any):
    arrays, options = drawn
    name = f"conv{arrays[1].ndim - 2}d"
    compare(lambda torch, *operands: getattr(torch, name)(*operands, **options), *arrays)


def test_images_one_block_after_another(monkeypatch: pytest.MonkeyPatch):
    from autokit.ops import convolution

    monkeypatch.setattr(convolution, "TOGETHER", 100)
    compare(
        lambda torch, x, w: torch.conv2d(x, w, padding=1), numbers(5, 2, 4, 4), numbers(3, 2, 3, 3, seed=1)
    )


@pytest.mark.parametrize("special", [np.inf, np.nan])
def test_an_infinity_or_a_nan_gets_to_no_window_that_does_not_see_it(special: float):
    x = np.ones((2, 1, 4, 4))
    x[0, 0, 0, 0] = special
    out = autokit.conv2d(autokit.tensor(x), autokit.ones(1, 1, 2, 2, dtype=autokit.float64)).numpy()
    assert np.isfinite(out).sum() == out.size - 1 and not np.isfinite(out[0, 0, 0, 0])


ERRORS = [
    (lambda torch, x, w: torch.conv2d(x, w[:, :1]), "channels"),
    (lambda torch, x, w: torch.conv2d(x[0, 0], w), "3D"),
    (lambda torch, x, w: torch.conv2d(x, w.float()), "should be the same"),
    (lambda torch, x, w: torch.conv2d(x, w, stride=0), "stride"),
    (lambda torch, x, w: torch.conv2d(x, w, groups=3), "groups"),
    (lambda torch, x, w: torch.conv2d(x, 3), "argument 'weight'"),
    (lambda torch, x, w: torch.conv_transpose2d(x, w.transpose(0, 1), output_padding=1), "output padding"),
    (lambda torch, x, w: torch.nn.functional.fold(x[0], (4, 4), 2), "divisible"),
]


test_what_errors_say = refused(ERRORS, numbers(2, 3, 5, 5), numbers(4, 3, 2, 2))


# ---------------------------------------------------------------- windows as columns


@pytest.mark.parametrize(
    "options",
    [{"kernel_size": 2}, {"kernel_size": (3, 2), "dilation": 2, "padding": 1, "stride": (1, 2)}],
)
@pytest.mark.parametrize("shape", [(2, 3, 6, 7), (3, 6, 7)])
def test_unfold_and_fold(options: Any, shape: Any):
    compare(lambda torch, x: torch.nn.functional.unfold(x, **options), numbers(*shape))
    columns = autokit.nn.functional.unfold(autokit.ones(shape), **options).shape
    compare(lambda torch, x: torch.nn.functional.fold(x, (6, 7), **options), numbers(*columns))


def test_a_convolution_is_a_product_of_matrices_on_columns():
    F = autokit.nn.functional
    x, weight = autokit.tensor(numbers(2, 3, 5, 5)), autokit.tensor(numbers(4, 3, 2, 2, seed=1))
    product = weight.reshape(4, 12) @ F.unfold(x, 2)
    np.testing.assert_allclose(product.reshape(2, 4, 4, 4).numpy(), F.conv2d(x, weight).numpy())
