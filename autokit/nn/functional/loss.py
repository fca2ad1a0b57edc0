"""Losses: how far a prediction is from its target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit.dtypes import FLOATS
from autokit.meta_array import META
from autokit.nn.functional.advice import warn_of_probabilities
from autokit.nn.functional.loss_checks import (
    check_classes,
    check_weight,
    chosen_reduction,
    compare,
    reduced,
    refuse_improbable,
    refuse_integers,
    require_floats_of,
    require_no_gradient,
    require_to_fit,
    require_weight_of_classes,
)
from autokit.ops.choices import where
from autokit.ops.complex_numbers import is_complex, require_real
from autokit.ops.direct import direct
from autokit.ops.distance_loss import huber_loss as _huber_loss
from autokit.ops.distance_loss import mse_loss as _mse_loss
from autokit.ops.distance_loss import smooth_l1_loss as _smooth_l1_loss
from autokit.ops.elementwise import abs as _abs
from autokit.ops.errors import describe, dimension_error, kind_of, require_floats
from autokit.ops.guards import guard, guards
from autokit.ops.loss import LARGE, class_factors, is_large, mean_of_losses, places_of_few, shift_of
from autokit.ops.loss import binary_cross_entropy as _binary_cross_entropy
from autokit.ops.loss import binary_cross_entropy_with_logits as _binary_cross_entropy_with_logits
from autokit.ops.loss import cross_entropy as _cross_entropy
from autokit.ops.loss import nll_loss as _nll_loss
from autokit.ops.soft_extremes import plain_log_softmax
from autokit.ops.unusual import asks_for_care, carefully, refuse_beside_meta, with_care
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL

_INT64 = np.dtype(np.int64)


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Losses that count as ``weight`` says; their mean is the weighted one."""
    weighted = losses * weight
    return weighted.sum() / weight.sum() if reduction == "mean" else reduced(weighted, reduction)


@carefully
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of the squared differences.

    Warns where the shapes differ: they broadcast, which is hardly ever meant.
    With ``weight``, of the shape of ``input``, the mean is the weighted one.

    Examples
    --------
    >>> import autokit as torch
    >>> mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    given = input
    input, target = compare(input, target)
    check_weight(weight, given)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if weight is not None:
        return _weighted((input - target) ** 2, weight, reduction)
    if input.array.dtype.kind not in FLOATS:
        refuse_integers("mse_loss", input, target)
    return _mse_loss(input, target, reduction=reduction)


@carefully
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of the absolute differences; warns and weighs as :func:`mse_loss` does."""
    given = input
    input, target = compare(input, target)
    check_weight(weight, given)
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = _abs(input - target)
    return reduced(losses, reduction) if weight is None else _weighted(losses, weight, reduction)


@carefully
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """:func:`l1_loss`, rounded off where the differences are below ``beta``; see :func:`huber_loss`.

    Raises
    ------
    RuntimeError
        If ``beta`` is negative.

    References
    ----------
    R. Girshick, "Fast R-CNN", ICCV 2015.
    """
    input, target = compare(input, target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta: it is {beta}")
    if beta == 0:
        return reduced(_abs(input - target), reduction)
    refuse_integers("smooth_l1_loss", input, target)
    return _smooth_l1_loss(input, target, beta=beta, reduction=reduction)


@carefully
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """The mean of half the squared differences, which grows linearly beyond a difference of ``delta``.

    Raises
    ------
    RuntimeError
        If ``delta`` is not positive.

    References
    ----------
    P. J. Huber, "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35, 1964.
    """
    given = input
    input, target = compare(input, target)
    check_weight(weight, given)
    reduction = chosen_reduction(reduction, None, None)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta: it is {delta}")
    require_real("huber", input)
    refuse_integers("huber_loss", input, target)
    require_floats_of(input, "huber_loss")
    if is_complex(target):
        raise RuntimeError(
            f"result type {kind_of(target)} can't be cast to the desired output type {kind_of(input)}: give "
            "real targets"
        )
    target = target.to(input.dtype)
    if weight is None:
        return _huber_loss(input, target, reduction=reduction, delta=delta)
    # Unlike the others, PyTorch divides this one by the number of elements.
    return reduced(_huber_loss(input, target, reduction="none", delta=delta) * weight, reduction)


@carefully
@guards("input", "weight")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood: the mean of ``-input[n, target[n]]``.

    Parameters
    ----------
    input : Tensor
        Log-probabilities, of shape (N, C), (N, C, d1, ...) or (C,).
    target : Tensor
        The classes, int64, of shape (N,), (N, d1, ...) or ().
    weight : Tensor, optional
        A factor for each class; the mean is weighted.
    ignore_index : int
        Targets of this value do not count.

    Raises
    ------
    IndexError
        If a target is no class.
    ValueError, RuntimeError
        If shapes or dtypes do not fit.
    """
    warn_of_probabilities("nll_loss", input)
    return _likelihood(input, target, weight, ignore_index, chosen_reduction(reduction, size_average, reduce))


