"""One-hot vectors made soft, so that gradients flow: the Gumbel softmax."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.categorical import Categorical
from autokit.distributions.distribution import Distribution, clamp_probs, random_like
from autokit.distributions.families import OverCategories
from autokit.tensor import Tensor


class RelaxedOneHotCategorical(OverCategories):
    """Vectors that sum to 1 and come close to one-hot ones as ``temperature`` falls.

    References
    ----------
    C. J. Maddison, A. Mnih and Y. W. Teh, "The concrete distribution", ICLR 2017.
    E. Jang, S. Gu and B. Poole, "Categorical reparameterization with Gumbel-softmax", ICLR 2017.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import RelaxedOneHotCategorical
    >>> _ = torch.manual_seed(0)
    >>> drawn = RelaxedOneHotCategorical(0.01, torch.ones(50, 3)).sample()
    >>> (drawn.round() - drawn).abs().mean() < 0.01
    tensor(True)
    """

    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = autokit.as_tensor(temperature)
        super().__init__(Categorical(probs, logits), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        even = clamp_probs(random_like(self.logits, shape))
        scores = (self.logits - (-even.log()).log()) / self.temperature
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, logs = autokit.broadcast_tensors(self.logits, value.log())
        count = self._event_shape[0]
        scale = math.lgamma(count) + (count - 1) * self.temperature.log()
        score = logits - logs * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale - logs.sum(-1)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        new: Any = super().expand(batch_shape)
        new.temperature = self.temperature  # one for all
        return new
