"""Activations: what stands between the layers of a network, element by element.

Where a function has a kink, its derivative there is the one that PyTorch takes.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import random
from autokit.ops import approximations as by
from autokit.ops.blocks import in_blocks, keep, select, zeros_like
from autokit.ops.elementwise import div, logistic_of_block, plain_sub, relu, sigmoid, tanh
from autokit.ops.errors import require_floats, require_tensor
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import softmax
from autokit.tensor import Tensor

# ---------------------------------------------------------------- straight pieces


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


def _of_leaky_relu(g: Any, a: Any, negative_slope: float) -> Any:
    return _bent(g, a, negative_slope)


def _of_leaky_relu_of_block(g: Any, a: Any, into: Any, /, negative_slope: float) -> None:
    np.multiply(g, negative_slope, out=into)
    select(a > 0, g, into, into)


@operation(
    "leaky relu",
    "{a} where {a} > 0, else slope · {a}",
    a=derivative(
        "1 where {a} > 0, else the slope", _of_leaky_relu, in_blocks(_of_leaky_relu, _of_leaky_relu_of_block)
    ),
    name="leaky_relu",
    on_arrays=in_blocks(_leaky_relu, _leaky_relu_of_block),
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


@operation(
    "prelu",
    "{a} where {a} > 0, else {weight} · {a}",
    a=derivative("1 where {a} > 0, else {weight}", lambda g, a, weight: np.where(a > 0, g, g * weight)),
    weight=derivative("0 where {a} > 0, else {a}", lambda g, a: np.where(a > 0, 0.0, g * a)),
    backward="PreluKernelBackward0",
)
def plain_prelu(a, weight, /):
    """See :func:`prelu`."""
    return np.where(a > 0, a, a * weight)


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
    a=derivative("1 where {a} > 0, else the slope drawn", lambda g, a, slope: _bent(g, a, slope)),
    name="rrelu",
    backward="RreluWithNoiseBackward0",
)
def plain_rrelu(a, /, slope=None):
    """See :func:`rrelu`."""
    return np.where(a > 0, a, a * slope)


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Tensor:
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
    require_floats("leaky_relu_cpu" if not training else "rrelu_with_noise_out_cpu", input.array)
    if not training:
        return plain_rrelu(input, (lower + upper) / 2)
    array = input.array
    slope = np.ones_like(array)
    negative = array <= 0
    count = int(negative.sum())
    slope[negative] = random.default_generator.uniform((count,), np.dtype(np.float64), lower, upper)
    return plain_rrelu(input, slope)


def _of_hardtanh(g: Any, a: Any, min_val: float, max_val: float) -> Any:
    return np.where((a <= min_val) | (a >= max_val), 0.0, g)


def _of_hardtanh_of_block(g: Any, a: Any, into: Any, /, min_val: float, max_val: float) -> None:
    outside = a <= min_val
    outside |= a >= max_val
    keep(~outside, g, into)


@operation(
    "hardtanh",
    "{a} between two bounds",
    a=derivative(
        "1 inside of the bounds, else 0", _of_hardtanh, in_blocks(_of_hardtanh, _of_hardtanh_of_block)
    ),
    name="hardtanh",
)
def plain_hardtanh(a, /, min_val=-1.0, max_val=1.0):
    """Each element held between ``min_val`` and ``max_val``; flat at the bounds themselves."""
    if a.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh: convert with .float()")
    return np.clip(a, min_val, max_val).astype(a.dtype, copy=False)


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


@operation(
    "hardσ",
    "({a} + 3) / 6 between 0 and 1",
    a=derivative(
        "1/6 for {a} inside of (−3, 3), else 0", lambda g, a: np.where((a > -3) & (a < 3), g / 6, 0.0)
    ),
    name="hardsigmoid",
)
def plain_hardsigmoid(a, /):
    """``(x + 3) / 6`` held between 0 and 1."""
    require_floats("hardsigmoid_cpu", a)
    return np.clip(a + 3, 0, 6) / 6


def _of_hardswish(g: Any, a: Any) -> Any:
    return np.where(a <= -3, 0.0, np.where(a < 3, g * (a / 3 + 0.5), g))


def _of_hardswish_of_block(g: Any, a: Any, into: Any, /) -> None:
    np.divide(a, 3, out=into)
    into += 0.5
    into *= g
    select(a < 3, into, g, into)
    keep(~(a <= -3), into, into)


def _hardswish(a: Any) -> Any:
    require_floats("hardswish_cpu", a)
    return a * np.clip(a + 3, 0, 6) / 6


def _hardswish_of_block(a: Any, into: Any, /) -> None:
    np.add(a, 3, out=into)
    np.clip(into, 0, 6, out=into)
    into *= a
    into /= 6


@operation(
    "hardswish",
    "{a} · hardσ {a}",
    a=derivative(
        "{a}/3 + ½ inside of (−3, 3), else 0 or 1",
        _of_hardswish,
        in_blocks(_of_hardswish, _of_hardswish_of_block),
    ),
    name="hardswish",
    on_arrays=in_blocks(_hardswish, _hardswish_of_block),
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


@operation("hardshrink", "{a} where |{a}| > λ, else 0", a=derivative("1 where |{a}| > λ, else 0", _outside))
def hardshrink(a, /, lambd=0.5):
    """Each element where it is larger than ``lambd`` in size, else 0."""
    require_floats("hardshrink_cpu", a)
    return np.where((a >= -lambd) & (a <= lambd), 0, a).astype(a.dtype)


@operation(
    "softshrink",
    "{a} moved by λ towards 0",
    a=derivative("1 where |{a}| > λ, else 0", _outside),
    name="softshrink",
)
def plain_softshrink(a, /, lambd=0.5):
    """See :func:`softshrink`."""
    require_floats("softshrink_cpu", a)
    return a - np.clip(a, -lambd, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element moved by ``lambd`` towards 0, and 0 where it would cross it."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return plain_softshrink(input, lambd)


@operation(
    "threshold",
    "{a} where above the threshold, else a value",
    a=derivative("1 above the threshold, else 0", lambda g, a, threshold: np.where(a <= threshold, 0.0, g)),
    name="threshold",
)
def plain_threshold(a, /, threshold, value):
    """Each element where it is above ``threshold``, else ``value``."""
    return np.where(a <= threshold, a.dtype.type(value), a)


# ---------------------------------------------------------------- smooth


def _of_elu(g: Any, a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = g * (input_scale * alpha * scale) * np.exp(input_scale * np.where(a < 0, a, 0.0))
    return np.where(a <= 0, below, g * scale)


def _of_elu_of_block(g: Any, a: Any, into: Any, /, alpha: float, scale: float, input_scale: float) -> None:
    np.minimum(a, zeros_like(a), out=into)
    into *= input_scale
    np.exp(into, out=into)
    into *= input_scale * alpha * scale
    into *= g
    select(a <= 0, into, g * scale, into)


def _elu(a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    require_floats("elu_cpu", a)
    return np.where(a > 0, a * scale, np.expm1(np.minimum(a, 0) * input_scale) * (alpha * scale))


def _elu_of_block(a: Any, into: Any, /, alpha: float, scale: float, input_scale: float) -> None:
    np.minimum(a, zeros_like(a), out=into)
    into *= input_scale
    np.expm1(into, out=into)
    into *= alpha * scale
    select(a > 0, a * scale, into, into)


@operation(
    "elu",
    "{a} where {a} > 0, else α · (exp {a} − 1)",
    a=derivative("1 where {a} > 0, else α · exp {a}", _of_elu, in_blocks(_of_elu, _of_elu_of_block)),
    name="elu",
    on_arrays=in_blocks(_elu, _elu_of_block),
)
def plain_elu(a, /, alpha=1.0, scale=1.0, input_scale=1.0):
    """See :func:`elu`."""
    return _elu(a, alpha, scale, input_scale)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x) − 1)``.

    References
    ----------
    D.-A. Clevert, T. Unterthiner and S. Hochreiter, "Fast and accurate deep network
    learning by exponential linear units", ICLR 2016.
    """
    return plain_elu(input, alpha, 1.0, 1.0)


