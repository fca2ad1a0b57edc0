"""Mixtures of distributions of one kind."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions.categorical import Categorical
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution
from autokit.tensor import Tensor


class MixtureSameFamily(Distribution):
    """Draws from one of the distributions along the last batch dimension, chosen by a ``Categorical``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Categorical, MixtureSameFamily, Normal
    >>> which = Categorical(torch.tensor([0.25, 0.75]))
    >>> MixtureSameFamily(which, Normal(torch.tensor([0.0, 4.0]), 1.0)).mean
    tensor(3.)
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        count = mixture_distribution.logits.shape[-1]
        if component_distribution.batch_shape[-1] != count:
            raise ValueError(
                "`mixture_distribution component` does not equal `component_distribution.batch_shape[-1]`: "
                f"{count} and {component_distribution.batch_shape[-1]}"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        event = component_distribution.event_shape
        super().__init__(component_distribution.batch_shape[:-1], event, validate_args)

    @property
    def support(self) -> Constraint:
        return self.component_distribution.support

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * len(self._event_shape))

    def _over(self, values: Tensor) -> Tensor:
        return (self._weights() * values).sum(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self._over(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        away = self.component_distribution.mean - self.mean.unsqueeze(-1 - len(self._event_shape))
        return self._over(self.component_distribution.variance) + self._over(away.pow(2))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        event = len(self._event_shape)
        with autokit.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            place = chosen.reshape(chosen.shape + (1,) * (event + 1))
            dim = drawn.dim() - event - 1
            place = place.expand((*drawn.shape[:dim], 1, *self._event_shape))
            return drawn.gather(dim, place).squeeze(dim)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value = value.unsqueeze(-1 - len(self._event_shape))
        logs = self.component_distribution.log_prob(value)
        return autokit.logsumexp(logs + autokit.log_softmax(self.mixture_distribution.logits, -1), -1)

    def cdf(self, value: Tensor) -> Tensor:
        own = self.component_distribution.cdf(value.unsqueeze(-1 - len(self._event_shape)))
        return (own * self.mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
