"""Losses: how far a prediction is from its target."""

from __future__ import annotations

import warnings

import numpy as np

from autokit.ops.direct import direct
from autokit.ops.elementwise import abs as _abs
from autokit.ops.elementwise import where
from autokit.ops.errors import describe
from autokit.ops.loss import binary_cross_entropy as _binary_cross_entropy
from autokit.ops.loss import binary_cross_entropy_with_logits as _binary_cross_entropy_with_logits
from autokit.ops.loss import class_factors
from autokit.ops.loss import mse_loss as _mse_loss
from autokit.ops.loss import nll_loss as _nll_loss
from autokit.ops.reduce import plain_log_softmax
from autokit.tensor import Tensor, new_tensor

_REDUCTIONS = ("mean", "sum", "none")


def chosen_reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    if size_average is not None or reduce is not None:  # PyTorch's spelling before there was `reduction`
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: it is 'none', 'mean' or 'sum'")
    return reduction


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of the squared differences.

    Warns where the shapes differ: they broadcast, which is hardly ever meant.

    Examples
    --------
    >>> import autokit as torch
    >>> mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    _warn_of_broadcasting(input, target)
    return _mse_loss(input, target, reduction=chosen_reduction(reduction, size_average, reduce))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of the absolute differences; warns as :func:`mse_loss` does."""
    _warn_of_broadcasting(input, target)
    losses = _abs(input - target)
    reduction = chosen_reduction(reduction, size_average, reduce)
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def _warn_of_broadcasting(input: Tensor, target: Tensor) -> None:
    if input.array.shape != target.array.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )


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
    return _likelihood(input, target, weight, ignore_index, chosen_reduction(reduction, size_average, reduce))


def _likelihood(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    _check_classes(input, target, weight)
    classes = input.array.shape[1 if input.array.ndim > 1 else 0]
    factors = class_factors(target.array, classes, None if weight is None else weight.array, ignore_index)
    return direct(_nll_loss, (input, target), {"factors": factors, "reduction": reduction})


def _check_classes(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    shape, target_shape = input.array.shape, target.array.shape
    if weight is None and len(shape) == 2 and target_shape == shape[:1] and target.array.dtype == np.int64:
        return  # as nearly always
    if target.array.dtype.kind not in "iu" or target.array.dtype.itemsize not in (1, 8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.name}: {describe(target)}; "
            "classes are whole numbers, converted with .long()"
        )
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if shape[:1] + shape[2:] != target_shape and not (len(shape) == 1 and target_shape in ((), (1,))):
        if len(shape) > 1 and target_shape[:1] != shape[:1]:
            raise ValueError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size "
                f"({(*target_shape, 0)[0]})."
            )
        if len(shape) <= 2:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported: the target has shape "
                f"{list(target_shape)}; a dimension of size 1 goes away with target.squeeze(1)"
            )
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(target_shape)}")
    classes = shape[1] if len(shape) > 1 else shape[0]
    if weight is not None and weight.array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            "tensor "
            f"of shape: {list(weight.array.shape)}"
        )


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
    axis = 1 if input.array.ndim > 1 else 0
    if input.array.dtype.kind == "f":
        logarithms = direct(plain_log_softmax, (input,), {"dim": axis})
    else:
        logarithms = plain_log_softmax(input, dim=axis)
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if target.array.dtype.kind == "f" and target.array.shape == input.array.shape:
        return _against_probabilities(logarithms, target, weight, axis, reduction, label_smoothing)
    loss = _likelihood(logarithms, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    classes = input.array.shape[axis]
    smooth = _smooth_loss(logarithms, target, weight, axis, ignore_index, reduction)
    return (1 - label_smoothing) * loss + label_smoothing / classes * smooth


def _against_probabilities(
    logarithms: Tensor, target: Tensor, weight: Tensor | None, axis: int, reduction: str, smoothing: float
) -> Tensor:
    classes = logarithms.array.shape[axis]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    products = logarithms * target
    if weight is not None:
        products = products * _along(weight, axis, logarithms.array.ndim)
    if reduction == "none":
        return -products.sum(axis)
    total = -products.sum()
    return total / (logarithms.array.size / classes) if reduction == "mean" else total


def _smooth_loss(
    logarithms: Tensor, target: Tensor, weight: Tensor | None, axis: int, ignore_index: int, reduction: str
) -> Tensor:
    """What :func:`nll_loss` would give for targets spread over all classes."""
    if weight is not None:
        logarithms = logarithms * _along(weight, axis, logarithms.array.ndim)
    counts = target.array != ignore_index
    losses = where(new_tensor(np.asarray(counts)), -logarithms.sum(axis), 0.0)
    if reduction == "none":
        return losses
    total = losses.sum()
    if reduction == "sum":
        return total
    return total / float(counts.sum() if weight is None else weight.array[target.array[counts]].sum())


def _along(weight: Tensor, axis: int, ndim: int) -> Tensor:
    return weight.reshape([-1 if place == axis else 1 for place in range(ndim)])


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
        If ``input`` holds what is no probability.
    """
    if input.array.shape != target.array.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. "
            "Please ensure they have the same size."
        )
    array = input.array
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise RuntimeError(
            "all elements of input should be between 0 and 1: put a sigmoid before, or use "
            "binary_cross_entropy_with_logits"
        )
    if target.array.dtype != array.dtype:
        raise RuntimeError(
            f"Found dtype {target.dtype.name} but expected {input.dtype.name}: convert the target"
        )
    factors = None if weight is None else weight.array
    return _binary_cross_entropy(input, target, factors, chosen_reduction(reduction, size_average, reduce))


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
    """
    if input.array.shape != target.array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _binary_cross_entropy_with_logits(
        input,
        target,
        None if weight is None else weight.array,
        None if pos_weight is None else pos_weight.array,
        chosen_reduction(reduction, size_average, reduce),
    )
