"""Losses that are one operation: how far predictions are from their targets.

Each can give the loss of every element (``reduction="none"``), their mean or
their sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autokit.autograd.node import Node
from autokit.devices import on_a_gpu
from autokit.ops.blocks import loop_over_rows, ones, over_pieces, places_in_line, starts
from autokit.ops.elementwise import sigmoid
from autokit.ops.gpu.arrays import any_of, counting, like
from autokit.ops.gpu.bounds import refuse_beyond
from autokit.ops.gpu.kernels import fused
from autokit.ops.gpu.rows import over_rows
from autokit.ops.half import in_dtype, widened
from autokit.ops.index import read_at
from autokit.ops.operation import derivative, on, operation
from autokit.ops.soft_extremes import exponentials_of_rows
from autokit.tensor import Tensor, new_tensor

_ndarray = np.ndarray  # a module's own name is found sooner than NumPy's


def reduced(losses: Any, reduction: str) -> Any:
    """The losses themselves, their mean or their sum, as ``reduction`` says."""
    if reduction == "none":
        return losses
    total = losses.sum()
    return total / losses.size if reduction == "mean" else total


def share_of_each(g: Any, shape: tuple[int, ...], reduction: str) -> Any:
    """The gradient that arrives at each element's own loss."""
    return g / (math.prod(shape) or 1) if reduction == "mean" else g


LARGE = 16_384
"""Elements from which more calls of Python pay."""

# ---------------------------------------------------------------- distributions


@operation(
    "x log x",
    "{a} log {a}",
    # The quotient is 1, but at 0 it is nan, as PyTorch's derivative is there.
    a=derivative("log {a} + 1", lambda g, a: g * (np.log(a) + a / a)),
)
def negative_entropy(a, /):
    """``a log a`` of each element: 0 at 0, NaN below."""
    return np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, a))).astype(a.dtype, copy=False)


# ---------------------------------------------------------------- negative log-likelihood


def _class_axis(ndim: int) -> int:
    return 1 if ndim > 1 else 0


def _rows(input: Any) -> Any:
    """One row for each sample, holding its classes."""
    if input.ndim != 2:
        axis = _class_axis(input.ndim)
        classes = input.shape[axis]
        input = np.moveaxis(input, axis, -1)
        input = input.reshape((math.prod(input.shape[:-1]), classes))
    return input


def class_factors(target: Any, classes: int, weight: Any, ignore_index: int) -> tuple[Any, Any, Any]:
    """The weight of each sample's class in :func:`nll_loss`, whether it counts, and the sum of those that do.

    None for weights that are all 1; and three times None where, besides, all samples count.

    Raises
    ------
    IndexError
        If a target is no class and not to be ignored.
    """
    if not target.size or (
        weight is None and not 0 <= ignore_index < classes and _are_classes(target, classes)
    ):
        return None, None, None
    given = target.reshape(-1)
    chosen, counts, total, farthest = _classes_that_count(given, axes=0, ignored=ignore_index)
    refuse_beyond(farthest, chosen, classes, lambda wrong: _no_class(wrong, classes))
    factors = None
    if weight is not None:
        factors = read_at(widened(weight), (chosen,))
        total = _sum_of_those_that_count(factors, counts, axes=0)
        factors = factors.reshape(target.shape)
    return factors, counts.reshape(target.shape), total


_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)


def _no_class(wrong: int, classes: int) -> IndexError:
    return IndexError(
        f"Target {wrong} is out of bounds. There are {classes} classes, from 0 to {classes - 1}"
    )


def _are_classes(target: Any, classes: int) -> bool:
    """Whether each target is from 0 up to ``classes``, as far as is known: a GPU is not asked."""
    if target.__class__ is _ndarray and target.dtype is _INT64 and target.size:
        unsigned = target.view(_UINT64)  # where negative ones are the largest
        return unsigned.item(unsigned.argmax()) < classes  # in a third of the time that max() takes
    return not on_a_gpu(target) and not any_of((target < 0) | (target >= classes))


@over_rows
def _classes_that_count(target, /, axes, ignored):
    """Each target, or 0 for one that is ignored; what it counts, 1 or 0; their sum; the farthest class."""
    counts = target != ignored
    chosen = np.where(counts, target, 0)
    each = counts.astype(np.float32)
    farthest = chosen.astype(np.uint64).max(axis=axes, keepdims=True)  # negative ones are beyond all others
    return chosen, each, each.sum(axis=axes, keepdims=True), farthest


@over_rows
def _sum_of_those_that_count(weights, counts, /, axes):
    return np.where(counts == 0, 0.0, weights).sum(axis=axes, keepdims=True)  # no product: 0 · ∞ is NaN


