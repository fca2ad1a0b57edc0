"""Operations on each element alone: arithmetic, powers, exponentials, activations, choices."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.dtypes import FLOATS
from autokit.ops.blocks import in_blocks, keep, select, zeros_like
from autokit.ops.create import as_tensor
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting, taking_numbers
from autokit.ops.operation import Derivative, derivative, on, operation
from autokit.tensor import Literal, Tensor

flat = derivative("0", lambda g: np.zeros_like(g))
"""The derivative of what is constant but for steps."""

# ---------------------------------------------------------------- arithmetic


@operation(
    "+",
    "{a} + {b}",
    a=derivative("1", lambda g: g),
    b=derivative("1", lambda g: g),
    name="add",
    on_arrays=operator.add,
)
def plain_add(a, b, /):
    """See :func:`add`."""
    return a + b


def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The sum, element by element, with ``other`` taken ``alpha`` times."""
    return plain_add(input, taken(input, other, alpha))


def taken(input: Any, other: Any, alpha: Any) -> Any:
    """``other`` times ``alpha``, which must be of no higher category than the result."""
    if alpha.__class__ is int and alpha == 1:
        return other
    common = common_dtype(
        [value for value in (input, other) if isinstance(value, Tensor | bool | int | float)]
    )
    if isinstance(alpha, bool) and common.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and common.kind in "bui":
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number: it is "
            f"{alpha}, and the result {common.name}"
        )
    if isinstance(other, Tensor) and other.array.dtype != common:  # so that a byte does not wrap around
        other = _with_dtype(other, common)
    return other * (fitting(alpha, common) if common.kind in "bui" else alpha)


def is_number(node: Node, place: int) -> bool:
    """Whether a Python number was the operand at ``place``."""
    return node.sources[place].__class__ is Literal


@operation(
    "−",
    "{a} − {b}",
    a=derivative("1", lambda g: g),
    b=derivative("−1", lambda g: -g, operator.neg),
    name="sub",
    on_arrays=operator.sub,
    backward=lambda node: "RsubBackward1" if is_number(node, 0) else "SubBackward0",
)
def plain_sub(a, b, /):
    """See :func:`sub`."""
    return np.subtract(a, b)


