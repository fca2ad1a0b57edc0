"""The Kullback-Leibler divergence measures how far one distribution is from another.

KL(p ‖ q) is -H(p) - E[log q(x)] over draws x of p. It is infinite where p reaches beyond the support of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autokit.distributions.categorical import Bernoulli, Categorical
from autokit.distributions.distribution import Distribution, Independent, sum_last
from autokit.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from autokit.distributions.multivariate_normal import MultivariateNormal, half_log_det, squared_length
from autokit.distributions.normal import Laplace, Normal, Uniform
from autokit.engine.tensor import Tensor
from autokit.ops.activation import softplus

Rule = Callable[[Any, Any], Tensor]
_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """Decorate a function that computes the divergence of a ``type_p`` from a ``type_q``."""

    def register(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of log p(x) - log q(x) over draws x from ``p``; in nats, one number for each of the batch.

    Raises
    ------
    NotImplementedError
        If there is no formula for such a pair.

    Examples
    --------
    >>> from autokit.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
    tensor(0.5000)
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _RULES:
                return _RULES[kind_p, kind_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}: "
        "estimate it, as (p.log_prob(x) - q.log_prob(x)).mean() for x = p.sample((1000,))"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _from_normal(p: Any, q: Normal) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return 0.5 * math.log(2 * math.pi) + q.scale.log() + square / (2 * q.scale.pow(2)) - p.entropy()


for _kind in (Beta, Exponential, Gamma, Laplace, Uniform):
    register_kl(_kind, Normal)(_from_normal)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    yes = yes.masked_fill(q.probs.eq(0), math.inf).masked_fill(p.probs.eq(0), 0)
    no = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    no = no.masked_fill(q.probs.eq(1), math.inf).masked_fill(p.probs.eq(1), 0)
    return yes + no


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    parts = p.probs * (p.logits - q.logits)
    return parts.masked_fill(q.probs.eq(0), math.inf).masked_fill(p.probs.eq(0), 0).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes")
    spread = squared_length(q.scale_tril, p.scale_tril)
    distance = squared_length(q.scale_tril, (q.loc - p.loc).unsqueeze(-1))
    logs = half_log_det(q.scale_tril) - half_log_det(p.scale_tril)
    return logs + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill(q.low.gt(p.low) | q.high.lt(p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    logs = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return logs + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a = p.concentration
    b = q.concentration
    total = p.concentration.sum(-1)
    logs = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return logs + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of two Independent of different reinterpreted_batch_ndims")
    return sum_last(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
