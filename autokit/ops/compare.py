"""Comparisons and tests: their results are true or false, and no gradient flows through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.errors import require_tensor
from autokit.ops.names import Names
from autokit.ops.operation import operation
from autokit.tensor import Tensor


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
    """Where ``a`` is smaller."""
    return a < b


@operation("≤", "{a} ≤ {b}")
def le(a, b, /):
    """Where ``a`` is not larger."""
    return a <= b


@operation(">", "{a} > {b}")
def gt(a, b, /):
    """Where ``a`` is larger."""
    return a > b


@operation("≥", "{a} ≥ {b}")
def ge(a, b, /):
    """Where ``a`` is not smaller."""
    return a >= b


@operation("and", "{a} and {b}")
def logical_and(a, b, /):
    """Where both are true."""
    return np.logical_and(a, b)


@operation("or", "{a} or {b}")
def logical_or(a, b, /):
    """Where one is true."""
    return np.logical_or(a, b)


@operation("not", "not {a}")
def logical_not(a, /):
    """Where it is false."""
    return np.logical_not(a)


# ---------------------------------------------------------------- bit by bit


@operation("&", "{a} & {b}")
def bitwise_and(a, b, /):
    """The bits that are 1 in both; of bools, where both are true."""
    return a & b


@operation("|", "{a} | {b}")
def bitwise_or(a, b, /):
    """The bits that are 1 in one; of bools, where one is true."""
    return a | b


@operation("xor", "{a} xor {b}")
def bitwise_xor(a, b, /):
    """The bits that differ; of bools, where just one is true."""
    return a ^ b


@operation("~", "~{a}")
def bitwise_not(a, /):
    """Each bit flipped; of bools, where it is false."""
    return ~a


# ---------------------------------------------------------------- of numbers


@operation("nan?", "is {a} NaN")
def isnan(a, /):
    """Where it is not a number."""
    return np.isnan(a)


@operation("finite?", "is {a} finite")
def isfinite(a, /):
    """Where it is neither infinite nor NaN."""
    return np.isfinite(a)


# ---------------------------------------------------------------- of whole tensors


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """How many elements ``input`` has."""
    return input.numel()


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are near each other: ``|input − other| ≤ atol + rtol · |other|``."""
    require_tensor("allclose", other)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    require_tensor("equal", other)
    return input.shape == other.shape and bool((input.array == other.array).all())


NAMES = Names(
    both="allclose bitwise_and bitwise_not bitwise_or bitwise_xor eq equal ge gt isfinite isnan le "
    "logical_and logical_not logical_or lt ne",
    functions="is_tensor numel",
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
        np.bitwise_and: bitwise_and,
        np.bitwise_or: bitwise_or,
        np.bitwise_xor: bitwise_xor,
        np.invert: bitwise_not,
        np.isnan: isnan,
        np.isfinite: isfinite,
    },
)
