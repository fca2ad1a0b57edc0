"""Failures before the first success."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import broadcast_all, new_like
from autokit.distributions.families import YesOrNo
from autokit.nn import functional as F
from autokit.tensor import Tensor


class Geometric(YesOrNo):
    """How many trials fail before one succeeds, each with probability ``probs`` or log-odds ``logits``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Geometric
    >>> Geometric(0.5).log_prob(torch.arange(3.0)).exp()
    tensor([0.5000, 0.2500, 0.1250])
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._keep(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)
        if self._validate_args and logits is None and not constraints.holds(self.probs > 0):
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive, but found invalid "
                f"values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return autokit.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            empty = new_like(self.probs, self._extended_shape(sample_shape))
            drawn = empty.uniform_(autokit.finfo(self.probs.dtype).tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        self._validate_sample(value)
        probs: Any
        value, probs = broadcast_all(value, self.probs)
        probs = autokit.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
