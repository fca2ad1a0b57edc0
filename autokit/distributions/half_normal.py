"""The absolute values of normal numbers."""

from __future__ import annotations

import math
from typing import Any

from autokit.distributions.half import Half
from autokit.distributions.normal import Normal
from autokit.tensor import Tensor


class HalfNormal(Half):
    """The distribution of abs(x) for a normal x of mean 0 and standard deviation ``scale``.

    Examples
    --------
    >>> from autokit.distributions import HalfNormal
    >>> HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
