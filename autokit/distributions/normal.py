"""Normal distributions, and what is made of one."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions.distribution import standard_normal
from autokit.distributions.families import LocationScale
from autokit.tensor import Tensor


class Normal(LocationScale):
    """The normal distribution of mean ``loc`` and standard deviation ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Normal
    >>> _ = torch.manual_seed(0)
    >>> Normal(0.0, 1.0).sample((2,))
    tensor([ 1.5410, -0.2934])
    >>> Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with autokit.no_grad():
            return autokit.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        var = self.scale**2
        return -((value - self.loc) ** 2) / (2 * var) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 0.5 * (1 + autokit.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * autokit.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + autokit.log(self.scale)
