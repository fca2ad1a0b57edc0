"""Activation functions: nonlinear functions of each element, which a network applies between linear layers.

The piecewise linear ones come first, then the smooth ones. At a kink the derivative is one of the two slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.engine.inplace import in_place
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names
from autokit.ops.special import erf
from autokit.ops.trigonometry import tanh

# ---------------------------------------------------------------- piecewise linear


def _relu_gradient(g: Any, out: Any) -> Any:
    # For the rows of the MLPs and LeNet: a product with a mask takes a third of the time of np.where. It
    # multiplies whole numbers, the bits of g, since an infinite gradient times 0 would be NaN.
    bits = g.view(f"u{g.itemsize}") * (out != 0)  # no result is negative
    return bits.view(g.dtype)


@operation(
    "relu",
    "max({a}, 0)",
    a=derivative("1 where {a} > 0, else 0", lambda g, out: np.where(out <= 0, 0, g), _relu_gradient),
    words={"a": "{zeros} of {size} values were below 0: there the gradient stops, the others pass it on"},
)
def relu(a, /):
    """Each element where it is positive, else 0."""
    return np.maximum(a, 0)


@operation(
    "leaky relu",
    "{a} where {a} > 0, else slope · {a}",
    a=derivative(
        "1 where {a} > 0, else the slope",
        lambda g, a, negative_slope: np.where(a > 0, g, g * negative_slope),
    ),
    floating=True,
)
def leaky_relu(a, /, negative_slope=0.01):
    """``max(x, 0) + negative_slope · min(x, 0)``.

    References
    ----------
    A. L. Maas, A. Y. Hannun and A. Y. Ng, "Rectifier nonlinearities improve neural
    network acoustic models", ICML 2013.
    """
    return np.where(a > 0, a, a * negative_slope)


@operation(
    "prelu",
    "{a} where {a} > 0, else {weight} · {a}",
    a=derivative("1 where {a} > 0, else {weight}", lambda g, a, weight: np.where(a > 0, g, g * weight)),
    weight=derivative("0 where {a} > 0, else {a}", lambda g, a: np.where(a > 0, 0, g * a)),
    name="prelu",
)
def bent(a, weight, /):
    """``a`` where it is positive, else ``weight · a``."""
    return np.where(a > 0, a, a * weight)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """A :func:`leaky_relu` whose slope is learned: one, or one for each channel (dimension 1).

    References
    ----------
    K. He et al., "Delving deep into rectifiers", ICCV 2015.
    """
    count = weight.numel()
    channels = input.shape[1] if input.ndim > 1 else 1
    if count not in (1, channels):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    return bent(input, weight.reshape(count, *[1] * (input.ndim - 2)) if input.ndim > 1 else weight)


@operation(
    "hardtanh",
    "{a} held between two bounds",
    a=derivative(
        "1 inside of the bounds, else 0",
        lambda g, a, min_val, max_val: np.where((a <= min_val) | (a >= max_val), 0, g),
    ),
)
def hardtanh(a, /, min_val=-1.0, max_val=1.0):
    """Each element held between ``min_val`` and ``max_val``; the slope at the bounds themselves is 0."""
    return np.clip(a, min_val, max_val).astype(a.dtype)


def relu6(input: Tensor) -> Tensor:
    """Each element held between 0 and 6."""
    return hardtanh(input, 0.0, 6.0)


@operation(
    "hardσ",
    "({a} + 3) / 6 between 0 and 1",
    a=derivative(
        "1/6 for {a} inside of (−3, 3), else 0", lambda g, a: np.where((a > -3) & (a < 3), g / 6, 0)
    ),
    floating=True,
)
def hardsigmoid(a, /):
    """``(x + 3) / 6`` held between 0 and 1."""
    return np.clip(a + 3, 0, 6) / 6


@operation(
    "hardswish",
    "{a} · hardσ {a}",
    a=derivative(
        "{a}/3 + ½ inside of (−3, 3), else 0 or 1",
        lambda g, a: np.where(a <= -3, 0, np.where(a < 3, g * (a / 3 + 0.5), g)),
    ),
    floating=True,
)
def hardswish(a, /):
    """``x · hardsigmoid(x)``.

    References
    ----------
    A. Howard et al., "Searching for MobileNetV3", ICCV 2019.
    """
    return a * np.clip(a + 3, 0, 6) / 6


_beyond = derivative(
    "1 where |{a}| > λ, else 0", lambda g, a, lambd: np.where((a >= -lambd) & (a <= lambd), 0, g)
)


@operation("hardshrink", "{a} where |{a}| > λ, else 0", a=_beyond, floating=True)
def hardshrink(a, /, lambd=0.5):
    """Each element where it is larger than ``lambd`` in size, else 0."""
    return np.where((a >= -lambd) & (a <= lambd), 0, a)


@operation("softshrink", "{a} moved by λ towards 0", a=_beyond, floating=True)
def softshrink(a, /, lambd=0.5):
    """Each element moved by ``lambd`` towards 0, and 0 where it would cross it."""
    return a - np.clip(a, -lambd, lambd)


@operation(
    "threshold",
    "{a} where above the threshold, else a value",
    a=derivative("1 above the threshold, else 0", lambda g, a, threshold: np.where(a <= threshold, 0, g)),
)
def threshold(a, /, threshold, value):
    """Each element where it is above ``threshold``, else ``value``."""
    return np.where(a <= threshold, value, a).astype(a.dtype)


# ---------------------------------------------------------------- exponential linear units


def _elu_gradient(g: Any, a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = g * (input_scale * alpha * scale) * np.exp(input_scale * np.where(a < 0, a, 0))
    return np.where(a <= 0, below, g * scale)


@operation(
    "elu",
    "{a} where {a} > 0, else α · (exp {a} − 1)",
    a=derivative("1 where {a} > 0, else α · exp {a}", _elu_gradient),
    floating=True,
    name="elu",
)
def exponential_linear(a, /, alpha=1.0, scale=1.0, input_scale=1.0):
    """A line of slope ``scale`` above 0, and below a curve that falls to ``−alpha · scale``."""
    curve = np.expm1(np.minimum(a, 0) * input_scale) * (alpha * scale)
    return np.where(a > 0, a * scale, curve)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x) − 1)``.

    References
    ----------
    D.-A. Clevert, T. Unterthiner and S. Hochreiter, "Fast and accurate deep network
    learning by exponential linear units", ICLR 2016.
    """
    return exponential_linear(input, alpha)


