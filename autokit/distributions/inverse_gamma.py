"""What may be believed of a variance."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.gamma import Gamma
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import PowerTransform
from autokit.tensor import Tensor


class InverseGamma(TransformedDistribution):
    """The distribution of 1 / x for an x of ``Gamma(concentration, rate)``.

    Examples
    --------
    >>> from autokit.distributions import InverseGamma
    >>> InverseGamma(3.0, 2.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(base.rate.new_ones(()).neg()), validate_args)

    @property
    def concentration(self) -> Tensor:
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        a: Any = self.concentration
        return autokit.where(a > 1, self.rate / (a - 1), autokit.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a: Any = self.concentration
        return autokit.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), autokit.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
