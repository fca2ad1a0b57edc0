"""How long things last that age."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import broadcast_all
from autokit.distributions.exponential import Exponential
from autokit.distributions.gumbel import _EULER
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import AffineTransform, PowerTransform
from autokit.tensor import Tensor


class Weibull(TransformedDistribution):
    """Times that exceed t with probability exp(−(t / scale)^concentration).

    Examples
    --------
    >>> from autokit.distributions import Weibull
    >>> Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive  # type: ignore[assignment]

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(autokit.ones_like(self.scale), validate_args)
        power = PowerTransform(exponent=self.concentration.reciprocal())
        super().__init__(base, [power, AffineTransform(0, self.scale)], validate_args)

    def _moment(self, order: int) -> Tensor:
        return autokit.exp(autokit.lgamma(1 + order * self.concentration.reciprocal()))

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        k = self.concentration
        return _EULER * (1 - k.reciprocal()) + autokit.log(self.scale * k.reciprocal()) + 1
