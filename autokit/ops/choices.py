"""Choices element by element: the larger or the smaller, one of two by a condition, between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.blocks import constants_like, drop, in_blocks, keep, select
from autokit.ops.create import as_tensor
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting, gpu_among, taking_numbers
from autokit.ops.operation import derivative, operation
from autokit.ops.operators import is_number, with_dtype
from autokit.ops.warn import warn
from autokit.tensor import Tensor


def _share(g: Any, smaller: Any, tie: Any) -> Any:
    """Nothing to the smaller one, half at a tie; a NaN is not smaller, so both get all of the gradient."""
    return np.where(tie, g / 2, np.where(smaller, 0.0, g))


def _of_larger(g: Any, a: Any, b: Any) -> Any:
    return _share(g, a < b, a == b)


def _of_larger_of_block(g: Any, a: Any, b: Any, into: Any, /) -> None:
    drop(a < b, g, into)
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
            lambda g, condition, into, /: drop(condition.copy(), g, into),
        ),
    ),
    mixed=True,
    backward="WhereBackward0",
    on_arrays=lambda condition, a, b: _choose(a, b, condition),
    elementwise=True,
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


def _refuse_two_bools(name: str, input: Tensor, bound: Any) -> None:
    """Raise where bools would be held at a bool."""
    if isinstance(bound, bool) and input.array.dtype.kind == "b":
        raise NotImplementedError(
            f"\"{name}\" not implemented for 'Bool': use | and &, or convert with .int()"
        )


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """``input``, but never below ``min``, a number or a tensor."""
    _refuse_two_bools("clamp_min_scalar_cpu", input, min)
    return plain_clamp_min(input, min)


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """``input``, but never above ``max``, a number or a tensor."""
    _refuse_two_bools("clamp_max_scalar_cpu", input, max)
    return plain_clamp_max(input, max)


def _of_clamp(g: Any, a: Any, min: Any, max: Any) -> Any:
    return np.where(_inside(a, min, max), g, 0)


def _of_clamp_of_block(g: Any, a: Any, into: Any, /, min: Any, max: Any) -> None:
    keep(_inside(a, min, max), g, into)


def _clamped(a: Any, min: Any, max: Any) -> Any:
    # The lower bound first, so that the upper one wins where they cross.
    a = np.maximum(a, min) if min is not None else a
    return np.minimum(a, max) if max is not None else a


def _clamped_of_block(a: Any, into: Any, /, min: Any, max: Any) -> None:
    if min is not None:
        np.maximum(a, constants_like(a, min), out=into)
        a = into
    if max is not None:
        np.minimum(a, constants_like(a, max), out=into)


@operation(
    "clamp",
    "{a} held between two bounds",
    a=derivative("1 inside of the bounds, else 0", _of_clamp, in_blocks(_of_clamp, _of_clamp_of_block)),
    backward=lambda node: "ClampBackward1",
    elementwise=True,
    on_arrays=in_blocks(_clamped, _clamped_of_block),
)
def clamp_numbers(a, /, min=None, max=None):
    """``a`` held between two numbers; see :func:`clamp`."""
    return _clamped(a, min, max)


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
    if any(isinstance(each, Tensor | complex) for each in (input, other)):
        common = common_dtype((input, other))
        gpu = gpu_among((condition, input, other))
        input, other = (with_dtype(value, common, gpu) for value in (input, other))
    elif isinstance(input, float) or isinstance(
        other, float
    ):  # of two numbers, so as no other integer makes it
        input, other = float(input), float(other)
    if isinstance(condition, Tensor) and condition.array.dtype == np.uint8:
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
            "future version of PyTorch. Use a boolean condition instead."
        )
        condition = condition.bool()
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
        if max is None:
            return plain_clamp_min(input, min)
        if common_dtype([input, min, max]).kind == "b":
            _refuse_two_bools("clamp_cpu", input, True)
        return clamp_between(input, min, max)
    common = common_dtype([each for each in (input, min, max) if each is not None])
    if common != input.array.dtype:
        input = with_dtype(input, common)
    if common.kind == "b":
        _refuse_two_bools("clamp_scalar_cpu", input, True)
    min, max = (bound if bound is None else fitting(bound, common) for bound in (min, max))
    return clamp_numbers(input, min, max)


NAMES = Names(
    both="clamp clamp_max clamp_min maximum minimum",
    functions="where",
    other_methods={"where": where_self},
    in_place="clamp clamp_max clamp_min",
    in_place_functions="clamp clamp_max clamp_min",
    aliases={"clip": "clamp"},
    numpy={
        np.maximum: taking_numbers(maximum),
        np.minimum: taking_numbers(minimum),
        np.where: lambda condition, *rest: where(as_tensor(condition), *rest),
        np.clip: clamp,
    },
)
