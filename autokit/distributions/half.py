"""The absolute values of numbers that lie symmetrically around 0."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.cauchy import Cauchy
from autokit.distributions.normal import Normal
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import AbsTransform
from autokit.tensor import Tensor


class Half(TransformedDistribution):
    """The distribution of abs(x), for an x of a distribution around 0 that ``scale`` stretches."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]

    base_dist: Cauchy | Normal

    def __init__(self, around_zero: Cauchy | Normal, validate_args: bool | None) -> None:
        super().__init__(around_zero, AbsTransform(), validate_args)

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return autokit.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        self._validate_sample(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return autokit.where(value >= 0, found, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
