"""The arithmetic behind Python's operators: ``+ − × ÷ ^ // %`` of each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.devices import device
from autokit.dtypes import FLOATS
from autokit.ops.blocks import constants_like, in_blocks, replace
from autokit.ops.complex_numbers import is_complex
from autokit.ops.gpu import bounds
from autokit.ops.gpu.arrays import any_known, is_on_cpu, known
from autokit.ops.gpu.ufuncs import down_by_rest
from autokit.ops.gpu.ufuncs import floor_divide as whole_quotient
from autokit.ops.gpu.ufuncs import remainder as left_over
from autokit.ops.guards import guard
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import unchanged
from autokit.ops.rules import Derivative
from autokit.tensor import Literal, Tensor
from autokit.thread_state import thread

flat = derivative("0", lambda g: np.zeros_like(g))
"""The derivative of what is constant but for steps."""


@operation(
    "+",
    "{a} + {b}",
    a=derivative("1", unchanged),
    b=derivative("1", unchanged),
    name="add",
    on_arrays=np.add,
    fitting="alike",
)
def plain_add(a, b, /):
    """See :func:`add`."""
    return a + b


def add(input: Any, other: Any, alpha: float = 1) -> Tensor:
    """The sum, element by element, with ``other`` taken ``alpha`` times."""
    return plain_add(input, taken(input, other, alpha))


def taken(input: Any, other: Any, alpha: Any) -> Any:
    """``other`` times ``alpha``, which must be of no higher category than the result."""
    if alpha.__class__ is int and alpha == 1:
        return other
    common = common_dtype(
        [value for value in (input, other) if isinstance(value, Tensor | bool | int | float | complex)]
    )
    if isinstance(alpha, bool) and common.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and common.kind in "bui":
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number: it is "
            f"{alpha}, and the result {common.name}"
        )
    if isinstance(alpha, complex) and common.kind != "c":
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number: it is "
            f"{alpha}, and the result {common.name}"
        )
    if isinstance(other, bool) and common.kind == "b":  # it is taken whole or not at all
        return other and bool(alpha)
    if isinstance(other, Tensor) and other.array.dtype != common:  # so that a byte does not wrap around
        other = with_dtype(other, common)
    return other * fitting(alpha, common)  # of floats -1 · 0 is -0.0


def with_dtype(value: Any, common: np.dtype, where: device | None = None) -> Any:
    from autokit.ops.convert import cast
    from autokit.ops.operands import literal

    if isinstance(value, Tensor):
        return value if value.array.dtype == common else cast(value, dtype=common)
    return literal(fitting(value, common) if common.kind in "ui" else value, common, where)


def is_number(node: Node, place: int) -> bool:
    """Whether a Python number was the operand at ``place``."""
    return node.sources[place].__class__ is Literal


@operation(
    "−",
    "{a} − {b}",
    a=derivative("1", unchanged),
    b=derivative("−1", lambda g: -g, np.negative),
    name="sub",
    on_arrays=np.subtract,
    fitting="alike",
    backward=lambda node: "RsubBackward1" if is_number(node, 0) else "SubBackward0",
)
def plain_sub(a, b, /):
    """See :func:`sub`."""
    return np.subtract(a, b)


def sub(input: Any, other: Any, alpha: float = 1) -> Tensor:
    """The difference, element by element, with ``other`` taken ``alpha`` times."""
    if isinstance(other, bool) or is_of_bools(other):
        return plain_sub(input, other)  # which refuses bools
    return plain_sub(input, taken(input, other, alpha))


def is_of_bools(value: Any) -> bool:
    return isinstance(value, Tensor) and value.array.dtype.kind == "b"


@operation(
    "×",
    "{a} · {b}",
    a=derivative("{b}", lambda g, b: g * b, np.multiply),
    b=derivative("{a}", lambda g, a: g * a, np.multiply),
    on_arrays=np.multiply,
    fitting="alike",
)
def mul(a, b, /):
    """The product, element by element."""
    return a * b


@operation(
    "÷",
    "{a} / {b}",
    a=derivative("1 / {b}", lambda g, b: g / b, np.divide),
    # By the operands, as in PyTorch: the result may be changed in place.
    b=derivative("−{a} / {b}²", lambda g, a, b: -g * (a / b) / b),
    floating=True,
    name="div",
    on_arrays=np.divide,
    fitting="alike",
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
    elementwise=True,
)
def rounded_quotient(a, b, /, mode):
    """The quotient rounded: down for ``"floor"``, towards 0 for ``"trunc"``."""
    _refuse_bools_and_zeros("div", a, b)
    if mode == "trunc" and a.dtype.kind in FLOATS:
        return np.trunc(a / b)
    down = whole_quotient(a, b)
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
    made = rounded_quotient(input, other, rounding_mode)
    if isinstance(other, Tensor):
        guard(made, [other])  # in place the input itself changes
    return made


@operation("−", "−{a}", a=derivative("−1", lambda g: -g, np.negative), on_arrays=np.negative)
def neg(a, /):
    """The negative of each element."""
    return -a


def _power_by_base(g: Any, base: Any, exponent: Any) -> Any:
    number = _number(exponent)
    if number is not None:  # the power rule as it is taught, so that higher derivatives are as by hand
        return g * (number * base ** (number - 1)) if number else np.zeros_like(g)
    # Written so that an exponent of 0 gives 0 even at the base 0, where the power rule alone gives nan.
    lower = np.where(exponent == 0, 1.0, exponent - 1)
    return np.where(exponent == 0, 0.0, g * (exponent * base**lower))


def _number(exponent: Any) -> float | None:
    """The one number that a tensor holds, if it is known here and now and learns nothing."""
    if not isinstance(exponent, Tensor) or exponent._requires_grad or exponent.array.ndim:
        return None
    if thread.state.forward:  # it may move
        return None
    return exponent.array.item() if isinstance(exponent.array, np.ndarray | np.generic) else None


def _power_by_base_on_arrays(g: Any, base: Any, exponent: Any) -> Any:
    if exponent.ndim or base.dtype.kind != "f" or not is_on_cpu(base):
        return _power_by_base(g, base, exponent)
    if exponent == 2:
        return g * (base + base)
    if exponent == 0:
        return np.zeros(g.shape, g.dtype)
    made = _power_by_number(base, exponent - 1) * exponent
    made *= g
    return made


def _power_by_exponent(g: Any, base: Any, exponent: Any, out: Any) -> Any:
    # 0 to a power of 0 or more does not change with the power.
    if is_complex(exponent):
        positive = np.logical_and(np.imag(exponent) == 0, np.real(exponent) >= 0)
    else:
        positive = exponent >= 0
    still = np.logical_and(base == 0, positive)
    return g * np.where(still, 0.0, out * np.log(np.where(still, 1.0, base)))


def _power_by_exponent_on_arrays(g: Any, base: Any, exponent: Any, out: Any) -> Any:
    if base.ndim or not known(base > 0):
        return _power_by_exponent(g, base, exponent, out)
    made = g * out
    made *= np.log(base)
    return made


def _pow_name(node: Node) -> str:
    return "PowBackward0" if is_number(node, 1) else "PowBackward2" if is_number(node, 0) else "PowBackward1"


@operation(
    "^",
    "{base} ^ {exponent}",
    base=derivative("{exponent} · {base} ^ ({exponent} − 1)", _power_by_base, _power_by_base_on_arrays),
    exponent=derivative("{out} · log {base}", _power_by_exponent, _power_by_exponent_on_arrays),
    name="pow",
    backward=_pow_name,
)
def plain_pow(base, exponent, /):
    """See :func:`pow`."""
    if base.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool': convert with .int()")
    if base.dtype.kind == "i" and any_known(exponent < 0):
        # 1 and −1 have whole inverses; of the others nothing is left.
        whole = np.power(base, np.maximum(exponent, 0))
        inverse = np.where(np.abs(base) == 1, np.where(exponent % 2 == 0, base * base, base), base - base)
        return np.where(exponent < 0, inverse, whole)
    if exponent.ndim == 0 and base.dtype.kind in "fc":
        return _power_by_number(base, exponent)
    return base * base if exponent.ndim == 0 and known(exponent == 2) else np.power(base, exponent)


def _power_by_number(a: Any, exponent: Any) -> Any:
    """``a`` to the power of one number, by products and roots where these do, as PyTorch takes it."""
    short = _SHORT_POWERS.get(exponent.item()) if isinstance(exponent, np.ndarray | np.generic) else None
    if short is not None:
        return short(a)
    return _any_power(a, exponent=exponent)


def _power_of_block(a: Any, into: Any, /, exponent: Any) -> None:
    # NumPy's power of two arrays is several times as fast as that of an array and a number.
    np.power(a, constants_like(a, exponent.item()), out=into)


_any_power = in_blocks(lambda a, exponent: np.power(a, exponent), _power_of_block)
_SHORT_POWERS: dict[float, Callable[[Any], Any]] = {
    0.0: np.ones_like,
    1.0: np.positive,
    0.5: np.sqrt,
    2.0: lambda a: a * a,
    3.0: lambda a: a * a * a,
    -0.5: lambda a: 1 / np.sqrt(a),
    -1.0: lambda a: 1 / a,
    -2.0: lambda a: 1 / (a * a),
}


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
    made = plain_pow(input, exponent)
    if isinstance(exponent, Tensor):
        guard(made, [made])
    return made


def no_derivative(name: str, has_slope: bool = False) -> Derivative:
    """The derivative of a rule for which PyTorch, too, has none: it raises when it is asked for."""

    def refuse(g: Any) -> Any:
        if has_slope:
            raise NotImplementedError(
                f"the derivative for '{name}: input' is not implemented: detach() the first argument"
            )
        raise RuntimeError(
            f"derivative for aten::{name} is not implemented: its slope is 0 wherever it has one; detach() "
            "the result"
        )

    return derivative("not given", refuse)


def _floor_divide(a: Any, b: Any) -> Any:
    _refuse_bools_and_zeros("floor_divide", a, b)
    return whole_quotient(a, b)


def _floor_divide_of_block(a: Any, b: Any, into: Any, /) -> None:
    into[...] = down_by_rest(a, b)


@operation(
    "//",
    "⌊{a} / {b}⌋",
    a=no_derivative("floor_divide"),
    b=no_derivative("floor_divide"),
    backward="NotImplemented",
    on_arrays=in_blocks(_floor_divide, _floor_divide_of_block, "native_arithmetic.floor_divide"),
)
def floor_divide(a, b, /):
    """The quotient, rounded down; as in PyTorch no gradient goes back through it."""
    return _floor_divide(a, b)


def _refuse_bools_and_zeros(name: str, dividend: Any, divisor: Any) -> None:
    """Raise where a division of integers has no answer, and for bools, which it does not know."""
    if divisor.dtype.kind in FLOATS:
        return
    if divisor.dtype.kind == "b":
        raise NotImplementedError(f'"{name}" not implemented for bool: convert with .int()')
    refuse_zeros(dividend, divisor)


def refuse_zeros(dividend: Any, divisor: Any) -> None:
    """Raise where one of the integers in ``dividend`` is divided by 0.

    A GPU tells of it later; in PyTorch it does not, and the quotient is any number.
    """
    if dividend.size:
        bounds.refuse_zeros(divisor, _divided_by_zero)


def _divided_by_zero() -> RuntimeError:
    return RuntimeError(
        "ZeroDivisionError: an integer is divided by 0; floating point numbers give inf or nan"
    )


def _remainder(a: Any, b: Any) -> Any:
    _refuse_bools_and_zeros("remainder", a, b)
    return left_over(a, b)


def _remainder_of_block(a: Any, b: Any, into: Any, /) -> None:
    np.fmod(a, b, out=into)
    replace((into != 0) & ((into < 0) != (b < 0)), into + b, into)


@operation(
    "mod",
    "{a} mod {b}",
    a=derivative("1", unchanged),
    b=derivative(
        "−⌊{a} / {b}⌋",
        lambda g, a, b: -g * on(rounded_quotient, a, b, mode="floor"),
        lambda g, a, b: -g * whole_quotient(a, b),  # right where the quotient rounds to −0, too
    ),
    backward=lambda node: "RemainderBackward0" if is_number(node, 1) else "RemainderBackward1",
    on_arrays=in_blocks(_remainder, _remainder_of_block, "native_arithmetic.remainder"),
)
def remainder(a, b, /):
    """What is left of ``input`` after taking out ``other`` whole times; it has the sign of ``other``."""
    return _remainder(a, b)


NAMES = Names(
    both="add div floor_divide mul neg pow remainder sub",
    in_place="add div floor_divide mul neg pow remainder sub",
    in_place_functions="neg",
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
        np.power: pow,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
    },
)
