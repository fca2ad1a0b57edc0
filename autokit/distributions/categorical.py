"""One of several categories."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import (
    Distribution,
    beside_batches,
    lazy_property,
    one_of,
    probs_to_logits,
)
from autokit.nn import functional as F
from autokit.tensor import Size, Tensor


class Categorical(Distribution):
    """A whole number from 0, each with its chance in the last dimension of ``probs``.

    ``probs`` need not sum to 1; in their place ``logits`` may be given, as a network makes them: their
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

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._given = one_of(probs=probs, logits=logits)
        value = probs if logits is None else logits
        if value.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = value / value.sum(-1, keepdim=True)
        else:
            self.logits = value - value.logsumexp(dim=-1, keepdim=True)
        self._num_events = value.size(-1)
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        return F.softmax(self.logits, dim=-1)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Size:
        return getattr(self, self._given).size()

    @property
    def mean(self) -> Tensor:
        return self.probs.new_full(self._batch_shape, autokit.nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = autokit.multinomial(rows, Size(sample_shape).numel(), True).T
        return drawn.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, logits = autokit.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=autokit.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = autokit.arange(self._num_events, device=getattr(self, self._given).device)
        return beside_batches(values, self._batch_shape, expand)
