"""Normalization brings groups of elements to mean 0 and variance 1, and then scales and shifts them.

The normalizations differ only in the elements of a group: one channel of all samples (batch), one sample
(layer), or some channels of one sample (group).  With x̂ = (x − mean) / √(variance + ε), and ĝ the gradient
that arrives at x̂, the gradient by x is

    (ĝ − mean(ĝ) − x̂ · mean(ĝ · x̂)) / √(variance + ε),

where the means are over each group again.

References
----------
S. Ioffe and C. Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal
Covariate Shift", ICML 2015.
J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
Y. Wu and K. He, "Group Normalization", ECCV 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.errors import describe, require_floats, require_tensor
from autokit.engine.inplace import mark_changed, refuse_change
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names
from autokit.ops.pad import pad
from autokit.ops.pooling import avg_pool3d

# ---------------------------------------------------------------- the formula


def _statistics(a: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean and the variance of each group, which ``axes`` span; of arrays or tensors."""
    mean = a.mean(axis=axes, keepdims=True)
    around = a - mean
    if isinstance(a, Tensor):
        return mean, (around * around).mean(axis=axes, keepdims=True)
    # In float64, in which the squares of float32 do not overflow.
    return mean, np.square(around, dtype=np.float64).mean(axis=axes, keepdims=True)


def _scale(variance: Any, eps: float, like: Any) -> Any:
    """1 / √(variance + ε)."""
    scale = 1 / np.sqrt(variance + eps)
    return scale if isinstance(scale, Tensor) else scale.astype(like.dtype)


def _gradients(
    g: Any, input: Any, weight: Any, bias: Any, mean: Any, scale: Any, axes: tuple[int, ...]
) -> Any:
    """The gradients by input, weight and bias; ``weight`` broadcasts with ``input``."""
    standard = (input - mean) * scale
    arrived = g if weight is None else g * weight
    slope = arrived - arrived.mean(axis=axes, keepdims=True)
    slope = slope - standard * (arrived * standard).mean(axis=axes, keepdims=True)
    return slope * scale, None if weight is None else g * standard, None if bias is None else g


_LOCAL = {
    "input": "(ĝ − mean ĝ − x̂ · mean(ĝ · x̂)) / √(variance + ε), where ĝ = g · {weight}",
    "weight": "x̂",
    "bias": "1",
}

_WORDS = {
    "input": "Moving or stretching a whole group changes nothing: "
    "that part of the upstream gradient drops out",
    "weight": "The gradient of {weight} adds up the upstream gradient times the standardized values",
    "bias": "The gradient of {bias} is the upstream gradient, added up",
}

# ---------------------------------------------------------------- layers


def _layer_gradients(g: Any, input: Any, weight: Any, bias: Any, dims: int, eps: float) -> Any:
    axes = tuple(range(-dims, 0))
    mean, variance = _statistics(input, axes)
    return _gradients(g, input, weight, bias, mean, _scale(variance, eps, input), axes)


@operation(
    "layer norm",
    "layer norm of {input} · {weight} + {bias}",
    joint=derivative(_LOCAL, _layer_gradients),
    words=_WORDS,
    name="layer_norm",
    backward="NativeLayerNormBackward0",
)
def standardize_layers(input, weight=None, bias=None, /, dims=1, eps=1e-5):
    """The last ``dims`` dimensions brought to mean 0 and variance 1, times ``weight``, plus ``bias``."""
    mean, variance = _statistics(input, tuple(range(-dims, 0)))
    out = (input - mean) * _scale(variance, eps, input)
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Each sample brought to mean 0 and variance 1 over its last dimensions, then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Its last sizes are ``normalized_shape``.
    normalized_shape : sequence of int
        The last sizes of ``input``.
    weight, bias : Tensor, optional
        Of that shape.
    eps : float
        Added to the variance.

    Examples
    --------
    >>> import autokit as torch
    >>> layer_norm(torch.tensor([[1.0, 3.0]]), [2])
    tensor([[-1.0000,  1.0000]])
    """
    sizes = _last_sizes("layer_norm", input, normalized_shape, weight, bias)
    return standardize_layers(input, weight, bias, dims=len(sizes), eps=eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Each sample divided by its root mean square over its last dimensions, then scaled.

    ``eps``, added to the mean square, is by default the smallest difference from 1 in the dtype of the input.

    References
    ----------
    B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.
    """
    sizes = _last_sizes("rms_norm", input, normalized_shape, weight, None)
    if eps is None:
        eps = float(np.finfo(np.promote_types(input.array.dtype, np.float32)).eps)
    out = input * ((input * input).mean(tuple(range(-len(sizes), 0)), keepdim=True) + eps).rsqrt()
    return out if weight is None else out * weight


