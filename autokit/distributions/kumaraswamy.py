"""Numbers from 0 to 1, much as a Beta distribution has them, and easier to draw."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import broadcast_all
from autokit.distributions.gumbel import _EULER
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import AffineTransform, PowerTransform
from autokit.distributions.uniform import Uniform
from autokit.tensor import Tensor


class Kumaraswamy(TransformedDistribution):
    """Numbers that are under x with probability 1 − (1 − x^concentration1)^concentration0.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Kumaraswamy
    >>> Kumaraswamy(2.0, 2.0).cdf(torch.tensor(0.5))
    tensor(0.4375)
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]

    concentration1: Any
    concentration0: Any

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = a, b = broadcast_all(concentration1, concentration0)
        base = Uniform(autokit.full_like(b, 0), autokit.full_like(b, 1), validate_args)
        steps = [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(a.reciprocal())]
        super().__init__(base, steps, validate_args)

    def _moment(self, order: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        part = 1 + order / a
        return (b.log() + part.lgamma() + b.lgamma() - (part + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        found = (a.reciprocal() * (-b).log1p() - (-a * b).log1p()).exp()
        return found.masked_fill((a < 1) | (b < 1), autokit.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        t1, t0 = 1 - a.reciprocal(), 1 - b.reciprocal()
        return t0 + t1 * (autokit.digamma(b + 1) + _EULER) - autokit.log(a) - autokit.log(b)
