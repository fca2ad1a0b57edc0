"""Losses measure how far predictions are from their targets: for each element, or as a mean or a sum.

The losses of classes, such as cross-entropy, are in ``cross_entropy``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autokit.base.errors import require, require_floats, require_tensor
from autokit.engine.node import Node
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.ops.activation import logsigmoid, sigmoid
from autokit.ops.choose import clamp, minimum, where
from autokit.ops.compare import eq, gt, lt, ne
from autokit.ops.exponential import exp, log
from autokit.ops.names import Names
from autokit.ops.norm import pairwise_distance
from autokit.ops.special import xlogy

Weight = Tensor | None


def reduced(losses: Any, reduction: str) -> Any:
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


def warn_of_probabilities(loss: str, input: Tensor, wanted: str) -> None:
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
    words={"input": "Each prediction gets its own error, {input} − {target}, times 2/n"},
    name="mse_loss",
)
def _mse_loss(input, target, /, reduction="mean"):
    """The squared differences; their mean is the mean squared error."""
    difference = input - target
    return reduced(difference * difference, reduction)


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
    return reduced((input - target).abs(), reduction)


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
    near = where(lt(distance, delta), distance, delta)
    losses = 0.5 * near * near + delta * (distance - near)
    return reduced(losses, reduction)


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
    return reduced(losses, reduction)


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
    return reduced(_binary_cross_entropy(input, target, reduction="none") * weight, reduction)


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
    return reduced(losses, reduction)


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
    warn_of_probabilities("binary_cross_entropy_with_logits", input, "logits")
    if weight is None and pos_weight is None:
        return _binary_cross_entropy_with_logits(input, target, reduction=reduction)
    yes = logsigmoid(input) if pos_weight is None else logsigmoid(input) * pos_weight
    losses = -(target * yes + (1 - target) * logsigmoid(-input))
    return reduced(losses if weight is None else losses * weight, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The logistic loss log(1 + exp(-target · input)) of targets that are -1 or 1."""
    return reduced(-logsigmoid(target * input), reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Weight = None, *, reduction: str = "mean"
) -> Tensor:
    """The mean over the classes, the last dimension, of their yes-or-no cross-entropies."""
    losses = binary_cross_entropy_with_logits(input, target, weight, reduction="none")
    return reduced(losses.mean(-1), reduction)


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
    warn_of_probabilities("kl_div", input, "log-probabilities, as of log_softmax")
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    losses = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return losses.sum() / input.shape[0] if input.ndim else losses
    return reduced(losses, reduction)


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
    return reduced(losses, reduction)


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
    if variance.shape == input.shape[:-1]:
        variance = variance.unsqueeze(-1)
    if variance.ndim != input.ndim:
        raise ValueError(f"var is of incorrect size {list(variance.shape)} for input of {list(input.shape)}")
    held = variance + (clamp(variance, min=eps) - variance).detach()
    losses = 0.5 * (log(held) + (input - target) ** 2 / held)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


# ---------------------------------------------------------------- margins


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: str = "mean"
) -> Tensor:
    """``input`` where the target is 1, and ``max(margin − input, 0)`` where it is -1."""
    far = clamp(margin - input, min=0)
    return reduced(where(ne(target, 1), far, 0.0) + where(ne(target, -1), input, 0.0), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """``max(margin − target · (input1 − input2), 0)``: ``input1`` is to be larger for a target of 1."""
    return reduced(clamp(-target * (input1 - input2) + margin, min=0), reduction)


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
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(clamp(margin + near - far, min=0), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """1 - cosine of two vectors where the target is 1, and their cosine beyond ``margin`` where it is -1."""
    # 1e-12 is added to squared lengths, so that a vector of length 0 has a cosine.
    lengths = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cosine = (input1 * input2).sum(-1) / lengths.sqrt()
    alike = where(eq(target, 1), 1 - cosine, 0.0)
    return reduced(alike + where(eq(target, -1), clamp(cosine - margin, min=0), 0.0), reduction)


NAMES = Names(
    functional="binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
    "gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "multilabel_soft_margin_loss poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss",
)
