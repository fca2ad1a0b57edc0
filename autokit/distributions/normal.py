"""Distributions of real numbers: Normal and Laplace on the whole line, Uniform on an interval."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autokit.base.dtypes import finfo
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.engine.tensor import Tensor
from autokit.ops.special import ndtr


class _LocationScale(Distribution):
    """A curve with its peak at ``loc``, stretched by ``scale``."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return self.loc


class Normal(_LocationScale):
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
    def variance(self) -> Tensor:
        """The square of the scale."""
        return self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The mean plus standard normal numbers times the scale."""
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).normal_() * self.scale

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the bell curve."""
        away = (value - self.loc) / self.scale
        return -0.5 * away.pow(2) - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def _cdf(self, value: Tensor) -> Tensor:
        """The area under the bell curve up to ``value``."""
        return ndtr((value - self.loc) / self.scale)

    def entropy(self) -> Tensor:
        """½ log(2πe σ²)."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Laplace(_LocationScale):
    """The distribution around ``loc`` whose density falls by e with each ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Laplace
    >>> Laplace(0.0, 1.0).log_prob(torch.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.5000, 0.1839, 0.0677])
    """

    @property
    def variance(self) -> Tensor:
        """Twice the square of the scale."""
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Exponential numbers with a random sign, from uniform numbers between -1 and 1."""
        drawn = self.loc.new_empty(self._extended_shape(sample_shape))
        drawn.uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * (-drawn.abs()).log1p()

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density: straight lines that fall to both sides."""
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def _cdf(self, value: Tensor) -> Tensor:
        """The area up to ``value``."""
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def entropy(self) -> Tensor:
        """1 + log 2b."""
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """All numbers from ``low`` up to ``high``, equally likely.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Uniform
    >>> Uniform(0.0, 4.0).log_prob(torch.tensor(1.0)).exp()
    tensor(0.2500)
    """

    arg_constraints: ClassVar = {"low": constraints.real, "high": constraints.real}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        self._require("high - low", self.high - self.low, constraints.positive)

    @property
    def support(self) -> Constraint:
        """From ``low`` to ``high``."""
        return constraints.interval(self.low.array, self.high.array)

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Tensor:
        """A twelfth of the square of the length."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers uniform on [0, 1), stretched to the interval."""
        drawn = self.low.new_empty(self._extended_shape(sample_shape)).uniform_()
        return self.low + drawn * (self.high - self.low)

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of one over the length, inside."""
        inside = value.ge(self.low) & value.lt(self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def _cdf(self, value: Tensor) -> Tensor:
        """The share of the interval up to ``value``."""
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def entropy(self) -> Tensor:
        """The logarithm of the length."""
        return (self.high - self.low).log()
