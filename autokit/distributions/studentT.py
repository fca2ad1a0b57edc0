"""Student's distribution: normal numbers over an uncertain standard deviation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.chi2 import Chi2
from autokit.distributions.distribution import Distribution, broadcast_all, standard_normal
from autokit.tensor import Tensor


class StudentT(Distribution):
    """Student's t-distribution with ``df`` degrees of freedom, around ``loc`` and stretched by ``scale``.

    Examples
    --------
    >>> from autokit.distributions import StudentT
    >>> StudentT(3.0).variance
    tensor(3.)
    """

    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    df: Any

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, autokit.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2).masked_fill(self.df <= 2, 1.0)
        return finite.masked_fill(self.df <= 2, autokit.inf).masked_fill(self.df <= 1, autokit.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (drawn * autokit.rsqrt(squares / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + autokit.lgamma(0.5 * self.df)
            - autokit.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * autokit.log1p(away**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        log_beta = autokit.lgamma(0.5 * self.df) + math.lgamma(0.5) - autokit.lgamma(0.5 * (self.df + 1))
        slope = autokit.digamma(0.5 * (self.df + 1)) - autokit.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * slope + 0.5 * self.df.log() + log_beta
