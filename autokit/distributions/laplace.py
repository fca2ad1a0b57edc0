"""Exponential waiting times to both sides."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions.distribution import new_like
from autokit.distributions.families import LocationScale
from autokit.tensor import Tensor


class Laplace(LocationScale):
    """The distribution around ``loc`` whose density falls by e with each ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Laplace
    >>> Laplace(0.0, 1.0).log_prob(torch.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.5000, 0.1839, 0.0677])
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        empty = new_like(self.loc, self._extended_shape(sample_shape))
        drawn = empty.uniform_(autokit.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * autokit.log1p(-drawn.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -autokit.log(2 * self.scale) - autokit.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * autokit.expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        away = value - 0.5
        return self.loc - self.scale * away.sign() * autokit.log1p(-2 * away.abs())

    def entropy(self) -> Tensor:
        return 1 + autokit.log(2 * self.scale)
