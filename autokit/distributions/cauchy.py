"""Numbers so wild that they have no mean."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions.distribution import new_like
from autokit.distributions.families import LocationScale
from autokit.tensor import Tensor


class Cauchy(LocationScale):
    """The distribution of the ratio of two normal numbers, around ``loc`` and stretched by ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Cauchy
    >>> Cauchy(0.0, 1.0).cdf(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2500, 0.5000, 0.7500])
    """

    @property
    def mean(self) -> Tensor:
        return autokit.full_like(self.loc, autokit.nan)

    @property
    def variance(self) -> Tensor:
        return autokit.full_like(self.loc, autokit.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = new_like(self.loc, self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return autokit.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return autokit.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