def _class_of_each(target: Any, counts: Any) -> Any:
    """The class of each sample in a row; of one that does not count, any class."""
    chosen = target.reshape(-1)
    if counts is None or on_a_gpu(chosen):  # where an index beyond the end wraps around
        return chosen
    return np.where(counts.reshape(-1) == 0, 0, chosen)


def _negative(likelihoods: Any, factors: Any, counts: Any) -> Any:
    """Minus the likelihoods by the weights of their classes; 0, and not NaN, where one does not count.

    A weight of 0 is no such thing: 0 · ∞ is NaN, as in PyTorch.
    """
    losses = -likelihoods if factors is None else -likelihoods * factors
    return losses if counts is None else np.where(counts == 0, 0, losses).astype(likelihoods.dtype)


@fused
def _negatives(likelihoods, factors, counts, /):
    return _negative(likelihoods, factors, counts)


@over_rows
def _mean_of_negatives(likelihoods, factors, counts, total, /, axes):
    """Their average by the factors, whose sum is ``total``."""
    return _negative(likelihoods, factors, counts).sum(axis=axes, keepdims=True) / total


def _slope_of_each(g: Any, factors: Any, counts: Any, total: Any) -> Any:
    """What arrives at each sample's own likelihood; in a mean ``total`` is the sum of the factors."""
    slope = -g if factors is None else -g * factors
    slope = slope if total is None else slope / total
    return slope if counts is None else np.where(counts == 0, 0.0, slope)


@fused
def _slope_at_targets(g, target, classes, factors, counts, total, /):
    return in_dtype(np.where(target == classes, _slope_of_each(g, factors, counts, total), 0.0), g.dtype)


def places_of_few(input: Any, target: Any) -> Any:
    """Where in a matrix, read as one line, the targets of a few samples are; None for what is not so simple.

    The loss and its gradient both need them, and to find them takes longer than to add up what is there.
    """
    if input.__class__ is target.__class__ is _ndarray and input.ndim == 2 and 0 < target.size <= _FEW:
        return target + starts(*input.shape)
    return None


_FEW = 256


def _likelihood_gradient(
    g: Any, target: Any, classes: int, factors: Any, counts: Any, total: Any, reduction: str, places: Any
) -> Any:
    target = target.array if isinstance(target, Tensor) else target
    of_samples, axis = _of_samples(target)
    one_number = (1,) * len(of_samples)
    each_class = counting(target, classes).reshape((*one_number[:axis], -1, *one_number[axis + 1 :]))
    beside = (
        target.reshape(of_samples),
        each_class,
        None if factors is None else factors.reshape(of_samples),
        None if counts is None else counts.reshape(of_samples),
        _whole(target, total, one_number) if reduction == "mean" else None,
    )
    g = g.reshape(of_samples if reduction == "none" else one_number)
    if isinstance(g, Tensor):  # it is linear in g, which may be infinite
        hot = beside[0] == each_class
        hot = hot if counts is None else hot & (counts.reshape(of_samples) != 0)
        return np.where(new_tensor(hot), g * _slope_at_targets(g.dtype.numpy.type(1), *beside), 0.0)
    return _slope_at_targets(g, *beside)


def _whole(target: Any, total: Any, shape: tuple[int, ...]) -> Any:
    """What the sum of all losses is divided by."""
    return float(target.size or 1) if total is None else total.reshape(shape)


def _of_samples(target: Any) -> tuple[tuple[int, ...], int]:
    """The shape of the scores of all targets with one class, and the axis of classes."""
    shape = target.shape
    return (*shape[:1], 1, *shape[1:]), 1 if shape else 0


def _likelihood_gradient_on_arrays(
    g: Any, target: Any, classes: int, factors: Any, counts: Any, total: Any, reduction: str, places: Any
) -> Any:
    if places is not None and g.__class__ is _ndarray:
        count = len(places)
        slope = np.zeros((count, classes), g.dtype)
        slope.put(places, g.item() / -count)
        return slope
    if not g.__class__ is target.__class__ is _ndarray:
        return _likelihood_gradient(g, target, classes, factors, counts, total, reduction, places)
    of_samples, axis = _of_samples(target)
    slope = np.zeros((*of_samples[:axis], classes, *of_samples[axis + 1 :]), g.dtype)
    if counts is None and reduction == "mean":  # as nearly always
        at_targets = g.item() / -(target.size or 1)
    else:
        whole = _whole(target, total, (1,)) if reduction == "mean" else None
        each, counting_each = _in_a_row(factors, counts)
        at_targets = _slope_of_each(g.reshape(-1), each, counting_each, whole)
    chosen = _class_of_each(target, counts)
    if slope.ndim == 2:
        slope.put(places_in_line(chosen, classes), at_targets)
    else:
        at_targets = np.broadcast_to(at_targets, chosen.shape).reshape(of_samples)
        np.put_along_axis(slope, chosen.reshape(of_samples), at_targets, axis)
    return slope


def _in_a_row(*of_samples: Any) -> list[Any]:
    return [each if each is None else each.reshape(-1) for each in of_samples]


def _likelihood_name(node: Node) -> str:
    operand = node.operand(0)
    ndim = 2 if operand is None else operand.array.ndim
    if ndim == 3 and (node.settings or {})["reduction"] == "none":
        return "ViewBackward0"
    return "NllLoss2DBackward0" if ndim > 2 else "NllLossBackward0"


@operation(
    "−log-likelihood",
    "−{input}[{target}]",
    input=derivative(
        "−1/n at {target}, else 0",
        _likelihood_gradient,
        _likelihood_gradient_on_arrays,
    ),
    mixed=True,
    fitting=True,
    backward=_likelihood_name,
)
def nll_loss(input, target, /, classes, factors=None, counts=None, total=None, reduction="mean", places=None):
    """The negative of each sample's log-probability of its class; the ``classes`` are along dimension 1.

    ``factors``, ``counts`` and ``total`` are what :func:`class_factors` finds; ``places``, where all samples
    count alike and their mean is wanted, is what :func:`places_of_few` finds.
    """
    if places is not None and input.__class__ is _ndarray:
        count, kind = len(places), input.dtype
        total = ones(count, kind).dot(input.take(places)).item()
        return np.array(total / -count, kind)  # sooner made than of a number of NumPy's
    chosen = _class_of_each(target, counts)
    likelihoods = _rows(input)[counting(chosen, chosen.size), chosen]
    beside = _in_a_row(factors, counts)
    if reduction != "mean":
        losses = _negatives(likelihoods, *beside)
        return losses.reshape(target.shape) if reduction == "none" else losses.sum()
    if not chosen.size:
        return like(np.full_like, input, np.nan, shape=())
    return _mean_of_negatives(likelihoods, *beside, _whole(target, total, (1,)), axes=0, keepdims=False)


# ---------------------------------------------------------------- classes, from many logits


class Shift(NamedTuple):
    """What makes a softmax of each row.

    ``top`` is what is taken off it before the exponentials, ``total`` is their
    sum, and ``largest`` its largest element.
    """

    top: Any
    total: Any
    largest: Any


def is_large(input: Any) -> bool:
    """Whether logits are a large array, for which :func:`cross_entropy` pays."""
    return (
        isinstance(input, np.ndarray)
        and input.ndim == 2
        and input.size >= LARGE
        and input.dtype in (np.float32, np.float64)
        and input.flags.c_contiguous
    )


def shift_of(input: Any) -> Shift:
    """The shift of each row of ``input``, with no array as large as it."""
    top, total, largest = np.empty((3, len(input), 1), input.dtype)
    if loop_over_rows("native_loops.shifts", input, top, total):
        return Shift(top, total, top)

    def work(piece: slice) -> None:
        rows = input[piece]
        top[piece], total[piece] = exponentials_of_rows(rows, np.empty_like(rows))
        rows.max(axis=1, keepdims=True, out=largest[piece])

    over_pieces(input, work)
    return Shift(top, total, largest)


def _cross_entropy_gradient(g: Any, input: Any, target: Any, shift: Shift, reduction: str) -> Any:
    """softmax − 1 at the target, by the operations that have derivatives."""
    chosen = target.array if isinstance(target, Tensor) else target
    hot = np.zeros(input.shape, shift.top.dtype)
    hot[np.arange(len(chosen)), chosen] = 1
    exponentials = np.exp(input - shift.top)
    slope = exponentials / exponentials.sum(axis=1, keepdims=True) - hot
    return slope * (g.reshape((-1, 1)) if reduction == "none" else share_of_each(g, chosen.shape, reduction))


def _cross_entropy_gradient_on_arrays(g: Any, input: Any, target: Any, shift: Shift, reduction: str) -> Any:
    share = g.reshape((-1, 1)) if reduction == "none" else share_of_each(g, target.shape, reduction)
    share = np.broadcast_to(np.asarray(share, input.dtype), shift.top.shape)
    factors = share / shift.total
    slope = np.empty_like(input)
    if not loop_over_rows("native_loops.shares", input, shift.top, factors, slope):

        def work(piece: slice) -> None:
            rows, part, top = input[piece], slope[piece], shift.top[piece]
            np.exp(np.subtract(rows, top, out=part) if top.any() else rows, out=part)
            part *= factors[piece]

        over_pieces(input, work)
    slope[np.arange(len(target)), target] -= share[:, 0]
    return slope


