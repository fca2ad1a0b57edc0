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
from autokit.ops.elementwise import div, plain_sub, relu, sigmoid, tanh
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import softmax
from autokit.tensor import Tensor


def _require_floats(name: str, a: Any) -> None:
    if a.dtype.kind in "bui":
        raise NotImplementedError(f'"{name}" not implemented for {a.dtype.name}: convert with .float()')


# ---------------------------------------------------------------- straight pieces


@operation(
    "leaky relu",
    "{a} where {a} > 0, else slope · {a}",
    a=derivative("1 where {a} > 0, else the slope", lambda g, a, negative_slope: _bent(g, a, negative_slope)),
    name="leaky_relu",
)
def plain_leaky_relu(a, /, negative_slope=0.01):
    """``max(x, 0) + negative_slope · min(x, 0)``."""
    _require_floats("leaky_relu_cpu", a)
    if 0 <= negative_slope <= 1:
        return np.maximum(a, a * negative_slope)
    return np.where(a > 0, a, a * negative_slope)


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
    """
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
    """
    if not training:
        return plain_rrelu(input, (lower + upper) / 2)
    array = input.array
    slope = np.ones_like(array)
    negative = array <= 0
    count = int(negative.sum())
    slope[negative] = random.default_generator.uniform((count,), np.dtype(np.float64), lower, upper)
    return plain_rrelu(input, slope)


@operation(
    "hardtanh",
    "{a} between two bounds",
    a=derivative(
        "1 inside of the bounds, else 0",
        lambda g, a, min_val, max_val: np.where((a > min_val) & (a < max_val), g, 0.0),
    ),
    name="hardtanh",
)
def plain_hardtanh(a, /, min_val=-1.0, max_val=1.0):
    """Each element held between ``min_val`` and ``max_val``; flat at the bounds themselves."""
    return np.clip(a, min_val, max_val)


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
    _require_floats("hardsigmoid_cpu", a)
    return np.clip(a + 3, 0, 6) / 6


def _of_hardswish(g: Any, a: Any) -> Any:
    return np.where(a <= -3, 0.0, np.where(a < 3, g * (a / 3 + 0.5), g))


@operation(
    "hardswish",
    "{a} · hardσ {a}",
    a=derivative("{a}/3 + ½ inside of (−3, 3), else 0 or 1", _of_hardswish),
    name="hardswish",
)
def plain_hardswish(a, /):
    """``x · hardsigmoid(x)``."""
    _require_floats("hardswish_cpu", a)
    return a * np.clip(a + 3, 0, 6) / 6


def _outside(g: Any, a: Any, lambd: float) -> Any:
    return np.where((a >= -lambd) & (a <= lambd), 0.0, g)


@operation("hardshrink", "{a} where |{a}| > λ, else 0", a=derivative("1 where |{a}| > λ, else 0", _outside))
def hardshrink(a, /, lambd=0.5):
    """Each element where it is larger than ``lambd`` in size, else 0."""
    _require_floats("hardshrink_cpu", a)
    return np.where((a >= -lambd) & (a <= lambd), 0, a).astype(a.dtype)


@operation(
    "softshrink",
    "{a} moved by λ towards 0",
    a=derivative("1 where |{a}| > λ, else 0", _outside),
    name="softshrink",
)
def plain_softshrink(a, /, lambd=0.5):
    """See :func:`softshrink`."""
    _require_floats("softshrink_cpu", a)
    return a - np.clip(a, -lambd, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element moved by ``lambd`` towards 0, and 0 where it would cross it."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return plain_softshrink(input, lambd)


@operation(
    "threshold",
    "{a} where above the threshold, else a value",
    a=derivative("1 above the threshold, else 0", lambda g, a, threshold: np.where(a > threshold, g, 0.0)),
    name="threshold",
)
def plain_threshold(a, /, threshold, value):
    """Each element where it is above ``threshold``, else ``value``."""
    return np.where(a <= threshold, a.dtype.type(value), a)


# ---------------------------------------------------------------- smooth


def _of_elu(g: Any, a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = g * (input_scale * alpha * scale) * np.exp(input_scale * np.where(a < 0, a, 0.0))
    return np.where(a > 0, g * scale, below)


@operation(
    "elu",
    "{a} where {a} > 0, else α · (exp {a} − 1)",
    a=derivative("1 where {a} > 0, else α · exp {a}", _of_elu),
    name="elu",
)
def plain_elu(a, /, alpha=1.0, scale=1.0, input_scale=1.0):
    """See :func:`elu`."""
    _require_floats("elu_cpu", a)
    below = np.expm1(np.minimum(a, 0) * input_scale)
    below *= alpha * scale
    return np.where(a > 0, a * scale if scale != 1 else a, below)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x) − 1)``."""
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
    _require_floats("elu_cpu", a)
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0) / alpha))


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha · (exp(x / alpha) − 1)``."""
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


