"""What several distributions have in common: their parameters, and what follows from these alone."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.categorical import Categorical
from autokit.distributions.distribution import (
    Distribution,
    broadcast_all,
    lazy_property,
    one_of,
    probs_to_logits,
)
from autokit.tensor import Size, Tensor


class LocationScale(Distribution):
    """A curve with its peak at ``loc``, stretched by ``scale``."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc


class YesOrNo(Distribution):
    """What is made of trials that succeed with probability ``probs``, or with log-odds ``logits``."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _keep(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keep the one that is given, and give back the others in its shape."""
        self._given = one_of(probs=probs, logits=logits)
        *rest, value = broadcast_all(*others, probs if logits is None else logits)
        setattr(self, self._given, value)
        return tuple(rest)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return autokit.sigmoid(self.logits)

    @property
    def param_shape(self) -> Size:
        return getattr(self, self._given).size()


class OverCategories(Distribution):
    """Vectors with an element for each category of a :class:`Categorical`."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, categorical: Categorical, validate_args: bool | None = None) -> None:
        self._categorical = categorical
        super().__init__(categorical.batch_shape, categorical.param_shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        return self._categorical.param_shape
