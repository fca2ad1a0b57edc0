"""How many of several trials succeed."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import beside_batches
from autokit.distributions.families import YesOrNo
from autokit.tensor import Tensor


class Binomial(YesOrNo):
    """How many of ``total_count`` trials succeed, each with probability ``probs`` or log-odds ``logits``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Binomial
    >>> Binomial(3, torch.tensor(0.5)).log_prob(torch.arange(4.0)).exp()
    tensor([0.1250, 0.3750, 0.3750, 0.1250])
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        **YesOrNo.arg_constraints,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._keep(probs, logits, total_count)
        self.total_count = total_count.type_as(getattr(self, self._given))
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with autokit.no_grad():
            return autokit.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        ways = (
            autokit.lgamma(self.total_count + 1)
            - autokit.lgamma(value + 1)
            - autokit.lgamma(self.total_count - value + 1)
        )
        # log(1 + exp(logits)), kept from overflow; a sum of pieces would have another slope at 0.
        softplus = autokit.logaddexp(self.logits, autokit.zeros_like(self.logits))
        return ways + value * self.logits - self.total_count * softplus

    def entropy(self) -> Tensor:
        logs = self.log_prob(self.enumerate_support(False))
        return -(autokit.exp(logs) * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = autokit.arange(1 + count, dtype=self.total_count.dtype, device=self.total_count.device)
        return beside_batches(values, self._batch_shape, expand)