@operation(
    "cross-entropy",
    "−log softmax({input})[{target}]",
    input=derivative(
        "(softmax {input} − 1 at {target}) / n", _cross_entropy_gradient, _cross_entropy_gradient_on_arrays
    ),
    mixed=True,
    backward="NllLossBackward0",
)
def cross_entropy(input, target, /, shift, reduction="mean"):
    """:func:`nll_loss` of the log-softmax of large ``input``, whose ``shift`` is known, in one step."""
    # Beside the largest logit, not beside 0, the loss of a target that is all but certain keeps its digits.
    chosen = input[np.arange(len(target)), target] - shift.largest[:, 0]
    total = shift.total * np.exp(shift.top - shift.largest)
    return reduced(np.log(total[:, 0]) - chosen, reduction)


# ---------------------------------------------------------------- yes or no


_LEAST_VARIANCE = float(np.float32(1e-12))
"""What keeps the slope of :func:`binary_cross_entropy` finite at 0 and 1: PyTorch's number, of float32."""


def _binary_gradient(g: Any, input: Any, target: Any, weight: Any, reduction: str) -> Any:
    slope = (input - target) / np.maximum((1 - input) * input, _LEAST_VARIANCE)
    return share_of_each(g, slope.shape, reduction) * (slope if weight is None else slope * weight)


def _binary_target_gradient(g: Any, input: Any, weight: Any, reduction: str) -> Any:
    slope = np.log(1 - input) - np.log(input)  # unlike the loss, not ending at -100
    return share_of_each(g, slope.shape, reduction) * (slope if weight is None else slope * weight)


@operation(
    "cross-entropy",
    "−{target} · log {input} − (1 − {target}) · log(1 − {input})",
    input=derivative("({input} − {target}) / ({input} · (1 − {input})) / n", _binary_gradient),
    target=derivative("(log(1 − {input}) − log {input}) / n", _binary_target_gradient),
)
def binary_cross_entropy(input, target, /, weight=None, reduction="mean"):
    """The negative log-likelihood of yes-or-no targets under probabilities; logs end at -100."""
    losses = -(target * np.maximum(np.log(input), -100) + (1 - target) * np.maximum(np.log1p(-input), -100))
    return reduced(losses if weight is None else losses * weight, reduction)


def _logits_gradient(g: Any, input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    yes = on(sigmoid, input)
    slope = (
        yes - target if pos_weight is None else (1 + (pos_weight - 1) * target) * yes - pos_weight * target
    )
    return share_of_each(g, slope.shape, reduction) * (slope if weight is None else slope * weight)


def _logits_target_gradient(g: Any, input: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    slope = -input
    if pos_weight is not None:
        # Beside the whole input the logarithm need not be precise where it is tiny.
        softplus = np.maximum(-input, 0.0) + np.log(1 + np.exp(-np.abs(input)))
        slope = slope + (pos_weight - 1) * softplus
    return share_of_each(g, slope.shape, reduction) * (slope if weight is None else slope * weight)


@operation(
    "/",
    "{a} / n",
    a=derivative("1 / n", lambda g, count: g / count),
    linear=True,
    name="mean_of_losses",
    backward="DivBackward1",
)
def mean_of_losses(a, /, count):
    """A sum of losses over how many they are, which PyTorch divides by a plain number."""
    return a / count


def softplus_of_negative(x: Any) -> Any:
    """log(1 + exp(-x)), also where the exponential of a real number would overflow."""
    if x.dtype.kind == "c":
        return np.log1p(np.exp(-x))
    return np.maximum(-x, 0.0) + np.log1p(np.exp(-np.abs(x)))


@operation(
    "cross-entropy of logits",
    "log(1 + exp {input}) − {target} · {input}",
    input=derivative("(σ({input}) − {target}) / n", _logits_gradient),
    target=derivative("−{input} / n", _logits_target_gradient),
)
def binary_cross_entropy_with_logits(input, target, /, weight=None, pos_weight=None, reduction="mean"):
    """:func:`binary_cross_entropy` of the sigmoid of ``input``, computed without overflow."""
    yes_weight = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    losses = (1 - target) * input + yes_weight * softplus_of_negative(input)
    return reduced(losses if weight is None else losses * weight, reduction)
