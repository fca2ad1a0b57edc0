"""Yes or no made soft, so that gradients flow."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import clamp_probs, random_like
from autokit.distributions.families import YesOrNo
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import SigmoidTransform
from autokit.tensor import Tensor


class LogitRelaxedBernoulli(YesOrNo):
    """The log-odds of :class:`RelaxedBernoulli`."""

    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = autokit.as_tensor(temperature)
        self._keep(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        even = clamp_probs(random_like(probs, shape))
        return (even.log() - (-even).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = self.logits - value * self.temperature
        return self.temperature.log() + away - 2 * away.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers from 0 to 1 that come close to these as ``temperature`` falls.

    References
    ----------
    C. J. Maddison, A. Mnih and Y. W. Teh, "The concrete distribution", ICLR 2017.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import RelaxedBernoulli
    >>> _ = torch.manual_seed(0)
    >>> drawn = RelaxedBernoulli(0.01, torch.full((50,), 0.5)).sample()
    >>> (drawn.round() - drawn).abs().mean() < 0.01
    tensor(True)
    """

    arg_constraints = YesOrNo.arg_constraints
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs
