"""Numbers of which a few are very large: incomes, cities."""

from __future__ import annotations

from typing import Any, ClassVar

from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import broadcast_all
from autokit.distributions.exponential import Exponential
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import AffineTransform, ExpTransform
from autokit.tensor import Tensor


class Pareto(TransformedDistribution):
    """Numbers from ``scale`` upwards, which exceed x with probability (scale / x)^alpha.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Pareto
    >>> Pareto(1.0, 2.0).cdf(torch.tensor(2.0))
    tensor(0.7500)
    """

    arg_constraints: ClassVar = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # infinite up to there
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
