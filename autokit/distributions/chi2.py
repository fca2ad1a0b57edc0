"""Sums of squares of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from autokit.distributions import constraints
from autokit.distributions.distribution import broadcast_all
from autokit.distributions.gamma import Gamma
from autokit.tensor import Tensor


class Chi2(Gamma):
    """The sum of the squares of ``df`` standard normal numbers.

    Examples
    --------
    >>> from autokit.distributions import Chi2
    >>> Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        return self.concentration * 2
