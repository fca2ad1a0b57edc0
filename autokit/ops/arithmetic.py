"""Arithmetic of each element: Python's operators ``+ − × ÷ // % **``, and combinations of three operands.

A rule is the operator alone; a function such as ``add`` calls it, and has further options, such as ``alpha``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.engine.operation import derivative, on, operation, unchanged
from autokit.engine.tensor import Tensor
from autokit.gpu import lacking
from autokit.ops.names import Names, binary_operator

flat = derivative("0", lambda g: np.zeros_like(g))
"""The derivative of a function that is constant except for jumps."""


# ---------------------------------------------------------------- the operators


@operation(
    "+", "{a} + {b}", a=derivative("1", unchanged), b=derivative("1", unchanged), name="add", fast=np.add
)
def plus(a, b, /):
    """The sum, element by element."""
    return a + b


def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The sum ``input + alpha · other``, element by element."""
    return plus(input, other if alpha == 1 else other * alpha)


@operation("−", "{a} − {b}", a=derivative("1", unchanged), b=derivative("−1", lambda g: -g), name="sub")
def minus(a, b, /):
    """The difference, element by element."""
    if a.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported: `^` tells where they "
            "differ, and `~` inverts a mask"
        )
    return a - b


def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The difference ``input − alpha · other``, element by element."""
    return minus(input, other if alpha == 1 else other * alpha)


@operation(
    "×",
    "{a} · {b}",
    a=derivative("{b}", lambda g, b: g * b),
    b=derivative("{a}", lambda g, a: g * a),
    fast=np.multiply,
)
def mul(a, b, /):
    """The product, element by element."""
    return a * b


@operation(
    "÷",
    "{a} / {b}",
    a=derivative("1 / {b}", lambda g, b: g / b),
    b=derivative("−{a} / {b}²", lambda g, a, b: -g * (a / b) / b),
    floating=True,
    name="div",
)
def over(a, b, /):
    """The quotient, element by element."""
    return a / b


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient, element by element; of integers a float.

    Parameters
    ----------
    input, other : Tensor or number
    rounding_mode : "floor" or "trunc", optional
        Round down, or towards 0; the dtype is then kept.
    """
    if rounding_mode is None:
        return over(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return rounded_quotient(input, other, rounding_mode)


@operation("−", "−{a}", a=derivative("−1", lambda g: -g))
def neg(a, /):
    """The negative of each element."""
    if a.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported: `~` inverts a mask"
        )
    return -a


def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    return input


# ---------------------------------------------------------------- powers


def _power_by_base(g: Any, base: Any, exponent: Any) -> Any:
    if isinstance(exponent, np.generic):  # one number: the power rule as it is taught
        number = exponent.item()
        return g * (number * base ** (number - 1)) if number else np.zeros_like(g)
    # An exponent of 0 has the slope 0 at the base 0 too, where the power rule alone gives 0 · ∞, a NaN.
    lower = np.where(exponent == 0, 1, exponent - 1)
    return np.where(exponent == 0, 0, g * (exponent * base**lower))


def _power_by_exponent(g: Any, base: Any, exponent: Any, out: Any) -> Any:
    if isinstance(base, np.generic) and base.item() > 0:
        return g * (out * np.log(base))
    # 0 to a power of 0 or more does not change with the power, though its logarithm is infinite.
    still = np.logical_and(base == 0, exponent >= 0)
    return g * np.where(still, 0, out * np.log(np.where(still, 1, base)))


@operation(
    "^",
    "{base} ^ {exponent}",
    base=derivative("{exponent} · {base} ^ ({exponent} − 1)", _power_by_base),
    exponent=derivative("{out} · log {base}", _power_by_exponent),
    name="pow",
)
def power(base, exponent, /):
    """The power, element by element."""
    if isinstance(exponent, np.generic) and base.dtype.kind == "f":
        # With a number of Python's, NumPy computes a square as a product, and a power of ½ as a root.
        return base ** exponent.item()
    if base.dtype.kind == "i" and (exponent < 0).any():
        raise RuntimeError(
            "Integers to negative integer powers are not allowed: the results are fractions, which "
            f"{base.dtype.name} does not have; write .float() first"
        )
    return np.power(base, exponent)