def selu(input: Tensor) -> Tensor:
    """An :func:`elu` with the two constants that keep mean 0 and variance 1 (Klambauer and others, 2017)."""
    return plain_elu(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


def _of_celu(g: Any, a: Any, alpha: float) -> Any:
    return np.where(a > 0, g, g * np.exp(np.where(a < 0, a, 0.0) / alpha))


@operation(
    "celu",
    "{a} where {a} > 0, else α · (exp({a}/α) − 1)",
    a=derivative("1 where {a} > 0, else exp({a}/α)", _of_celu),
    name="celu",
)
def plain_celu(a, /, alpha=1.0):
    """See :func:`celu`."""
    require_floats("elu_cpu", a)
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0) / alpha))


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x / alpha) − 1)``.

    References
    ----------
    J. T. Barron, "Continuously differentiable exponential linear units", 2017.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return plain_celu(input, alpha)


_PHI = 1 / math.sqrt(2 * math.pi)
_BEND = 0.044715


def _gelu_slope(g: Any, a: Any, approximate: str) -> Any:
    if approximate == "none":
        return g * ((on(_erf_of_gelu, a) + 1) * 0.5 + a * (np.exp(a * a * -0.5) * _PHI))
    inner = np.tanh(2 * _PHI * (a + _BEND * a * a * a))
    return g * (0.5 * (1 + inner) + a * (1 - inner * inner) * (_PHI * (1 + 3 * _BEND * a * a)))