def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The difference, element by element, with ``other`` taken ``alpha`` times."""
    return plain_sub(input, taken(input, other, alpha))


@operation(
    "×",
    "{a} · {b}",
    a=derivative("{b}", lambda g, b: g * b, operator.mul),
    b=derivative("{a}", lambda g, a: g * a, operator.mul),
    on_arrays=operator.mul,
)
def mul(a, b, /):
    """The product, element by element."""
    return a * b


@operation(
    "÷",
    "{a} / {b}",
    a=derivative("1 / {b}", lambda g, b: g / b, operator.truediv),
    b=derivative("−{out} / {b}", lambda g, b, out: -g * out / b),
    floating=True,
    name="div",
    on_arrays=operator.truediv,
    backward=lambda node: "MulBackward0" if is_number(node, 0) else "DivBackward0",  # 2 / x is 2 · (1 / x)
)
def plain_div(a, b, /):
    """See :func:`div`."""
    return a / b


@operation(
    "÷",
    "{a} / {b}, rounded",
    a=flat,
    b=flat,
    name="div_rounded",
    backward="DivBackward2",
)
def _div_rounded(a, b, /, mode):
    """The quotient rounded: down for ``"floor"``, towards 0 for ``"trunc"``."""
    _refuse_bools_and_zeros("div", b)
    if mode == "trunc" and a.dtype.kind in FLOATS:
        return np.trunc(a / b)
    down = np.floor_divide(a, b)
    return down if mode == "floor" else down + ((down < 0) & (down * b != a)).astype(down.dtype)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, element by element; of integers a float.

    Parameters
    ----------
    input, other : Tensor or number
    rounding_mode : "floor" or "trunc", optional
        Round down, or towards 0; the dtype is then kept.

    Raises
    ------
    RuntimeError
        If the rounding mode is another.
    """
    if rounding_mode is None:
        return plain_div(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return _div_rounded(input, other, rounding_mode)


@operation("−", "−{a}", a=derivative("−1", lambda g: -g, operator.neg), on_arrays=operator.neg)
def neg(a, /):
    """The negative of each element."""
    return -a


def _power_by_base(g: Any, a: Any, b: Any) -> Any:
    # Written so that an exponent of 0 gives 0 even at the base 0, where the power rule alone gives nan.
    return np.where(b == 0, 0.0, g * (b * a ** np.where(b == 0, 1.0, b - 1)))


def _power_by_base_on_arrays(g: Any, a: Any, b: Any) -> Any:
    return g * (a + a) if b.ndim == 0 and b == 2 else _power_by_base(g, a, b)


def _power_by_exponent(g: Any, a: Any, b: Any, out: Any) -> Any:
    # 0 to a power of 0 or more does not change with the power.
    still = np.logical_and(a == 0, b >= 0)
    return g * np.where(still, 0.0, out * np.log(np.where(still, 1.0, a)))


def _pow_name(node: Node) -> str:
    return "PowBackward0" if is_number(node, 1) else "PowBackward2" if is_number(node, 0) else "PowBackward1"


@operation(
    "^",
    "{a} ^ {b}",
    a=derivative("{b} · {a} ^ ({b} − 1)", _power_by_base, _power_by_base_on_arrays),
    b=derivative("{out} · log {a}", _power_by_exponent),
    name="pow",
    backward=_pow_name,
)
def plain_pow(a, b, /):
    """See :func:`pow`."""
    if a.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool': convert with .int()")
    if a.dtype.kind == "i" and (b < 0).any():
        # 1 and −1 have whole inverses; of the others nothing is left.
        whole = np.power(a, np.maximum(b, 0))
        return np.where(b < 0, np.where(np.abs(a) == 1, np.where(b % 2 == 0, a * a, a), a - a), whole)
    return a * a if b.ndim == 0 and b == 2 else np.power(a, b)


def pow(input: Any, exponent: Any) -> Tensor:
    """Each element of ``input`` to the power of ``exponent``.

    Raises
    ------
    RuntimeError
        If integers are to be raised to a negative number: make floats of them.
    """
    if isinstance(input, Tensor) and isinstance(exponent, int) and input.array.dtype.kind in "bui":
        if exponent < 0:
            raise RuntimeError(
                "Integers to negative integer powers are not allowed: the results are fractions, which "
                f"{input.dtype.name} has not; write .float() first"
            )
        if isinstance(exponent, bool) and input.array.dtype.kind == "b":
            return input.clone() if exponent else input.logical_or(~input)
        if input.array.dtype.kind != "b":
            fitting(exponent, input.array.dtype)
    return plain_pow(input, exponent)


def no_derivative(name: str) -> Derivative:
    """The derivative of a rule for which PyTorch, too, has none: it raises when it is asked for."""

    def refuse(g: Any) -> Any:
        raise RuntimeError(
            f"derivative for aten::{name} is not implemented: its slope is 0 wherever it has one; detach() "
            "the result"
        )

    return derivative("not given", refuse)


@operation(
    "//",
    "⌊{a} / {b}⌋",
    a=no_derivative("floor_divide"),
    b=no_derivative("floor_divide"),
    backward="NotImplemented",
)
def floor_divide(a, b, /):
    """The quotient, rounded down; as in PyTorch no gradient goes back through it."""
    _refuse_bools_and_zeros("floor_divide", b)
    return np.floor_divide(a, b)


def _refuse_bools_and_zeros(name: str, divisor: Any) -> None:
    """Raise where a division of integers has no answer, and for bools, which it does not know."""
    if divisor.dtype.kind in FLOATS:
        return
    if divisor.dtype.kind == "b":
        raise NotImplementedError(f'"{name}" not implemented for bool: convert with .int()')
    if not divisor.all():
        raise RuntimeError(
            "ZeroDivisionError: an integer is divided by 0; floating point numbers give inf or nan"
        )


@operation(
    "mod",
    "{a} mod {b}",
    a=derivative("1", lambda g: g),
    b=derivative("−⌊{a} / {b}⌋", lambda g, a, b: -g * np.floor(a / b)),
    backward=lambda node: "RemainderBackward0" if is_number(node, 1) else "RemainderBackward1",
)
def remainder(a, b, /):
    """What is left of ``a`` after taking out ``b`` whole times; it has the sign of ``b``."""
    _refuse_bools_and_zeros("remainder", b)
    return np.remainder(a, b)


# ---------------------------------------------------------------- functions


@operation(
    "exp",
    "exp {a}",
    a=derivative("{out}", lambda g, out: g * out, operator.mul),
    floating=True,
    on_arrays=np.exp,
)
def exp(a, /):
    """e to the power of each element."""
    return np.exp(a)


@operation("log", "log {a}", a=derivative("1 / {a}", lambda g, a: g / a), floating=True)
def log(a, /):
    """The natural logarithm of each element; -inf at 0, NaN below."""
    return np.log(a)


@operation("√", "√{a}", a=derivative("1 / (2 · {out})", lambda g, out: g / (2 * out)), floating=True)
def sqrt(a, /):
    """The square root of each element; NaN below 0."""
    return np.sqrt(a)


@operation(
    "tanh",
    "tanh {a}",
    a=derivative("1 − {out}²", lambda g, out: g - g * out * out),
    floating=True,
    on_arrays=np.tanh,
)
def tanh(a, /):
    """The hyperbolic tangent of each element."""
    return np.tanh(a)


def _logistic(a: Any) -> Any:
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
    a=derivative("{out} · (1 − {out})", _of_logistic, in_blocks(_of_logistic, _of_logistic_of_block)),
    floating=True,
    on_arrays=in_blocks(_logistic, logistic_of_block),
)
def sigmoid(a, /):
    """The logistic function 1 / (1 + exp(−a)) of each element."""
    return _logistic(a)


