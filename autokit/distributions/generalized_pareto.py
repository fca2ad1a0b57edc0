"""What lies beyond a high threshold: floods, losses."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, broadcast_all, random_like
from autokit.tensor import Tensor


class GeneralizedPareto(Distribution):
    """Numbers from ``loc`` upwards, whose tail is the heavier the larger ``concentration`` is.

    For 0 it is an exponential distribution; below 0 there is a largest number.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import GeneralizedPareto
    >>> GeneralizedPareto(0.0, 1.0, 0.5).cdf(torch.tensor(2.0))
    tensor(0.7500)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    loc: Any
    scale: Any
    concentration: Any

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def support(self) -> Constraint:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, autokit.where(self.concentration < 0, end, autokit.inf))

    def _tail(self) -> tuple[Tensor, Tensor]:
        """Where the tail is exponential, and ``concentration`` with another number there."""
        exponential = autokit.isclose(self.concentration, autokit.zeros_like(self.concentration))
        return exponential, autokit.where(exponential, 1.0, self.concentration)

    @property
    def mean(self) -> Tensor:
        finite = self.concentration < 1
        return autokit.where(
            finite, self.loc + self.scale / (1 - autokit.where(finite, self.concentration, 0.5)), autokit.nan
        )

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.concentration < 0.5
        c = autokit.where(finite, self.concentration, 0.25)
        return autokit.where(finite, self.scale.pow(2) / ((1 - c).pow(2) * (1 - 2 * c)), autokit.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(random_like(self.loc, self._extended_shape(sample_shape)))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw beyond ``value``."""
        self._validate_sample(value)
        exponential, c = self._tail()
        z = (value - self.loc) / self.scale
        return autokit.where(exponential, -z, -autokit.log1p(c * z) / c)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        exponential, c = self._tail()
        z = (value - self.loc) / self.scale
        power = 1 / c + 1
        fall = autokit.where(power.eq(0), power, power * autokit.log1p(c * z))
        return -self.scale.log() - autokit.where(exponential, z, fall)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of :meth:`cdf`."""
        return autokit.log1p(-self.log_survival_function(value).exp())

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        exponential, c = self._tail()
        logs = autokit.log1p(-value)
        above = autokit.where(exponential, -logs, autokit.special.expm1(-c * logs) / c)
        return self.loc + self.scale * above

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
