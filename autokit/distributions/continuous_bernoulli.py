"""Brightness of pixels: numbers from 0 to 1 with the density of a yes or no."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import broadcast_all, clamp_probs, lazy_property, random_like
from autokit.distributions.exp_family import ExponentialFamily
from autokit.distributions.families import YesOrNo
from autokit.nn import functional as F
from autokit.tensor import Tensor


class ContinuousBernoulli(YesOrNo, ExponentialFamily):
    """Numbers x from 0 to 1 of density proportional to ``probs`` to the x times 1 − ``probs`` to the 1 − x.

    Where ``probs`` lies between the two ``lims``, near 1/2, a Taylor series stands for quotients of zeros.

    References
    ----------
    G. Loaiza-Ganem and J. P. Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational
    autoencoders", Advances in Neural Information Processing Systems 32 (2019).

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(0.8).log_prob(torch.tensor([0.0, 1.0])).exp()
    tensor([0.4621, 1.8484])
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._keep(probs, logits)
        self._lims = lims
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError(f"The parameter probs has invalid values: {self.probs}")
            self.probs = clamp_probs(self.probs)
        super().__init__(self.param_shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(autokit.sigmoid(self.logits))

    def _beside_half(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where ``probs`` is far from 1/2, ``probs`` with another number elsewhere, and its distance."""
        far = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return far, autokit.where(far, self.probs, self._lims[0]), self.probs - 0.5

    def _cont_bern_log_norm(self) -> Tensor:
        far, p, near = self._beside_half()
        exact = (autokit.log1p(-p) - p.log()).abs().log() - (1 - 2 * p).abs().log()
        square = near.pow(2)
        return autokit.where(far, exact, math.log(2) + (4 / 3 + 104 / 45 * square) * square)

    @property
    def mean(self) -> Tensor:
        far, p, near = self._beside_half()
        exact = p / (2 * p - 1) + 1 / (autokit.log1p(-p) - p.log())
        return autokit.where(far, exact, 0.5 + (1 / 3 + 16 / 45 * near.pow(2)) * near)

    @property
    def variance(self) -> Tensor:
        far, p, near = self._beside_half()
        exact = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / (autokit.log1p(-p) - p.log()).pow(2)
        square = near.pow(2)
        return autokit.where(far, exact, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(random_like(self.probs, shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        entropy = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - entropy

    def cdf(self, value: Any) -> Tensor:
        self._validate_sample(value)
        far, p, _ = self._beside_half()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = autokit.where(far, exact, value)
        return autokit.where(value <= 0, 0.0, autokit.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        far, p, _ = self._beside_half()
        none = autokit.log1p(-p)
        return autokit.where(far, (autokit.log1p(-p + value * (2 * p - 1)) - none) / (p.log() - none), value)

    def entropy(self) -> Tensor:
        none, all_ = autokit.log1p(-self.probs), self.probs.log()
        return self.mean * (none - all_) - self._cont_bern_log_norm() - none
