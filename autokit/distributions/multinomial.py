"""How often each of several categories comes."""

from __future__ import annotations

from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.binomial import Binomial
from autokit.distributions.categorical import Categorical
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution
from autokit.distributions.families import OverCategories
from autokit.ops.create import tensor
from autokit.tensor import Size, Tensor


class Multinomial(OverCategories):
    """How often each category comes in ``total_count`` draws with the chances ``probs``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Multinomial
    >>> _ = torch.manual_seed(0)
    >>> Multinomial(10, torch.ones(6)).sample().sum()
    tensor(10.)
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(Categorical(probs, logits), validate_args)
        self._binomial = Binomial(total_count, probs=self.probs)

    @property
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        places = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, places, autokit.ones_like(places, dtype=counts.dtype))
        return counts

    def entropy(self) -> Tensor:
        count = tensor(float(self.total_count))
        support = self._binomial.enumerate_support(expand=False)[1:]
        chances = autokit.exp(self._binomial.log_prob(support))
        weights = chances * autokit.lgamma(support + 1)
        return count * self._categorical.entropy() - autokit.lgamma(count + 1) + weights.sum((0, -1))

    def log_prob(self, value: Any) -> Tensor:
        self._validate_sample(value)
        logits, value = autokit.broadcast_tensors(self.logits, value)
        ways = autokit.lgamma(value.sum(-1) + 1) - autokit.lgamma(value + 1).sum(-1)
        logits = logits.masked_fill((value == 0) & (logits == -autokit.inf), 0)
        return ways + (logits * value).sum(-1)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        new = Multinomial.__new__(Multinomial)
        new.__dict__.update(self.__dict__)
        new._categorical = self._categorical.expand(batch_shape)  # type: ignore[assignment]
        new._binomial = Binomial(self.total_count, probs=new.probs)
        new._batch_shape = Size(batch_shape)
        return new
