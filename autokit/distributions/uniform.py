"""Uniform distributions."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, broadcast_all, random_like
from autokit.tensor import Tensor


class Uniform(Distribution):
    """All numbers from ``low`` up to ``high``, equally likely.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Uniform
    >>> Uniform(0.0, 4.0).log_prob(torch.tensor(1.0)).exp()
    tensor(0.2500)
    """

    has_rsample = True
    low: Any
    high: Any

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return autokit.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = random_like(self.low, self._extended_shape(sample_shape))
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return autokit.log(inside.type_as(self.low)) - autokit.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return autokit.log(self.high - self.low)
