"""The commonest functions of each element alone: exponentials, roots, waves, signs, relu and sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.dtypes import FLOATS
from autokit.ops.blocks import FEW, in_blocks, keep, ones, scalar, zeros, zeros_like
from autokit.ops.complex_numbers import is_complex
from autokit.ops.errors import refuse_bools_in
from autokit.ops.gpu.kernels import fused
from autokit.ops.guards import guards
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.operators import flat
from autokit.ops.recording import unchanged
from autokit.ops.stepwise import in_steps

# A module's own names are found sooner than NumPy's.
_ndarray, _minimum, _maximum = np.ndarray, np.minimum, np.maximum
_multiply, _subtract = np.multiply, np.subtract


@operation(
    "exp",
    "exp {a}",
    a=derivative("{out}", lambda g, out: g * out, np.multiply),
    floating=True,
    on_arrays=np.exp,
    fitting=True,
)
def exp(a, /):
    """e to the power of each element."""
    return np.exp(a)


@operation("log", "log {a}", a=derivative("1 / {a}", lambda g, a: g / a), floating=True, fitting=True)
def log(a, /):
    """The natural logarithm of each element; -inf at 0, NaN below."""
    return np.log(a)


@operation(
    "√", "√{a}", a=derivative("1 / (2 · {out})", lambda g, out: g / (2 * out)), floating=True, fitting=True
)
def sqrt(a, /):
    """The square root of each element; NaN below 0."""
    return np.sqrt(a)


def _of_tanh(g: Any, out: Any) -> Any:
    return _subtract(g, _multiply(_multiply(g, out), out))  # NumPy's functions, in less time than operators


@operation(
    "tanh",
    "tanh {a}",
    a=derivative("1 − {out}²", lambda g, out: g - g * out * out, _of_tanh),
    floating=True,
    on_arrays=np.tanh,
    fitting=True,
)
def tanh(a, /):
    """The hyperbolic tangent of each element."""
    return np.tanh(a)


def logistic(a: Any) -> Any:
    """What :func:`sigmoid` computes, in lines that are part of a GPU's kernel, too."""
    # exp of a positive number only ever overflows to infinity, and 1 / infinity is the right 0.
    return 1 / (1 + np.exp(-a))


def logistic_of_block(a: Any, into: Any, /) -> None:
    """Write the logistic function of ``a``."""
    np.negative(a, out=into)
    np.exp(into, out=into)
    into += 1
    np.divide(1, into, out=into)


def _of_logistic(g: Any, out: Any) -> Any:
    return g * (out * (1 - out))


def _of_logistic_of_block(g: Any, out: Any, into: Any, /) -> None:
    np.subtract(1, out, out=into)
    into *= out
    into *= g


@operation(
    "σ",
    "σ({a})",
    a=derivative(
        "{out} · (1 − {out})",
        _of_logistic,
        in_blocks(_of_logistic, _of_logistic_of_block, "native_loops.sigmoid_gradient"),
    ),
    floating=True,
    on_arrays=in_blocks(logistic, logistic_of_block, "native_loops.sigmoid"),
    fitting=True,
)
def sigmoid(a, /):
    """The logistic function 1 / (1 + exp(−a)) of each element."""
    return logistic(a)


def _of_relu(g: Any, out: Any, /) -> Any:
    return np.where(out <= 0, 0, g)  # a NaN passes the gradient on


_of_relu_in_a_kernel = fused(_of_relu)


def _of_relu_of_block(g: Any, out: Any, into: Any, /) -> None:
    keep(out != scalar(0, out.dtype), g, into)  # no result is negative, and a NaN passes the gradient on


def _of_relu_at_once(g: Any, out: Any) -> Any:
    shape, kind = g.shape, g.dtype
    whole = _BITS.get(kind)
    if not g.__class__ is out.__class__ is _ndarray or whole is None or not shape:
        return _of_relu_in_a_kernel(g, out)
    # 1 where any bit of the result is set: it is never -0, and a NaN passes the gradient on.  Of integers, 0
    # times the bits of an infinity or a NaN is 0 too.
    passes = _minimum(out.view(whole), ones(shape, whole))
    passes *= g.view(whole)
    return passes.view(kind)


_BITS: dict[Any, Any] = {np.dtype(np.float32): np.dtype(np.uint32), np.dtype(np.float64): np.dtype(np.uint64)}


_of_relu_in_blocks = in_blocks(_of_relu_at_once, _of_relu_of_block, "native_loops.relu_gradient")


def _of_relu_on_arrays(g: Any, out: Any) -> Any:
    # The commonest of all, and so asked here: a function that takes any arguments is called later.
    return _of_relu_at_once(g, out) if g.size < FEW else _of_relu_in_blocks(g, out)


