"""From any numbers to those that fulfil a constraint, and back: :data:`biject_to` and :data:`transform_to`.

So a parameter that has to be positive is trained as one that need not be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StickBreakingTransform,
    Transform,
    identity_transform,
)

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Maker = Callable[[Any], Transform]


class ConstraintRegistry:
    """For each kind of constraint, what makes a transform to it.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import biject_to, constraints
    >>> to_positive = biject_to(constraints.positive)
    >>> to_positive(torch.tensor([-1.0, 0.0])), to_positive.inv(torch.tensor(1.0))
    (tensor([0.3679, 1.0000]), tensor(0.))
    """

    def __init__(self) -> None:
        self._makers: dict[type, Maker] = {}

    def register(self, constraint: Any, factory: Maker | None = None) -> Any:
        """Let ``factory``, or the function that this decorates, make the transform for this kind."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        maker = self._makers.get(type(constraint))
        if maker is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints: autokit knows a transform to "
                + ", ".join(sorted(kind.__name__ for kind in self._makers))
            )
        return maker(constraint)


def _above(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, float | int) and isinstance(high, float | int) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


biject_to = ConstraintRegistry()
"""The transform to a constraint that has a way back from each value."""

transform_to = ConstraintRegistry()
"""A transform to a constraint that covers all of it, perhaps several times: better to optimize over."""

for _registry in (biject_to, transform_to):
    _registry.register(constraints.Real, lambda constraint: identity_transform)
    _registry.register(constraints.GreaterThan, _above)
    _registry.register(constraints.GreaterThanEq, _above)
    _registry.register(constraints.LessThan, _below)
    _registry.register(constraints.Interval, _between)
    _registry.register(constraints.CorrCholesky, lambda constraint: CorrCholeskyTransform())
biject_to.register(
    constraints.IndependentConstraint,
    lambda constraint: IndependentTransform(biject_to(constraint.base), constraint.count),
)
transform_to.register(
    constraints.IndependentConstraint,
    lambda constraint: IndependentTransform(transform_to(constraint.base), constraint.count),
)
biject_to.register(constraints.Simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.Simplex, lambda constraint: SoftmaxTransform())
transform_to.register(constraints.LowerCholesky, lambda constraint: LowerCholeskyTransform())
transform_to.register(constraints.PositiveDefinite, lambda constraint: PositiveDefiniteTransform())