def _likelihood(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    check_classes(input, target, weight)
    if META in UNUSUAL:
        refuse_beside_meta("nll_loss", (input, target, weight))
    scores = input.array
    if scores.ndim == 1:  # one sample, even where its class is given as a batch of one
        target = target.reshape(())
    require_floats("nll_loss_out_frame", scores)
    classes = scores.shape[1 if scores.ndim > 1 else 0]
    found = class_factors(target.array, classes, None if weight is None else weight.array, ignore_index)
    return _counted(input, target, classes, found, reduction)


def _counted(
    logarithms: Tensor, target: Tensor, classes: int, found: tuple[Any, Any, Any], reduction: str
) -> Tensor:
    """The negative log-likelihood, with what :func:`class_factors` found."""
    factors, counts, total = found
    places = None
    if counts is None and reduction == "mean":
        places = places_of_few(logarithms.array, target.array)
    settings = {
        "classes": classes,
        "factors": factors,
        "counts": counts,
        "total": total,
        "reduction": reduction,
        "places": places,
    }
    return direct(_nll_loss, (logarithms, target), settings)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """How surprising the targets are, under the probabilities that ``softmax(input)`` gives.

    Parameters
    ----------
    input : Tensor
        Logits: any numbers, not probabilities; of shape (N, C), (N, C, d1, ...) or (C,).
    target : Tensor
        Classes, as in :func:`nll_loss`; or a probability for each class, in the shape of ``input``.
    weight : Tensor, optional
        A factor for each class.
    ignore_index : int
        Targets of this value do not count.
    label_smoothing : float
        The part of each target, 0 to 1, that is spread evenly over all classes.

    Raises
    ------
    IndexError
        If a target is no class.
    ValueError, RuntimeError
        If shapes or dtypes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> cross_entropy(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    tensor(0.1269)
    """
    if UNUSUAL and asks_for_care(input, target):  # as `carefully`, without another call in every step
        return with_care("cross_entropy", cross_entropy, (), locals())
    if input._node is not None:
        warn_of_probabilities("cross_entropy", input)
    if reduction != "mean" or size_average is not None or reduce is not None:
        reduction = chosen_reduction(reduction, size_average, reduce)
    logits, classes = input.array, target.array
    if (
        weight is None
        and not label_smoothing
        and logits.ndim == 2
        and classes.ndim == 1
        and len(classes) == len(logits)
        and (classes.dtype is _INT64 or classes.dtype == _INT64)
        and logits.dtype.kind in FLOATS
    ):
        return _of_rows(input, target, ignore_index, reduction)
    axis = 1 if logits.ndim > 1 else 0
    probabilities = target.array.shape == logits.shape
    if probabilities and target.array.dtype.kind not in FLOATS:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype.name}: "
            f"in the shape of the input {list(target.shape)} it holds a probability for each class; "
            "target.argmax(1) makes classes of these"
        )
    if not logits.ndim:
        raise dimension_error(1, 0, describe(input))
    if logits.dtype.kind not in FLOATS:
        raise NotImplementedError(
            f'"log_softmax" not implemented for {input.dtype.name}: the logits are {describe(input)}; '
            "convert with .float()"
        )
    logarithms = direct(plain_log_softmax, (input,), {"dim": axis})
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if probabilities:
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        loss = _against_probabilities(logarithms, target, weight, axis, reduction, label_smoothing)
    else:
        loss = _likelihood(logarithms, target, weight, ignore_index, reduction)
    if weight is not None:
        guard(loss, [weight])
    if probabilities:
        return loss
    if not label_smoothing:
        return loss
    _require_smoothable(logits, target, weight, axis, reduction)
    count = logits.shape[axis]
    smooth = _smooth_loss(logarithms, target, weight, axis, ignore_index, reduction)
    return (1 - label_smoothing) * loss + (label_smoothing / count if count else math.nan) * smooth


def _of_rows(input: Tensor, target: Tensor, ignore_index: int, reduction: str) -> Tensor:
    """The cross-entropy of a row of logits for each target, as nearly always: that of many in one step."""
    logits = input.array
    rows, columns = logits.shape
    found = class_factors(target.array, columns, None, ignore_index)
    if rows * columns >= LARGE and found[1] is None and is_large(logits):
        return direct(_cross_entropy, (input, target), {"shift": shift_of(logits), "reduction": reduction})
    logarithms = direct(plain_log_softmax, (input,), {"dim": 1})
    return _counted(logarithms, target, columns, found, reduction)


