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

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor


class Groups(NamedTuple):
    """Which elements are normalized together, and where the weights lie.

    ``shape`` is the shape in which a group is what ``axes`` span; ``lined`` is
    the shape of the weights in the input's dimensions, and ``over`` the
    dimensions along which each weight is used again.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    lined: tuple[int, ...]
    over: tuple[int, ...]
    eps: float
    centred: bool = True


class Statistics(NamedTuple):
    """The mean of each group, and 1 / √(variance + ε); ``fixed`` where they were not found in the input."""

    mean: Any
    scale: Any
    fixed: bool = False


def wide(a: Any) -> Any:
    """Half precision is normalized in single precision, as in PyTorch."""
    return a.astype(np.float32) if a.dtype == np.float16 else a


def statistics_of(a: Any, groups: Groups) -> Statistics:
    """The statistics of each group of ``a``; of no variance but the mean square where not centred."""
    a = wide(a).reshape(groups.shape)
    mean = a.mean(axis=groups.axes, keepdims=True) if groups.centred else None
    centred = a if mean is None else a - mean
    return Statistics(
        mean, 1 / np.sqrt((centred * centred).mean(axis=groups.axes, keepdims=True) + groups.eps)
    )


def _standardized(a: Any, groups: Groups, statistics: Statistics) -> Any:
    rows = a.reshape(groups.shape)
    if statistics.mean is not None:
        rows = rows - statistics.mean
        if not isinstance(rows, Tensor):
            rows *= statistics.scale
            return rows
    return rows * statistics.scale


def _gradients(
    g: Any, input: Any, weight: Any, groups: Groups, statistics: Statistics
) -> tuple[Any, Any, Any]:
    on_tensors = isinstance(g, Tensor) or isinstance(input, Tensor) or isinstance(weight, Tensor)
    if not on_tensors:
        g, input = wide(g), wide(input)
    elif not statistics.fixed:  # the statistics depend on the input, and so must be found by tensors
        statistics = statistics_of(input, groups)
    standard = _standardized(input, groups, statistics)
    learned = weight.ndim > 0  # else a 1 that stands for no weight
    arrived = (g * weight.reshape(groups.lined) if learned else g).reshape(groups.shape)
    if statistics.fixed:
        by_input = arrived * statistics.scale
    else:
        by_input = arrived - standard * (arrived * standard).mean(axis=groups.axes, keepdims=True)
        if groups.centred:
            by_input = by_input - arrived.mean(axis=groups.axes, keepdims=True)
        by_input = by_input * statistics.scale
    by_input = by_input.reshape(input.shape)
    if not learned:
        return by_input, None, _summed(g, groups)
    return by_input, _summed(g * standard.reshape(input.shape), groups), _summed(g, groups)


def _summed(g: Any, groups: Groups) -> Any:
    return g.sum(axis=groups.over) if groups.over else g


def _normalization(name: str, symbol: str, backward: str) -> Callable[..., Tensor]:
    """The operation of one kind of normalization, under PyTorch's name of its node."""

    @operation(
        symbol,
        f"{symbol} of {{input}} · {{weight}} + {{bias}}",
        joint=derivative("(ĝ − mean ĝ − x̂ · mean(ĝ · x̂)) / √(variance + ε)", _gradients),
        name=name,
        mixed=True,
        backward=backward,
    )
    def normalized(input, weight, bias, /, groups, statistics):
        """Each group of ``input`` standardized, times ``weight``, plus ``bias``."""
        out = _standardized(wide(input), groups, statistics).reshape(input.shape)
        if weight.ndim:
            out *= weight.reshape(groups.lined)
        if bias.ndim:
            out += bias.reshape(groups.lined)
        return out.astype(input.dtype, copy=False)

    return normalized


layer_norm = _normalization("layer_norm", "layer norm", "NativeLayerNormBackward0")
batch_norm = _normalization("batch_norm", "batch norm", "NativeBatchNormBackward0")
group_norm = _normalization("group_norm", "group norm", "NativeGroupNormBackward0")
rms_norm = _normalization("rms_norm", "RMS norm", "MulBackward0")
