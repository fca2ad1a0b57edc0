"""The largest of many numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.tensor import Tensor

_EULER = 0.57721566490153286060


class Gumbel(Distribution):
    """The Gumbel distribution: log-odds plus draws from it are largest as often as their softmax says."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        limits = autokit.finfo(self.loc.dtype)
        drawn = autokit.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        even = limits.tiny + drawn * (1 - limits.eps - limits.tiny)
        return self.loc - self.scale * autokit.log(-autokit.log(even))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (self.loc - value) / self.scale
        return (away - away.exp()) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return autokit.exp(-autokit.exp((self.loc - value) / self.scale))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * autokit.log(-autokit.log(value))

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + _EULER)