def _of_relu(g: Any, out: Any) -> Any:
    return np.where(out <= 0, 0, g)  # a NaN passes the gradient on


def _relu(a: Any) -> Any:
    if a.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu: convert with .float()")
    return np.maximum(a, 0)


def _relu_of_block(a: Any, into: Any, /) -> None:
    np.maximum(a, zeros_like(a), out=into)


@operation(
    "relu",
    "max({a}, 0)",
    a=derivative(
        "1 where {a} > 0, else 0",
        _of_relu,
        in_blocks(_of_relu, lambda g, out, into, /: keep(~(out <= 0), g, into)),
    ),
    on_arrays=in_blocks(_relu, _relu_of_block),
)
def relu(a, /):
    """Each element where it is positive, else 0."""
    return _relu(a)


@operation("| |", "|{a}|", a=derivative("sign of {a}", lambda g, a: g * on(sign, a)))
def abs(a, /):
    """The absolute value of each element."""
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


def _sign_of_block(a: Any, into: Any, /) -> None:
    into[...] = (a > 0).view(np.int8) - (a < 0).view(np.int8)


@operation("sign", "sign of {a}", a=flat, on_arrays=in_blocks(_sign, _sign_of_block))
def sign(a, /):
    """-1, 0 or 1 for each element; 0 for NaN."""
    return _sign(a)


@operation("floor", "⌊{a}⌋", a=flat)
def floor(a, /):
    """Each element rounded down."""
    return np.floor(a)


@operation("⎘", "{a}", a=derivative("1", lambda g: g))
def clone(a, /):
    """A copy; gradients flow through it."""
    return a.copy("C" if 0 in a.strides else "K")  # in the same order in memory


# ---------------------------------------------------------------- choices


def _share(g: Any, smaller: Any, tie: Any) -> Any:
    """Nothing to the smaller one, half at a tie; a NaN is not smaller, so both get all of the gradient."""
    return np.where(tie, g / 2, np.where(smaller, 0.0, g))


def _of_larger(g: Any, a: Any, b: Any) -> Any:
    return _share(g, a < b, a == b)


def _of_larger_of_block(g: Any, a: Any, b: Any, into: Any, /) -> None:
    keep(~(a < b), g, into)
    if (tie := a == b).any():
        into[tie] /= 2


_of_larger_on_arrays = in_blocks(_of_larger, _of_larger_of_block)


@operation(
    "max",
    "max({a}, {b})",
    a=derivative("1 where {a} > {b}, ½ at a tie", _of_larger, _of_larger_on_arrays),
    b=derivative(
        "1 where {b} > {a}, ½ at a tie",
        lambda g, a, b: _of_larger(g, b, a),
        lambda g, a, b: _of_larger_on_arrays(g, b, a),
    ),
)
def maximum(a, b, /):
    """The larger one, element by element; a tie shares its gradient."""
    return np.maximum(a, b)


