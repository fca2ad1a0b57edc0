"""Vectors of chances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import autokit
from autokit.devices import beside, to_numpy
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution
from autokit.distributions.implicit import moving
from autokit.ops.samples import one_sample_at_a_time
from autokit.random import default_generator
from autokit.tensor import Tensor, new_tensor


@one_sample_at_a_time
def _shares(concentration: Tensor) -> Tensor:
    """Draws, with a gradient to ``concentration``."""
    own = concentration.array
    limits = np.finfo(own.dtype)
    drawn = np.maximum(default_generator.gamma(to_numpy(own)), np.finfo(np.float64).tiny)
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(own.dtype)
    shares = np.clip(shares, limits.tiny, 1 - limits.epsneg)
    return moving(new_tensor(beside(own, shares)), concentration)


class Dirichlet(Distribution):
    """Vectors that sum to 1, the closer to the shares of ``concentration`` the larger that is.

    The gradient of its draws is exact; PyTorch's is of an approximation within some thousandths.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Dirichlet
    >>> Dirichlet(torch.tensor([1.0, 2.0, 5.0])).mean
    tensor([0.1250, 0.2500, 0.6250])
    """

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The peak; a corner, as PyTorch says the first, where the density is infinite in all of them."""
        above = (self.concentration - 1).clamp(min=0.0)
        corner = autokit.zeros_like(above)
        corner[..., 0] = 1
        in_corners = self.concentration.lt(1).all(-1, keepdim=True)
        return autokit.where(in_corners, corner, above / above.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return _shares(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return (
            autokit.xlogy(self.concentration - 1.0, value).sum(-1)
            + autokit.lgamma(self.concentration.sum(-1))
            - autokit.lgamma(self.concentration).sum(-1)
        )

    def entropy(self) -> Tensor:
        size, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (
            autokit.lgamma(self.concentration).sum(-1)
            - autokit.lgamma(total)
            - (size - total) * autokit.digamma(total)
            - ((self.concentration - 1.0) * autokit.digamma(self.concentration)).sum(-1)
        )
