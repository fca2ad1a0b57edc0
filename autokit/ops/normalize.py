"""Normalization: groups of elements brought to mean 0 and variance 1, then scaled and shifted.

The normalizations differ only in which elements make a group: one channel of
all samples (batch), one sample (layer), or some channels of one sample
(group).  With x̂ = (x − mean) / √(variance + ε), and ĝ the gradient that
arrives at x̂, the gradient by x is

    (ĝ − mean(ĝ) − x̂ · mean(ĝ · x̂)) / √(variance + ε),

where the means are over each group again.

References
----------
S. Ioffe and C. Szegedy, "Batch Normalization: Accelerating Deep Network
Training by Reducing Internal Covariate Shift", ICML 2015.
J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
Y. Wu and K. He, "Group Normalization", ECCV 2018.
B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.devices import channels_last_or_contiguous, contiguous, on_a_gpu, with_channels_as
from autokit.ops.blocks import BLOCK, as_they_lie, loop_over_rows, over_pieces, pieces_of_rows, reusing
from autokit.ops.gpu.kernels import fused
from autokit.ops.gpu.rows import over_rows
from autokit.ops.half import in_dtype, wide
from autokit.ops.native import is_large, shared
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor
from autokit.threads import each


class Groups(NamedTuple):
    """Which elements are normalized together, and where the weights lie.

    ``shape`` is the shape in which a group is what ``axes`` span; ``lined`` is
    the shape of the weights in the input's dimensions, and ``over`` the
    dimensions along which each weight is used again.  ``split`` is the shape
    of the weights beside ``shape``, where that is not the input's.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    lined: tuple[int, ...]
    over: tuple[int, ...]
    eps: float
    centred: bool = True
    split: tuple[int, ...] = ()


class Statistics(NamedTuple):
    """The mean of each group, and 1 / √(variance + ε); ``fixed`` where they were not found in the input."""

    mean: Any
    scale: Any
    fixed: bool = False


def statistics_of(a: Any, groups: Groups) -> Statistics:
    """The statistics of each group of ``a``; of no variance but the mean square where not centred."""
    if a.__class__ is np.ndarray:
        a = wide(a)
    if in_rows(a, groups):
        return _statistics_of_rows(a, groups)
    if _in_channels(a, groups):
        return _statistics_of_channels(a, groups)
    a = a.reshape(groups.shape)
    try:
        return Statistics(*_mean_and_scale(a, axes=groups.axes, eps=groups.eps, centred=groups.centred))
    except RuntimeWarning:  # a program's filter makes errors of NumPy's warnings
        with np.errstate(all="ignore"):
            return Statistics(*_mean_and_scale(a, axes=groups.axes, eps=groups.eps, centred=groups.centred))


@over_rows
def _mean_and_scale(a, /, axes, eps, centred):
    a = wide(a)
    mean = _mean(a, axes) if centred else None
    around = a - mean if centred else a
    return mean, 1 / np.sqrt(_mean(around * around, axes) + eps)


def _mean(a: Any, axes: tuple[int, ...]) -> Any:
    if a.__class__ is np.ndarray:  # in half the time that its method takes
        return np.add.reduce(a, axis=axes, keepdims=True) / math.prod([a.shape[axis] for axis in axes])
    return a.mean(axis=axes, keepdims=True)


# ---------------------------------------------------------------- large arrays whose groups lie in rows


def in_rows(a: Any, groups: Groups) -> bool:
    """Whether ``a`` is a large array whose groups are rows one after the other in memory.

    It is then gone through in pieces that stay in the cache, a few rows at a time, and sums are products
    with ones, for which BLAS is faster than NumPy's own sums.
    """
    ndim, count = len(groups.shape), len(groups.axes)
    return (
        isinstance(a, np.ndarray)
        and a.size >= _LARGE
        and a.dtype in (np.float32, np.float64)
        and a.flags.c_contiguous
        and groups.axes == tuple(range(ndim - count, ndim))
    )


_LARGE = 16_384


def _row_length(groups: Groups) -> int:
    return math.prod([groups.shape[axis] for axis in groups.axes])


def _statistics_of_rows(a: Any, groups: Groups) -> Statistics:
    length = _row_length(groups)
    rows = a.reshape(-1, length)
    shape = groups.shape[: len(groups.shape) - len(groups.axes)] + (1,) * len(groups.axes)
    mean, scale = np.empty((2, len(rows), 1), a.dtype)
    settings = a.dtype.type(groups.eps), groups.centred
    if loop_over_rows("native_sums.row_statistics", rows, mean, scale, others=settings):
        return Statistics(mean.reshape(shape) if groups.centred else None, scale.reshape(shape))
    mean = mean if groups.centred else None
    squares, ones = np.empty(len(rows), a.dtype), np.ones(length, a.dtype)

    def work(piece: slice) -> None:
        centred = rows[piece]
        if mean is not None:
            np.divide(np.vecdot(centred, ones)[:, None], length, out=mean[piece])
            centred = centred - mean[piece]
        squares[piece] = np.vecdot(centred, centred)

    over_pieces(rows, work)
    scale = 1 / np.sqrt(squares / length + groups.eps)
    return Statistics(None if mean is None else mean.reshape(shape), scale.reshape(shape))