@operation(
    "min",
    "min({a}, {b})",
    a=derivative(
        "1 where {a} < {b}, ½ at a tie",
        lambda g, a, b: _of_larger(g, b, a),
        lambda g, a, b: _of_larger_on_arrays(g, b, a),
    ),
    b=derivative("1 where {b} < {a}, ½ at a tie", _of_larger, _of_larger_on_arrays),
)
def minimum(a, b, /):
    """The smaller one, element by element; a tie shares its gradient."""
    return np.minimum(a, b)


_choose = in_blocks(
    lambda a, b, condition: np.where(condition, a, b),
    lambda a, b, condition, into, /: select(condition, a, b, into),
)


@operation(
    "where",
    "{a} where {condition}, else {b}",
    a=derivative(
        "1 where {condition}, else 0",
        lambda g, condition: np.where(condition, g, 0),
        in_blocks(
            lambda g, condition: np.where(condition, g, 0),
            lambda g, condition, into, /: keep(condition, g, into),
        ),
    ),
    b=derivative(
        "0 where {condition}, else 1",
        lambda g, condition: np.where(condition, 0, g),
        in_blocks(
            lambda g, condition: np.where(condition, 0, g),
            lambda g, condition, into, /: keep(~condition, g, into),
        ),
    ),
    mixed=True,
    backward="WhereBackward0",
    on_arrays=lambda condition, a, b: _choose(a, b, condition),
)
def choose(condition, a, b, /):
    """``a`` where ``condition`` holds, else ``b``; see :func:`where`."""
    return np.where(condition, a, b)


@operation(
    "clamp",
    "clamp({a}, {low}, {high})",
    a=derivative(
        "1 inside of the bounds, else 0", lambda g, a, low, high: np.where(_inside(a, low, high), g, 0.0)
    ),
    low=derivative(
        "1 where {a} is below it, else 0", lambda g, a, low, high: np.where((a < low) & (low < high), g, 0.0)
    ),
    high=derivative(
        "1 where {a} is above it, else 0", lambda g, a, low, high: np.where((a > high) | (high < low), g, 0.0)
    ),
    backward="ClampBackward0",
)
def clamp_between(a, low, high, /):
    """``a`` held between two tensors; where they cross the higher bound wins.  See :func:`clamp`."""
    return np.minimum(np.maximum(a, low), high)


def _clamp_name(name: str) -> Any:
    return lambda node: f"{name}Backward{int(not is_number(node, 1))}"


@operation(
    "clamp",
    "max({a}, {low})",
    a=derivative(
        "1 where {a} ≥ {low}, else 0",
        lambda g, a, low: np.where(a >= low, g, 0.0),
        in_blocks(
            lambda g, a, low: np.where(a >= low, g, 0.0),
            lambda g, a, low, into, /: keep(a >= low, g, into),
        ),
    ),
    low=derivative("1 where {a} < {low}, else 0", lambda g, a, low: np.where(a < low, g, 0.0)),
    name="clamp_min",
    backward=_clamp_name("ClampMin"),
)
def plain_clamp_min(a, low, /):
    """See :func:`clamp_min`."""
    return np.maximum(a, low)


@operation(
    "clamp",
    "min({a}, {high})",
    a=derivative(
        "1 where {a} ≤ {high}, else 0",
        lambda g, a, high: np.where(a <= high, g, 0.0),
        in_blocks(
            lambda g, a, high: np.where(a <= high, g, 0.0),
            lambda g, a, high, into, /: keep(a <= high, g, into),
        ),
    ),
    high=derivative("1 where {a} > {high}, else 0", lambda g, a, high: np.where(a > high, g, 0.0)),
    name="clamp_max",
    backward=_clamp_name("ClampMax"),
)
def plain_clamp_max(a, high, /):
    """See :func:`clamp_max`."""
    return np.minimum(a, high)


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """``input``, but never below ``min``, a number or a tensor."""
    return plain_clamp_min(input, min)


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """``input``, but never above ``max``, a number or a tensor."""
    return plain_clamp_max(input, max)


def _of_clamp(g: Any, a: Any, min: Any, max: Any) -> Any:
    return np.where(_inside(a, min, max), g, 0)


