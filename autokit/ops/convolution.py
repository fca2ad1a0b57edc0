"""Convolutions and transposed convolutions, of one, two and three dimensions.

Three operations make each other's derivatives.  A convolution y = x ⋆ w is
linear in x and in w.  Its gradient by x, g ⋆ᵀ w, is the transposed
convolution; its gradient by w, g ⋆ x, correlates the outputs' gradients with
what the windows saw.  Each of these is linear in both of its operands again,
with derivatives among the same three, and so there is a derivative of every
order.

The array code is in :mod:`autokit.ops.correlate`, for many images in
:mod:`autokit.ops.correlate_rows`, for large arrays where Numba
is installed in :mod:`autokit.ops.correlate_native`, for large kernels of which there are few windows in
:mod:`autokit.ops.correlate_windows`, for a GPU in
:mod:`autokit.ops.gpu.correlate`, and for numbers that are not finite in
:mod:`autokit.ops.correlate_exact`; :mod:`autokit.ops.conv` checks what a program passes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import has_channels_last, on_a_gpu, with_channels_as
from autokit.ops.correlate import (
    correlate,
    correlate_input_gradient,
    correlate_weight_gradient,
    output_sizes,
)
from autokit.ops.native import is_large
from autokit.ops.operation import derivative, on, operation


def _run(function: Any, a: Any, b: Any, *rest: Any) -> Any:
    """Half precision is computed in single precision, and rounded once at the end, as PyTorch does.

    On a GPU the matrix product itself adds up in single precision.  What is not finite may need the exact
    way: infinite weights do, and a NaN in the gradient of a weight tells of all other cases.  What computes
    is loaded here, for the sake of programs that need none of it.
    """
    if a.__class__ is not np.ndarray and on_a_gpu(a):
        from autokit.ops.gpu import correlate as on_gpu

        return getattr(on_gpu, function.__name__)(a, b, *rest)
    if a.dtype == np.float16:
        wider = [
            each.astype(np.float32) if getattr(each, "dtype", None) == np.float16 else each for each in rest
        ]
        return _run(function, a.astype(np.float32), b.astype(np.float32), *wider).astype(np.float16)
    from autokit.ops import correlate_exact, correlate_native, correlate_rows, correlate_windows

    if a.__class__ is b.__class__ is np.ndarray and correlate_windows.suits(*_sizes(function, a, b, rest)):
        return getattr(correlate_windows, function.__name__)(a, b, *rest)
    if function is correlate_input_gradient and not np.isfinite(b).all():
        return correlate_exact.correlate_input_gradient(a, b, *rest)
    large = a.__class__ is b.__class__ is np.ndarray and is_large(a)
    made = getattr(correlate_native if large else correlate_rows, function.__name__)(a, b, *rest)
    if function is correlate_weight_gradient and np.isnan(made).any():
        return correlate_exact.correlate_weight_gradient(a, b, *rest)
    return made


def _sizes(function: Any, a: Any, b: Any, rest: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the kernel and of the outputs."""
    if function is correlate_weight_gradient:
        return rest[0][2:], a.shape[2:]
    kernel = b.shape[2:]
    return kernel, output_sizes(a.shape[2:], kernel, rest[-1]) if function is correlate else a.shape[2:]


def _laid(input: Any, weight: Any, made: Any) -> Any:
    """What was ``made``, with the channels last in memory where PyTorch has them so."""
    if input.flags.c_contiguous and weight.flags.c_contiguous:
        return made
    return with_channels_as(input if has_channels_last(input) else weight, made, 3)


def _over_positions(g: Any) -> Any:
    """The gradient by a bias: it was added at every position of every image."""
    return g.sum(axis=(0, *range(2, len(g.shape))))


def _over_positions_on_arrays(g: Any) -> Any:
    """The same in one run through memory, while it is short enough to be added up number by number."""
    if g.__class__ is not np.ndarray or g.size > _SHORT * g.shape[1] or not g.flags.c_contiguous:
        return _over_positions(g)
    return np.einsum("ncp->c", g.reshape((*g.shape[:2], math.prod(g.shape[2:]))))


_SHORT = 1 << 17