def _one_row_of_weights(a: Any, groups: Groups) -> bool:
    """Whether the groups of ``a`` are rows, and each weight stands for one place in all of them."""
    return in_rows(a, groups) and groups.over == tuple(range(len(groups.shape) - len(groups.axes)))


def _normalized_rows(input: Any, weight: Any, bias: Any, groups: Groups, statistics: Statistics) -> Any:
    length = _row_length(groups)
    rows, out = input.reshape(-1, length), np.empty_like(input)
    into = out.reshape(-1, length)
    scale = statistics.scale.reshape(-1, 1)
    mean = None if statistics.mean is None else statistics.mean.reshape(-1, 1)
    factors = weight.reshape(length) if weight.ndim else np.ones(length, input.dtype)
    terms = bias.reshape(length) if bias.ndim else np.zeros(length, input.dtype)
    means = np.zeros_like(scale) if mean is None else mean
    if loop_over_rows("native_sums.normalized_rows", rows, means, scale, into, others=(factors, terms)):
        return out

    def work(piece: slice) -> None:
        part = into[piece]
        if mean is None:
            np.multiply(rows[piece], scale[piece], out=part)
        else:
            np.subtract(rows[piece], mean[piece], out=part)
            part *= scale[piece]
        if weight.ndim:
            part *= factors
        if bias.ndim:
            part += terms

    over_pieces(rows, work)
    return out


def _gradients_of_rows(
    g: Any, input: Any, weight: Any, groups: Groups, statistics: Statistics
) -> tuple[Any, Any, Any]:
    """:func:`_gradients` where one row of weights serves all rows."""
    length = _row_length(groups)
    rows, arriving = input.reshape(-1, length), g.reshape(-1, length)
    by_input = np.empty_like(input)
    into = by_input.reshape(-1, length)
    scale = statistics.scale.reshape(-1, 1)
    mean = None if statistics.mean is None else statistics.mean.reshape(-1, 1)
    learned = weight.ndim > 0
    factors = weight.reshape(length) if learned else np.ones(length, input.dtype)
    in_loops = _gradients_in_loops(arriving, rows, mean, scale, into, factors)

    def lined(sums: Any) -> Any:
        return sums.reshape(input.shape[input.ndim - len(groups.axes) :])

    if in_loops is not None:
        by_weight, by_bias = in_loops
        return by_input, lined(by_weight) if learned else None, lined(by_bias)
    ones, parts = np.ones(length, input.dtype), pieces_of_rows(rows)
    by_weight, by_bias = np.zeros((2, len(parts), length), input.dtype)

    def work(numbered: tuple[int, slice]) -> None:
        place, piece = numbered
        arrived, part, factor = arriving[piece], into[piece], scale[piece]
        centred = rows[piece] if mean is None else rows[piece] - mean[piece]
        arrived.sum(axis=0, out=by_bias[place])
        if learned:
            np.multiply(arrived, centred, out=part)
            np.matmul(factor[:, 0], part, out=by_weight[place])
            along = np.vecdot(part, factors)
            arrived = np.multiply(arrived, factors, out=part)
        else:
            along = np.vecdot(arrived, centred)
        together = np.vecdot(arrived, ones)
        # Each row times its own number, and less its own number.
        slope = along[:, None] * factor * factor / length
        slope = np.multiply(centred, slope, out=None if mean is None else centred)
        np.subtract(arrived, slope, out=part)
        if mean is not None:
            part -= together[:, None] / length
        part *= factor

    with as_they_lie(rows.shape[1]):
        each(work, list(enumerate(parts)))
    return by_input, lined(by_weight.sum(axis=0)) if learned else None, lined(by_bias.sum(axis=0))


