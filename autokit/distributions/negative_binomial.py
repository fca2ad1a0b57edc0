"""Counts that vary more than those of a Poisson distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.families import YesOrNo
from autokit.distributions.gamma import Gamma
from autokit.nn import functional as F
from autokit.tensor import Tensor


class NegativeBinomial(YesOrNo):
    """How many trials succeed until ``total_count`` have failed, each succeeding with ``probs``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import NegativeBinomial
    >>> NegativeBinomial(3.0, torch.tensor(0.5)).mean
    tensor(3.)
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._keep(probs, logits, total_count)
        self.total_count = total_count.type_as(getattr(self, self._given))
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * autokit.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / autokit.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            gamma = Gamma(self.total_count, autokit.exp(-self.logits), validate_args=False)
            return autokit.poisson(gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        likely = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        both = self.total_count + value
        ways = -autokit.lgamma(both) + autokit.lgamma(1 + value) + autokit.lgamma(self.total_count)
        return likely - ways.masked_fill(both == 0.0, 0.0)
