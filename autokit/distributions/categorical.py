"""Distributions of choices: Bernoulli chooses between 0 and 1, Categorical one of several categories."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

from autokit.base.dtypes import finfo
from autokit.base.size import Size
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.engine.modes import enable_grad, no_grad
from autokit.engine.tensor import Tensor
from autokit.ops.loss import binary_cross_entropy_with_logits
from autokit.ops.shape import broadcast_tensors


class _Choice(Distribution):
    """A choice by ``probs`` or ``logits``: the one that is not given is computed when it is first read."""

    def _keep(self, probs: Any, logits: Any) -> Tensor:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        (value,) = broadcast_all(probs if logits is None else logits)
        vars(self)["probs" if logits is None else "logits"] = value
        return value


class Bernoulli(_Choice):
    """1 with probability ``probs``, else 0; in place of ``probs`` its log-odds ``logits`` may be given.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Bernoulli
    >>> Bernoulli(torch.tensor([0.5, 0.25])).log_prob(torch.tensor([1.0, 1.0])).exp()
    tensor([0.5000, 0.2500])
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._keep(probs, logits).shape, validate_args=validate_args)

    @cached_property
    def logits(self) -> Tensor:
        """The log-odds."""
        with enable_grad():
            chance = _inside(self.probs)
            return chance.log() - (-chance).log1p()

    @cached_property
    def probs(self) -> Tensor:
        """The chances of a 1."""
        with enable_grad():
            return self.logits.sigmoid()

    @property
    def mean(self) -> Tensor:
        """The chance."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Ones and zeros."""
        with no_grad():
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the chance of ``value``."""
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        """-p log p - (1 - p) log (1 - p)."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(_Choice):
    """A whole number from 0 up, with the probabilities in the last dimension of ``probs``.

    ``probs`` need not sum to 1; in their place ``logits`` may be given, as a network computes them: their
    softmax is taken.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Categorical
    >>> _ = torch.manual_seed(0)
    >>> policy = Categorical(logits=torch.tensor([1.0, 2.0, 3.0], requires_grad=True))
    >>> action = policy.sample()
    >>> loss = -policy.log_prob(action) * 1.0  # the reward
    >>> policy.probs
    tensor([0.0900, 0.2447, 0.6652], grad_fn=<SoftmaxBackward0>)
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        value = self._keep(probs, logits)
        if value.dim() < 1:
            raise ValueError("the parameter of a Categorical must be at least one-dimensional")
        if logits is None:
            self.probs = value / value.sum(-1, keepdim=True)
        else:
            self.logits = value - value.logsumexp(dim=-1, keepdim=True)
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @cached_property
    def logits(self) -> Tensor:
        """The logarithms of the chances."""
        with enable_grad():
            return _inside(self.probs).log()

    @cached_property
    def probs(self) -> Tensor:
        """The chances."""
        with enable_grad():
            return self.logits.softmax(-1)

    @property
    def support(self) -> Constraint:
        """The whole numbers from 0."""
        count = self.probs.shape[-1]
        words = f"a whole number from 0 to {count - 1}"
        return Constraint(words, lambda a: (a % 1 == 0) & (a >= 0) & (a < count))

    @property
    def mean(self) -> Tensor:
        """NaN: categories have no mean."""
        return self.probs.new_full(self.batch_shape, math.nan)

    variance = mean

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Categories."""
        rows = self.probs.detach().reshape(-1, self.probs.shape[-1])
        drawn = rows.multinomial(Size(sample_shape).numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the chance of ``value``."""
        value, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """-Σ p log p."""
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)


def _inside(probs: Tensor) -> Tensor:
    """``probs`` clamped a little above 0 and below 1, so that the logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)
