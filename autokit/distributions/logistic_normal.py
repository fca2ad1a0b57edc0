"""Vectors of chances made of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from autokit.distributions import constraints
from autokit.distributions.independent import Independent
from autokit.distributions.matrix_transforms import StickBreakingTransform
from autokit.distributions.normal import Normal
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.tensor import Tensor


class LogisticNormal(TransformedDistribution):
    """Chances of n + 1 categories, broken off one after the other by n normal numbers.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import LogisticNormal
    >>> chances = LogisticNormal(torch.zeros(2), torch.ones(2)).sample()
    >>> chances.shape, torch.allclose(chances.sum(), torch.tensor(1.0))
    (torch.Size([3]), True)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex  # type: ignore[assignment]
    has_rsample = True  # type: ignore[assignment]
    base_dist: Independent

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Tensor:
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]
