"""Losses that ask for a margin: between classes, between pairs and in triplets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autokit.dtypes import DIFFERENTIABLE
from autokit.nn.functional.loss_checks import (
    chosen_reduction,
    reduced,
    require_floats_of,
    require_no_gradient,
)
from autokit.ops import margin_loss as rules
from autokit.ops.choices import clamp_min, minimum, where
from autokit.ops.compare import eq, ne
from autokit.ops.complex_numbers import is_complex
from autokit.ops.elementwise import sqrt
from autokit.ops.errors import describe, kind_of, require_floats
from autokit.ops.expansion import broadcast_tensors
from autokit.ops.gpu.arrays import any_of
from autokit.ops.guards import guards
from autokit.ops.loss import binary_cross_entropy_with_logits as _binary_cross_entropy_with_logits
from autokit.ops.norm import pairwise_distance
from autokit.ops.own_copies import outlives
from autokit.ops.unusual import carefully
from autokit.tensor import Tensor


@carefully
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances: themselves where the target is 1, what they miss of ``margin`` where it is -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    far = clamp_min(float(margin) - input, 0).to(input.dtype)
    return reduced(where(ne(target, 1), far, 0) + where(ne(target, -1), input, 0), reduction)


@carefully
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What ``input1`` misses to be above ``input2`` by ``margin`` where the target is 1; below for -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not input1.array.ndim == input2.array.ndim == target.array.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return reduced(clamp_min(-target * (input1 - input2) + float(margin), 0), reduction)


@carefully
@guards("target")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss log(1 + exp(-target · input)) of targets that are -1 or 1.

    It stays finite where the exponential overflows, where PyTorch gives inf.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    require_no_gradient("soft_margin_loss", target=target)
    require_floats_of(input, "soft_margin_loss")
    shape = broadcast_tensors(input, target)[0].array.shape
    if shape != input.array.shape:
        raise RuntimeError(
            f"output with shape {list(input.array.shape)} doesn't match the broadcast shape {list(shape)}: "
            f"the losses have the shape of the input, and {describe(target)} is larger"
        )
    if is_complex(target) and not is_complex(input):
        raise RuntimeError(
            f"result type {kind_of(target)} can't be cast to the desired output type {kind_of(input)}: "
            f"{describe(target)} holds no -1 and 1"
        )
    if target.array.dtype.kind in DIFFERENTIABLE:
        target = target.to(input.dtype)
    return rules.soft_margin_loss(input, target, reduction=reduction)


@carefully
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What the score of the right class misses of leading each other one by ``margin``.

    Parameters
    ----------
    input : Tensor
        Scores, of shape (N, C) or (C,).
    target : Tensor
        Classes, int64, of shape (N,), or one.
    p : int
        The power of what is missing, 1 or 2.
    weight : Tensor, optional
        A factor for each class.

    Raises
    ------
    ValueError, RuntimeError
        If shapes or dtypes do not fit, or a target is no class.

    References
    ----------
    J. Weston and C. Watkins, "Support Vector Machines for Multi-Class Pattern Recognition", ESANN 1999.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported: it is {p}")
    p = int(p)
    if weight is not None and weight.array.ndim != 1:
        raise ValueError(f"weight must be one-dimensional: {describe(weight)}")
    _refuse_more_than_rows(input)
    rows, classes = (1, 1, *input.array.shape)[-2:]
    chosen = target.array
    if chosen.ndim > 1 or chosen.size != rows:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{rows}], but got {list(chosen.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    if chosen.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.name}: classes are whole numbers, converted "
            "with .long()"
        )
    if any_of((chosen < 0) | (chosen >= classes)):
        raise RuntimeError(f"target out of range: there are {classes} classes, from 0 to {classes - 1}")
    if weight is not None and weight.array.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.array.shape)}")
    factors = np.ones_like(input.array, shape=(rows, 1))
    if weight is not None:
        factors = weight.array[chosen].reshape((-1, 1))
    require_no_gradient("multi_margin_loss", weight=weight)
    require_floats("multi_margin_loss_cpu_kernel", input.array)
    if weight is not None and weight.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"expected scalar type {kind_of(input)} but found {kind_of(weight)}: the weights of the classes "
            "have the dtype of the scores"
        )
    hot = rules.one_hot_rows(chosen, classes)
    return rules.multi_margin_loss(
        input, target=chosen, hot=hot, factors=factors, p=p, margin=margin, reduction=reduction
    )


@carefully
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What the score of each right class misses of leading each wrong one by 1.

    Parameters
    ----------
    input : Tensor
        Scores, of shape (N, C) or (C,).
    target : Tensor
        The right classes, int64, in the shape of ``input``: each row names them, and ends with -1 where
        it is not full.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    _refuse_more_than_rows(input)
    named = target.array
    if named.shape != input.array.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(named.shape)} for input of size: {list(input.shape)}: each row "
            "names the right classes, and goes on with -1"
        )
    if named.dtype != np.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.name}: classes are whole numbers, converted "
            "with .long()"
        )
    classes = (1, *named.shape)[-1]
    if any_of((named < -1) | (named >= classes)):
        raise RuntimeError(
            f"argument #2 'target' is out of range: there are {classes} classes, from 0 to {classes - 1}, "
            "and -1 to end a row"
        )
    require_floats("multilabel_margin_loss_forward_out_frame", input.array)
    return rules.multilabel_margin_loss(input, times=rules.times_named(named, classes), reduction=reduction)


def _refuse_more_than_rows(input: Tensor) -> None:
    shape = input.array.shape
    if len(shape) > 2 or 0 in shape[1:] or shape == (0,):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )


@carefully
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes, the last dimension, of their yes-or-no cross-entropies.

    ``target`` says 1 for each class that holds, and 0 for the others.
    """
    if size_average is not None or reduce is not None:
        reduction = chosen_reduction(reduction, size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid: reduction is 'none', 'mean' or 'sum'")
    require_floats("log_sigmoid_cpu", input.array)
    if target.array.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported: the loss takes 1 - target; "
            "convert it with .float()"
        )
    losses = _binary_cross_entropy_with_logits(input, target, None, None, "none")
    if not input._requires_grad:
        losses = outlives(losses, {0: input})
    if weight is not None:
        losses = losses * weight
    # By its number, as in PyTorch: a weight of more dimensions puts others before it.
    return reduced(losses.sum(input.array.ndim - 1) / input.size(-1), reduction)


