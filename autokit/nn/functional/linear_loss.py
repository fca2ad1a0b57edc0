"""The cross entropy of logits that a linear map makes, in one function."""

from __future__ import annotations

import math

from autokit.nn.functional.linear import linear
from autokit.nn.functional.loss import cross_entropy
from autokit.tensor import Tensor


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Parameters
    ----------
    input : Tensor
        Of shape (N, in) or (in,).
    linear_weight : Tensor
        Of shape (C, in), or (C, d₁, ..., in) for a class at each place of further dimensions.
    target : Tensor
        Classes, of shape (N, d₁, ...), or probabilities, of shape (N, C, d₁, ...).
    linear_bias : Tensor, optional
        Of shape (C, d₁, ...).
    weight, reduction, ignore_index, label_smoothing
        As for :func:`cross_entropy`; targets of this class count for nothing.
    options : None
        PyTorch computes in chunks by it, to save memory, which is not done here.

    Raises
    ------
    RuntimeError
        If shapes do not fit.

    Examples
    --------
    >>> import autokit as torch
    >>> linear_cross_entropy(torch.ones(1, 2), torch.zeros(4, 2), torch.tensor([0]))
    tensor(1.3863)
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}"
        )
    *shape, features = linear_weight.shape
    if input.shape[-1] != features:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {features}, respectively"
        )
    if linear_bias is not None and list(linear_bias.shape) != shape:
        raise RuntimeError(f"expected linear_bias shape {tuple(shape)}, got {tuple(linear_bias.shape)}")
    if len(shape) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires "
            f"batched input, (N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )
    logits_shape = (*input.shape[:-1], *shape)
    if target.shape == logits_shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if options is not None:
        raise NotImplementedError(
            "linear_cross_entropy computes all logits at once and takes no options: leave options=None"
        )
    flat_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight.reshape(math.prod(shape), features), flat_bias).reshape(logits_shape)
    return cross_entropy(
        logits,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
