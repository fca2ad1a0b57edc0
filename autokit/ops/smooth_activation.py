"""Activations that are smooth everywhere, made of exponentials: gelu, silu, mish, softplus, glu, softmin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.devices import contiguous
from autokit.ops import approximations as by
from autokit.ops.blocks import FEW, in_blocks, loop_over_rows, reusing, select, zeros_like
from autokit.ops.elementwise import logistic_of_block, sigmoid, tanh
from autokit.ops.errors import require_floats
from autokit.ops.gpu.kernels import fused
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import div, plain_sub
from autokit.ops.soft_extremes import softmax
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_PHI = 1 / math.sqrt(2 * math.pi)
_BEND = 0.044715


def _gelu_slope(g: Any, a: Any, /, approximate: str) -> Any:
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
        by.erf_of_normal(a, bell, into)
        bell *= -0.5
        np.exp(bell, out=bell)
        bell *= a
        bell *= _PHI
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


def _gelu(a: Any, /, approximate: str) -> Any:
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
        by.erf_of_normal(a, a * a, into)
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
    a=derivative(
        "Φ({a}) + {a} · φ({a})",
        _gelu_slope,
        in_blocks(fused(_gelu_slope), _gelu_slope_of_block, "native_loops.gelu_gradient"),
    ),
    name="gelu",
    on_arrays=in_blocks(fused(_gelu), _gelu_of_block, "native_loops.gelu"),
    elementwise=True,
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


def _of_silu(g: Any, a: Any, /) -> Any:
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


def _silu(a: Any, /) -> Any:
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
    a=derivative(
        "σ({a}) · (1 + {a} · (1 − σ({a})))",
        _of_silu,
        in_blocks(_of_silu, _of_silu_of_block, "native_loops.silu_gradient"),
    ),
    name="silu",
    on_arrays=in_blocks(fused(_silu), _silu_of_block, "native_loops.silu"),
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
    above = scaled > threshold
    return np.where(above, a, np.log1p(np.exp(np.where(above, 0, scaled))) / beta)


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
    a=derivative(
        "σ({a})",
        _of_softplus,
        in_blocks(_of_softplus, _of_softplus_of_block, "native_loops.softplus_gradient"),
    ),
    name="softplus",
    backward="SoftplusBackward0",
    on_arrays=in_blocks(_softplus, _softplus_of_block, "native_loops.softplus"),
    elementwise=True,
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


def _of_logsigmoid(g: Any, a: Any) -> Any:
    return g * on(sigmoid, -a)


def _of_logsigmoid_of_block(g: Any, a: Any, into: Any, /) -> None:
    np.exp(a, out=into)
    into += 1
    np.divide(g, into, out=into)


def _logsigmoid(a: Any) -> Any:
    require_floats("log_sigmoid_cpu", a)
    return contiguous(np.minimum(a, 0) - np.log1p(np.exp(-np.abs(a))))


def _logsigmoid_of_block(a: Any, into: Any, /) -> None:
    np.abs(a, out=into)
    np.negative(into, out=into)
    np.exp(into, out=into)
    np.log1p(into, out=into)
    np.subtract(np.minimum(a, zeros_like(a)), into, out=into)


@operation(
    "log σ",
    "log σ({a})",
    a=derivative(
        "σ(−{a})",
        _of_logsigmoid,
        in_blocks(_of_logsigmoid, _of_logsigmoid_of_block, "native_loops.logsigmoid_gradient"),
    ),
    backward="LogSigmoidBackward0",
    on_arrays=in_blocks(_logsigmoid, _logsigmoid_of_block, "native_loops.logsigmoid"),
)
def logsigmoid(a, /):
    """The logarithm of :func:`sigmoid`, exact where that is near 0 or 1."""
    return _logsigmoid(a)


@operation(
    "glu",
    "first half · σ(second half)",
    a=derivative(
        "σ of the second half; first half · σ · (1 − σ)",
        lambda g, a, dim: _of_glu(g, a, dim),
        lambda g, a, dim: _of_glu_on_arrays(g, a, dim),
    ),
    name="glu",
)
def plain_glu(a, /, dim=-1):
    """See :func:`glu`."""
    require_floats("glu_cpu", a)
    first, second = _halves(a, dim)
    if a.__class__ is np.ndarray:
        made = np.empty(first.shape, a.dtype)
        if _over_halves("native_loops.glu", dim, a, made):
            return made
    part = sigmoid.operation.forward(_in_line(second))
    return reusing(part, np.multiply, part, first)


def _over_halves(native: str, dim: int, *arrays: Any) -> bool:
    """Whether a compiled loop went over ``arrays`` as rows, each half of which is one piece."""
    first = arrays[0]
    rows = math.prod(first.shape[: dim % first.ndim])
    if not first.size or not all(each.flags.c_contiguous and each.dtype == first.dtype for each in arrays):
        return False
    return loop_over_rows(native, *[each.reshape(rows, -1) for each in arrays])


def _halves(a: Any, dim: int) -> tuple[Any, Any]:
    half = a.shape[dim] // 2
    lead = (slice(None),) * (dim % len(a.shape))
    return a[(*lead, slice(None, half))], a[(*lead, slice(half, None))]


def _in_line(a: Any) -> Any:
    """``a``, copied where it is large and does not lie in one piece, as functions of pieces want it."""
    return np.ascontiguousarray(a) if a.__class__ is np.ndarray and a.size >= FEW else a


def _of_glu(g: Any, a: Any, dim: int) -> Any:
    first, second = _halves(a, dim)
    part = on(sigmoid, _in_line(second))
    return np.concatenate([g * part, g * first * part * (1 - part)], axis=dim)


def _of_glu_on_arrays(g: Any, a: Any, dim: int) -> Any:
    if g.__class__ is not np.ndarray:
        return _of_glu(g, a, dim)
    made = np.empty(a.shape, a.dtype)
    if _over_halves("native_loops.glu_gradient", dim, g, a, made):
        return made
    first, second = _halves(a, dim)
    by_first, by_second = _halves(made, dim)
    part = sigmoid.operation.forward(_in_line(second))
    np.multiply(g, part, out=by_first)
    np.subtract(1, part, out=part)
    part *= by_first
    np.multiply(part, first, out=by_second)
    return made


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
        warn(
            "Implicit dimension choice for softmin has been deprecated. Change the call to include dim=X as "
            "an argument.",
        )
        dim = 0 if input.array.ndim in (0, 1, 3) else 1
    return softmax(-input, dim, dtype)


NAMES = Names(functional="gelu glu logsigmoid softmin softplus softsign tanhshrink")
