"""Losses of differences: their squares, and squares that go on as straight lines (Huber's error)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops.blocks import in_blocks
from autokit.ops.loss import LARGE, reduced, share_of_each
from autokit.ops.operation import derivative, operation
from autokit.ops.reduce import total_in_a_loop

# ---------------------------------------------------------------- squared error


def _squared_error_gradient(g: Any, input: Any, target: Any, reduction: str) -> Any:
    difference = input - target
    return difference * (share_of_each(g, difference.shape, reduction) * 2)


def _difference_of_block(a: Any, b: Any, into: Any, /, factor: Any) -> None:
    np.subtract(a, b, out=into)
    into *= factor


_difference = in_blocks(
    lambda a, b, factor: (a - b) * factor, _difference_of_block, "native_arithmetic.difference"
)


def _squared_error_gradient_on_arrays(g: Any, input: Any, target: Any, reduction: str) -> Any:
    if input.size < LARGE or g.ndim or input.shape != target.shape or g.__class__ is not np.ndarray:
        return _squared_error_gradient(g, input, target, reduction)
    return _difference(input, target, g.dtype.type(share_of_each(g, input.shape, reduction) * 2))


def _squared_error(input: Any, target: Any, reduction: str = "mean") -> Any:
    total = None
    if input.size >= LARGE and reduction != "none":
        total = total_in_a_loop("native_sums.squared_distances_of_runs", input, target)
    if total is None:
        difference = input - target
        return reduced(difference * difference, reduction)
    return total / total.dtype.type(input.size) if reduction == "mean" else total


@operation(
    "squared error",
    "({input} − {target})²",
    input=derivative(
        "2 · ({input} − {target}) / n", _squared_error_gradient, _squared_error_gradient_on_arrays
    ),
    target=derivative(
        "−2 · ({input} − {target}) / n",
        lambda g, input, target, reduction: -_squared_error_gradient(g, input, target, reduction),
    ),
    on_arrays=_squared_error,
)
def mse_loss(input, target, /, reduction="mean"):
    """The squared differences; their mean is the mean squared error."""
    difference = input - target
    return reduced(difference * difference, reduction)


# ---------------------------------------------------------------- squared near 0, absolute far away


def _smooth_slope(g: Any, input: Any, target: Any, beta: float, reduction: str) -> Any:
    difference = input - target
    slope = np.where(np.abs(difference) >= beta, np.sign(difference), difference / beta)
    return slope * share_of_each(g, difference.shape, reduction)


def _bent(input: Any, target: Any, knee: float, reduction: str) -> Any:
    """Half the squared differences up to ``knee``, and straight lines from there, with no choice anywhere."""
    total = None
    if reduction != "none":
        knees = (input.dtype.type(knee),)
        total = total_in_a_loop("native_sums.bent_distances_of_runs", input, target, others=knees)
    if total is not None:
        return total / total.dtype.type(input.size) if reduction == "mean" else total
    distance = np.abs(input - target)
    smaller = np.clip(distance, 0, knee)  # the distance itself, on the parabola
    distance -= smaller * 0.5
    distance *= smaller
    return reduced(distance, reduction)


def _bent_slope_of_block(a: Any, b: Any, into: Any, /, knee: float, factor: Any) -> None:
    np.subtract(a, b, out=into)
    np.clip(into, -knee, knee, out=into)
    into *= factor


_held_difference = in_blocks(
    lambda a, b, knee, factor: np.clip(a - b, -knee, knee) * factor,
    _bent_slope_of_block,
    "native_arithmetic.held_difference",
)


def _bent_slope(g: Any, input: Any, target: Any, knee: float, reduction: str) -> Any:
    if g.ndim or input.shape != target.shape or g.__class__ is not np.ndarray:
        slope = np.clip(input - target, -knee, knee)
        return slope * share_of_each(g, slope.shape, reduction)
    return _held_difference(input, target, knee, g.dtype.type(share_of_each(g, input.shape, reduction)))


def _is_large_and_bent(input: Any, knee: float) -> bool:
    """Whether the choices of an array that is not small would take most of the time."""
    return input.size >= LARGE and knee > 0


def _smooth_error(input: Any, target: Any, beta: float = 1.0, reduction: str = "mean") -> Any:
    if _is_large_and_bent(input, beta):
        return _bent(input, target, beta, reduction) / beta
    return smooth_l1_loss.operation.plain(input, target, beta, reduction)


def _smooth_slope_on_arrays(g: Any, input: Any, target: Any, beta: float, reduction: str) -> Any:
    if _is_large_and_bent(input, beta):
        return _bent_slope(g / beta, input, target, beta, reduction)
    return _smooth_slope(g, input, target, beta, reduction)


@operation(
    "smooth error",
    "({input} − {target})² / 2β below β, else |{input} − {target}| − β/2",
    input=derivative(
        "({input} − {target}) / β, held between −1 and 1, / n", _smooth_slope, _smooth_slope_on_arrays
    ),
    target=derivative(
        "−({input} − {target}) / β, held between −1 and 1, / n",
        lambda g, input, target, beta, reduction: -_smooth_slope(g, input, target, beta, reduction),
    ),
    floating=True,
    on_arrays=_smooth_error,
)
def smooth_l1_loss(input, target, /, beta=1.0, reduction="mean"):
    """The absolute differences, rounded off to a parabola where they are below ``beta``."""
    distance = np.abs(input - target)
    return reduced(
        np.where(distance < beta, distance * distance / (2 * beta), distance - beta / 2), reduction
    )


def _huber_slope(g: Any, input: Any, target: Any, delta: float, reduction: str) -> Any:
    difference = input - target
    slope = np.where(np.abs(difference) >= delta, delta * np.sign(difference), difference)
    return slope * share_of_each(g, difference.shape, reduction)


def _huber_slope_on_arrays(g: Any, input: Any, target: Any, delta: float, reduction: str) -> Any:
    rule = _bent_slope if _is_large_and_bent(input, delta) else _huber_slope
    return rule(g, input, target, delta, reduction)


def _huber_error(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    if _is_large_and_bent(input, delta):
        return _bent(input, target, delta, reduction)
    return huber_loss.operation.plain(input, target, reduction, delta)


@operation(
    "Huber's error",
    "({input} − {target})² / 2 up to δ, else δ · (|{input} − {target}| − δ/2)",
    input=derivative(
        "({input} − {target}), held between −δ and δ, / n", _huber_slope, _huber_slope_on_arrays
    ),
    target=derivative(
        "−({input} − {target}), held between −δ and δ, / n",
        lambda g, input, target, delta, reduction: -_huber_slope(g, input, target, delta, reduction),
    ),
    floating=True,
    on_arrays=_huber_error,
)
def huber_loss(input, target, /, reduction="mean", delta=1.0):
    """Half the squared differences, continued by straight lines where they are beyond ``delta``."""
    distance = np.abs(input - target)
    return reduced(
        np.where(distance <= delta, distance * distance / 2, delta * (distance - delta / 2)), reduction
    )
