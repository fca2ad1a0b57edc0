"""Gamma distributions: waiting times for several events."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import autokit
from autokit.devices import beside, to_numpy
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.ops.samples import one_sample_at_a_time
from autokit.random import default_generator
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread


@one_sample_at_a_time
def standard_gamma(concentration: Tensor) -> Tensor:
    """Numbers from gamma distributions of rate 1, with a gradient to ``concentration``."""
    drawn = default_generator.gamma(to_numpy(concentration.array)).astype(concentration.array.dtype)
    values = new_tensor(beside(concentration.array, np.maximum(drawn, np.finfo(drawn.dtype).tiny)))
    recorded = concentration.requires_grad and autokit.is_grad_enabled()
    if not (recorded or thread.state.forward):
        return values
    held = concentration.detach()
    return values + (concentration - held) * _slope(held.double(), values.double()).to(values.dtype)


def _slope(shape: Any, value: Any) -> Tensor:
    """How fast a draw moves with its shape, where its place F(x) in the distribution stays: -(∂F/∂a) / f."""
    step = 1e-4 * shape
    below = autokit.igamma(shape + step, value) - autokit.igamma(shape - step, value)
    above = autokit.igammac(shape - step, value) - autokit.igammac(shape + step, value)
    change = autokit.where(value < shape, below, above) / (2 * step)
    log_density = (shape - 1) * value.log() - value - autokit.lgamma(shape)
    return -change / log_density.exp()


class Gamma(Distribution):
    """The time until ``concentration`` events have happened, of ``rate`` in a unit of time.

    Examples
    --------
    >>> from autokit.distributions import Gamma
    >>> Gamma(3.0, 2.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return value.clamp(min=autokit.finfo(value.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = autokit.as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        return (
            autokit.xlogy(self.concentration, self.rate)
            + autokit.xlogy(self.concentration - 1, value)
            - self.rate * value
            - autokit.lgamma(self.concentration)
        )

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return autokit.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            - autokit.log(self.rate)
            + autokit.lgamma(self.concentration)
            + (1.0 - self.concentration) * autokit.digamma(self.concentration)
        )
