"""Several independent draws taken for one."""

from __future__ import annotations

from typing import Any

from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, sum_rightmost
from autokit.tensor import Size, Tensor


class Independent(Distribution):
    """``base_distribution`` with its last batch dimensions as parts of each event: their logarithms add up.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Independent, Normal
    >>> Independent(Normal(torch.zeros(3), torch.ones(3)), 1).log_prob(torch.zeros(3))
    tensor(-2.7568)
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        if reinterpreted_batch_ndims < 0:
            raise ValueError(
                f"reinterpreted_batch_ndims counts dimensions: it is {reinterpreted_batch_ndims}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        shape = batch + base_distribution.event_shape
        kept = len(batch) - reinterpreted_batch_ndims
        super().__init__(shape[:kept], shape[kept:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    @property
    def support(self) -> Constraint:
        own = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(own, count) if count else own

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        whole = Size((*batch_shape, *self._event_shape[: self.reinterpreted_batch_ndims]))
        new = object.__new__(type(self)) if _instance is None else _instance
        vars(new).update(vars(self), base_dist=self.base_dist.expand(whole), _batch_shape=Size(batch_shape))
        return new

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
