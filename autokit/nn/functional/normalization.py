"""Normalization over batches, layers, groups, instances and neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.autograd.modes import is_grad_enabled
from autokit.dtypes import FLOATS, HALVES
from autokit.ops import normalize as rules
from autokit.ops.convert import cast
from autokit.ops.direct import direct
from autokit.ops.errors import describe, require_floats
from autokit.ops.guards import guards
from autokit.ops.half import widened
from autokit.ops.inplace import refuse_change
from autokit.ops.normalize import Groups, Statistics
from autokit.ops.operands import literal
from autokit.ops.own_copies import outlives
from autokit.ops.pad import pad
from autokit.ops.pool import avg_pool2d, avg_pool3d
from autokit.ops.shape import reshape
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor


@carefully
@guards("input", "weight", "bias")
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

    Raises
    ------
    RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> layer_norm(torch.tensor([[1.0, 3.0]]), [2])
    tensor([[-1.0000,  1.0000]])

    References
    ----------
    J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
    """
    groups = _last_dimensions("layer_norm", input, normalized_shape, weight, bias, eps)
    return _run(rules.layer_norm, input, weight, bias, groups)


@carefully
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Each sample divided by its root mean square over its last dimensions, then scaled.

    ``eps``, added to the mean square, is by default the smallest difference from 1 in the dtype that
    computes: that of the input, and float32 for half precision.

    References
    ----------
    B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.
    """
    if eps is None:
        kind = input.array.dtype
        eps = float(np.finfo(np.float32 if kind in HALVES else kind).eps) if kind.kind in FLOATS else 0.0
    groups = _last_dimensions("rms_norm", input, normalized_shape, weight, None, eps)
    made = _run(rules.rms_norm, input, weight, None, groups._replace(centred=False))
    if input._requires_grad or weight is None:
        return made
    return outlives(made, {0: input, 1: weight})  # PyTorch saves what it makes of the input


def _last_dimensions(
    name: str, input: Tensor, sizes: Any, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Groups:
    if name == "rms_norm" and not input.array.ndim:
        raise ValueError(f"Input tensor must have at least 1 dimensions, but got 0: {describe(input)}")
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for kind, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.array.shape != sizes:
            raise RuntimeError(
                f"Expected {kind} to be of same shape as normalized_shape, but got {kind} of shape "
                f"{list(value.array.shape)} and normalized_shape = {list(sizes)}"
            )
    shape = input.array.shape
    lead = len(shape) - len(sizes)
    if lead < 0 or shape[lead:] != sizes:
        raise RuntimeError(
            f"Given normalized_shape={list(sizes)}, expected input with shape "
            f"[*, {', '.join(map(str, sizes))}], but got input of size{list(shape)}"
        )
    _check_dtypes(name, input, weight, bias)
    axes = tuple(range(lead, len(shape)))
    return Groups(shape, axes, (1,) * lead + sizes, tuple(range(lead)), eps)


def _check_dtypes(name: str, input: Tensor, *parameters: Tensor | None) -> None:
    for parameter in parameters:
        if parameter is None or parameter.array.dtype == input.array.dtype:
            continue
        if input.array.dtype in HALVES and parameter.array.dtype == np.float32:
            continue
        raise RuntimeError(
            f"mixed dtype (CPU): expect parameter to have scalar type of {input.dtype.name}: "
            f"{describe(parameter)} is to go with {describe(input)}"
        )
    require_floats(name, input.array)


def _run(
    rule: Any,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    groups: Groups,
    statistics: Statistics | None = None,
) -> Tensor:
    dtype = input.array.dtype
    made = direct(
        rule,
        (
            input,
            literal(1.0, dtype) if weight is None else weight,
            literal(0.0, dtype) if bias is None else bias,
        ),
        {"groups": groups, "statistics": statistics or rules.statistics_of(widened(input.array), groups)},
    )
    # Parameters of float32 do not widen what is normalized.
    return made if made.array.dtype is dtype else cast(made, dtype=dtype)


@carefully
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
        Of shape (C,).  In training they take in ``momentum`` of the batch's mean and sample variance;
        else they stand in for the batch's.
    weight, bias : Tensor, optional
        Of shape (C,).
    training : bool
        Normalize by the batch's own mean and variance.
    momentum : float
        How much the running statistics take in.
    eps : float
        Added to the variance.

    Raises
    ------
    ValueError
        If in training a channel has a single value.
    RuntimeError
        If shapes or dtypes do not fit, or running statistics are missing.

    References
    ----------
    S. Ioffe and C. Szegedy, "Batch Normalization", ICML 2015.
    """
    shape = input.array.shape
    if training and not shape:
        raise IndexError(f"tuple index out of range: there are no samples in {describe(input)}")
    if training and math.prod(shape[:1] + shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}: give "
            "larger batches, or call model.eval() first"
        )
    if eps < 0 or training and eps <= 0:
        kind = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {kind}, but got {eps}")
    return batch_norm_of_any_size(input, running_mean, running_var, weight, bias, training, momentum, eps)