@operation(
    "erf",
    "erf({a}/√2)",
    a=derivative("√(2/π) · exp(−{a}²/2)", lambda g, a: g * (2 * _PHI * np.exp(a * a * -0.5))),
)
def _erf_of_gelu(a, /):
    """The error function of x/√2, for :func:`gelu`."""
    return by.erf(a * math.sqrt(0.5))


@operation("gelu", "{a} · Φ({a})", a=derivative("Φ({a}) + {a} · φ({a})", _gelu_slope), name="gelu")
def plain_gelu(a, /, approximate="none"):
    """See :func:`gelu`."""
    _require_floats("GeluKernelImpl", a)
    part = (
        np.tanh(2 * _PHI * (a + _BEND * a * a * a)) if approximate == "tanh" else by.erf(a * math.sqrt(0.5))
    )
    part += 1
    part *= a * 0.5
    return part


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


@operation("silu", "{a} · σ({a})", a=derivative("σ({a}) · (1 + {a} · (1 − σ({a})))", _of_silu), name="silu")
def plain_silu(a, /):
    """``x · sigmoid(x)``, also called swish."""
    _require_floats("silu_cpu", a)
    below = np.exp(-a)
    below += 1
    return a / below


def _of_mish(g: Any, a: Any) -> Any:
    inner = np.tanh(on(plain_softplus, a))
    return g * (inner + a * on(sigmoid, a) * (1 - inner * inner))


@operation(
    "mish",
    "{a} · tanh(softplus {a})",
    a=derivative("{out} / {a} + {a} · σ({a}) · (1 − tanh²)", _of_mish),
    name="mish",
)
def plain_mish(a, /):
    """``x · tanh(softplus(x))``."""
    _require_floats("mish_cpu", a)
    return a * np.tanh(np.logaddexp(a, a.dtype.type(0)))


def _of_softplus(g: Any, a: Any, beta: float, threshold: float) -> Any:
    return np.where(a * beta > threshold, g, g * on(sigmoid, a * beta))


@operation(
    "softplus",
    "log(1 + exp {a})",
    a=derivative("σ({a})", _of_softplus),
    name="softplus",
    backward="SoftplusBackward0",
)
def plain_softplus(a, /, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta · x)) / beta``; x itself where ``beta · x`` is above ``threshold``."""
    _require_floats("softplus_cpu", a)
    scaled = a * beta if beta != 1 else a
    return np.where(scaled > threshold, a, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta · x)) / beta``, a smooth :func:`relu`; x where that is above ``threshold``."""
    return plain_softplus(input, float(beta), float(threshold))


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return div(input, input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``x − tanh(x)``."""
    return plain_sub(input, tanh(input))


@operation(
    "log σ",
    "log σ({a})",
    a=derivative("σ(−{a})", lambda g, a: g * on(sigmoid, -a)),
    backward="LogSigmoidBackward0",
)
def logsigmoid(a, /):
    """The logarithm of :func:`sigmoid`, exact where that is near 0 or 1."""
    _require_floats("log_sigmoid_cpu", a)
    rest = np.exp(-np.abs(a))
    return np.minimum(a, 0) - np.log1p(rest)


@operation(
    "glu",
    "first half · σ(second half)",
    a=derivative("σ of the second half; first half · σ · (1 − σ)", lambda g, a, dim: _of_glu(g, a, dim)),
    name="glu",
)
def plain_glu(a, /, dim=-1):
    """See :func:`glu`."""
    _require_floats("glu_cpu", a)
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
    own = inspect.signature(plain.forward if plain is not None else function)
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
    apply.__doc__ = (plain.forward if plain is not None else function).__doc__
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply


leaky_relu = _flagged(plain_leaky_relu)
hardtanh = _flagged(plain_hardtanh)
hardsigmoid = _flagged(plain_hardsigmoid)
hardswish = _flagged(plain_hardswish)
threshold = _flagged(plain_threshold)
silu = _flagged(plain_silu)
mish = _flagged(plain_mish)
elu_, selu_, celu_, rrelu_ = in_place(elu), in_place(selu), in_place(celu), in_place(rrelu)
leaky_relu_, hardtanh_ = in_place(plain_leaky_relu), in_place(plain_hardtanh)
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
