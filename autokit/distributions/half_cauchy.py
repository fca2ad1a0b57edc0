"""The absolute values of numbers so wild that they have no mean."""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions.cauchy import Cauchy
from autokit.distributions.half import Half
from autokit.tensor import Tensor


class HalfCauchy(Half):
    """The distribution of abs(x) for an x of the Cauchy distribution around 0, stretched by ``scale``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import HalfCauchy
    >>> HalfCauchy(2.0).cdf(torch.tensor([0.0, 2.0]))
    tensor([0.0000, 0.5000])
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, False), validate_args)

    @property
    def mean(self) -> Tensor:
        return autokit.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
