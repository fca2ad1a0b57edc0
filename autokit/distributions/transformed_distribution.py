"""Distributions of functions of draws."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions.distribution import Distribution, sum_rightmost
from autokit.distributions.transforms import Transform
from autokit.tensor import Tensor


class TransformedDistribution(Distribution):
    """The distribution of ``transforms``, one after the other, of draws from ``base_distribution``.

    Each transform takes numbers one by one.

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
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(each, Transform) for each in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

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
        found: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inverse(value)
            slope = transform.log_abs_det_jacobian(x, value)
            found = found - sum_rightmost(slope, len(self._event_shape))
            value = x
        return found + self.base_dist.log_prob(value)
