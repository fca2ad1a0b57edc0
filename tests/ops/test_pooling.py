"""Pooling: the largest, the mean and the p-norm of windows, and of regions that cover a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, functional, numbers, refused


@st.composite
def poolings(draw: Any) -> Any:
    ndim = draw(st.integers(1, 3))

    def each(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    sizes, kernel, dilation = each(1, 8), each(1, 4), each(1, 3)
    padding = tuple(draw(st.integers(0, width // 2)) for width in kernel)
    reached = zip(sizes, kernel, padding, dilation)
    assume(all(size + 2 * pad >= apart * (width - 1) + 1 for size, width, pad, apart in reached))
    options = {"kernel_size": kernel, "stride": each(1, 3), "padding": padding, "dilation": dilation}
    # Some equal elements; no window that sees nothing but padding.
    shape = (*draw(st.sampled_from([(1, 1), (2,), (2, 3)])), *sizes)
    x = np.random.RandomState(draw(st.integers(0, 99))).permutation(np.arange(np.prod(shape)) // 2)
    return x.reshape(shape).astype(float), options | {"ceil_mode": draw(st.booleans())}


@given(poolings())
@settings(max_examples=80, deadline=None)
def test_any_window(drawn: Any):
    x, options = drawn
    program = functional(f"max_pool{len(options['stride'])}d", **options, return_indices=True)
    try:
        compare(lambda torch, x: program(torch, x * x), x)
    except RuntimeError:  # a window that sees the padding alone, where PyTorch returns -inf
        assume(False)


@given(poolings(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_what_means_are_divided_by(drawn: Any, padded: bool):
    x, options = drawn
    ndim = len(options.pop("dilation"))
    assume((np.array(x.shape[-ndim:]) >= options["kernel_size"]).all())  # PyTorch refuses others in 3D
    compare(
        lambda torch, x: functional(f"avg_pool{ndim}d", count_include_pad=padded, **options)(torch, x * x),
        x / 10,
    )


ADAPTIVE = [((2, 3, 7), 3), ((3, 5), 5), ((2, 3, 7, 5), (3, 2)), ((2, 3, 6, 6), (None, 3)), ((2, 2, 4, 4), 1)]


@pytest.mark.parametrize(("shape", "sizes"), [*ADAPTIVE, ((1, 2, 4, 5, 3), (2, 3, 2))])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_adaptive_pooling(kind: str, shape: Any, sizes: Any):
    name = f"adaptive_{kind}_pool{len(sizes) if isinstance(sizes, tuple) else len(shape) - 2 or 1}d"
    options = {"return_indices": True} if kind == "max" else {}
    compare(lambda torch, x: getattr(torch.nn.functional, name)(x * x, sizes, **options), numbers(*shape))


def test_special_numbers_are_the_largest_or_are_passed_on():
    x = np.zeros((1, 1, 4, 4))
    x[0, 0, 0, 1], x[0, 0, 3, 3], x[0, 0, 0, 3] = np.nan, np.inf, -np.inf
    compare(lambda torch, x: torch.max_pool2d(x, 2), x, second=False)
    compare(lambda torch, x: torch.nn.functional.avg_pool2d(x, 2), x, gradients=False)
    compare(functional("max_pool2d", 3, 2, 1), np.full((1, 1, 4, 4), -np.inf), second=False)


def test_integers_and_half_precision():
    compare(lambda torch, x: torch.max_pool2d(x, 2), np.arange(16).reshape(1, 4, 4))
    for name in ("max_pool2d", "avg_pool2d"):
        compare(functional(name, 2), numbers(1, 4, 4).astype(np.float16), second=False)


ERRORS = [
    (lambda torch, x: torch.max_pool2d(x, 9), "too small"),
    (lambda torch, x: torch.max_pool2d(x, 2, padding=2), "at most half"),
    (lambda torch, x: torch.max_pool2d(x, 0), "kernel_size"),
    (lambda torch, x: torch.max_pool2d([1.0], 2), "argument 'input'"),
]


test_what_errors_say = refused(ERRORS, numbers(2, 3, 5, 5))


def test_the_gradient_goes_to_the_first_of_equals():
    x = autokit.zeros(1, 2, 2, requires_grad=True)
    autokit.max_pool2d(x, 2).sum().backward()
    assert x.grad.tolist() == [[[1.0, 0.0], [0.0, 0.0]]]


def test_a_window_of_padding_alone_is_refused():
    with pytest.raises(RuntimeError, match="nothing but padding"):
        autokit.max_pool1d(autokit.zeros(1, 1), 2, 1, 1, 2)
