"""Losses measure how far predictions are from their targets: for each element, or as a mean or a sum."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import describe, expected, require, require_floats, require_tensor
from autokit.engine.node import Node
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.activation import logsigmoid, sigmoid
from autokit.ops.choose import clamp, minimum, where
from autokit.ops.compare import eq, gt, lt, ne
from autokit.ops.create import full_like
from autokit.ops.exponential import exp, log
from autokit.ops.names import Names
from autokit.ops.norm import pairwise_distance
from autokit.ops.product import FEW_ROWS, ones_beside
from autokit.ops.softmax import log_shares, log_softmax
from autokit.ops.special import xlogy

Weight = Tensor | None


def _reduced(losses: Any, reduction: str) -> Any:
    """The losses of all elements, or their mean, or their sum, as ``reduction`` says."""
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction: it is 'none', 'mean' or 'sum'")
    return losses


def _chained(g: Any, slope: Any, reduction: str) -> Any:
    """The gradient ``g`` of the reduced losses, times the slope of each single one."""
    return slope * (g / math.prod(slope.shape) if reduction == "mean" else g)


def _check_pair(name: str, input: Any, target: Any) -> None:
    """Check the two sides of an element-by-element loss; warn where they broadcast, hardly ever meant."""
    require_tensor(name, input)
    require_tensor(name, target, "target", 1)
    if input.array.dtype.kind != "f":
        require_floats(name, target.array)
    if input.array.shape != target.array.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
            "will likely lead to incorrect results by broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _warn_of_probabilities(loss: str, input: Tensor, wanted: str) -> None:
    """Warn where ``input`` comes from softmax or sigmoid, and the loss takes what comes before them.

    Such a loss still falls, slowly, and stops far too early; so the program seems to work.
    """
    node: Any = input._node
    while isinstance(node, Node) and node.operation.view:
        node = node.sources[0]  # as before .squeeze()
    name = node.operation.name if isinstance(node, Node) else ""
    if name in ("softmax", "sigmoid"):
        warnings.warn(
            f"{loss}() takes {wanted}, but it was given the probabilities of {name}: the loss would stay far "
            f"above 0. Leave the {name} out; for predictions apply it afterwards.",
            stacklevel=3,
        )


# ---------------------------------------------------------------- differences


def _squared_slope(g: Any, input: Any, target: Any, reduction: str) -> Any:
    return _chained(g, 2 * (input - target), reduction)


@operation(
    "squared error",
    "({input} − {target})²",
    input=derivative("2 · ({input} − {target}) / n", _squared_slope),
    target=derivative(
        "−2 · ({input} − {target}) / n",
        lambda g, input, target, reduction: -_squared_slope(g, input, target, reduction),
    ),
    name="mse_loss",
)
def _mse_loss(input, target, /, reduction="mean"):
    """The squared differences; their mean is the mean squared error."""
    difference = input - target
    return _reduced(difference * difference, reduction)


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The mean of the squared differences.

    Warns where the shapes differ: they broadcast, which is hardly ever meant.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """
    _check_pair("mse_loss", input, target)
    return _mse_loss(input, target, reduction=reduction)


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The mean of the absolute differences."""
    _check_pair("l1_loss", input, target)
    return _reduced((input - target).abs(), reduction)


def huber_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """The mean of half the squared differences, which grows linearly beyond a difference of ``delta``.

    References
    ----------
    P. J. Huber, "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35, 1964.
    """
    _check_pair("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta: it is {delta}")
    distance = (input - target).abs()
    losses = where(lt(distance, delta), 0.5 * distance * distance, delta * (distance - 0.5 * delta))
    return _reduced(losses, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """:func:`l1_loss`, rounded off to a parabola below ``beta``: :func:`huber_loss` over ``beta``.

    References
    ----------
    R. Girshick, "Fast R-CNN", ICCV 2015.
    """
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta: it is {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return huber_loss(input, target, reduction=reduction, delta=beta) / beta


# ---------------------------------------------------------------- classes


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
        losses.sum() / counts.sum().astype(input.dtype)
        if reduction == "mean"
        else _reduced(losses, reduction)
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
    _warn_of_probabilities("nll_loss", input, "log-probabilities, as of log_softmax")
    target, ignored = _checked_classes("nll_loss", input, target, weight, ignore_index)
    if weight is None:
        return _nll_loss(input, target, ignore_index=ignored, reduction=reduction)
    factors = _factors(input, target, weight, ignored)
    losses = _nll_loss(input, target, ignore_index=ignored, reduction="none") * factors
    return losses.sum() / factors.sum() if reduction == "mean" else _reduced(losses, reduction)


def _factors(input: Tensor, target: Tensor, weight: Weight, ignore_index: int | None) -> Tensor:
    """What each sample counts: the weight of its class, or 0 where it is to be ignored."""
    chosen, counts = _counted(target, ignore_index)
    factors = counts if weight is None else np.where(counts, weight.array[chosen], 0)
    return new_tensor(factors.astype(input.array.dtype))


def _checked_classes(
    name: str, input: Tensor, target: Any, weight: Weight, ignore_index: int
) -> tuple[Tensor, int | None]:
    """``target``, the classes of samples, checked against the scores ``input`` and the ``weight``.

    And ``ignore_index``, or None where all samples count.
    """
    require_tensor(name, target, "target", 1)
    require_floats(name, input.array)
    shape, given, classes = input.array.shape, target.array, input.array.shape[_class_axis(input.array.ndim)]
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
    _warn_of_probabilities("cross_entropy", input, "logits and computes their softmax itself")
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if isinstance(target, Tensor) and target.array.shape == input.array.shape:
        return _against_probabilities(input, target, weight, reduction, label_smoothing)
    target, ignored = _checked_classes("cross_entropy", input, target, weight, ignore_index)
    logarithms = log_shares(input, dim=_class_axis(input.array.ndim))
    if weight is None and not label_smoothing:
        return _nll_loss(logarithms, target, ignore_index=ignored, reduction=reduction)
    factors = _factors(input, target, weight, ignored)
    losses = _nll_loss(logarithms, target, ignore_index=ignored, reduction="none") * factors
    if label_smoothing:
        even = full_like(input, 1 / input.shape[_class_axis(input.ndim)])
        spread = _against_probabilities(input, even, weight, "none", 0.0)
        spread = where(new_tensor(_counted(target, ignored)[1]), spread, 0.0)
        losses = (1 - label_smoothing) * losses + label_smoothing * spread
    return losses.sum() / factors.sum() if reduction == "mean" else _reduced(losses, reduction)


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
    if weight is not None:
        target = target * weight.reshape([-1] + [1] * (input.ndim - 1 - axis))
    losses = -(log_softmax(input, axis) * target).sum(axis)
    return _reduced(losses, reduction)


# ---------------------------------------------------------------- yes or no


def _binary_slope(g: Any, input: Any, target: Any, reduction: str) -> Any:
    return _chained(g, (input - target) / np.maximum((1 - input) * input, 1e-12), reduction)


def _binary_slope_of_target(g: Any, input: Any, reduction: str) -> Any:
    return _chained(g, np.log(1 - input) - np.log(input), reduction)


@operation(
    "cross-entropy",
    "−{target} · log {input} − (1 − {target}) · log(1 − {input})",
    input=derivative("({input} − {target}) / ({input} · (1 − {input})) / n", _binary_slope),
    target=derivative("(log(1 − {input}) − log {input}) / n", _binary_slope_of_target),
    name="binary_cross_entropy",
)
def _binary_cross_entropy(input, target, /, reduction="mean"):
    """The negative log-probability of targets 0 or 1; logarithms below -100 count as -100."""
    losses = -(target * np.maximum(np.log(input), -100) + (1 - target) * np.maximum(np.log1p(-input), -100))
    return _reduced(losses, reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Weight = None, *, reduction: str = "mean"
) -> Tensor:
    """The mean negative log-probability of targets 0 or 1; ``input`` holds the probabilities of 1.

    Raises
    ------
    ValueError
        If the shapes differ.
    RuntimeError
        If ``input`` or ``target`` holds what is no probability.
    """
    _check_yes_or_no("binary_cross_entropy", input, target)
    for name, tensor, advice in (
        ("input", input, "put a sigmoid before, or use binary_cross_entropy_with_logits"),
        ("target", target, "0 stands for no, 1 for yes"),
    ):
        error = RuntimeError(f"all elements of {name} should be between 0 and 1: {advice}")
        require(((tensor.array >= 0) & (tensor.array <= 1)).all(), lambda error=error: error)
    if weight is None:
        return _binary_cross_entropy(input, target, reduction=reduction)
    return _reduced(_binary_cross_entropy(input, target, reduction="none") * weight, reduction)


def _check_yes_or_no(name: str, input: Any, target: Any) -> None:
    require_tensor(name, input)
    require_tensor(name, target, "target", 1)
    require_floats(name, input.array)
    if input.array.shape != target.array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if target.array.dtype.kind != "f":
        raise RuntimeError(
            f"Found dtype {target.dtype.name} but expected {input.dtype.name}: convert it with .float()"
        )


@operation(
    "cross-entropy of logits",
    "log(1 + exp {input}) − {target} · {input}",
    input=derivative(
        "(σ({input}) − {target}) / n",
        lambda g, input, target, reduction: _chained(g, on(sigmoid, input) - target, reduction),
    ),
    target=derivative("−{input} / n", lambda g, input, reduction: _chained(g, -input, reduction)),
    name="binary_cross_entropy_with_logits",
)
def _binary_cross_entropy_with_logits(input, target, /, reduction="mean"):
    """:func:`binary_cross_entropy` of the sigmoid of ``input``, computed without overflow."""
    losses = np.maximum(input, 0) - target * input + np.log1p(np.exp(-np.abs(input)))
    return _reduced(losses, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Weight = None,
    *,
    reduction: str = "mean",
    pos_weight: Weight = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, also where the sigmoid is 0 or 1 to the last bit.

    ``pos_weight`` is a factor for the targets that are 1, as where these are rare.
    """
    _check_yes_or_no("binary_cross_entropy_with_logits", input, target)
    _warn_of_probabilities("binary_cross_entropy_with_logits", input, "logits")
    if weight is None and pos_weight is None:
        return _binary_cross_entropy_with_logits(input, target, reduction=reduction)
    yes = logsigmoid(input) if pos_weight is None else logsigmoid(input) * pos_weight
    losses = -(target * yes + (1 - target) * logsigmoid(-input))
    return _reduced(losses if weight is None else losses * weight, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The logistic loss log(1 + exp(-target · input)) of targets that are -1 or 1."""
    return _reduced(-logsigmoid(target * input), reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Weight = None, *, reduction: str = "mean"
) -> Tensor:
    """The mean over the classes, the last dimension, of their yes-or-no cross-entropies."""
    losses = binary_cross_entropy_with_logits(input, target, weight, reduction="none")
    return _reduced(losses.mean(-1), reduction)


# ---------------------------------------------------------------- distributions


def kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """The Kullback–Leibler divergence of ``target`` from the distribution whose logarithms are ``input``.

    Parameters
    ----------
    input : Tensor
        Log-probabilities.
    target : Tensor
        Probabilities, or their logarithms with ``log_target``.
    reduction : str
        ``"batchmean"`` divides the sum by the size of the first dimension, as the definition asks for;
        ``"mean"`` divides it by the number of elements, and warns.

    References
    ----------
    S. Kullback and R. A. Leibler, "On Information and Sufficiency", Annals of Mathematical Statistics 22,
    1951.
    """
    require_tensor("kl_div", input)
    _warn_of_probabilities("kl_div", input, "log-probabilities, as of log_softmax")
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    losses = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.shape[0] if input.ndim else losses
    return _reduced(losses, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, up to a constant.

    ``input`` holds the rates, or their logarithms with ``log_input``; ``full`` adds Stirling's
    approximation of the constant, log(target!), where the target is above 1.
    """
    losses = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        losses = losses + where(gt(target, 1), stirling, 0.0)
    return _reduced(losses, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of ``target`` under normal distributions around ``input``.

    Parameters
    ----------
    var : Tensor or float
        The variances: of the shape of ``input``, or without its last dimension, or with a size of 1.
        They count as ``eps`` where they are smaller, and keep their gradient there.
    full : bool
        Add the constant log(2π) / 2.

    Raises
    ------
    ValueError
        If a variance is negative.
    """
    variance = var if isinstance(var, Tensor) else input.new_full(input.shape, var)
    negative = ValueError("var has negative entry/entries: give a variance through softplus or exp")
    require(~(variance.array < 0).any(), lambda: negative)
    if variance.ndim == input.ndim - 1:
        variance = variance.unsqueeze(-1)
    held = variance + (clamp(variance, min=eps) - variance).detach()
    losses = 0.5 * (log(held) + (input - target) ** 2 / held)
    return _reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


# ---------------------------------------------------------------- margins


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: str = "mean"
) -> Tensor:
    """``input`` where the target is 1, and ``max(margin − input, 0)`` where it is -1."""
    far = clamp(margin - input, min=0)
    return _reduced(where(ne(target, 1), far, 0.0) + where(ne(target, -1), input, 0.0), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """``max(margin − target · (input1 − input2), 0)``: ``input1`` is to be larger for a target of 1."""
    return _reduced(clamp(-target * (input1 - input2) + margin, min=0), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: str = "mean",
) -> Tensor:
    """``max(d(anchor, positive) − d(anchor, negative) + margin, 0)``, with the distance d in the p-norm.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        Points, of shape (N, D) or (D,).
    p, eps : float
        Distances are p-norms of the differences, to which ``eps`` is added.
    swap : bool
        Take the distance from ``positive`` to ``negative`` where that is the smaller one.

    References
    ----------
    V. Balntas et al., "Learning Shallow Convolutional Feature Descriptors with Triplet Losses", BMVC 2016.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced(clamp(margin + near - far, min=0), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """1 - cosine of two vectors where the target is 1, and their cosine beyond ``margin`` where it is -1."""
    # 1e-12 is added to squared lengths, so that a vector of length 0 has a cosine.
    lengths = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cosine = (input1 * input2).sum(-1) / lengths.sqrt()
    alike = where(eq(target, 1), 1 - cosine, 0.0)
    return _reduced(alike + where(eq(target, -1), clamp(cosine - margin, min=0), 0.0), reduction)


NAMES = Names(
    functional="binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy "
    "gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss",
)
