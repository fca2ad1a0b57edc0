"""The functions behind the modules: what a layer computes, given its parameters.

Activations and single losses are operations of :mod:`autokit.ops`; here stand
those that put several together, and those that first check what they are given.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autokit import random
from autokit.ops.affine import affine
from autokit.ops.direct import direct
from autokit.ops.elementwise import abs as _abs
from autokit.ops.elementwise import relu as _relu
from autokit.ops.elementwise import sigmoid, tanh, where
from autokit.ops.errors import describe
from autokit.ops.linalg import matmul
from autokit.ops.loss import binary_cross_entropy as _binary_cross_entropy
from autokit.ops.loss import binary_cross_entropy_with_logits as _binary_cross_entropy_with_logits
from autokit.ops.loss import class_factors
from autokit.ops.loss import mse_loss as _mse_loss
from autokit.ops.loss import nll_loss as _nll_loss
from autokit.ops.reduce import log_softmax as _log_softmax
from autokit.ops.reduce import plain_log_softmax
from autokit.ops.reduce import softmax as _softmax
from autokit.tensor import Tensor, new_tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "dropout",
    "l1_loss",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
]

# ---------------------------------------------------------------- layers


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Of shape (..., in).
    weight : Tensor
        Of shape (out, in).
    bias : Tensor, optional
        Of shape (out,).

    Raises
    ------
    RuntimeError
        If the last dimension of ``input`` is not ``in``, or the dtypes differ.

    Examples
    --------
    >>> import autokit as torch
    >>> linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
    tensor([[3.5000]])
    """
    try:
        rows, columns = input.array, weight.array
        fits = rows.shape[-1] == columns.shape[-1] and rows.dtype == columns.dtype
    except (AttributeError, IndexError):
        fits = False
    if not fits:
        raise _linear_error(input, weight)
    if bias is None:
        return matmul(input, weight.t())
    if bias.array.dtype != columns.dtype or bias.array.shape != columns.shape[:1]:
        raise RuntimeError(
            "the bias of a linear layer has the weight's dtype and one element for each of its rows, but "
            f"{describe(bias)} is to go with {describe(weight)}"
        )
    return direct(affine, (input, weight, bias))


def _linear_error(input: Any, weight: Any) -> Exception:
    for place, (name, value) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(value, Tensor):
            return TypeError(
                f"linear(): argument '{name}' (position {place}) must be Tensor, not {type(value).__name__}; "
                "make one with torch.tensor(...)"
            )
    if not input.array.ndim:
        return RuntimeError(
            "both arguments to linear need to be at least 1D, but input is 0D: add a dimension with "
            "input[None]"
        )
    if input.array.dtype != weight.array.dtype:
        return RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input.dtype.name} and {weight.dtype.name}: "
            f"convert {describe(input)} with .to(torch.{weight.dtype.name})"
        )
    rows, columns = input.array.size // max(input.array.shape[-1], 1), input.array.shape[-1]
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{columns} and "
        f"{'x'.join(map(str, weight.array.shape[::-1]))}): {describe(input)} has {columns} features, and the "
        "weight "
        f"is for {weight.array.shape[-1]}"
    )


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, set each element to 0 with probability ``p`` and divide the others by ``1 - p``.

    Raises
    ------
    ValueError
        If ``p`` is no probability.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.array.size:
        return input
    array = input.array
    if p == 1:
        kept = np.zeros(array.shape, array.dtype)
    else:
        kept = random.default_generator.bernoulli(1 - p, array.shape, array.dtype) / array.dtype.type(1 - p)
    mask = new_tensor(kept)
    return input.mul_(mask) if inplace else input * mask


# ---------------------------------------------------------------- activations


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``."""
    return input.relu_() if inplace else _relu(input)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Positive numbers that sum to 1 along ``dim``: exponentials over their sum."""
    return _softmax(input, _chosen_dim("softmax", input, dim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of :func:`softmax`, computed without leaving the logarithms."""
    return _log_softmax(input, _chosen_dim("log_softmax", input, dim), dtype)


def _chosen_dim(name: str, input: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        "argument.",
        stacklevel=3,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Rows that are 1 at the class and 0 elsewhere, as int64, in a new last dimension.

    Raises
    ------
    RuntimeError
        If a class is negative, or not below ``num_classes``.

    Examples
    --------
    >>> import autokit as torch
    >>> one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    classes = tensor.array
    if classes.dtype.kind not in "iu":
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {tensor.dtype.name}."
        )
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if not classes.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(classes.max()) + 1
    elif classes.size and classes.max() >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes: {int(classes.max())} is not below {num_classes}."
        )
    return new_tensor((classes[..., np.newaxis] == np.arange(num_classes)).astype(np.int64))


# ---------------------------------------------------------------- losses


_REDUCTIONS = ("mean", "sum", "none")


def _reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
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
    return _mse_loss(input, target, reduction=_reduction(reduction, size_average, reduce))


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
    reduction = _reduction(reduction, size_average, reduce)
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
    return _likelihood(input, target, weight, ignore_index, _reduction(reduction, size_average, reduce))


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
    reduction = _reduction(reduction, size_average, reduce)
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
    return _binary_cross_entropy(input, target, factors, _reduction(reduction, size_average, reduce))


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
        _reduction(reduction, size_average, reduce),
    )
