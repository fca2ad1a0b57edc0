"""Activations of straight pieces: relu with a slope, bounds and thresholds.

At a kink the derivative is the one that PyTorch takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import beside
from autokit.dtypes import FLOATS
from autokit.limits import finfo
from autokit.meta_array import is_meta
from autokit.ops.blocks import BLOCK, FEW, constants_like, drop, in_blocks, keep, pieces, replace, select
from autokit.ops.errors import refuse_bools_in, require_floats, require_tensor
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operands import fitting
from autokit.ops.operation import derivative, operation
from autokit.ops.sampling import Generator, source_of
from autokit.ops.stepwise import in_steps
from autokit.tensor import Tensor


def _leaky_relu(a: Any, negative_slope: float) -> Any:
    require_floats("leaky_relu_cpu", a)
    if 0 <= negative_slope <= 1:
        return np.maximum(a, a * negative_slope)
    return np.where(a > 0, a, a * negative_slope)


def _leaky_relu_of_block(a: Any, into: Any, /, negative_slope: float) -> None:
    np.multiply(a, negative_slope, out=into)
    if 0 <= negative_slope <= 1:
        np.maximum(a, into, out=into)
    else:
        select(a > 0, a, into, into)


_leaky_relu_on_arrays = in_blocks(_leaky_relu, _leaky_relu_of_block, "native_loops.leaky_relu")


def _of_leaky_relu(g: Any, a: Any, negative_slope: float) -> Any:
    return _bent(g, a, negative_slope)


def _of_leaky_relu_of_block(g: Any, a: Any, into: Any, /, negative_slope: float) -> None:
    if 0 <= negative_slope <= 1:
        into[...] = a > 0  # 1 and 0, then 1 and the slope
        np.maximum(into, constants_like(a, negative_slope), out=into)
        into *= g
    else:
        np.multiply(g, negative_slope, out=into)
        select(a > 0, g, into, into)


@operation(
    "leaky relu",
    "{a} where {a} > 0, else slope · {a}",
    a=derivative(
        "1 where {a} > 0, else the slope",
        in_steps("leaky_relu_backward", _of_leaky_relu),
        in_blocks(_of_leaky_relu, _of_leaky_relu_of_block, "native_loops.leaky_relu_gradient"),
    ),
    name="leaky_relu",
    on_arrays=_leaky_relu_on_arrays,
    elementwise=True,
)
def plain_leaky_relu(a, /, negative_slope=0.01):
    """``max(x, 0) + negative_slope · min(x, 0)``.

    References
    ----------
    A. L. Maas, A. Y. Hannun and A. Y. Ng, "Rectifier nonlinearities improve neural
    network acoustic models", ICML 2013.
    """
    return _leaky_relu(a, negative_slope)


def _bent(g: Any, a: Any, slope: Any) -> Any:
    return np.where(a > 0, g, g * slope)


_where_above_zero = in_steps("prelu_backward_above", lambda g, a: np.where(a > 0, g, 0.0))
_where_not_above_zero = in_steps("prelu_backward_below", lambda g, a: np.where(a > 0, 0.0, g))


def _prelu(a: Any, weight: Any) -> Any:
    require_floats("prelu_cpu", a)
    return np.where(a > 0, a, a * weight)


def _prelu_on_arrays(a: Any, weight: Any) -> Any:
    if a.size < FEW or a.__class__ is not np.ndarray or not a.flags.c_contiguous or a.dtype.kind != "f":
        return _prelu(a, weight)
    if weight.size == 1:
        return _leaky_relu_on_arrays(a, weight.item())
    made = a * weight
    line, into = a.reshape(-1), made.reshape(-1)
    for piece in pieces(line.size, BLOCK):
        select(line[piece] > 0, line[piece], into[piece], into[piece])
    return made


@operation(
    "prelu",
    "{a} where {a} > 0, else {weight} · {a}",
    a=derivative(
        "1 where {a} > 0, else {weight}",
        lambda g, a, weight: _where_above_zero(g, a) + _where_not_above_zero(g * weight, a),
        lambda g, a, weight: np.where(a > 0, g, g * weight),
    ),
    weight=derivative("0 where {a} > 0, else {a}", lambda g, a: np.where(a > 0, 0.0, g * a)),
    backward="PreluKernelBackward0",
    on_arrays=_prelu_on_arrays,
)
def plain_prelu(a, weight, /):
    """See :func:`prelu`."""
    return _prelu(a, weight)


@guards("input", "weight")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """A :func:`leaky_relu` whose slope is learned: one, or one for each channel (dimension 1).

    Raises
    ------
    RuntimeError
        If the weights are not one, nor one for each channel.

    References
    ----------
    K. He et al., "Delving deep into rectifiers", ICCV 2015.
    """
    require_tensor("prelu", weight, "weight")
    if weight.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.name} and {weight.dtype.name}"
        )
    if weight.array.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.array.ndim}"
        )
    count = weight.array.size
    if count != 1:
        if not input.array.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.array.shape[1] if input.array.ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    ndim = input.array.ndim
    if weight.array.ndim or ndim:
        weight = weight.reshape((1, count, *(1,) * (ndim - 2)) if ndim > 1 else (count,) * ndim)
    return plain_prelu(input, weight)


@operation(
    "rrelu",
    "{a} where {a} > 0, else random slope · {a}",
    a=derivative("1 where {a} > 0, else the slope drawn", in_steps("rrelu_backward", _bent), _bent),
    name="rrelu",
    backward="RreluWithNoiseBackward0",
)
def plain_rrelu(a, /, slope=None):
    """See :func:`rrelu`."""
    return np.where(a > 0, a, a * slope)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator = None,
) -> Tensor:
    """A :func:`leaky_relu` with a slope for each element, drawn evenly from ``lower`` to ``upper``.

    Outside of training the slope is the middle of the two.

    References
    ----------
    B. Xu et al., "Empirical evaluation of rectified activations in convolutional
    network", 2015.
    """
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, but got {lower} and {upper}"
        )
    source = source_of("rrelu", generator, input.array)
    require_floats("leaky_relu_cpu" if not training else "rrelu_with_noise_out_cpu", input.array)
    if not training:
        return plain_rrelu(input, (lower + upper) / 2)
    array = input.array
    slope = np.ones_like(array)
    if is_meta(array):
        return plain_rrelu(input, slope)
    negative = array <= 0
    count = int(negative.sum())
    drawn = source.uniform((count,), np.dtype(np.float64), lower, upper)
    slope[negative] = beside(array, drawn.astype(array.dtype))
    return plain_rrelu(input, slope)


def _of_hardtanh(g: Any, a: Any, min_val: float, max_val: float) -> Any:
    return np.where((a <= min_val) | (a >= max_val), 0.0, g)


def _of_hardtanh_of_block(g: Any, a: Any, into: Any, /, min_val: float, max_val: float) -> None:
    outside = a <= min_val
    outside |= a >= max_val
    drop(outside, g, into)


def _hardtanh(a: Any, min_val: float, max_val: float) -> Any:
    if a.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh: convert with .float()")
    if a.dtype.kind == "u" and (min_val < 0 or max_val < 0):
        raise RuntimeError(
            f"cannot do hardtanh on an unsigned type with negative limits: {min_val} and {max_val}; convert "
            "with .float()"
        )
    return np.clip(a, min_val, max_val).astype(a.dtype, copy=False)


def _hardtanh_of_block(a: Any, into: Any, /, min_val: float, max_val: float) -> None:
    np.clip(a, min_val, max_val, out=into)


@operation(
    "hardtanh",
    "{a} between two bounds",
    a=derivative(
        "1 inside of the bounds, else 0",
        in_steps("hardtanh_backward", _of_hardtanh),
        in_blocks(_of_hardtanh, _of_hardtanh_of_block, "native_loops.hardtanh_gradient"),
    ),
    name="hardtanh",
    on_arrays=in_blocks(_hardtanh, _hardtanh_of_block, "native_loops.hardtanh"),
    elementwise=True,
)
def plain_hardtanh(a, /, min_val=-1.0, max_val=1.0):
    """Each element held between ``min_val`` and ``max_val``; flat at the bounds themselves."""
    return _hardtanh(a, min_val, max_val)


def bounded_hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Each element held between ``min_val`` and ``max_val``; the slope at the bounds themselves is 0.

    Raises
    ------
    ValueError
        If the bounds cross.
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, but got {min_val} and {max_val}")
    return plain_hardtanh(input, min_val, max_val)


def relu6(input: Tensor) -> Tensor:
    """Each element held between 0 and 6."""
    return plain_hardtanh(input, 0, 6)


def _hardsigmoid(a: Any) -> Any:
    require_floats("hardsigmoid_cpu", a)
    return np.clip(a + 3, 0, 6) / 6


def _hardsigmoid_of_block(a: Any, into: Any, /) -> None:
    np.add(a, 3, out=into)
    np.clip(into, 0, 6, out=into)
    into *= 1 / 6


def _of_hardsigmoid(g: Any, a: Any) -> Any:
    return np.where((a > -3) & (a < 3), g / 6, 0.0)


def _of_hardsigmoid_of_block(g: Any, a: Any, into: Any, /) -> None:
    inside = a > -3
    inside &= a < 3
    keep(inside, g, into)
    into *= 1 / 6


@operation(
    "hardσ",
    "({a} + 3) / 6 between 0 and 1",
    a=derivative(
        "1/6 for {a} inside of (−3, 3), else 0",
        _of_hardsigmoid,
        in_blocks(_of_hardsigmoid, _of_hardsigmoid_of_block, "native_loops.hardsigmoid_gradient"),
    ),
    name="hardsigmoid",
    on_arrays=in_blocks(_hardsigmoid, _hardsigmoid_of_block, "native_loops.hardsigmoid"),
)
def plain_hardsigmoid(a, /):
    """``(x + 3) / 6`` held between 0 and 1."""
    return _hardsigmoid(a)


def _of_hardswish(g: Any, a: Any) -> Any:
    return np.where(a <= -3, 0.0, np.where(a < 3, g * (a / 3 + 0.5), g))


def _of_hardswish_of_block(g: Any, a: Any, into: Any, /) -> None:
    np.multiply(a, 1 / 3, out=into)
    into += 0.5
    into *= g
    replace(~(a < 3), g, into)
    replace(a <= -3, 0, into)


def _hardswish(a: Any) -> Any:
    require_floats("hardswish_cpu", a)
    return a * np.clip(a + 3, 0, 6) / 6


def _hardswish_of_block(a: Any, into: Any, /) -> None:
    np.add(a, 3, out=into)
    np.clip(into, 0, 6, out=into)
    into *= a
    into *= 1 / 6


@operation(
    "hardswish",
    "{a} · hardσ {a}",
    a=derivative(
        "{a}/3 + ½ inside of (−3, 3), else 0 or 1",
        _of_hardswish,
        in_blocks(_of_hardswish, _of_hardswish_of_block, "native_loops.hardswish_gradient"),
    ),
    name="hardswish",
    on_arrays=in_blocks(_hardswish, _hardswish_of_block, "native_loops.hardswish"),
)
def plain_hardswish(a, /):
    """``x · hardsigmoid(x)``.

    References
    ----------
    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.
    """
    return _hardswish(a)


def _outside(g: Any, a: Any, lambd: float) -> Any:
    return np.where((a >= -lambd) & (a <= lambd), 0.0, g)


def _outside_of_block(g: Any, a: Any, into: Any, /, lambd: float) -> None:
    inside = a >= -lambd
    inside &= a <= lambd
    drop(inside, g, into)


_outside_on_arrays = in_blocks(_outside, _outside_of_block, "native_loops.hardshrink_gradient")


def _require_real(lambd: Any, a: Any) -> None:
    if isinstance(lambd, complex):
        fitting(lambd, a.dtype)


def _hardshrink(a: Any, lambd: float) -> Any:
    require_floats("hardshrink_cpu", a)
    _require_real(lambd, a)
    return np.where((a >= -lambd) & (a <= lambd), 0, a).astype(a.dtype)


def _hardshrink_of_block(a: Any, into: Any, /, lambd: float) -> None:
    _require_real(lambd, a)
    _outside_of_block(a, a, into, lambd)


@operation(
    "hardshrink",
    "{a} where |{a}| > λ, else 0",
    a=derivative("1 where |{a}| > λ, else 0", in_steps("hardshrink_backward", _outside), _outside_on_arrays),
    on_arrays=in_blocks(_hardshrink, _hardshrink_of_block, "native_loops.hardshrink"),
    elementwise=True,
)
def hardshrink(a, /, lambd=0.5):
    """Each element where it is larger than ``lambd`` in size, else 0."""
    return _hardshrink(a, lambd)


def _softshrink(a: Any, lambd: float) -> Any:
    require_floats("softshrink_cpu", a)
    return a - np.clip(a, -lambd, lambd)


def _softshrink_of_block(a: Any, into: Any, /, lambd: float) -> None:
    np.clip(a, -lambd, lambd, out=into)
    np.subtract(a, into, out=into)


@operation(
    "softshrink",
    "{a} moved by λ towards 0",
    a=derivative("1 where |{a}| > λ, else 0", in_steps("softshrink_backward", _outside), _outside_on_arrays),
    name="softshrink",
    on_arrays=in_blocks(_softshrink, _softshrink_of_block, "native_loops.softshrink"),
    elementwise=True,
)
def plain_softshrink(a, /, lambd=0.5):
    """See :func:`softshrink`."""
    return _softshrink(a, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element moved by ``lambd`` towards 0, and 0 where it would cross it."""
    if input.array.dtype.kind in FLOATS and not 0 <= lambd <= finfo(input.dtype).max:
        largest = finfo(input.dtype).max
        raise RuntimeError(
            f"lambda must be in range [0, {largest:g}] for input dtype {input.dtype.name}, but found {lambd}"
        )
    return plain_softshrink(input, lambd)


