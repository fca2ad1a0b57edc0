"""Functions with known slopes, to make distributions of distributions.

Here are those of single numbers; ``matrix_transforms`` has those of vectors and matrices.
"""

from __future__ import annotations

import math
from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import sum_rightmost
from autokit.distributions.matrix_transforms import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from autokit.distributions.transform import (
    ComposeTransform,
    IndependentTransform,
    Transform,
    identity_transform,
    of_more,
)
from autokit.missing import names_of
from autokit.nn import functional as F
from autokit.tensor import Tensor

__getattr__ = names_of("torch.distributions.transforms")

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class _Rising(Transform):
    """A function of single numbers that rises."""

    bijective = True
    sign = 1


class AffineTransform(Transform):
    """The function ``loc + scale * x``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import AffineTransform
    >>> AffineTransform(1.0, 2.0)(torch.tensor([0.0, 3.0]))
    tensor([1., 7.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return of_more(constraints.real, self._event_dim)

    codomain = domain  # type: ignore[assignment]

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            slope = autokit.abs(self.scale).log()
        else:
            slope = autokit.full_like(x, math.log(abs(self.scale)))
        if not self._event_dim:
            return slope.expand(x.shape)
        return sum_rightmost(slope.expand(x.shape), self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        own = (getattr(each, "shape", ()) for each in (self.loc, self.scale))
        return autokit.broadcast_shapes(shape, *own)

    inverse_shape = forward_shape


class ExpTransform(_Rising):
    """The function ``exp(x)``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ExpTransform
    >>> ExpTransform()(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    >>> ExpTransform().inv(torch.tensor(1.0))
    tensor(0.)
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """The function ``x ** exponent`` of positive numbers.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import PowerTransform
    >>> PowerTransform(2.0)(torch.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = autokit.as_tensor(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return autokit.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(_Rising):
    """The function ``sigmoid(x)``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import SigmoidTransform
    >>> SigmoidTransform()(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        limits = autokit.finfo(x.dtype)
        return autokit.clamp(autokit.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = autokit.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Rising):
    """The function ``log(1 + exp(x))``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import SoftplusTransform
    >>> SoftplusTransform()(torch.tensor([0.0, 2.0]))
    tensor([0.6931, 2.1269])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x)


class TanhTransform(_Rising):
    """The function ``tanh(x)``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import TanhTransform
    >>> TanhTransform()(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return autokit.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """The function ``abs(x)``, which has no single way back.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import AbsTransform
    >>> AbsTransform()(torch.tensor([-2.0, 3.0]))
    tensor([2., 3.])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class CumulativeDistributionTransform(_Rising):
    """The probability that ``distribution`` gives less than x.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import CumulativeDistributionTransform, Uniform
    >>> CumulativeDistributionTransform(Uniform(0.0, 2.0))(torch.tensor([0.5, 1.0]))
    tensor([0.2500, 0.5000])
    """

    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