def _last_sizes(name: str, input: Any, sizes: Any, weight: Any, bias: Any) -> tuple[int, ...]:
    require_tensor(name, input)
    require_floats(name, input.array)
    sizes = tuple(sizes)
    if not sizes or tuple(input.shape[-len(sizes) :]) != sizes:
        raise RuntimeError(
            f"Given normalized_shape={list(sizes)}, expected input with shape [*, "
            f"{', '.join(map(str, sizes))}], but got {describe(input)}"
        )
    _check_parameters(name, input, sizes, weight=weight, bias=bias)
    return sizes


def _check_parameters(name: str, input: Tensor, sizes: tuple[int, ...], **parameters: Any) -> None:
    for role, value in parameters.items():
        if value is None:
            continue
        require_tensor(name, value, role)
        if tuple(value.shape) != sizes:
            raise RuntimeError(
                f"{name}(): Expected {role} to be of shape {list(sizes)}, but got {describe(value)} for "
                f"{describe(input)}"
            )
        half = input.array.dtype == np.float16 and value.array.dtype == np.float32
        if value.dtype != input.dtype and not half:
            raise RuntimeError(
                f"{name}(): mixed dtype: {describe(value)} is to go with {describe(input)}; convert one with "
                ".to(...)"
            )


# ---------------------------------------------------------------- batches


def _channels(input: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions over which a channel spreads, and the shape in which its numbers broadcast."""
    ndim = len(input.shape)
    return (0, *range(2, ndim)), (-1,) + (1,) * (ndim - 2)


def _batch_gradients(g: Any, input: Any, weight: Any, bias: Any, out: Any, eps: float) -> Any:
    axes, shape = _channels(input)
    if isinstance(input, Tensor):
        mean, variance = _statistics(input, axes)
    else:
        mean, variance = out[1].reshape(shape), out[2].reshape(shape)
    factor = None if weight is None else weight.reshape(shape)
    by_input, by_weight, by_bias = _gradients(
        g[0], input, factor, bias, mean, _scale(variance, eps, input), axes
    )
    return (
        by_input,
        None if weight is None else by_weight.sum(axes),
        None if bias is None else by_bias.sum(axes),
    )


@operation(
    "batch norm",
    "batch norm of {input} · {weight} + {bias}",
    joint=derivative(_LOCAL, _batch_gradients),
    words=_WORDS,
    name="batch_norm",
    backward="NativeBatchNormBackward0",
)
def standardize_channels(input, weight=None, bias=None, /, eps=1e-5):
    """Each channel brought to mean 0 and variance 1, times ``weight``, plus ``bias``; mean and variance."""
    axes, shape = _channels(input)
    mean, variance = _statistics(input, axes)
    out = (input - mean) * _scale(variance, eps, input)
    if weight is not None:
        out *= weight.reshape(shape)
    if bias is not None:
        out += bias.reshape(shape)
    return out, mean.reshape(-1), variance.reshape(-1).astype(input.dtype)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel brought to mean 0 and variance 1 over all samples, then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Of shape (N, C, ...).
    running_mean, running_var : Tensor, optional
        Of shape (C,).  In training they move towards the batch's mean and sample variance, by ``momentum`` of
        the way; else they stand in for the batch's.
    weight, bias : Tensor, optional
        Of shape (C,).
    training : bool
        Normalize by the batch's own mean and variance.
    momentum : float
        How far the running statistics move.
    eps : float
        Added to the variance.
    """
    require_tensor("batch_norm", input)
    if input.ndim < 2:
        raise IndexError(
            f"batch_norm(): Expected at least 2 dimensions, samples and channels: {describe(input)}"
        )
    require_floats("batch_norm", input.array)
    running = {"running_mean": running_mean, "running_var": running_var}
    _check_parameters("batch_norm", input, (input.shape[1],), weight=weight, bias=bias, **running)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "batch_norm(): running_mean and running_var must be defined in evaluation mode"
            )
        return _by_running_statistics(input, running_mean, running_var, weight, bias, eps)
    count = math.prod(input.shape) // max(input.shape[1], 1)
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}: give "
            "larger batches, or call model.eval() first"
        )
    out, mean, variance = standardize_channels(input, weight, bias, eps=eps)
    if running_mean is not None and running_var is not None and count:
        _move(running_mean, mean.array, momentum)
        _move(running_var, variance.array * (count / (count - 1)), momentum)
    return out