def _gradients_in_loops(g: Any, rows: Any, mean: Any, scale: Any, into: Any, weight: Any) -> Any:
    """The gradients by weights and biases, and ``into`` written, by a compiled loop; None without one."""
    if not is_large(rows):
        return None
    means = np.zeros_like(scale) if mean is None else mean
    together = max(_TOGETHER // rows.shape[1], 1)
    starts = np.arange(0, len(rows), together)
    by_weight, by_bias = np.zeros((2, len(starts), rows.shape[1]), rows.dtype)
    arrays = (starts, by_weight, by_bias, g, rows, means, scale, into, weight)
    if not shared(
        "native_sums.normalized_rows_gradient", (*arrays, together, mean is not None), (0, 1, 2), 1
    ):
        return None
    return by_weight.sum(axis=0), by_bias.sum(axis=0)


_TOGETHER = 2 * BLOCK
"""Elements of the rows whose gradients are added up in one run."""


# ---------------------------------------------------------------- large arrays whose groups are channels


def _in_channels(a: Any, groups: Groups) -> bool:
    """Whether ``a`` is a large array of (samples, channels, ...) whose groups are the channels."""
    return (
        isinstance(a, np.ndarray)
        and a.size >= _LARGE
        and a.ndim > 2
        and a.dtype in (np.float32, np.float64)
        and a.flags.c_contiguous
        and a.shape == groups.shape
        and groups.axes == (0, *range(2, a.ndim))
    )


def _statistics_of_channels(a: Any, groups: Groups) -> Statistics:
    samples, channels = a.shape[:2]
    rows = a.reshape(samples * channels, -1)
    count = samples * rows.shape[1]
    mean = (rows @ np.ones(rows.shape[1], a.dtype)).reshape(samples, channels).sum(axis=0) / count
    of_row = np.tile(mean, samples).reshape(-1, 1)
    squares = np.empty(len(rows), a.dtype)

    def work(piece: slice) -> None:
        centred = rows[piece] - of_row[piece]
        np.einsum("ij,ij->i", centred, centred, out=squares[piece])

    over_pieces(rows, work)
    scale = 1 / np.sqrt(squares.reshape(samples, channels).sum(axis=0) / count + groups.eps)
    return Statistics(mean.reshape(groups.lined), scale.reshape(groups.lined))


def _gradients_of_channels(
    g: Any, input: Any, weight: Any, groups: Groups, statistics: Statistics
) -> tuple[Any, Any, Any]:
    """:func:`_gradients` where each channel is a group, and has a weight of its own."""
    samples, channels = input.shape[:2]
    rows, arriving = input.reshape(samples * channels, -1), g.reshape(samples * channels, -1)
    count = samples * rows.shape[1]
    by_input = np.empty_like(input)
    into = by_input.reshape(rows.shape)

    def of_each_row(per_channel: Any) -> Any:
        return np.tile(per_channel.reshape(-1), samples).reshape(-1, 1)

    mean, products = of_each_row(statistics.mean), np.empty(len(rows), input.dtype)

    def multiply(piece: slice) -> None:
        np.einsum("ij,ij->i", rows[piece] - mean[piece], arriving[piece], out=products[piece])

    over_pieces(rows, multiply)
    by_bias = (arriving @ np.ones(rows.shape[1], g.dtype)).reshape(samples, channels).sum(axis=0)
    scale = statistics.scale.reshape(-1)
    by_weight = products.reshape(samples, channels).sum(axis=0) * scale
    factor = scale * weight if weight.ndim else scale
    slope, shift = of_each_row(by_weight / count * scale), of_each_row(by_bias / count)
    factor = of_each_row(factor)

    def work(piece: slice) -> None:
        part = into[piece]
        np.subtract(rows[piece], mean[piece], out=part)
        part *= slope[piece]
        np.subtract(arriving[piece], part, out=part)
        part -= shift[piece]
        part *= factor[piece]

    over_pieces(rows, work)
    return by_input, by_weight if weight.ndim else None, by_bias


# ---------------------------------------------------------------- any arrays, and tensors; a GPU in kernels


def _standard(a: Any, mean: Any, scale: Any) -> Any:
    """x̂."""
    if mean is None:
        return a * scale
    around = a - mean
    return reusing(around, np.multiply, around, scale)


@fused
def _normalized(input, weight, bias, mean, scale, /, dtype):
    out = _standard(wide(input), mean, scale)
    out = out if weight is None else reusing(out, np.multiply, out, weight)
    out = out if bias is None else reusing(out, np.add, out, bias)
    return in_dtype(out, dtype)


@over_rows
def _by_input(g, input, weight, mean, scale, /, axes, centred, fixed, ready):
    """The gradient by x; ``ready`` says that ``input`` is x̂."""
    slope = arrived = wide(g) if weight is None else wide(g) * weight
    if not fixed:
        standard = input if ready else _standard(wide(input), mean, scale)
        slope = arrived - standard * _mean(arrived * standard, axes)
        if centred:
            slope = reusing(slope, np.subtract, slope, _mean(arrived, axes))
    return in_dtype(slope * scale, g.dtype)


@over_rows
def _by_parameters(g, input, mean, scale, /, axes, ready):
    """The sums, over the places where each weight is used, of g · x̂, if ``input`` is given, and of g."""
    g = wide(g)
    by_bias = g.sum(axis=axes, keepdims=True) if axes else g
    if input is None:
        return None, by_bias
    by_weight = g * (input if ready else _standard(wide(input), mean, scale))
    return by_weight.sum(axis=axes, keepdims=True) if axes else by_weight, by_bias


@fused
def take_in(running_mean, running_var, mean, scale, kept, taken, taken_of_var, eps, /):
    """Let running statistics take in those of a batch, whose ``scale`` is without ε; returns that with ε."""
    biased = 1 / (scale * scale)
    running_mean[...] = (running_mean * kept + mean * taken).astype(running_mean.dtype)
    running_var[...] = (running_var * kept + biased * taken_of_var).astype(running_var.dtype)
    return 1 / np.sqrt(biased + eps)


def _gradients(
    g: Any, input: Any, weight: Any, groups: Groups, statistics: Statistics
) -> tuple[Any, Any, Any]:
    on_tensors = isinstance(g, Tensor) or isinstance(input, Tensor) or isinstance(weight, Tensor)
    if input.__class__ is np.ndarray and not on_tensors:
        g, input = wide(g), wide(input)
        if not statistics.fixed and _one_row_of_weights(input, groups) and g.flags.c_contiguous:
            return _gradients_of_rows(g, input, weight, groups, statistics)
        if not statistics.fixed and _in_channels(input, groups) and g.flags.c_contiguous:
            return _gradients_of_channels(g, input, weight, groups, statistics)
    elif on_tensors and not statistics.fixed:  # these depend on the input, and so must be found by tensors
        statistics = statistics_of(input, groups)
    mean, scale, fixed = statistics
    lined, over = groups.lined, groups.over
    if groups.split:
        lined = groups.split
        over = tuple([place for place, size in enumerate(lined) if size == 1])
    arriving, rows = g.reshape(groups.shape), input.reshape(groups.shape)
    factors = weight.reshape(lined) if weight.ndim else None
    ready = on_tensors or not on_a_gpu(input)
    if ready:  # while a kernel finds x̂ again as it goes
        rows = _standard(rows, mean, scale)
    by_input = _by_input(
        *(arriving, rows, factors, mean, scale),
        axes=groups.axes,
        centred=groups.centred,
        fixed=fixed,
        ready=ready,
    )
    by_weight, by_bias = _by_parameters(
        arriving, None if factors is None else rows, mean, scale, axes=over, ready=ready, keepdims=False
    )
    if groups.split:
        by_input, by_bias = by_input.reshape(input.shape), by_bias.reshape(-1)
        by_weight = None if by_weight is None else by_weight.reshape(-1)
    return by_input, by_weight, by_bias


_BY_INPUT = "(ĝ − mean ĝ − x̂ · mean(ĝ · x̂)) / √(variance + ε), where ĝ = g · {weight}"


def _normalization(
    name: str,
    symbol: str,
    backward: str,
    by_input: str = _BY_INPUT,
    layout: Callable[[Any], Any] = contiguous,
) -> Callable[..., Tensor]:
    """The operation of one kind of normalization, under PyTorch's name of its node."""

    @operation(
        symbol,
        f"{symbol} of {{input}} · {{weight}} + {{bias}}",
        joint=derivative(
            {"input": by_input, "weight": "x̂", "bias": "1"},
            _gradients,
        ),
        name=name,
        mixed=True,
        backward=backward,
        layout=layout,
    )
    def normalized(input, weight, bias, /, groups, statistics):
        """Each group of ``input`` standardized, times ``weight``, plus ``bias``."""
        if _one_row_of_weights(input, groups) and weight.dtype == bias.dtype == input.dtype:
            return _normalized_rows(input, weight, bias, groups, statistics)
        lined = groups.split or groups.lined
        out = _normalized(
            input.reshape(groups.shape),
            weight.reshape(lined) if weight.ndim else None,
            bias.reshape(lined) if bias.ndim else None,
            *statistics[:2],
            input.dtype,
        ).reshape(input.shape)
        return with_channels_as(input, out) if layout is channels_last_or_contiguous else out

    return normalized


layer_norm = _normalization("layer_norm", "layer norm", "NativeLayerNormBackward0")
batch_norm = _normalization(
    "batch_norm",
    "batch norm",
    "NativeBatchNormBackward0",
    f"{_BY_INPUT}; with running statistics ĝ / √(variance + ε)",
    channels_last_or_contiguous,
)
group_norm = _normalization(
    "group_norm", "group norm", "NativeGroupNormBackward0", layout=channels_last_or_contiguous
)
rms_norm = _normalization(
    "rms_norm",
    "RMS norm",
    "MulBackward0",
    "(ĝ − x̂ · mean(ĝ · x̂)) / √(mean of squares + ε), where ĝ = g · {weight}",
)
