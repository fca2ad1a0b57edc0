"""Ratios of two estimated variances."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.distributions.gamma import Gamma
from autokit.tensor import Tensor


class FisherSnedecor(Distribution):
    """The F-distribution, with ``df1`` degrees of freedom above and ``df2`` below.

    Examples
    --------
    >>> from autokit.distributions import FisherSnedecor
    >>> FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Any
    df2: Any

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 2, autokit.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, autokit.nan)

    @property
    def variance(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 4, autokit.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = autokit.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        ways = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        first = half1 * ratio.log() + (half1 - 1) * autokit.log(value)
        return ways + first - (half1 + half2) * autokit.log1p(ratio * value)
