"""Counts of events."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.tensor import Tensor


class Poisson(Distribution):
    """How often something happens in a unit of time that happens ``rate`` times on average.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Poisson
    >>> Poisson(2.0).log_prob(torch.arange(3.0)).exp()
    tensor([0.1353, 0.2707, 0.2707])
    """

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            return autokit.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return autokit.xlogy(value, rate) - rate - (value + 1).lgamma()