@carefully
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What ``anchor`` misses to be nearer to ``positive`` than to ``negative`` by ``margin``.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        Points, of shape (N, D) or (D,).
    p, eps : float
        Distances are p-norms of the differences, to which ``eps`` is added.
    swap : bool
        Take the distance from ``positive`` to ``negative`` where that is the smaller one.

    Raises
    ------
    ValueError
        If the margin is not positive.
    RuntimeError
        If the numbers of dimensions differ.

    References
    ----------
    V. Balntas et al., "Learning Shallow Convolutional Feature Descriptors with Triplet Losses", BMVC 2016.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return pairwise_distance(a, b, p, eps)

    return _triplet("triplet_margin_loss", anchor, positive, negative, distance, margin, swap, reduction)


@carefully
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """:func:`triplet_margin_loss` with another distance."""
    reduction = chosen_reduction(reduction, None, None)
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet(
        "triplet_margin_with_distance_loss", anchor, positive, negative, distance, margin, swap, reduction
    )


def _triplet(
    name: str,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = anchor.array.ndim, positive.array.ndim, negative.array.ndim
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(clamp_min(margin + near - far, 0), reduction)


_NO_ZERO = float(np.float32(1e-12))
"""Added to squared lengths, so that a vector of length 0 has a cosine."""


@carefully
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """For pairs of vectors 1 - cosine where the target is 1, and the cosine beyond ``margin`` where it is -1.

    Raises
    ------
    RuntimeError
        If shapes do not fit: (N, D) with targets (N,), or (D,) with a target ().
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if target.array.ndim > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported: the target has shape "
            f"{list(target.shape)}"
        )
    expected = target.array.ndim + 1
    if input1.array.ndim != expected or input2.array.ndim != expected:
        raise RuntimeError(
            f"{expected - 1}D target tensor expects {expected}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    lengths = ((input1 * input1).sum(-1) + _NO_ZERO) * ((input2 * input2).sum(-1) + _NO_ZERO)
    cosine = (input1 * input2).sum(-1) / sqrt(lengths)
    alike = where(eq(target, 1), 1 - cosine, 0.0)
    return reduced(alike + where(eq(target, -1), clamp_min(cosine - float(margin), 0), 0.0), reduction)