def pow(input: Any, exponent: Any) -> Tensor:
    """Each element of ``input`` to the power of ``exponent``."""
    return power(input, exponent)


def square(input: Tensor) -> Tensor:
    """The square of each element."""
    return power(input, 2)


# ---------------------------------------------------------------- division with a remainder


def _refuse_division_by_zero(divisor: Any) -> None:
    if divisor.dtype.kind in "biu" and not divisor.all():
        raise RuntimeError(
            "ZeroDivisionError: an integer is divided by 0; floating point numbers give inf or nan"
        )


@operation("÷", "{a} / {b}, rounded", a=flat, b=flat, name="div_rounded")
def rounded_quotient(a, b, /, mode):
    """The quotient rounded: down for ``"floor"``, towards 0 for ``"trunc"``."""
    _refuse_division_by_zero(b)
    if mode == "floor":
        return lacking.floor_divide(a, b)
    return np.trunc(a / b).astype(a.dtype)


@operation("//", "⌊{a} / {b}⌋")
def floor_divide(a, b, /):
    """The quotient, rounded down; no gradient goes back through it."""
    _refuse_division_by_zero(b)
    return lacking.floor_divide(a, b)


@operation(
    "mod",
    "{a} mod {b}",
    a=derivative("1", unchanged),
    b=derivative("−⌊{a} / {b}⌋", lambda g, a, b: -g * on(rounded_quotient, a, b, mode="floor")),
)
def remainder(a, b, /):
    """What is left of ``input`` after taking out ``other`` whole times; it has the sign of ``other``."""
    _refuse_division_by_zero(b)
    return lacking.remainder(a, b)


@operation(
    "fmod",
    "{a} fmod {b}",
    a=derivative("1", unchanged),
    b=derivative("−trunc({a} / {b})", lambda g, a, b: -g * on(rounded_quotient, a, b, mode="trunc")),
)
def fmod(a, b, /):
    """What is left of ``input`` after taking out ``other`` whole times; it has the sign of ``input``."""
    _refuse_division_by_zero(b)
    return np.fmod(a, b)


# ---------------------------------------------------------------- of three


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value · tensor1 · tensor2``."""
    product = tensor1 * tensor2
    return plus(input, product if value == 1 else product * value)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value · tensor1 / tensor2``."""
    quotient = tensor1 / tensor2
    return plus(input, quotient if value == 1 else quotient * value)


@operation(
    "lerp",
    "{input} + {weight} · ({end} − {input})",
    input=derivative("1 − {weight}", lambda g, weight: g * (1 - weight)),
    end=derivative("{weight}", lambda g, weight: g * weight),
    weight=derivative("{end} − {input}", lambda g, input, end: g * (end - input)),
)
def lerp(input, end, weight, /):
    """``input + weight · (end − input)``: from ``input`` at the weight 0 to ``end`` at 1."""
    return input + weight * (end - input)


OPERATORS = {
    **binary_operator("add", plus),
    **binary_operator("sub", minus),
    **binary_operator("mul", mul),
    **binary_operator("truediv", over),
    **binary_operator("floordiv", floor_divide),
    **binary_operator("mod", remainder),
    **binary_operator("pow", power),
    "__neg__": neg,
    "__pos__": positive,
}
"""Python's operators of arithmetic, and the functions that compute them."""

NAMES = Names(
    both="add addcdiv addcmul div floor_divide fmod lerp mul neg positive pow remainder square sub",
    in_place="add addcdiv addcmul div floor_divide fmod lerp mul neg pow remainder square sub",
    in_place_functions="neg square",
    aliases={
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
        np.positive: positive,
        np.power: pow,
        np.square: square,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.fmod: fmod,
    },
)