def _gelu_tanh_of_block(a: Any, into: Any, /) -> Any:
    """Write the tanh in :func:`gelu` of ``a``; also returns the squares."""
    square = a * a
    np.multiply(square, 2 * _PHI * _BEND, out=into)
    into += 2 * _PHI
    into *= a
    np.tanh(into, out=into)
    return square


def _gelu_slope_of_block(g: Any, a: Any, into: Any, /, approximate: str) -> None:
    if approximate == "none":
        bell = a * a
        bell *= -0.5
        np.exp(bell, out=bell)
        bell *= a
        bell *= _PHI
        into[...] = by.erf(a * math.sqrt(0.5))
        into += 1
        into *= 0.5
        into += bell
    else:
        square = _gelu_tanh_of_block(a, into)
        square *= 3 * _BEND * _PHI
        square += _PHI
        square *= a
        slope = into * into
        np.subtract(1, slope, out=slope)
        slope *= square
        into += 1
        into *= 0.5
        into += slope
    into *= g


def _gelu(a: Any, approximate: str) -> Any:
    require_floats("GeluKernelImpl", a)
    if approximate == "tanh":
        part = np.tanh(2 * _PHI * (a + _BEND * a * a * a))
    else:
        part = by.erf(a * math.sqrt(0.5))
    return a * 0.5 * (1 + part)


def _gelu_of_block(a: Any, into: Any, /, approximate: str) -> None:
    if approximate == "tanh":
        _gelu_tanh_of_block(a, into)
    else:
        into[...] = by.erf(a * math.sqrt(0.5))
    into += 1
    into *= a
    into *= 0.5


@operation(
    "erf",
    "erf({a}/√2)",
    a=derivative("√(2/π) · exp(−{a}²/2)", lambda g, a: g * (2 * _PHI * np.exp(a * a * -0.5))),
)
def _erf_of_gelu(a, /):
    """The error function of x/√2, for :func:`gelu`."""
    return by.erf(a * math.sqrt(0.5))


