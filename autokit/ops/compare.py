"""Comparisons, tests and logic for each element: the results are true or false, and have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.errors import require_tensor
from autokit.engine.operation import operation
from autokit.engine.tensor import Tensor
from autokit.ops.names import Names, binary_operator


@operation("=", "{a} = {b}")
def eq(a, b, /):
    """Where the elements are equal."""
    return a == b


@operation("≠", "{a} ≠ {b}")
def ne(a, b, /):
    """Where the elements differ."""
    return a != b


@operation("<", "{a} < {b}")
def lt(a, b, /):
    """Where ``input`` is smaller than ``other``."""
    return a < b


@operation("≤", "{a} ≤ {b}")
def le(a, b, /):
    """Where ``input`` is not larger than ``other``."""
    return a <= b


@operation(">", "{a} > {b}")
def gt(a, b, /):
    """Where ``input`` is larger than ``other``."""
    return a > b


@operation("≥", "{a} ≥ {b}")
def ge(a, b, /):
    """Where ``input`` is not smaller than ``other``."""
    return a >= b


# ---------------------------------------------------------------- logic


@operation("and", "{a} and {b}")
def logical_and(a, b, /):
    """Where both are true."""
    return np.logical_and(a, b)


@operation("or", "{a} or {b}")
def logical_or(a, b, /):
    """Where one is true."""
    return np.logical_or(a, b)


@operation("xor", "either {a} or {b}")
def logical_xor(a, b, /):
    """Where just one is true."""
    return np.logical_xor(a, b)


@operation("not", "not {a}")
def logical_not(a, /):
    """Where it is false."""
    return np.logical_not(a)


# ---------------------------------------------------------------- bit by bit


def _require_bits(sign: str, a: Any) -> None:
    if a.dtype.kind == "f":
        raise NotImplementedError(
            f'"{sign}" not implemented for {a.dtype.name}: it works on bools and on the bits of integers. '
            f"Comparisons stand in parentheses beside it, as in (x > 0) {sign} (x < 1)"
        )


@operation("&", "{a} & {b}")
def bitwise_and(a, b, /):
    """The bits that are 1 in both; of bools, where both are true."""
    _require_bits("&", a)
    return a & b


@operation("|", "{a} | {b}")
def bitwise_or(a, b, /):
    """The bits that are 1 in one; of bools, where one is true."""
    _require_bits("|", a)
    return a | b


@operation("xor", "{a} xor {b}")
def bitwise_xor(a, b, /):
    """The bits that differ; of bools, where just one is true."""
    _require_bits("^", a)
    return a ^ b


@operation("~", "~{a}")
def bitwise_not(a, /):
    """Each bit flipped; of bools, where it is false."""
    if a.dtype.kind == "f":
        raise TypeError(
            f"~ (operator.invert) is only implemented on integer and Boolean-type tensors: this one is "
            f"{a.dtype.name}; compare first, as in ~(x > 0)"
        )
    return ~a


@operation("<<", "{a} · 2 ^ {b}")
def bitwise_left_shift(a, b, /):
    """The bits of an integer moved ``other`` places up."""
    return a << b


@operation(">>", "⌊{a} / 2 ^ {b}⌋")
def bitwise_right_shift(a, b, /):
    """The bits of an integer moved ``other`` places down; the sign is kept."""
    return a >> b


# ---------------------------------------------------------------- of numbers


@operation("nan?", "is {a} NaN")
def isnan(a, /):
    """Where it is not a number."""
    return np.isnan(a)


@operation("finite?", "is {a} finite")
def isfinite(a, /):
    """Where it is neither infinite nor NaN."""
    return np.isfinite(a)


@operation("∞?", "is {a} infinite")
def isinf(a, /):
    """Where it is infinite, with either sign."""
    return np.isinf(a)


@operation("in", "is {elements} among {test_elements}", mixed=True)
def isin(elements, test_elements, /, assume_unique=False, invert=False):
    """Where ``elements`` are among ``test_elements``; with ``invert``, where they are not."""
    return np.isin(elements, test_elements, invert=invert)


@operation("≈", "{a} ≈ {b}", mixed=True, name="isclose")
def near(a, b, /, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Where the elements are near each other; see :func:`isclose`."""
    return np.isclose(a, b, rtol, atol, equal_nan)


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Where the elements are near each other: ``|input − other| ≤ atol + rtol · |other|``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), rtol=0.01)
    tensor([ True, False])
    """
    require_tensor("isclose", other, "other", 1)
    if input.array.dtype != other.array.dtype:
        raise RuntimeError(
            f"{input.dtype.name} did not match {other.dtype.name}: convert one with .to(dtype)"
        )
    return near(input, other, rtol, atol, equal_nan)


# ---------------------------------------------------------------- of whole tensors


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are near each other: ``|input − other| ≤ atol + rtol · |other|``."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    require_tensor("equal", other, "other", 1)
    return input.shape == other.shape and bool((input.array == other.array).all())


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """How many elements ``input`` has."""
    return input.numel()


def contains(self: Tensor, value: Any) -> bool:
    """Whether any element equals ``value``: ``value in x``."""
    return bool(eq(self, value).array.any())


def _comparison(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """The operator: as in Python, ``x == None`` and ``x == "a"`` are False, and ``x < None`` raises."""

    def apply(self: Tensor, other: Any) -> Any:
        return function(self, other) if isinstance(other, _COMPARABLE) else NotImplemented

    return apply


_COMPARABLE = (Tensor, int, float, np.generic, np.ndarray)

OPERATORS = {
    "__eq__": _comparison(eq),
    "__ne__": _comparison(ne),
    "__lt__": _comparison(lt),
    "__le__": _comparison(le),
    "__gt__": _comparison(gt),
    "__ge__": _comparison(ge),
    "__contains__": contains,
    "__invert__": bitwise_not,
    **binary_operator("and", bitwise_and),
    **binary_operator("or", bitwise_or),
    **binary_operator("xor", bitwise_xor),
    **binary_operator("lshift", bitwise_left_shift),
    **binary_operator("rshift", bitwise_right_shift),
}
"""Python's comparisons and its operators on bits, and the functions that compute them."""

_LOGIC = (
    "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor eq ge gt le "
    "logical_and logical_not logical_or logical_xor lt ne"
)

NAMES = Names(
    both=_LOGIC + " allclose equal isclose isfinite isinf isnan",
    functions="is_tensor isin numel",
    in_place=_LOGIC,
    aliases={
        "greater": "gt",
        "greater_equal": "ge",
        "less": "lt",
        "less_equal": "le",
        "not_equal": "ne",
    },
    numpy={
        np.equal: eq,
        np.not_equal: ne,
        np.less: lt,
        np.less_equal: le,
        np.greater: gt,
        np.greater_equal: ge,
        np.logical_and: logical_and,
        np.logical_or: logical_or,
        np.logical_not: logical_not,
        np.logical_xor: logical_xor,
        np.bitwise_and: bitwise_and,
        np.bitwise_or: bitwise_or,
        np.bitwise_xor: bitwise_xor,
        np.invert: bitwise_not,
        np.left_shift: bitwise_left_shift,
        np.right_shift: bitwise_right_shift,
        np.isnan: isnan,
        np.isfinite: isfinite,
        np.isinf: isinf,
        np.isclose: isclose,
        np.allclose: allclose,
        np.array_equal: equal,
    },
)