@carefully
def batch_norm_of_any_size(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """As :func:`batch_norm`, which also refuses a single value in a channel, and no ``eps``."""
    shape = input.array.shape
    if len(shape) < 2:
        nothing_else = training and len(shape) == 1 and running_mean is running_var is None
        raise (IndexError if nothing_else else RuntimeError)(
            f"Expected at least 2 dimensions, samples and channels: {describe(input)}"
        )
    parameters = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    channels = shape[1]
    for name, value in parameters.items():
        if value is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if value is not None and value._requires_grad and name.startswith("running") and is_grad_enabled():
            raise RuntimeError(
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. "
                f"This input cannot have requires_grad True: give {name}.detach()"
            )
        if value is not None and value.array.shape != (channels,):
            raise RuntimeError(
                f"{name} should contain {channels} elements not {value.array.size}: {describe(input)} has "
                f"{channels} channels, in dimension 1, and the layer is for {value.array.size}, in the shape "
                f"{list(value.shape)}"
            )
    if training and shape[0] and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    require_floats("batch_norm", input.array)
    _check_dtypes("batch_norm", input, *parameters.values())
    groups = _by_channel(shape, eps)
    if training:
        statistics = _take_in(running_mean, running_var, widened(input.array), groups, momentum)
        if eps == 0:  # a channel without variance becomes 0, as in PyTorch
            scale = statistics.scale
            statistics = statistics._replace(scale=np.where(np.isinf(scale), 0, scale).astype(scale.dtype))
    else:
        assert running_mean is not None and running_var is not None
        variance = widened(running_var.array)  # beside a variance of half precision ε may be lost
        scale = 1 / np.sqrt(variance + variance.dtype.type(eps))
        # A copy: the running mean may move on before the way back.
        mean = running_mean.array.reshape(groups.lined).copy()
        statistics = Statistics(mean, scale.reshape(groups.lined), fixed=True)
    return _run(rules.batch_norm, input, weight, bias, groups, statistics)


def _by_channel(shape: tuple[int, ...], eps: float) -> Groups:
    others = (0, *range(2, len(shape)))
    lined = (1, shape[1]) + (1,) * (len(shape) - 2)
    return Groups(shape, others, lined, others, eps)


def _take_in(
    mean: Tensor | None, var: Tensor | None, batch: Any, groups: Groups, momentum: float
) -> Statistics:
    """The statistics of a batch, which the running ones take in; the running variance is the unbiased one."""
    for running in (mean, var):
        if running is not None:
            refuse_change(running)
    if mean is None or var is None or not batch.size:  # of nothing there is no mean to take in
        return rules.statistics_of(batch, groups)
    count = math.prod([groups.shape[axis] for axis in groups.axes])
    with np.errstate(all="ignore"):
        # Without ε at first: a variance far below it would lose its digits beside it.
        statistics = rules.statistics_of(batch, groups._replace(eps=0.0))
        scale = rules.take_in(
            mean.array.reshape(groups.lined),
            var.array.reshape(groups.lined),
            *statistics[:2],
            1 - momentum,
            momentum,
            momentum * (math.nan if count == 1 else count / max(count - 1, 1)),
            groups.eps,
        )
    return statistics._replace(scale=scale)


@carefully
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Each group of a sample's channels brought to mean 0 and variance 1; then scaled and shifted by channel.

    Raises
    ------
    RuntimeError
        If the channels do not divide into ``num_groups``, or shapes do not fit.
    ValueError
        If a group has a single value.

    References
    ----------
    Y. Wu and K. He, "Group Normalization", ECCV 2018.
    """
    shape = input.array.shape
    if len(shape) >= 2:
        if not num_groups:
            raise ZeroDivisionError(
                f"integer division or modulo by zero: group_norm makes num_groups=0 of {shape[1]} channels"
            )
        if num_groups > 0 and shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size {list(shape)}"
            )
    return group_norm_of_any_size(input, num_groups, weight, bias, eps)


@carefully
def group_norm_of_any_size(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """As :func:`group_norm`, which also refuses a single value in a group."""
    shape = input.array.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    samples, channels = shape[:2]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.array.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {list(value.array.shape)} and input of shape {list(shape)}"
            )
    _check_dtypes("group_norm", input, weight, bias)
    own = channels // num_groups
    groups = _by_channel(shape, eps)._replace(
        shape=(samples, num_groups, own, math.prod(shape[2:])), axes=(2, 3), split=(1, num_groups, own, 1)
    )
    return _run(rules.group_norm, input, weight, bias, groups)


@carefully
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

    Raises
    ------
    ValueError
        If a channel has a single value.

    References
    ----------
    D. Ulyanov et al., "Instance Normalization", 2016.
    """
    if use_input_stats and math.prod(input.array.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return instance_norm_of_any_size(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


@carefully
def instance_norm_of_any_size(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """As :func:`instance_norm`, which also refuses a single value in a channel."""
    shape = input.array.shape
    if len(shape) < 2 and (use_input_stats or running_mean is not None and running_var is not None):
        raise IndexError(f"Expected at least 2 dimensions, samples and channels: {describe(input)}")
    if use_input_stats and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    kinds = [each.array.dtype.kind in FLOATS for each in (running_mean, running_var) if each is not None]
    if use_input_stats and kinds == [True, False]:
        assert running_var is not None
        raise RuntimeError(
            f"expected scalar type {input.dtype.name} but found {running_var.dtype.name}: in integers "
            "running_var would lose its fractions"
        )
    samples, channels = shape[:2]

    def of_each(value: Tensor | None) -> Tensor | None:
        """One value for each channel of each sample."""
        return None if value is None else value.repeat(samples)

    def running_of_each(value: Tensor | None) -> Tensor | None:
        if value is not None and value._requires_grad:
            return of_each(value)  # to be refused
        return None if value is None else of_each(value.to(input.dtype))

    each_mean, each_var = running_of_each(running_mean), running_of_each(running_var)
    flat = reshape(input, 1, samples * channels, *shape[2:])
    out = batch_norm_of_any_size(
        flat, each_mean, each_var, of_each(weight), of_each(bias), use_input_stats, momentum, eps
    )
    if use_input_stats:
        for running in (running_mean, running_var):
            if running is not None:
                refuse_change(running)
                if running.array.shape[-1:] != (channels,) or running.array.size != channels:
                    raise RuntimeError(
                        f"running statistics should contain {channels} elements along a dimension: "
                        f"{describe(running)}"
                    )
                if not running.array.ndim:
                    raise RuntimeError(
                        "output with shape [] doesn't match the broadcast shape [1]: running statistics are "
                        f"vectors, not {describe(running)}"
                    )
        for running, each in ((running_mean, each_mean), (running_var, each_var)):
            if running is not None and each is not None:
                running.array[...] = each.array.reshape(samples, channels).mean(axis=0)
    return reshape(out, *shape)


@carefully
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Each element divided by ``(k + alpha · mean of squares)^beta`` over ``size`` neighbouring channels.

    References
    ----------
    A. Krizhevsky, I. Sutskever and G. E. Hinton, "ImageNet Classification with Deep Convolutional Neural
    Networks", NIPS 2012.
    """
    ndim = input.array.ndim
    if ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {ndim} dimensions)")
    if not input.array.size:
        return input
    samples, channels, first, *others = input.array.shape
    window, around = (size,) + (1,) * min(ndim - 2, 2), (size // 2, (size - 1) // 2)
    squares = (input * input).reshape(samples, 1, channels, first, *[math.prod(others)] * (ndim > 3))
    average: Any = avg_pool2d if ndim == 3 else avg_pool3d
    means = average(pad(squares, (0, 0) * (len(window) - 1) + around), window, 1).reshape(input.shape)
    return input / (means * alpha + k) ** beta
