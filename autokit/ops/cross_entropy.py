"""Cross-entropy and the negative log-likelihood: losses of predictions that name one of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, expected, require, require_floats, require_tensor
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.choose import where
from autokit.ops.loss import Weight, reduced, warn_of_probabilities
from autokit.ops.names import Names
from autokit.ops.product import FEW_ROWS, ones_beside
from autokit.ops.softmax import log_shares, log_softmax

# ---------------------------------------------------------------- log-probabilities


def _class_axis(ndim: int) -> int:
    return 1 if ndim > 1 else 0


def _counted(target: Any, ignore_index: int | None) -> tuple[Any, Any]:
    """The class of each sample, and whether it counts; a sample that does not count gets class 0."""
    target = getattr(target, "array", target)
    counts = target == target if ignore_index is None else target != ignore_index
    return np.where(counts, target, 0), counts


def _likelihood_slope(g: Any, target: Any, shape: Any, ignore_index: int | None, reduction: str) -> Any:
    axis = _class_axis(len(shape))
    chosen, counts = _counted(target, ignore_index)
    columns = module_of(chosen).arange(shape[axis]).reshape((-1,) + (1,) * (chosen.ndim - axis))
    hot = np.expand_dims(chosen, axis) == columns
    count = np.maximum(counts.sum(), 1) if reduction == "mean" else 1  # none may count
    share = np.expand_dims(counts / -count, axis)
    if reduction == "none":
        g = g.reshape((*g.shape[:axis], 1, *g.shape[axis:]))
    if isinstance(g, Tensor):
        return np.where(new_tensor(hot), g * new_tensor(share.astype(g.array.dtype)), 0.0)
    return np.where(hot, g * share.astype(g.dtype), 0.0)


def _is_mean_of_rows(shape: tuple[int, ...], ignore_index: int | None, reduction: str) -> bool:
    """Whether this is a mean over a batch in which all samples count: for the MLP rows it has a fast path."""
    return reduction == "mean" and ignore_index is None and len(shape) == 2 and 0 < shape[0] <= FEW_ROWS


def _places(target: Any, shape: tuple[int, int]) -> Any:
    """Where each row's target stands in a flattened matrix of ``shape``."""
    return np.arange(0, shape[0] * shape[1], shape[1]) + target


def _mean_of_rows(input: Any, target: Any, ignore_index: int | None = None, reduction: str = "mean") -> Any:
    if not _is_mean_of_rows(input.shape, ignore_index, reduction):
        return _nll_loss.operation.plain(input, target, ignore_index, reduction)
    return -input.take(_places(target, input.shape)).dot(ones_beside(len(input), input.dtype)) / len(input)


def _mean_slope_of_rows(
    g: Any, target: Any, shape: Any, ignore_index: int | None = None, reduction: str = "mean"
) -> Any:
    if not _is_mean_of_rows(shape, ignore_index, reduction):
        return _likelihood_slope(g, target, shape, ignore_index, reduction)
    slope = np.zeros(shape, g.dtype)
    slope.put(_places(target, shape), -g / shape[0])
    return slope


@operation(
    "−log-likelihood",
    "−{input}[{target}]",
    input=derivative("−1/n at {target}, else 0", _likelihood_slope, _mean_slope_of_rows),
    words={
        "input": "In each row only the right class, which {target} names, gets the upstream gradient times "
        "−1, in a mean divided by the number of rows; all others get 0"
    },
    mixed=True,
    name="nll_loss",
    fast=_mean_of_rows,
)
def _nll_loss(input, target, /, ignore_index=None, reduction="mean"):
    """The negative of each sample's log-probability of its class."""
    axis = _class_axis(input.ndim)
    chosen, counts = _counted(target, ignore_index)
    likelihoods = np.take_along_axis(input, np.expand_dims(chosen, axis), axis).squeeze(axis)
    losses = np.where(counts, -likelihoods, 0).astype(input.dtype)
    return (
        losses.sum() / counts.sum().astype(input.dtype) if reduction == "mean" else reduced(losses, reduction)
    )


