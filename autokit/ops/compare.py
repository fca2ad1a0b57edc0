"""Comparisons and tests: their results are true or false, and no gradient flows through them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Number
from typing import Any

import numpy as np

from autokit.meta_array import refuse_meta
from autokit.ops.errors import require_tensor
from autokit.ops.gpu.arrays import ask
from autokit.ops.inplace import in_place, in_place_unrecorded
from autokit.ops.names import Names
from autokit.ops.operands import taking_numbers
from autokit.ops.operation import operation
from autokit.ops.operators import flat
from autokit.ops.operators import is_of_bools as _is_of_bools
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


def contains(self: Tensor, value: Any) -> bool:
    """Whether any element equals ``value``, a number or a tensor: ``value in x``.

    Raises
    ------
    RuntimeError
        If it is neither, or its shape does not fit.
    """
    if not isinstance(value, Tensor | Number):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
        )
    return bool(eq(self, value).array.any())


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


def _require_whole(name: str, a: Any) -> None:
    if a.dtype.kind not in "iu":
        raise NotImplementedError(
            f'"{name}" not implemented for {a.dtype.name}: bits are shifted in integers'
        )


@operation("<<", "{a} · 2 ^ {b}")
def bitwise_left_shift(a, b, /):
    """The bits moved ``other`` places up."""
    _require_whole("lshift_cpu", a)
    return np.left_shift(a, b)


@operation(">>", "⌊{a} / 2 ^ {b}⌋")
def bitwise_right_shift(a, b, /):
    """The bits moved ``other`` places down; the sign is kept."""
    _require_whole("rshift_cpu", a)
    return np.right_shift(a, b)


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


@operation("+∞?", "is {a} +∞")
def isposinf(a, /):
    """Where it is positive infinity."""
    return a == np.inf


@operation("−∞?", "is {a} −∞")
def isneginf(a, /):
    """Where it is negative infinity."""
    return a == -np.inf


@operation("real?", "is {a} real")
def isreal(a, /):
    """Where it is a real number, or a complex one without imaginary part."""
    return a.imag == 0 if a.dtype.kind == "c" else np.ones_like(a, bool)


@operation("≈", "{a} ≈ {b}", mixed=True, name="isclose")
def plain_isclose(a, b, /, rtol=1e-5, atol=1e-8, equal_nan=False):
    """See :func:`isclose`."""
    return np.isclose(a, b, rtol, atol, equal_nan)


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Where the elements are near each other: ``|input − other| ≤ atol + rtol · |other|``.

    Raises
    ------
    RuntimeError
        If the dtypes differ, or a tolerance is below 0.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), rtol=0.01)
    tensor([ True, False])
    """
    return _isclose("isclose", input, other, rtol, atol, equal_nan)


def _isclose(name: str, input: Tensor, other: Any, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    require_tensor(name, other)
    if input.array.dtype != other.array.dtype:
        raise RuntimeError(
            f"{name}: {input.dtype.name} did not match {other.dtype.name}: convert one with .to(dtype)"
        )
    for tolerance, value in {"rtol": rtol, "atol": atol}.items():
        if value < 0:
            raise RuntimeError(f"{tolerance} must be greater than or equal to zero, but got {value}")
    return plain_isclose(input, other, rtol, atol, equal_nan)


@operation("in", "is {a} among {b}", mixed=True, name="isin")
def plain_isin(a, b, /, invert=False):
    """See :func:`isin`."""
    return np.isin(a, b, invert=invert)


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Where ``elements`` are among ``test_elements``; with ``invert``, where they are not.

    ``assume_unique`` changes nothing: it promises what would make some methods faster.

    Raises
    ------
    RuntimeError
        For bools, of which there are only two.
    """
    if any(isinstance(each, bool) or _is_of_bools(each) for each in (elements, test_elements)):
        raise RuntimeError(
            "Unsupported input type encountered for isin(): Bool; compare with == or use .int()"
        )
    return plain_isin(elements, test_elements, invert)


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
    return bool(ask(_isclose("allclose", input, other, rtol, atol, equal_nan).array.all()))


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    require_tensor("equal", other)
    refuse_meta("equal", input, other)
    return input.shape == other.shape and bool(ask((input.array == other.array).all()))


@operation("←", "{new}", a=flat, b=flat, mixed=True, name="eq_")
def _in_place_of(new, a, b, /):
    """``new``, which was found from ``a`` and ``b`` and is flat in both."""
    return new.astype(a.dtype)


def _over(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``function`` for its in-place form: what overwrites the tensor takes its place in the graph too."""

    @wraps(function)
    def apply(input: Tensor, other: Any) -> Tensor:
        return _in_place_of(function(input, other), input, other)

    return apply


NAMES = Names(
    both="allclose bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor eq equal ge gt isclose isfinite isinf isnan isneginf isposinf isreal le logical_and "
    "logical_not logical_or logical_xor lt ne",
    functions="is_tensor isin numel",
    in_place="bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor",
    other_methods={
        **{
            f"{function.__name__}_": in_place_unrecorded(function)
            for function in (logical_and, logical_not, logical_or, logical_xor)
        },
        **{f"{function.__name__}_": in_place(_over(function)) for function in (eq, ge, gt, le, lt, ne)},
    },
    aliases={
        "greater": "gt",
        "greater_equal": "ge",
        "less": "lt",
        "less_equal": "le",
        "not_equal": "ne",
    },
    numpy={
        np.equal: taking_numbers(eq),
        np.not_equal: taking_numbers(ne),
        np.less: taking_numbers(lt),
        np.less_equal: taking_numbers(le),
        np.greater: taking_numbers(gt),
        np.greater_equal: taking_numbers(ge),
        np.logical_and: taking_numbers(logical_and),
        np.logical_or: taking_numbers(logical_or),
        np.logical_not: logical_not,
        np.logical_xor: taking_numbers(logical_xor),
        np.bitwise_and: bitwise_and,
        np.bitwise_or: bitwise_or,
        np.bitwise_xor: bitwise_xor,
        np.invert: bitwise_not,
        np.isnan: isnan,
        np.isfinite: isfinite,
        np.isinf: isinf,
        np.left_shift: bitwise_left_shift,
        np.right_shift: bitwise_right_shift,
    },
)