def _relu(a: Any) -> Any:
    kind = a.dtype
    if kind.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu: convert with .float()")
    if a.__class__ is not _ndarray:
        return _maximum(a, 0)
    return _maximum(a, scalar(0, kind))  # in this order, for which NumPy makes 0 of -0


def _relu_of_block(a: Any, into: Any, /) -> None:
    np.maximum(a, zeros_like(a), out=into)


_relu_in_blocks = in_blocks(_relu, _relu_of_block, "native_loops.relu")


def _relu_on_arrays(a: Any) -> Any:
    if a.size >= FEW:
        return _relu_in_blocks(a)
    kind = a.dtype
    if a.__class__ is _ndarray and kind.kind != "b" and a.flags.c_contiguous:
        return _maximum(a, zeros(a.shape, kind))  # two arrays take half as long as an array and a number
    return _relu(a)


@operation(
    "relu",
    "max({a}, 0)",
    a=derivative("1 where {a} > 0, else 0", in_steps("relu_backward", _of_relu), _of_relu_on_arrays),
    on_arrays=_relu_on_arrays,
    fitting=True,
)
def relu(a, /):
    """Each element where it is positive, else 0."""
    return _relu(a)


def _of_abs_of_block(g: Any, a: Any, into: Any, /) -> None:
    _sign_of_block(a, into)
    into *= g


@operation(
    "| |",
    "|{a}|",
    a=derivative(
        "sign of {a}",
        lambda g, a: g * on(sgn, a),
        in_blocks(lambda g, a: g * _sign(a), _of_abs_of_block, "native_arithmetic.abs_gradient"),
    ),
)
def abs(a, /):
    """The absolute value of each element."""
    refuse_bools_in("abs_cpu", a)
    return np.abs(a)


@operation("sin", "sin {a}", a=derivative("cos {a}", lambda g, a: g * np.cos(a)), floating=True)
def sin(a, /):
    """The sine of each element, in radians."""
    return np.sin(a)


@operation("cos", "cos {a}", a=derivative("−sin {a}", lambda g, a: -g * np.sin(a)), floating=True)
def cos(a, /):
    """The cosine of each element, in radians."""
    return np.cos(a)


def _sign(a: Any) -> Any:
    if a.dtype.kind in FLOATS:
        return np.subtract(a > 0, a < 0, dtype=a.dtype)
    return np.sign(a) if a.dtype.kind != "b" else a.copy()


def _of_sgn(g: Any, a: Any) -> Any:
    if not is_complex(a):
        return np.zeros_like(g)
    # a / |a| moves along the circle alone: what of g points outwards is lost.
    size = np.where(a == 0, 1, np.abs(a))
    unit = on(sgn, a)
    along = g - np.real(g * np.conjugate(unit)) * unit
    return np.where(a == 0, 0, along / size)


def _sign_of_block(a: Any, into: Any, /) -> None:
    into[...] = (a > 0).view(np.int8) - (a < 0).view(np.int8)


def _sgn(a: Any) -> Any:
    if a.dtype.kind != "c":
        return _sign(a)
    size = np.abs(a)
    return np.where(size == 0, 0, a / np.where(size == 0, 1, size))


@guards(results=(0,))
@operation(
    "sgn",
    "{a} / |{a}|",
    a=derivative("1 / |{a}| along the circle, for real numbers 0", _of_sgn),
    on_arrays=in_blocks(_sgn, _sign_of_block, "native_arithmetic.sign"),
)
def sgn(a, /):
    """-1, 0 or 1 for each element, and a / |a| for a complex one; 0 for NaN."""
    return _sgn(a)


@operation(
    "sign", "sign of {a}", a=flat, on_arrays=in_blocks(_sign, _sign_of_block, "native_arithmetic.sign")
)
def sign(a, /):
    """-1, 0 or 1 for each element; 0 for NaN."""
    return _sign(a)


@operation("floor", "⌊{a}⌋", a=flat)
def floor(a, /):
    """Each element rounded down."""
    refuse_bools_in("floor_vml_cpu", a)
    return np.floor(a)


@operation("⎘", "{a}", a=derivative("1", unchanged), name="clone")
def plain_clone(a, /):
    """A copy; gradients flow through it."""
    return a.copy("C" if 0 in a.strides else "K")  # in the same order in memory


NAMES = Names(
    both="abs cos exp floor log relu sgn sigmoid sign sin sqrt tanh",
    functional="sigmoid tanh",
    in_place="abs cos exp floor log relu sgn sigmoid sign sin sqrt tanh",
    aliases={"absolute": "abs"},
    numpy={
        np.exp: exp,
        np.log: log,
        np.sqrt: sqrt,
        np.tanh: tanh,
        np.absolute: abs,
        np.sin: sin,
        np.cos: cos,
        np.sign: sign,
        np.floor: floor,
    },
)
