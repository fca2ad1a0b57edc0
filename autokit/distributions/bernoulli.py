"""Yes or no."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import beside_batches, broadcast_all
from autokit.distributions.families import YesOrNo
from autokit.nn import functional as F
from autokit.tensor import Tensor


class Bernoulli(YesOrNo):
    """1 with probability ``probs``, else 0; in place of ``probs`` its log-odds ``logits`` may be given.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Bernoulli
    >>> Bernoulli(torch.tensor([0.5, 0.25])).log_prob(torch.tensor([1.0, 1.0])).exp()
    tensor([0.5000, 0.2500])
    """

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._keep(probs, logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likelier = (self.probs >= 0.5).to(self.probs)
        return autokit.where(self.probs == 0.5, autokit.nan, likelier)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            return autokit.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        like = getattr(self, self._given)
        values = autokit.arange(2, dtype=like.dtype, device=like.device)
        return beside_batches(values, self._batch_shape, expand)