def nll_loss(
    input: Tensor, target: Tensor, weight: Weight = None, *, ignore_index: int = -100, reduction: str = "mean"
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
    require_tensor("nll_loss", input)
    warn_of_probabilities("nll_loss", input, "log-probabilities, as of log_softmax")
    target, ignored = _checked_classes("nll_loss", input, target, weight, ignore_index)
    return _likelihood_loss(input, target, weight, ignored, reduction)


def _likelihood_loss(
    logarithms: Tensor,
    target: Tensor,
    weight: Weight,
    ignored: int | None,
    reduction: str,
    smoothing: float = 0.0,
) -> Tensor:
    """The negative log-likelihood; ``smoothing`` is the part of each target that all classes share."""
    if weight is None and not smoothing:
        return _nll_loss(logarithms, target, ignore_index=ignored, reduction=reduction)
    chosen, counts = _counted(target, ignored)
    counted = np.where(counts, 1 if weight is None else weight.array[chosen], 0)
    factors = new_tensor(counted.astype(logarithms.array.dtype))  # 0 for a sample that is ignored
    losses = _nll_loss(logarithms, target, ignore_index=ignored, reduction="none") * factors
    if smoothing:
        spread = -_weighted(logarithms, weight).mean(_class_axis(logarithms.ndim))
        spread = where(new_tensor(counts), spread, 0.0)
        losses = (1 - smoothing) * losses + smoothing * spread
    return losses.sum() / factors.sum() if reduction == "mean" else reduced(losses, reduction)


def _weighted(values: Tensor, weight: Weight) -> Tensor:
    """``values`` times the weight of each class."""
    axis = _class_axis(values.ndim)
    return values if weight is None else values * weight.reshape([-1] + [1] * (values.ndim - 1 - axis))


def _checked_classes(
    name: str, input: Tensor, target: Any, weight: Weight, ignore_index: int
) -> tuple[Tensor, int | None]:
    """``target``, the classes of samples, checked against the scores ``input`` and the ``weight``.

    And ``ignore_index``, or None where all samples count.
    """
    require_tensor(name, target, "target", 1)
    require_floats(name, input.array)
    shape = input.array.shape
    given = target.array
    classes = input.array.shape[_class_axis(input.array.ndim)]
    if len(shape) == 1 and given.shape == (1,):
        target, given = target.reshape(()), given.reshape(())
    if given.shape != ((shape[0], *shape[2:]) if len(shape) > 1 else ()):
        if given.shape[:1] != shape[:1]:
            raise ValueError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size ({(*given.shape, 0)[0]})."
            )
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported: for {describe(input)} the target "
            f"has shape {list(given.shape)}; a dimension of size 1 goes away with target.squeeze(1)"
        )
    if given.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.name}: {describe(target)}; classes are whole "
            "numbers, converted with .long()"
        )
    if weight is not None and weight.array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            f"tensor of shape: {list(weight.array.shape)}"
        )
    # Read as unsigned, negative classes are the largest.
    if not given.size or expected(given.view(np.uint64).max() < classes):
        return target, ignore_index if 0 <= ignore_index < classes else None

    def wrong(given: Any) -> Exception:
        first = given[((given < 0) | (given >= classes)) & (given != ignore_index)][0]
        return IndexError(f"Target {first} is out of bounds: there are {classes} classes, from 0 on")

    require((((given >= 0) & (given < classes)) | (given == ignore_index)).all(), wrong, given)
    return target, ignore_index


# ---------------------------------------------------------------- logits


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Weight = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The mean of −log p[target], the negative log-probability of the target, for p = ``softmax(input)``.

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
    >>> torch.nn.functional.cross_entropy(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    tensor(0.1269)
    """
    require_tensor("cross_entropy", input)
    warn_of_probabilities("cross_entropy", input, "logits and computes their softmax itself")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if isinstance(target, Tensor) and target.array.shape == input.array.shape:
        return _against_probabilities(input, target, weight, reduction, label_smoothing)
    target, ignored = _checked_classes("cross_entropy", input, target, weight, ignore_index)
    logarithms = log_shares(input, dim=_class_axis(input.array.ndim))
    return _likelihood_loss(logarithms, target, weight, ignored, reduction, label_smoothing)


def _against_probabilities(
    input: Tensor, target: Tensor, weight: Weight, reduction: str, label_smoothing: float
) -> Tensor:
    """The cross-entropy of targets that hold a probability for each class."""
    axis = _class_axis(input.ndim)
    if target.array.dtype.kind != "f":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype.name}: in "
            f"the input's shape it holds a probability for each class; target.argmax({axis}) gives classes"
        )
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[axis]
    losses = -(log_softmax(input, axis) * _weighted(target, weight)).sum(axis)
    return reduced(losses, reduction)


NAMES = Names(functional="cross_entropy nll_loss")