def _threshold(a: Any, threshold: float, value: float) -> Any:
    refuse_bools_in("threshold_cpu", a)
    if isinstance(threshold, complex):
        raise RuntimeError(f"value cannot be converted to type float without overflow: {threshold}")
    return np.where(a <= threshold, a.dtype.type(fitting(value, a.dtype)), a)


def _threshold_of_block(a: Any, into: Any, /, threshold: float, value: float) -> None:
    select(a <= threshold, constants_like(a, value), a, into)


def _of_threshold(g: Any, a: Any, threshold: float) -> Any:
    return np.where(a <= threshold, 0.0, g)


def _of_threshold_of_block(g: Any, a: Any, into: Any, /, threshold: float) -> None:
    drop(a <= threshold, g, into)


@operation(
    "threshold",
    "{a} where above the threshold, else a value",
    a=derivative(
        "1 above the threshold, else 0",
        in_steps("threshold_backward", _of_threshold),
        in_blocks(_of_threshold, _of_threshold_of_block, "native_loops.threshold_gradient"),
    ),
    name="threshold",
    on_arrays=in_blocks(_threshold, _threshold_of_block, "native_loops.threshold"),
    elementwise=True,
)
def plain_threshold(a, /, threshold, value):
    """Each element where it is above ``threshold``, else ``value``."""
    return _threshold(a, threshold, value)


NAMES = Names(both="hardshrink prelu", functional="hardshrink prelu softshrink")
