"""Losses that compare distributions, or ask how likely a target is under one."""

from __future__ import annotations

import math

from autokit.autograd.modes import no_grad
from autokit.dtypes import DIFFERENTIABLE
from autokit.meta_array import refuse_meta
from autokit.nn.functional.advice import warn_of_probabilities
from autokit.nn.functional.loss_checks import chosen_reduction, reduced
from autokit.ops.choices import where
from autokit.ops.compare import gt
from autokit.ops.elementwise import exp, log, plain_clone
from autokit.ops.errors import describe
from autokit.ops.filled import ones_like
from autokit.ops.gpu.arrays import any_of
from autokit.ops.loss import negative_entropy
from autokit.ops.unusual import carefully, on_its_tensors_gpu
from autokit.ops.warn import warn
from autokit.tensor import Tensor


@carefully
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
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
    warn_of_probabilities("kl_div", input)
    by_samples = False
    if size_average is not None or reduce is not None:
        reduction = chosen_reduction(reduction, size_average, reduce)
    elif reduction == "batchmean":
        by_samples, reduction = True, "sum"
    elif reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
        )
    reduction = chosen_reduction(reduction, None, None)
    if "c" in (input.array.dtype.kind, target.array.dtype.kind):
        raise RuntimeError(f"kl_div: Complex inputs not supported: {describe(input)}, {describe(target)}")
    if input.array.dtype.kind not in DIFFERENTIABLE or target.array.dtype.kind not in DIFFERENTIABLE:
        raise RuntimeError(
            f"kl_div: Integral inputs not supported: {describe(input)}, {describe(target)}; convert with "
            ".float()"
        )
    losses = exp(target) * (target - input) if log_target else negative_entropy(target) - target * input
    total = reduced(losses, reduction)
    return total / input.array.shape[0] if by_samples and input.array.ndim else total


@carefully
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, up to a constant.

    ``input`` holds the rates, or their logarithms with ``log_input``; ``full`` adds Stirling's
    approximation of the constant, log(target!), where the target is above 1.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        losses = losses + where(gt(target, 1), stirling, 0.0).to(losses.dtype)
    return reduced(losses, reduction)


@on_its_tensors_gpu
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
        If a variance is negative, or their shape does not fit.
    """
    if isinstance(var, float) and not isinstance(var, int):
        var = ones_like(input) * var
    if not isinstance(var, Tensor):
        advice = f": write {float(var)}" if isinstance(var, int) else ""
        raise TypeError(
            "gaussian_nll_loss(): argument 'var' (position 3) must be Tensor or float, not "
            f"{type(var).__name__}{advice}"
        )
    refuse_meta("gaussian_nll_loss", var)
    if any_of(var.array < 0):
        raise ValueError("var has negative entry/entries: give a variance through softplus or exp")
    shape, own = input.array.shape, var.array.shape
    if own != shape:
        if shape[:-1] == own:
            var = var.unsqueeze(-1)
        elif len(shape) != len(own) or sum(b for a, b in zip(shape, own) if a != b) != 1:
            raise ValueError(f"var is of incorrect size: {describe(var)} for {describe(input)}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid: reduction is 'none', 'mean' or 'sum'")
    held: Tensor = plain_clone(var)
    with no_grad():
        held.clamp_(min=eps)
    losses = 0.5 * (log(held) + (input - target) ** 2 / held)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)
