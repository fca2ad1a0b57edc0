"""Distributions of functions of draws."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, sum_rightmost
from autokit.distributions.independent import Independent
from autokit.distributions.transform import ComposeTransform, Transform
from autokit.tensor import Size, Tensor


class TransformedDistribution(Distribution):
    """The distribution of ``transforms``, one after the other, of draws from ``base_distribution``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ExpTransform, Normal, TransformedDistribution
    >>> log_normal = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
    >>> log_normal.log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    def __init__(
        self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(transforms, Transform | list | tuple):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(each, Transform) for each in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        base, whole = base_distribution, ComposeTransform(self.transforms)
        shape = tuple(base.batch_shape + base.event_shape)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got "
                f"{shape}."
            )
        result = tuple(whole.forward_shape(shape))
        expanded = tuple(whole.inverse_shape(result))
        if shape != expanded:
            base = base.expand(expanded[: len(expanded) - len(base.event_shape)])
        more = whole.domain.event_dim - len(base.event_shape)
        if more > 0:
            base = Independent(base, more)
        self.base_dist = base
        grows = whole.codomain.event_dim - whole.domain.event_dim
        events = max(whole.codomain.event_dim, len(base.event_shape) + grows)
        cut = len(result) - events
        super().__init__(result[:cut], result[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self._event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        whole = ComposeTransform(self.transforms)
        shape = Size((*batch_shape, *self._event_shape))
        base = self.base_dist.expand(whole.inverse_shape(shape)[: len(batch_shape)])
        new: TransformedDistribution = object.__new__(type(self)) if _instance is None else _instance
        vars(new).update(vars(self), base_dist=base, _batch_shape=Size(batch_shape))
        return new

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        dims = len(self._event_shape)
        found: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform._inv_call(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            slope = transform.log_abs_det_jacobian(x, value)
            found = found - sum_rightmost(slope, dims - transform.domain.event_dim)
            value = x
        own = self.base_dist.log_prob(value)
        return found + sum_rightmost(own, dims - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._rising(value)))

    def _rising(self, probability: Tensor) -> Tensor:
        """The probability of less, from that of less or, where the transforms fall, of more."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5
