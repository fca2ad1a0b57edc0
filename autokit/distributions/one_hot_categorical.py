"""One of several categories, as a vector of one 1 among zeros."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.categorical import Categorical
from autokit.distributions.distribution import beside_batches
from autokit.distributions.families import OverCategories
from autokit.nn import functional as F
from autokit.tensor import Tensor


class OneHotCategorical(OverCategories):
    """As :class:`Categorical`, with each draw a one-hot vector.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import OneHotCategorical
    >>> OneHotCategorical(torch.tensor([0.2, 0.8])).mode
    tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(Categorical(probs, logits, validate_args), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return F.one_hot(self._categorical.mode, self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        places = self._categorical.sample(sample_shape)
        return F.one_hot(places, self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1).indices)

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = autokit.eye(self._event_shape[0], dtype=self.probs.dtype, device=self.probs.device)
        return beside_batches(values, self._batch_shape, expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As its base; :meth:`rsample` hands the gradient to the chances as if it were they.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import OneHotCategoricalStraightThrough
    >>> chances = torch.tensor([0.5, 0.5], requires_grad=True)
    >>> OneHotCategoricalStraightThrough(chances).rsample().requires_grad
    True
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