@operation(
    "gelu",
    "{a} · Φ({a})",
    a=derivative("Φ({a}) + {a} · φ({a})", _gelu_slope, in_blocks(_gelu_slope, _gelu_slope_of_block)),
    name="gelu",
    on_arrays=in_blocks(_gelu, _gelu_of_block),
)
def plain_gelu(a, /, approximate="none"):
    """See :func:`gelu`."""
    return _gelu(a, approximate)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """``x · Φ(x)``, with the normal distribution function Φ; ``"tanh"`` takes a formula near it.

    Raises
    ------
    RuntimeError
        If ``approximate`` is neither ``"none"`` nor ``"tanh"``.

    References
    ----------
    D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return plain_gelu(input, approximate)


def _of_silu(g: Any, a: Any) -> Any:
    part = on(sigmoid, a)
    return g * (part * (1 + a * (1 - part)))


def _of_silu_of_block(g: Any, a: Any, into: Any, /) -> None:
    part = np.empty_like(a)
    logistic_of_block(a, part)
    np.subtract(1, part, out=into)
    into *= a
    into += 1
    into *= part
    into *= g


def _silu(a: Any) -> Any:
    require_floats("silu_cpu", a)
    return a / (1 + np.exp(-a))


def _silu_of_block(a: Any, into: Any, /) -> None:
    np.negative(a, out=into)
    np.exp(into, out=into)
    into += 1
    np.divide(a, into, out=into)


@operation(
    "silu",
    "{a} · σ({a})",
    a=derivative("σ({a}) · (1 + {a} · (1 − σ({a})))", _of_silu, in_blocks(_of_silu, _of_silu_of_block)),
    name="silu",
    on_arrays=in_blocks(_silu, _silu_of_block),
)
def plain_silu(a, /):
    """``x · sigmoid(x)``, also called swish.

    References
    ----------
    S. Elfwing, E. Uchibe and K. Doya, "Sigmoid-weighted linear units for neural network
    function approximation in reinforcement learning", 2017.
    """
    return _silu(a)


def _of_mish(g: Any, a: Any) -> Any:
    inner = np.tanh(on(plain_softplus, a))
    return g * (inner + a * on(sigmoid, a) * (1 - inner * inner))


def _of_mish_of_block(g: Any, a: Any, into: Any, /) -> None:
    inner, part = np.empty_like(a), np.empty_like(a)
    _softplus_of_block(a, inner, 1.0, 20.0)
    np.tanh(inner, out=inner)
    logistic_of_block(a, part)
    part *= a
    np.multiply(inner, inner, out=into)
    np.subtract(1, into, out=into)
    into *= part
    into += inner
    into *= g


def _mish(a: Any) -> Any:
    require_floats("mish_cpu", a)
    return a * np.tanh(_softplus(a, 1.0, 20.0))


def _mish_of_block(a: Any, into: Any, /) -> None:
    _softplus_of_block(a, into, 1.0, 20.0)
    np.tanh(into, out=into)
    into *= a


@operation(
    "mish",
    "{a} · tanh(softplus {a})",
    a=derivative(
        "{out} / {a} + {a} · σ({a}) · (1 − tanh²)", _of_mish, in_blocks(_of_mish, _of_mish_of_block)
    ),
    name="mish",
    on_arrays=in_blocks(_mish, _mish_of_block),
)
def plain_mish(a, /):
    """``x · tanh(softplus(x))``.

    References
    ----------
    D. Misra, "Mish: a self regularized non-monotonic activation function", BMVC 2020.
    """
    return _mish(a)


def _of_softplus(g: Any, a: Any, beta: float, threshold: float) -> Any:
    return np.where(a * beta > threshold, g, g * on(sigmoid, a * beta))


def _of_softplus_of_block(g: Any, a: Any, into: Any, /, beta: float, threshold: float) -> None:
    scaled = a * beta
    logistic_of_block(scaled, into)
    into *= g
    _where_above(scaled, threshold, g, into)


def _softplus(a: Any, beta: float, threshold: float) -> Any:
    require_floats("softplus_cpu", a)
    scaled = a * beta
    return np.where(scaled > threshold, a, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _softplus_of_block(a: Any, into: Any, /, beta: float, threshold: float) -> None:
    scaled = a if beta == 1 else a * beta
    np.exp(scaled, out=into)
    np.log1p(into, out=into)
    if beta != 1:
        into /= beta
    _where_above(scaled, threshold, a, into)


def _where_above(scaled: Any, threshold: float, value: Any, into: Any) -> None:
    """Write ``value`` where ``scaled`` is above the threshold, which is rare."""
    if (above := scaled > threshold).any():
        select(above, value, into, into)


@operation(
    "softplus",
    "log(1 + exp {a})",
    a=derivative("σ({a})", _of_softplus, in_blocks(_of_softplus, _of_softplus_of_block)),
    name="softplus",
    backward="SoftplusBackward0",
    on_arrays=in_blocks(_softplus, _softplus_of_block),
)
def plain_softplus(a, /, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta · x)) / beta``; x itself where ``beta · x`` is above ``threshold``."""
    return _softplus(a, beta, threshold)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta · x)) / beta``, a smooth :func:`relu`; x where that is above ``threshold``."""
    return plain_softplus(input, float(beta), float(threshold))


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return div(input, input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``x − tanh(x)``."""
    return plain_sub(input, tanh(input))


def _logsigmoid(a: Any) -> Any:
    require_floats("log_sigmoid_cpu", a)
    return np.minimum(a, 0) - np.log1p(np.exp(-np.abs(a)))


