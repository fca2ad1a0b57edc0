"""Waiting times."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all, new_like
from autokit.tensor import Tensor


class Exponential(Distribution):
    """The time until something happens that happens ``rate`` times in a unit of time.

    Examples
    --------
    >>> from autokit.distributions import Exponential
    >>> Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return autokit.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return new_like(self.rate, self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - autokit.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -autokit.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - autokit.log(self.rate)
