"""Divergences between distributions of different kinds.

KL(p ‖ q) is −H(p) − E[log q(x)] over draws x of p: so each needs the entropy of
p, and the mean of log q, which takes the mean and variance of p, or the means
of log x or of exp(−x) that stand here for each p.  It is infinite where p
reaches beyond the support of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autokit
from autokit.distributions.bernoulli import Bernoulli
from autokit.distributions.beta import Beta
from autokit.distributions.binomial import Binomial
from autokit.distributions.continuous_bernoulli import ContinuousBernoulli
from autokit.distributions.exponential import Exponential
from autokit.distributions.gamma import Gamma
from autokit.distributions.gumbel import _EULER, Gumbel
from autokit.distributions.kl import Rule, register_kl
from autokit.distributions.laplace import Laplace
from autokit.distributions.normal import Normal
from autokit.distributions.pareto import Pareto
from autokit.distributions.poisson import Poisson
from autokit.distributions.uniform import Uniform
from autokit.tensor import Tensor


def _register(kinds: tuple[type, ...], other: type) -> Callable[[Rule], Rule]:
    """A decorator that makes a function the divergence of each of ``kinds`` from the ``other``."""

    def register(rule: Rule) -> Rule:
        for kind in kinds:
            register_kl(kind, other)(rule)
        return rule

    return register


def _infinite(p: Any, q: Any) -> Tensor:
    shape = autokit.broadcast_shapes(p.batch_shape, q.batch_shape)
    return p.mean.new_full(shape, math.inf)


_ABOVE = (Exponential, Gamma, Pareto)
_ANYWHERE = (Gumbel, Laplace, Normal)
_WITHIN_BOUNDS: tuple[type, ...] = (Beta, ContinuousBernoulli, Uniform)
for _q in _WITHIN_BOUNDS:
    _register((*_ABOVE, *_ANYWHERE), _q)(_infinite)
_register(_ANYWHERE, Exponential)(_infinite)
_register(_ANYWHERE, Gamma)(_infinite)
_register((Beta, ContinuousBernoulli, Exponential, Gamma, *_ANYWHERE), Pareto)(_infinite)
_register((Poisson,), Bernoulli)(_infinite)
_register((Poisson,), Binomial)(_infinite)


@_register((Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform), Normal)
def _from_normal(p: Any, q: Normal) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return 0.5 * math.log(2 * math.pi) + q.scale.log() + square / (2 * q.scale.pow(2)) - p.entropy()


@_register((Beta, ContinuousBernoulli, Gamma, Pareto, Uniform), Exponential)
def _from_exponential(p: Any, q: Exponential) -> Tensor:
    return _inside(p, q, q.rate * p.mean - q.rate.log() - p.entropy())


@_register((Beta, Exponential, Pareto, Uniform), Gamma)
def _from_gamma(p: Any, q: Gamma) -> Tensor:
    constant = q.concentration.lgamma() - q.concentration * q.rate.log()
    found = constant - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean - p.entropy()
    return _inside(p, q, found)


@_register((Beta, ContinuousBernoulli), Uniform)
def _from_uniform(p: Any, q: Uniform) -> Tensor:
    return ((q.high - q.low).log() - p.entropy()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


@_register((Exponential, Gamma, Normal, Uniform), Gumbel)
def _from_gumbel(p: Any, q: Gumbel) -> Tensor:
    falling = autokit.exp(q.loc / q.scale) * _mean_exp(p, q.scale)
    return q.scale.log() + (p.mean - q.loc) / q.scale + falling - p.entropy()


@register_kl(Uniform, Beta)
def _uniform_from_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    constant = a.lgamma() + b.lgamma() - (a + b).lgamma()
    found = constant - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(Uniform(1 - p.high, 1 - p.low, False))
    return _inside(p, q, found - p.entropy())


@_register((Beta, Uniform), ContinuousBernoulli)
def _from_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    found = -p.mean * q.logits - autokit.log1p(-q.probs) - q._cont_bern_log_norm() - p.entropy()
    return _inside(p, q, found)


@register_kl(Uniform, Pareto)
def _uniform_from_pareto(p: Uniform, q: Pareto) -> Tensor:
    mean = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return (-mean - p.entropy()).masked_fill(p.low < q.scale, math.inf)


@register_kl(Normal, Laplace)
def _normal_from_laplace(p: Normal, q: Laplace) -> Tensor:
    away = p.loc - q.loc
    z = away / (math.sqrt(2) * p.scale)
    distance = math.sqrt(2 / math.pi) * p.scale * autokit.exp(-z.pow(2)) + away * autokit.erf(z)
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_from_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


def _inside(p: Any, q: Any, found: Tensor) -> Tensor:
    """``found``, but infinite where a uniform ``p`` reaches beyond the support of ``q``."""
    if not isinstance(p, Uniform):
        return found
    beyond = p.low < q.support.lower_bound
    if hasattr(q.support, "upper_bound"):
        beyond = beyond | (p.high > q.support.upper_bound)
    return found.masked_fill(beyond, math.inf)


def _mean_log(p: Any) -> Tensor:
    """The mean of log x."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -_EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (autokit.xlogy(p.high, p.high) - autokit.xlogy(p.low, p.low)) / (p.high - p.low) - 1


def _mean_exp(p: Any, scale: Tensor) -> Tensor:
    """The mean of exp(−x / scale)."""
    if isinstance(p, Normal):
        return autokit.exp((p.scale / scale).pow(2) / 2 - p.loc / scale)
    if isinstance(p, Uniform):
        return scale * (autokit.exp(-p.low / scale) - autokit.exp(-p.high / scale)) / (p.high - p.low)
    if isinstance(p, Exponential):
        return p.rate * scale / (p.rate * scale + 1)
    return (1 + 1 / (p.rate * scale)).pow(-p.concentration)
