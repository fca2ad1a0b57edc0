"""What transforms are, and how they go together.

One of one's own defines ``_call``, ``_inverse`` and ``log_abs_det_jacobian``,
and says by ``domain`` and ``codomain`` what it takes and gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.constraints import Constraint
from autokit.distributions.distribution import sum_rightmost
from autokit.tensor import Tensor

_OF_THE_CACHE = ("_cache_size", "_cached")


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return bool(autokit.as_tensor(a == b).all())
    return bool(a == b)


class Transform:
    """A function, the logarithm of whose slope is known.

    Parameters
    ----------
    cache_size : int
        1 to keep the last value with its result, so that going back gives the very same; else 0.

    Attributes
    ----------
    domain, codomain : Constraint
        What it takes, and what it gives.
    bijective : bool
        Whether it has an inverse that gives back each value.
    sign : int or Tensor
        1 where it rises, −1 where it falls.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ExpTransform
    >>> ExpTransform()(torch.zeros(2)), ExpTransform().inv(torch.ones(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """

    bijective: ClassVar[bool] = False
    domain: Any = constraints.real
    codomain: Any = constraints.real
    _cache_size = 0
    _cached: tuple[Any, Any] = (None, None)

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size

    def __eq__(self, other: object) -> bool:
        """Whether both are of one kind, with the same parameters."""
        if type(self) is not type(other):
            return False
        own, others = ({k: v for k, v in vars(t).items() if k not in _OF_THE_CACHE} for t in (self, other))
        return own.keys() == others.keys() and all(_same(own[name], others[name]) for name in own)

    __hash__ = object.__hash__

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions it takes together."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def sign(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say its sign")

    @property
    def inv(self) -> Transform:
        """The way back."""
        return _Inverse(self)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of this size."""
        from copy import copy

        same = copy(self)
        same._cache_size, same._cached = cache_size, (None, None)
        return same

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._cached[0]:
            self._cached = (x, self._call(x))
        return self._cached[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached[1]:
            self._cached = (self._inverse(y), y)
        return self._cached[0]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say its _call")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say its _inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the slope at ``x``, of which this makes ``y``, or of the determinant of slopes."""
        raise NotImplementedError(f"{type(self).__name__} does not say its log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result for a value of ``shape``."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the value for a result of ``shape``."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, forward: Transform) -> None:
        super().__init__()
        self.forward = forward

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.forward.bijective

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self.forward.codomain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return self.forward.domain

    @property
    def sign(self) -> Any:
        return self.forward.sign

    @property
    def inv(self) -> Transform:
        return self.forward

    def with_cache(self, cache_size: int = 1) -> Transform:
        return _Inverse(self.forward.with_cache(cache_size))

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self.forward(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self.forward.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self.forward!r})"


class ComposeTransform(Transform):
    """One transform after the other.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> ComposeTransform([ExpTransform(), AffineTransform(1.0, 2.0)])(torch.zeros(2))
    tensor([3., 3.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return of_more(self.parts[0].domain, dims)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return of_more(self.parts[-1].codomain, dims)

    @property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def with_cache(self, cache_size: int = 1) -> Transform:
        return ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return autokit.zeros_like(x)
        total: Any = 0
        dims = self.domain.event_dim
        for place, part in enumerate(self.parts):
            after = y if place == len(self.parts) - 1 else part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def of_more(constraint: Constraint, dims: int) -> Constraint:
    """``constraint`` for so many dimensions together."""
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


class IndependentTransform(Transform):
    """``base_transform``, with so many more of the last dimensions taken together.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ExpTransform, IndependentTransform
    >>> x = torch.tensor([1.0, 2.0])
    >>> both = IndependentTransform(ExpTransform(), 1)
    >>> both.log_abs_det_jacobian(x, both(x))
    tensor(3.)
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size) if cache_size else base_transform
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


identity_transform = ComposeTransform([])