def _against_probabilities(
    logarithms: Tensor, target: Tensor, weight: Tensor | None, axis: int, reduction: str, smoothing: float
) -> Tensor:
    classes = logarithms.array.shape[axis]
    require_weight_of_classes(weight, classes)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / max(classes, 1)
    products = logarithms * target
    if weight is not None:
        products = products * _along(weight, axis, logarithms.array.ndim)
    if reduction == "none":
        return -products.sum(axis)
    total = -products.sum()
    # Of no class there is no mean: 0 / 0.
    count = logarithms.array.size / classes if classes else 0.0
    return mean_of_losses(total, count=count) if reduction == "mean" else total


def _require_smoothable(
    logits: Any, target: Tensor, weight: Tensor | None, axis: int, reduction: str
) -> None:
    """Raise where targets fit the losses of classes, yet not those of targets that are spread, as PyTorch."""
    shape, kind = list(target.array.shape), target.array.dtype
    if len(shape) == logits.ndim:
        raise RuntimeError(
            f"output with shape {list(logits.shape[:axis])} doesn't match the broadcast shape {shape}: with "
            "label_smoothing a single sample has a target without dimensions"
        )
    if weight is not None and reduction == "mean" and (kind.kind != "i" or kind.itemsize < 4):
        raise RuntimeError(f"gather(): Expected dtype int32/int64 for index, got {kind.name}: use .long()")


def _smooth_loss(
    logarithms: Tensor, target: Tensor, weight: Tensor | None, axis: int, ignore_index: int, reduction: str
) -> Tensor:
    """What :func:`nll_loss` would give for targets spread over all classes."""
    if weight is not None:
        logarithms = logarithms * _along(weight, axis, logarithms.array.ndim)
    counts = target.array != ignore_index
    losses = where(new_tensor(counts), -logarithms.sum(axis), 0.0)
    if reduction == "none":
        return losses
    total = losses.sum()
    if reduction == "sum":
        return total
    return total / new_tensor(counts.sum() if weight is None else weight.array[target.array[counts]].sum())


def _along(weight: Tensor, axis: int, ndim: int) -> Tensor:
    return weight.reshape([-1 if place == axis else 1 for place in range(ndim)])


@carefully
@guards("input", "target", "weight")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprising yes-or-no targets are, under the probabilities ``input``.

    Raises
    ------
    ValueError
        If the shapes differ.
    RuntimeError
        If ``input`` or ``target`` holds what is no probability.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if input.array.shape != target.array.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. "
            "Please ensure they have the same size."
        )
    if target.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"Found dtype {target.dtype.name} but expected {input.dtype.name}: convert the target"
        )
    require_floats("binary_cross_entropy", input.array)
    require_real("binary_cross_entropy", input)
    require_no_gradient("binary_cross_entropy", weight=weight)
    refuse_improbable("input", input, "put a sigmoid before, or use binary_cross_entropy_with_logits")
    refuse_improbable("target", target, "0 stands for no, 1 for yes")
    require_to_fit(input, weight)
    return _binary_cross_entropy(input, target, _factors(weight, input), reduction)


def _factors(weight: Tensor | None, input: Tensor) -> Any:
    """``weight`` as a setting: its numbers of now, whatever becomes of it."""
    return None if weight is None else weight.array.astype(input.array.dtype)


@carefully
@guards("input", "target", "weight", "pos_weight")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, also where the sigmoid is 0 or 1 to the last bit.

    ``pos_weight`` is a factor for the targets that are 1, as where these are rare.

    Raises
    ------
    ValueError
        If the shapes differ.
    RuntimeError
        If ``target`` is of whole numbers or bools.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    warn_of_probabilities("binary_cross_entropy_with_logits", input)
    if input.array.shape != target.array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    require_no_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    require_floats("log_sigmoid_cpu", input.array)
    require_real("log_sigmoid", input)
    require_to_fit(input, weight)
    require_to_fit(input, pos_weight)
    if target.array.dtype.kind not in FLOATS:
        raise RuntimeError(
            f"result type {input.dtype.name} can't be cast to the desired output type {target.dtype.name}: "
            "convert the target with .float()"
        )
    if pos_weight is not None and pos_weight.array.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported: the loss takes 1 from "
            "pos_weight; convert it with .float()"
        )
    if input.array.dtype is not target.array.dtype:
        input = input.to(target.dtype)  # which decides here
    return _binary_cross_entropy_with_logits(
        input,
        target,
        _factors(weight, input),
        _factors(pos_weight, input),
        reduction,
    )
