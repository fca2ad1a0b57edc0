"""The largest of many numbers."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions.distribution import random_like
from autokit.distributions.families import LocationScale
from autokit.tensor import Tensor

_EULER = 0.57721566490153286060


class Gumbel(LocationScale):
    """The Gumbel distribution: log-odds plus draws from it are largest as often as their softmax says.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Gumbel
    >>> Gumbel(0.0, 1.0).cdf(torch.tensor([0.0, 2.0]))
    tensor([0.3679, 0.8734])
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)
        autokit.finfo(self.loc.dtype)  # which integers have none of

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        limits = autokit.finfo(self.loc.dtype)
        drawn = random_like(self.loc, self._extended_shape(sample_shape))
        even = limits.tiny + drawn * (1 - limits.eps - limits.tiny)
        return self.loc - self.scale * autokit.log(-autokit.log(even))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (self.loc - value) / self.scale
        return (away - away.exp()) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return autokit.exp(-autokit.exp((self.loc - value) / self.scale))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * autokit.log(-autokit.log(value))

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + _EULER)
