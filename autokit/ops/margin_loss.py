"""Losses that ask for a margin: the right answer is to lead the others by some distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.meta_array import zeros_for
from autokit.ops.elementwise import sigmoid
from autokit.ops.gpu.ufuncs import add_at
from autokit.ops.loss import reduced, share_of_each, softplus_of_negative
from autokit.ops.operation import derivative, on, operation
from autokit.tensor import Tensor


def _soft_margin_slope(g: Any, input: Any, target: Any, reduction: str) -> Any:
    slope = -target * on(sigmoid, -input * target)
    return slope * share_of_each(g, slope.shape, reduction)


@operation(
    "soft margin",
    "log(1 + exp(−{input} · {target}))",
    input=derivative("−{target} · σ(−{input} · {target}) / n", _soft_margin_slope),
    floating=True,
)
def soft_margin_loss(input, target, /, reduction="mean"):
    """The logistic loss of targets that are -1 or 1, computed without overflow."""
    return reduced(softplus_of_negative(input * target), reduction)


def _rows(a: Any) -> Any:
    """One row of classes for each sample."""
    return a.reshape((-1, a.shape[-1])) if a.ndim else a.reshape((1, 1))


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _per_row(g: Any, rows: int, reduction: str) -> Any:
    """The gradient that arrives at the loss of each row, as a column."""
    return g.reshape((-1, 1)) if reduction == "none" else share_of_each(g, (rows,), reduction)


def _leads(rows: Any, hot: Any, margin: float) -> Any:
    """By how much the lead of the right class over each other one misses the margin."""
    return rows - (rows * hot).sum(axis=1, keepdims=True) + margin


def _multi_margin_slope(
    g: Any, input: Any, shape: tuple[int, ...], hot: Any, factors: Any, p: int, margin: float, reduction: str
) -> Any:
    rows = _rows(input)
    missing = _leads(rows, hot, margin)
    counts = ((_array(missing) > 0) & ~hot) * (factors / rows.shape[1])
    slope = counts if p == 1 else 2 * missing * counts
    slope = slope - slope.sum(axis=1, keepdims=True) * hot
    return (slope * _per_row(g, len(hot), reduction)).reshape(shape)


@operation(
    "margin",
    "Σ max(0, margin − {input}[target] + {input})^p / C",
    input=derivative("±p · max(0, …)^(p − 1) / C", _multi_margin_slope),
)
def multi_margin_loss(input, /, target, hot, factors, p=1, margin=1.0, reduction="mean"):
    """How far the lead of the right class over each other one misses the margin, over the classes.

    ``hot`` marks the right class in each row, and ``factors`` is a column of what each row counts.
    """
    rows = _rows(input)
    missing = np.where(hot, 0, np.maximum(_leads(rows, hot, margin), 0))
    losses = (missing**p * factors).sum(axis=1) / rows.shape[1]
    return reduced(losses.astype(input.dtype, copy=False).reshape(target.shape), reduction)


def _missing_pairs(rows: Any, times: Any) -> Any:
    """For each row how much each right class misses its margin over each wrong one."""
    missing = np.maximum(1 - rows[:, :, np.newaxis] + rows[:, np.newaxis, :], 0)
    return missing * times[:, :, np.newaxis] * (times == 0)[:, np.newaxis, :]


def _multilabel_slope(g: Any, input: Any, shape: tuple[int, ...], times: Any, reduction: str) -> Any:
    # Piecewise constant in the input: its array is enough, and a further derivative is 0.
    array = _rows(_array(input))
    short = (_missing_pairs(array, times) > 0) * (times[:, :, np.newaxis] / array.dtype.type(array.shape[1]))
    slope = short.sum(axis=1) - short.sum(axis=2)
    return (slope.astype(array.dtype) * _per_row(g, len(times), reduction)).reshape(shape)


@operation(
    "margin",
    "Σ max(0, 1 − {input}[right] + {input}[wrong]) / C",
    input=derivative("±1 / C for each pair short of its margin", _multilabel_slope),
)
def multilabel_margin_loss(input, /, times, reduction="mean"):
    """How far each right class misses its margin over each wrong one.

    ``times`` says how often each class of a row was named as right.
    """
    rows = _rows(input)
    losses = _missing_pairs(rows, times).sum(axis=(1, 2)) / rows.shape[1]
    return reduced(losses.astype(input.dtype, copy=False).reshape(input.shape[:-1]), reduction)


def one_hot_rows(target: Any, classes: int) -> Any:
    """A row for each target, true at its class."""
    return target.reshape((-1, 1)) == module_of(target).arange(classes)


def times_named(target: Any, classes: int) -> Any:
    """How often each row of ``target`` names each class before its first -1."""
    rows = _rows(zeros_for(target))
    before_end = np.cumsum(rows == -1, axis=1) == 0
    places = np.nonzero(before_end)
    times = module_of(target).zeros((len(rows), classes), np.int64)
    add_at(times, (places[0], rows[places]), 1)
    return times
