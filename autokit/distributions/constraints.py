"""Where the parameters and the values of a distribution may lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import autokit
from autokit.batches.batch import of_all_samples
from autokit.ops.gpu.arrays import any_of


def holds(condition: Any) -> bool:
    """Whether a tensor of bools is True everywhere: in a ``vmap`` for each of the samples."""
    return not any_of(~of_all_samples(condition.array))


@dataclass(frozen=True)
class Constraint:
    """A set of numbers; ``check`` says of each number, or vector, of a tensor whether it is in it."""

    def check(self, value: Any) -> Any:
        raise NotImplementedError

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions are looked at together."""
        return 0

    @property
    def is_discrete(self) -> bool:
        """Whether the numbers lie apart."""
        return False


class Discrete(Constraint):
    """A set of numbers that lie apart."""

    @property
    def is_discrete(self) -> bool:
        return True


class Real(Constraint):
    """All numbers but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class Boolean(Discrete):
    """The numbers 0 and 1."""

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


@dataclass(frozen=True)
class GreaterThan(Constraint):
    """The numbers above a bound."""

    lower_bound: Any

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


@dataclass(frozen=True)
class GreaterThanEq(Constraint):
    """The numbers from a bound upwards."""

    lower_bound: Any

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


@dataclass(frozen=True)
class LessThan(Constraint):
    """The numbers below a bound."""

    upper_bound: Any

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


@dataclass(frozen=True)
class Interval(Constraint):
    """The numbers from one bound to another."""

    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


@dataclass(frozen=True)
class HalfOpenInterval(Constraint):
    """The numbers from one bound to below another."""

    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


@dataclass(frozen=True)
class IntegerInterval(Discrete):
    """The whole numbers from one bound to another."""

    lower_bound: Any
    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


@dataclass(frozen=True)
class IntegerGreaterThan(Discrete):
    """The whole numbers from a bound upwards."""

    lower_bound: Any

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class Vectors(Constraint):
    """A set of vectors."""

    @property
    def event_dim(self) -> int:
        return 1


class Simplex(Vectors):
    """Vectors of chances, which sum to 1."""

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class OneHot(Vectors, Discrete):
    """Vectors of one 1 among zeros."""

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


@dataclass(frozen=True)
class Multinomial(Vectors, Discrete):
    """Vectors of counts, which sum to at most a bound."""

    upper_bound: Any

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


@dataclass(frozen=True)
class IndependentConstraint(Constraint):
    """A constraint that all numbers of the last dimensions have to fulfil."""

    base: Constraint
    count: int

    def __post_init__(self) -> None:
        if not isinstance(self.base, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(self.base).__name__}")
        if not isinstance(self.count, int) or self.count < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {self.count}")

    @property
    def event_dim(self) -> int:
        return self.base.event_dim + self.count

    @property
    def is_discrete(self) -> bool:
        return self.base.is_discrete

    def check(self, value: Any) -> Any:
        found = self.base.check(value)
        if found.dim() < self.count:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return found.flatten(-self.count).all(-1) if self.count else found

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base!r}, {self.count})"


class Matrices(Constraint):
    """A set of matrices."""

    @property
    def event_dim(self) -> int:
        return 2


class Square(Matrices):
    """Matrices with as many rows as columns."""

    def check(self, value: Any) -> Any:
        return autokit.full(value.shape[:-2], value.shape[-2] == value.shape[-1], device=value.device)


class Symmetric(Square):
    """Matrices that are their own transposes."""

    def check(self, value: Any) -> Any:
        square = super().check(value)
        return autokit.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if holds(square) else square


class PositiveSemidefinite(Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return autokit.linalg.eigvalsh(value).ge(0).all(-1) if holds(symmetric) else symmetric


class PositiveDefinite(Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return autokit.linalg.cholesky_ex(value).info.eq(0) if holds(symmetric) else symmetric


class LowerTriangular(Matrices):
    """Matrices with zeros above the diagonal."""

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class CorrCholesky(LowerCholesky):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    def check(self, value: Any) -> Any:
        away = (value.detach().norm(dim=-1) - 1).abs()
        most = autokit.finfo(value.dtype).eps * value.shape[-1] * 10
        return super().check(value) & (away <= most).all(-1)


@dataclass(frozen=True)
class Stack(Constraint):
    """For each slice along a dimension a constraint of its own."""

    parts: Any
    dim: int = 0

    @property
    def event_dim(self) -> int:
        dims = max(part.event_dim for part in self.parts)
        return dims + (self.dim + dims < 0)

    def check(self, value: Any) -> Any:
        slices = zip(self.parts, value.unbind(self.dim))
        return autokit.stack([part.check(each) for part, each in slices], self.dim)


@dataclass(frozen=True)
class Cat(Constraint):
    """For each part along a dimension, of the length that ``lengths`` says, a constraint of its own."""

    parts: Any
    dim: int = 0
    lengths: Any = None

    @property
    def event_dim(self) -> int:
        return max(part.event_dim for part in self.parts)

    def check(self, value: Any) -> Any:
        slices = zip(self.parts, value.split(self.lengths or [1] * len(self.parts), self.dim))
        return autokit.cat([part.check(each) for part, each in slices], self.dim)


class Dependent(Constraint):
    """A set that depends on other parameters."""

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


boolean = Boolean()
real = Real()
dependent = Dependent()
positive = GreaterThan(lower_bound=0.0)
positive_integer = IntegerGreaterThan(lower_bound=1)
nonnegative = GreaterThanEq(lower_bound=0.0)
nonnegative_integer = IntegerGreaterThan(lower_bound=0)
unit_interval = Interval(lower_bound=0.0, upper_bound=1.0)
real_vector = IndependentConstraint(real, 1)
simplex = Simplex()
one_hot = OneHot()
square = Square()
symmetric = Symmetric()
positive_semidefinite = PositiveSemidefinite()
lower_triangular = LowerTriangular()
lower_cholesky = LowerCholesky()
corr_cholesky = CorrCholesky()
positive_definite = PositiveDefinite()
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
interval = Interval
half_open_interval = HalfOpenInterval
integer_interval = IntegerInterval
multinomial = Multinomial
independent = IndependentConstraint
cat = Cat
stack = Stack
