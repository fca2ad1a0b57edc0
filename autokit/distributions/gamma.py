"""Distributions of waiting times and of probabilities: Exponential, Gamma, Beta and Dirichlet.

For a draw x, F(x; a) is the probability of a smaller one. When the parameter a changes, x is moved such that
F(x; a) stays the same: dx/da = -(∂F/∂a) / (∂F/∂x). So gradients flow through draws, however they were drawn.

References
----------
M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients", Advances in Neural Information
Processing Systems 31 (2018).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from autokit.base.devices import beside, to_numpy
from autokit.base.dtypes import finfo
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.gpu.lacking import special_functions
from autokit.ops.draw import source_of
from autokit.ops.join import stack

# ---------------------------------------------------------------- draws, and their derivatives


@operation("∂x/∂a", "∂/∂{a} of the gamma draw {x}")
def _slope_of_gamma(a, x, /):  # type: ignore[no-untyped-def]
    """dx/da for a draw ``x`` from a gamma distribution of rate 1 and shape ``a``."""
    special, kind = special_functions(a), a.dtype
    a, x = a.astype(np.float64), x.astype(np.float64)
    step = 1e-4 * a
    below = special.gammainc(a + step, x) - special.gammainc(a - step, x)
    above = special.gammaincc(a - step, x) - special.gammaincc(a + step, x)
    log_density = (a - 1) * np.log(x) - x - special.gammaln(a)
    return (-np.where(x < a, below, above) / (2 * step) / np.exp(log_density)).astype(kind)


@operation("∂x/∂a", "∂/∂{a} of the share {x}, over 1 − {x}")
def _slope_of_share(a, x, /):  # type: ignore[no-untyped-def]
    """dx/da over 1 - x for an element ``x`` of a draw from a Dirichlet distribution of concentration ``a``.

    A single element has a beta distribution, of its concentration and of the sum of all others.
    """
    special, kind = special_functions(a), a.dtype
    a, x = a.astype(np.float64), x.astype(np.float64)
    b, step = a.sum(-1, keepdims=True) - a, 1e-4 * a
    below = special.betainc(a + step, b, x) - special.betainc(a - step, b, x)
    above = special.betainc(b, a - step, 1 - x) - special.betainc(b, a + step, 1 - x)
    log_density = (a - 1) * np.log(x) + b * np.log1p(-x) - special.betaln(a, b)
    return (-np.where(x * (a + b) < a, below, above) / (2 * step) / np.exp(log_density)).astype(kind)


@operation("~", "drawn for {a}", a=derivative("∂{x}/∂{a}", lambda g, a, x: g * on(_slope_of_gamma, a, x)))
def _gamma_draw(a, x, /):  # type: ignore[no-untyped-def]
    """Draws ``x`` from gamma distributions of rate 1 and shape ``a``."""
    return x


def _share_gradient(g: Any, a: Any, x: Any) -> Any:
    # The elements sum to 1: where one grows, the others shrink in proportion, hence g minus its mean.
    return on(_slope_of_share, a, x) * (g - np.sum(x * g, -1, keepdims=True))


@operation("~", "drawn for {a}", a=derivative("∂{x}/∂{a}", _share_gradient))
def _share_draw(a, x, /):  # type: ignore[no-untyped-def]
    """Draws ``x`` from Dirichlet distributions of concentration ``a``."""
    return x


def _standard_gamma(concentration: Tensor) -> np.ndarray[Any, Any]:
    """Numbers from gamma distributions of rate 1, in float64."""
    return source_of(None, concentration.device).gamma(to_numpy(concentration.array))


# ---------------------------------------------------------------- waiting times


class Exponential(Distribution):
    """The time until something happens that happens ``rate`` times in a unit of time.

    Examples
    --------
    >>> from autokit.distributions import Exponential
    >>> Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """1 / rate²."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Waiting times for a rate of 1, over the rate."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Tensor) -> Tensor:
        """The chance that it has happened by ``value``."""
        return 1 - (-self.rate * value).exp()

    def entropy(self) -> Tensor:
        """1 - log rate."""
        return 1.0 - self.rate.log()


class Gamma(Distribution):
    """The time until ``concentration`` events have happened, of ``rate`` in a unit of time.

    Examples
    --------
    >>> from autokit.distributions import Gamma
    >>> Gamma(3.0, 2.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """a / rate."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """a / rate²."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draws of rate 1, over the rate."""
        a = self.concentration.expand(self._extended_shape(sample_shape))
        least = finfo(a.dtype).tiny
        drawn = np.maximum(_standard_gamma(a).astype(a.array.dtype), least)
        return (_gamma_draw(a, new_tensor(beside(drawn, a.array))) / self.rate).clamp(min=least)

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a, rate = self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def entropy(self) -> Tensor:
        """a - log rate + log Γ(a) + (1 - a) ψ(a)."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


# ---------------------------------------------------------------- probabilities


class Dirichlet(Distribution):
    """Vectors that sum to 1; the larger ``concentration``, the closer they are to its shares of its sum.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Dirichlet
    >>> Dirichlet(torch.tensor([1.0, 2.0, 5.0])).mean
    tensor([0.1250, 0.2500, 0.6250])
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        """The shares of the concentration."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self) -> Tensor:
        """m (1 - m) / (Σa + 1), with the mean m."""
        return self.mean * (1 - self.mean) / (self.concentration.sum(-1, True) + 1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draws from gamma distributions, over their sum."""
        a = self.concentration.expand(self._extended_shape(sample_shape))
        drawn = np.maximum(_standard_gamma(a), np.finfo(np.float64).tiny)
        limits = np.finfo(a.array.dtype)
        shares = np.clip(drawn / drawn.sum(-1, keepdims=True), limits.tiny, 1 - limits.epsneg)
        shares = shares.astype(limits.dtype)
        return _share_draw(a, new_tensor(beside(shares, a.array)))

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        """log B(a) + (Σa - n) ψ(Σa) - Σ (a - 1) ψ(a)."""
        a = self.concentration
        total = self.concentration.sum(-1)
        size = self.event_shape[0]
        log_beta = a.lgamma().sum(-1) - total.lgamma()
        return log_beta - (size - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)


class Beta(Distribution):
    """An unknown probability after ``concentration1`` - 1 successes and ``concentration0`` - 1 failures.

    Examples
    --------
    >>> from autokit.distributions import Beta
    >>> Beta(3.0, 2.0).mean
    tensor(0.6000)
    """

    arg_constraints: ClassVar = dict.fromkeys(("concentration1", "concentration0"), constraints.positive)
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)
        self._dirichlet = Dirichlet(stack([self.concentration1, self.concentration0], -1), False)

    @property
    def mean(self) -> Tensor:
        """The share of the first concentration."""
        return self._dirichlet.mean[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variance of either share."""
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The first of two shares."""
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density."""
        return self._dirichlet._log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """The entropy of both shares."""
        return self._dirichlet.entropy()