_BY_INPUT = derivative(
    "⋆ᵀ {weight}",
    lambda g, weight, shape, windows: on(convolution_by_input, g, weight, shape=shape, windows=windows),
)
_BY_WEIGHT = derivative(
    "⋆ {input}",
    lambda g, input, shape, windows: on(convolution_by_weight, g, input, shape=shape, windows=windows),
)
_TRANSPOSED_BY_INPUT = derivative(
    "⋆ {weight}", lambda g, weight, windows: on(convolution, g, weight, windows=windows)
)
_TRANSPOSED_BY_WEIGHT = derivative(
    "⋆ {input}",
    lambda g, input, shape, windows: on(convolution_by_weight, input, g, shape=shape, windows=windows),
)
_BY_BIAS = derivative("1, summed over positions", _over_positions, _over_positions_on_arrays)


@operation(
    "⋆",
    "{input} ⋆ {weight}",
    input=_BY_INPUT,
    weight=_BY_WEIGHT,
    reduces=True,
    linear=True,
)
def convolution(input, weight, /, windows):
    """Each output is the sum of a window of ``input`` times ``weight``; see :func:`conv2d`."""
    return _laid(input, weight, _run(correlate, input, weight, None, windows))


@operation(
    "⋆",
    "{input} ⋆ {weight} + {bias}",
    input=_BY_INPUT,
    weight=_BY_WEIGHT,
    bias=_BY_BIAS,
    reduces=True,
    backward="ConvolutionBackward0",
)
def convolution_with_bias(input, weight, bias, /, windows):
    """:func:`convolution`, plus one number for each output channel."""
    return _laid(input, weight, _run(correlate, input, weight, bias, windows))


@operation(
    "⋆ᵀ",
    "{input} ⋆ᵀ {weight}",
    input=_TRANSPOSED_BY_INPUT,
    weight=_TRANSPOSED_BY_WEIGHT,
    reduces=True,
    backward="ConvolutionBackward0",
    linear=True,
)
def transposed_convolution(input, weight, /, size, windows):
    """Each element of ``input`` adds ``weight`` times itself to a window of the output, of shape ``size``."""
    return _laid(input, weight, _run(correlate_input_gradient, input, weight, None, size, windows))


@operation(
    "⋆ᵀ",
    "{input} ⋆ᵀ {weight} + {bias}",
    input=_TRANSPOSED_BY_INPUT,
    weight=_TRANSPOSED_BY_WEIGHT,
    bias=_BY_BIAS,
    reduces=True,
    backward="ConvolutionBackward0",
)
def transposed_convolution_with_bias(input, weight, bias, /, size, windows):
    """:func:`transposed_convolution`, plus one number for each output channel."""
    return _laid(input, weight, _run(correlate_input_gradient, input, weight, bias, size, windows))


_OF_THE_GRADIENT = "ConvolutionBackwardBackward0"


@operation(
    "⋆ᵀ",
    "{g} ⋆ᵀ {weight}",
    g=derivative("⋆ {weight}", lambda h, weight, windows: on(convolution, h, weight, windows=windows)),
    weight=derivative(
        "⋆ {g}", lambda h, g, shape, windows: on(convolution_by_weight, g, h, shape=shape, windows=windows)
    ),
    reduces=True,
    backward=_OF_THE_GRADIENT,
    linear=True,
)
def convolution_by_input(g, weight, /, shape, windows):
    """The gradient of a convolution by its input."""
    return _run(correlate_input_gradient, g, weight, None, shape, windows)


@operation(
    "⋆",
    "{g} ⋆ {input}",
    g=derivative("⋆ {input}", lambda h, input, windows: on(convolution, input, h, windows=windows)),
    input=derivative(
        "⋆ᵀ {g}", lambda h, g, shape, windows: on(convolution_by_input, g, h, shape=shape, windows=windows)
    ),
    reduces=True,
    backward=_OF_THE_GRADIENT,
    linear=True,
)
def convolution_by_weight(g, input, /, shape, windows):
    """The gradient of a convolution by its weight."""
    return _run(correlate_weight_gradient, g, input, shape, windows)
