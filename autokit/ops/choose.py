"""Choices for each element: the larger or smaller of two, one of two by a condition, a value in bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.errors import require_tensor
from autokit.engine.operands import common_dtype
from autokit.engine.operation import cast, derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.names import Names


def _to_larger(g: Any, a: Any, b: Any) -> Any:
    """The gradient of the larger one by ``a``: all of it where ``a`` is larger, and half of it at a tie."""
    return np.where(a == b, g / 2, np.where(a < b, 0, g))


@operation(
    "max",
    "max({a}, {b})",
    a=derivative("1 where {a} > {b}, ½ at a tie", lambda g, a, b: _to_larger(g, a, b)),
    b=derivative("1 where {b} > {a}, ½ at a tie", lambda g, a, b: _to_larger(g, b, a)),
)
def maximum(a, b, /):
    """The larger one, element by element; a tie shares its gradient."""
    return np.maximum(a, b)


@operation(
    "min",
    "min({a}, {b})",
    a=derivative("1 where {a} < {b}, ½ at a tie", lambda g, a, b: _to_larger(g, b, a)),
    b=derivative("1 where {b} < {a}, ½ at a tie", lambda g, a, b: _to_larger(g, a, b)),
)
def minimum(a, b, /):
    """The smaller one, element by element; a tie shares its gradient."""
    return np.minimum(a, b)


def _is_first(larger: Any, b: Any) -> Any:
    """Where the result is the first operand: also where the second is NaN, which differs from itself."""
    return np.logical_or(larger, b != b)


@operation(
    "max",
    "max({a}, {b})",
    a=derivative("1 where {a} ≥ {b}, else 0", lambda g, a, b: np.where(_is_first(a >= b, b), g, 0)),
    b=derivative("0 where {a} ≥ {b}, else 1", lambda g, a, b: np.where(_is_first(a >= b, b), 0, g)),
)
def fmax(a, b, /):
    """The larger one, element by element; a number where the other is NaN."""
    return np.fmax(a, b)


@operation(
    "min",
    "min({a}, {b})",
    a=derivative("1 where {a} ≤ {b}, else 0", lambda g, a, b: np.where(_is_first(a <= b, b), g, 0)),
    b=derivative("0 where {a} ≤ {b}, else 1", lambda g, a, b: np.where(_is_first(a <= b, b), 0, g)),
)
def fmin(a, b, /):
    """The smaller one, element by element; a number where the other is NaN."""
    return np.fmin(a, b)


# ---------------------------------------------------------------- by a condition


@operation(
    "where",
    "{a} where {condition}, else {b}",
    a=derivative("1 where {condition}, else 0", lambda g, condition: np.where(condition, g, 0)),
    b=derivative("0 where {condition}, else 1", lambda g, condition: np.where(condition, 0, g)),
    mixed=True,
    name="where",
)
def choose(condition, a, b, /):
    """``a`` where ``condition`` holds, else ``b``."""
    return np.where(condition, a, b)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` holds, else ``other``; with a condition alone, its true places.

    The gradient of the branch that was not chosen is 0. Where the derivative inside that branch is infinite,
    0 · ∞ gives NaN all the same: make the argument safe *before* the function that may fail.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([-1.0, 2.0])
    >>> torch.where(x > 0, x, 0.0)
    tensor([0., 2.])
    """
    require_tensor("where", condition, "condition")
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition.array.dtype.kind != "b":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor of {condition.dtype.name}: "
            "compare first, as in x > 0"
        )
    common = common_dtype([input, other])
    return choose(condition, _with_dtype(input, common), _with_dtype(other, common))


def _with_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    if not isinstance(value, Tensor):
        return dtype.type(value)
    return value if value.array.dtype == dtype else cast(value, dtype=dtype)


def _where_of_arrays(condition: Any, *values: Any) -> Any:
    """``np.where`` of tensors; the condition may be an array, or one truth value."""
    if not hasattr(condition, "shape"):
        condition = np.asarray(condition)
    return where(condition if isinstance(condition, Tensor) else new_tensor(condition), *values)


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where ``condition`` holds, else ``other``."""
    return where(condition, self, other)


# ---------------------------------------------------------------- between bounds


def _inside(a: Any, min: Any, max: Any) -> Any:
    above = True if min is None else a >= min
    return np.logical_and(above, True if max is None else a <= max)


def _below(a: Any, min: Any, max: Any) -> Any:
    return a < min if max is None else np.logical_and(a < min, min < max)


def _above(a: Any, min: Any, max: Any) -> Any:
    return a > max if min is None else np.logical_or(a > max, max < min)


@operation(
    "clamp",
    "{a} held between {min} and {max}",
    a=derivative("1 between the bounds, else 0", lambda g, a, min, max: np.where(_inside(a, min, max), g, 0)),
    min=derivative(
        "1 where {a} is below, else 0", lambda g, a, min, max: np.where(_below(a, min, max), g, 0)
    ),
    max=derivative(
        "1 where {a} is above, else 0", lambda g, a, min, max: np.where(_above(a, min, max), g, 0)
    ),
    name="clamp",
)
def held(a, min=None, max=None, /):
    """``a``, but not below ``min`` and not above ``max``, either of which may be missing."""
    # The lower bound first, so that the upper one wins where they cross.
    a = a if min is None else np.maximum(a, min)
    return a if max is None else np.minimum(a, max)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """``input`` held between ``min`` and ``max``, either of which may be missing or a tensor.

    The gradient passes inside the bounds and at the bounds themselves.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.clamp(torch.tensor([-2.0, 0.5, 3.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return held(input, min, max)


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """``input``, but never below ``min``, a number or a tensor."""
    return held(input, min, None)


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """``input``, but never above ``max``, a number or a tensor."""
    return held(input, None, max)


NAMES = Names(
    both="clamp clamp_max clamp_min fmax fmin maximum minimum",
    functions="where",
    other_methods={"where": _where_method},
    in_place="clamp clamp_max clamp_min",
    in_place_functions="clamp clamp_max clamp_min",
    aliases={"clip": "clamp"},
    numpy={
        np.maximum: maximum,
        np.minimum: minimum,
        np.fmax: fmax,
        np.fmin: fmin,
        np.where: _where_of_arrays,
        np.clip: clamp,
    },
)