def _logsigmoid_of_block(a: Any, into: Any, /) -> None:
    np.abs(a, out=into)
    np.negative(into, out=into)
    np.exp(into, out=into)
    np.log1p(into, out=into)
    np.subtract(np.minimum(a, zeros_like(a)), into, out=into)


@operation(
    "log σ",
    "log σ({a})",
    a=derivative("σ(−{a})", lambda g, a: g * on(sigmoid, -a)),
    backward="LogSigmoidBackward0",
    on_arrays=in_blocks(_logsigmoid, _logsigmoid_of_block),
)
def logsigmoid(a, /):
    """The logarithm of :func:`sigmoid`, exact where that is near 0 or 1."""
    return _logsigmoid(a)


@operation(
    "glu",
    "first half · σ(second half)",
    a=derivative("σ of the second half; first half · σ · (1 − σ)", lambda g, a, dim: _of_glu(g, a, dim)),
    name="glu",
)
def plain_glu(a, /, dim=-1):
    """See :func:`glu`."""
    require_floats("glu_cpu", a)
    first, second = np.split(a, 2, axis=dim)
    return first * sigmoid.operation.forward(second)


def _of_glu(g: Any, a: Any, dim: int) -> Any:
    half = a.shape[dim] // 2
    lead = (slice(None),) * (dim % len(a.shape))
    first, second = a[(*lead, slice(None, half))], a[(*lead, slice(half, None))]
    part = on(sigmoid, second)
    return np.concatenate([g * part, g * first * part * (1 - part)], axis=dim)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of ``input`` along ``dim``, times the :func:`sigmoid` of the second half.

    Raises
    ------
    RuntimeError
        If there are no two halves.

    References
    ----------
    Y. N. Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017.
    """
    if not input.array.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return plain_glu(input, dim)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The softmax of the negatives: most goes to the smallest."""
    if dim is None:
        warnings.warn(
            "Implicit dimension choice for softmin has been deprecated. Change the call to include dim=X as "
            "an argument.",
            stacklevel=3,
        )
        dim = 0 if input.array.ndim in (0, 1, 3) else 1
    return softmax(-input, dim, dtype)


# ---------------------------------------------------------------- with a flag for in-place


def _flagged(function: Callable[..., Tensor], name: str = "") -> Callable[..., Tensor]:
    """``function`` as in ``torch.nn.functional``: with a last argument ``inplace``."""
    plain = getattr(function, "operation", None)
    own = inspect.signature(plain.plain if plain is not None else function)
    over = in_place(function)
    parameters = [
        parameter.replace(
            name="input" if place == 0 else parameter.name, kind=parameter.POSITIONAL_OR_KEYWORD
        )
        for place, parameter in enumerate(own.parameters.values())
    ]
    flag = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)
    signature = inspect.Signature([*parameters, flag])

    def apply(*arguments: Any, **settings: Any) -> Tensor:
        bound = signature.bind(*arguments, **settings)
        bound.apply_defaults()
        *values, inplace = bound.arguments.values()
        return over(*values) if inplace else function(*values)

    apply.__name__ = apply.__qualname__ = name or function.__name__
    apply.__doc__ = (plain.plain if plain is not None else function).__doc__
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply


leaky_relu = _flagged(plain_leaky_relu)
hardtanh = _flagged(bounded_hardtanh, "hardtanh")
hardsigmoid = _flagged(plain_hardsigmoid)
hardswish = _flagged(plain_hardswish)
threshold = _flagged(plain_threshold)
silu = _flagged(plain_silu)
mish = _flagged(plain_mish)
elu_, selu_, celu_, rrelu_ = in_place(elu), in_place(selu), in_place(celu), in_place(rrelu)
leaky_relu_, hardtanh_ = in_place(plain_leaky_relu), in_place(bounded_hardtanh)
relu_, threshold_ = in_place(relu), in_place(plain_threshold)
FLAGGED = {each.__name__: _flagged(each) for each in (relu6, elu, selu, celu, rrelu)}
"""What stands in ``torch.nn.functional`` with the flag, and in ``torch`` without."""

NAMES = Names(
    both="hardshrink prelu",
    functions="celu celu_ rrelu rrelu_ relu_ selu selu_ threshold threshold_",
    functional="celu_ elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu "
    "leaky_relu_ logsigmoid mish prelu relu_ rrelu_ selu_ silu softmin softplus softshrink softsign "
    "tanhshrink threshold threshold_",
    other_functional=FLAGGED,
)
