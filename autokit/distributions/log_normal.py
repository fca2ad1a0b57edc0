"""Numbers whose logarithms are normal."""

from __future__ import annotations

from typing import Any, ClassVar

from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution
from autokit.distributions.normal import Normal
from autokit.tensor import Tensor


class LogNormal(Distribution):
    """The distribution of exp(x) for a normal x of mean ``loc`` and standard deviation ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import LogNormal
    >>> LogNormal(0.0, 1.0).cdf(torch.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale, validate_args)
        super().__init__(self.base_dist.batch_shape, validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.base_dist.log_prob(value.log()) - value.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.base_dist.cdf(value.log())

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