def _by_running_statistics(
    input: Tensor, mean: Tensor, variance: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    _, shape = _channels(input)
    factor = (variance + eps).rsqrt()
    factor = factor if weight is None else factor * weight
    shift = -mean * factor if bias is None else bias - mean * factor
    return (input * factor.reshape(shape) + shift.reshape(shape)).to(input.dtype)


def _move(running: Tensor, statistic: Any, momentum: float) -> None:
    """Move a running statistic towards that of a batch."""
    refuse_change(running)
    running.array[...] = (1 - momentum) * running.array + momentum * statistic
    mark_changed(running)


# ---------------------------------------------------------------- groups, samples and neighbours


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Each group of channels of each sample brought to mean 0 and variance 1; weights are by channel."""
    require_tensor("group_norm", input)
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got "
            f"{describe(input)} and num_groups={num_groups}"
        )
    require_floats("group_norm", input.array)
    _check_parameters("group_norm", input, (input.shape[1],), weight=weight, bias=bias)
    grouped = input.reshape((input.shape[0], num_groups, -1))
    out = standardize_layers(grouped, None, None, dims=1, eps=eps).reshape(input.shape)
    _, shape = _channels(input)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """:func:`batch_norm` of each sample by itself.

    References
    ----------
    D. Ulyanov et al., "Instance Normalization", 2016.
    """
    require_tensor("instance_norm", input)
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    out = group_norm(input, input.shape[1], weight, bias, eps)
    for running, correction in ((running_mean, None), (running_var, 1)):
        if running is not None:
            pixels = input.detach().flatten(2)
            of_sample = pixels.mean(-1) if correction is None else pixels.var(-1, correction=correction)
            _move(running, of_sample.mean(0).array, momentum)
    return out


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Each element divided by ``(k + alpha · mean of squares)^beta`` over ``size`` neighbouring channels.

    References
    ----------
    A. Krizhevsky, I. Sutskever and G. E. Hinton, "ImageNet Classification with Deep Convolutional Neural
    Networks", NIPS 2012.
    """
    require_tensor("local_response_norm", input)
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {describe(input)})")
    squares = (input * input).reshape((input.shape[0], 1, input.shape[1], -1, 1))
    around = pad(squares, (0, 0, 0, 0, size // 2, (size - 1) // 2))
    means = avg_pool3d(around, (size, 1, 1), 1).reshape(input.shape)
    return input / (means * alpha + k) ** beta


NAMES = Names(
    functional="batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm",
    functions="rms_norm",
)