def _of_clamp_of_block(g: Any, a: Any, into: Any, /, min: Any, max: Any) -> None:
    keep(_inside(a, min, max), g, into)


@operation(
    "clamp",
    "clamp({a})",
    a=derivative("1 inside of the bounds, else 0", _of_clamp, in_blocks(_of_clamp, _of_clamp_of_block)),
    backward=lambda node: "ClampBackward1",
)
def clamp_numbers(a, /, min=None, max=None):
    """``a`` held between two numbers; see :func:`clamp`."""
    # The lower bound first, so that the upper one wins where they cross.
    a = np.maximum(a, min) if min is not None else a
    return np.minimum(a, max) if max is not None else a


def _inside(a: Any, low: Any, high: Any) -> Any:
    above = a >= low if low is not None else True
    return np.logical_and(above, a <= high if high is not None else True)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` holds, else ``other``; with a condition alone, its true places.

    The gradient of the branch not taken is 0 in the result, yet a NaN inside
    that branch survives: 0 · NaN is NaN.  Make the argument safe *before* the
    function that may fail.
    """
    if input is None and other is None:
        from autokit.ops.index import nonzero

        return nonzero(condition, as_tuple=True)
    if isinstance(input, Tensor) or isinstance(other, Tensor):
        common = common_dtype((input, other))
        input, other = (_with_dtype(value, common) for value in (input, other))
    elif isinstance(input, float) or isinstance(
        other, float
    ):  # of two numbers, so as no other integer makes it
        input, other = float(input), float(other)
    if not isinstance(condition, Tensor) or condition.array.dtype.kind != "b":
        kind = (
            f"Tensor of {condition.dtype.name}" if isinstance(condition, Tensor) else type(condition).__name__
        )
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a {kind}: compare first, as in x > 0"
        )
    return choose(condition, input, other)


def where_self(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where ``condition`` holds, else ``other``."""
    return where(condition, self, other)


def _with_dtype(value: Any, common: np.dtype) -> Any:
    from autokit.ops.convert import cast
    from autokit.ops.operands import literal

    if isinstance(value, Tensor):
        return value if value.array.dtype == common else cast(value, dtype=common)
    return literal(fitting(value, common) if common.kind in "ui" else value, common)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """``input`` held between ``min`` and ``max``, either of which may be missing or a tensor.

    The gradient passes at the bounds themselves and inside, as in PyTorch.

    Raises
    ------
    RuntimeError
        If both bounds are missing.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is None:
            return plain_clamp_max(input, max)
        return plain_clamp_min(input, min) if max is None else clamp_between(input, min, max)
    common = common_dtype([each for each in (input, min, max) if each is not None])
    if common != input.array.dtype:
        input = _with_dtype(input, common)
    min, max = (bound if bound is None else fitting(bound, common) for bound in (min, max))
    return clamp_numbers(input, min, max)


NAMES = Names(
    both="abs add clamp clamp_max clamp_min clone cos div exp floor floor_divide log maximum minimum "
    "mul neg pow relu remainder sigmoid sign sin sqrt sub tanh",
    functions="where",
    functional="sigmoid tanh",
    other_methods={"where": where_self},
    in_place="abs add clamp clamp_max clamp_min cos div exp floor floor_divide log mul neg pow relu "
    "remainder sigmoid sign sin sqrt sub tanh",
    in_place_functions="clamp clamp_max clamp_min",
    aliases={
        "absolute": "abs",
        "clip": "clamp",
        "divide": "div",
        "multiply": "mul",
        "negative": "neg",
        "subtract": "sub",
        "true_divide": "div",
    },
    numpy={
        np.add: add,
        np.subtract: sub,
        np.multiply: mul,
        np.true_divide: div,
        np.negative: neg,
        np.power: pow,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.exp: exp,
        np.log: log,
        np.sqrt: sqrt,
        np.tanh: tanh,
        np.absolute: abs,
        np.sin: sin,
        np.cos: cos,
        np.sign: sign,
        np.floor: floor,
        np.maximum: taking_numbers(maximum),
        np.minimum: taking_numbers(minimum),
        np.where: lambda condition, *rest: where(as_tensor(condition), *rest),
        np.clip: clamp,
    },
)