def selu(input: Tensor) -> Tensor:
    """An :func:`elu` with the two constants that keep mean 0 and variance 1 (Klambauer and others, 2017)."""
    return exponential_linear(input, 1.6732632423543772, 1.0507009873554805)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x / alpha) − 1)``, whose slope at 0 is 1 too.

    References
    ----------
    J. T. Barron, "Continuously differentiable exponential linear units", 2017.
    """
    return exponential_linear(input, alpha, 1.0, 1 / alpha)


# ---------------------------------------------------------------- the logistic function, and what it gates


@operation(
    "σ", "σ({a})", a=derivative("{out} · (1 − {out})", lambda g, out: g * (out * (1 - out))), floating=True
)
def sigmoid(a, /):
    """The logistic function 1 / (1 + exp(−x)) of each element x."""
    return 1 / (1 + np.exp(-a))  # where exp overflows to ∞, 1 / ∞ is the right 0


@operation("log σ", "log σ({a})", a=derivative("σ(−{a})", lambda g, a: g * on(sigmoid, -a)), floating=True)
def logsigmoid(a, /):
    """The logarithm of :func:`sigmoid`, exact where that is near 0 or 1."""
    return np.minimum(a, 0) - np.log1p(np.exp(-np.abs(a)))


def _softplus_gradient(g: Any, a: Any, beta: float, threshold: float) -> Any:
    return np.where(a * beta > threshold, g, g * on(sigmoid, a * beta))


@operation("softplus", "log(1 + exp {a})", a=derivative("σ({a})", _softplus_gradient), floating=True)
def softplus(a, /, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta · x)) / beta``, a smooth :func:`relu`; x where that is above ``threshold``."""
    scaled = a * beta
    return np.where(scaled > threshold, a, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _silu_gradient(g: Any, a: Any) -> Any:
    part = on(sigmoid, a)
    return g * (part * (1 + a * (1 - part)))


@operation(
    "silu", "{a} · σ({a})", a=derivative("σ({a}) · (1 + {a} · (1 − σ({a})))", _silu_gradient), floating=True
)
def silu(a, /):
    """``x · sigmoid(x)``, also called swish.

    References
    ----------
    S. Elfwing, E. Uchibe and K. Doya, "Sigmoid-weighted linear units for neural network
    function approximation in reinforcement learning", 2017.
    """
    return a / (1 + np.exp(-a))


def _mish_gradient(g: Any, a: Any) -> Any:
    inner = np.tanh(on(softplus, a))
    return g * (inner + a * on(sigmoid, a) * (1 - inner * inner))


@operation(
    "mish",
    "{a} · tanh(softplus {a})",
    a=derivative("{out} / {a} + {a} · σ({a}) · (1 − tanh²)", _mish_gradient),
    floating=True,
)
def mish(a, /):
    """``x · tanh(softplus(x))``.

    References
    ----------
    D. Misra, "Mish: a self regularized non-monotonic activation function", BMVC 2020.
    """
    return a * np.tanh(on(softplus, a))


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of ``input`` along ``dim``, times the :func:`sigmoid` of the second half.

    References
    ----------
    Y. N. Dauphin et al., "Language modeling with gated convolutional networks", ICML 2017.
    """
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return input.narrow(dim, 0, size // 2) * sigmoid(input.narrow(dim, size // 2, size // 2))


# ---------------------------------------------------------------- the normal distribution, and other curves

_PHI = 1 / math.sqrt(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)
_BEND = 0.044715


def _gelu_gradient(g: Any, a: Any, approximate: str) -> Any:
    if approximate == "none":
        share = on(erf, a * _ROOT_HALF)
        return g * (0.5 * (1 + share) + a * (np.exp(a * a * -0.5) * _PHI))
    inner = np.tanh(2 * _PHI * (a + _BEND * a * a * a))
    return g * (0.5 * (1 + inner) + a * (1 - inner * inner) * (_PHI * (1 + 3 * _BEND * a * a)))


@operation(
    "gelu",
    "{a} · Φ({a})",
    a=derivative("Φ({a}) + {a} · φ({a})", _gelu_gradient),
    floating=True,
    name="gelu",
)
def normal_gate(a, /, approximate="none"):
    """``x · Φ(x)``; see :func:`gelu`."""
    if approximate == "none":
        return a * 0.5 * (1 + on(erf, a * _ROOT_HALF))
    return a * 0.5 * (1 + np.tanh(2 * _PHI * (a + _BEND * a * a * a)))


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x · Φ(x)``, with the normal distribution function Φ; ``"tanh"`` approximates it by a tanh.

    References
    ----------
    D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return normal_gate(input, approximate)


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``x − tanh(x)``."""
    return input - tanh(input)


# ---------------------------------------------------------------- in place


def _with_inplace(function: Callable[..., Tensor], settings: int = 0) -> Callable[..., Tensor]:
    """``function`` with another argument, ``inplace``, after its ``settings``, as in ``nn.functional``."""
    changing = in_place(function)

    @wraps(function)
    def apply(input: Tensor, *chosen: Any, inplace: bool = False, **named: Any) -> Tensor:
        if len(chosen) > settings:
            *chosen, inplace = chosen  # type: ignore[assignment]
        return (changing if inplace else function)(input, *chosen, **named)

    return apply


_IN_PLACE = {
    **{
        each.__name__: _with_inplace(each) for each in (relu, relu6, hardsigmoid, hardswish, selu, silu, mish)
    },
    **{each.__name__: _with_inplace(each, 1) for each in (leaky_relu, elu, celu)},
    **{each.__name__: _with_inplace(each, 2) for each in (hardtanh, threshold)},
}

NAMES = Names(
    both="hardshrink prelu relu sigmoid",
    functions="celu selu threshold",
    functional="gelu glu hardshrink logsigmoid prelu sigmoid softplus softshrink softsign tanhshrink",
    in_place="relu sigmoid",
    in_place_functions="celu relu selu sigmoid threshold",
    other_functional=_IN_PLACE
    | {
        f"{each.__name__}_": in_place(each)
        for each in (relu, leaky_relu, hardtanh, elu, selu, celu, threshold)
    },
)
