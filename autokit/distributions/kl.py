"""How far one distribution is from another: the Kullback-Leibler divergence.

Here are the pairs of one kind; ``kl_mixed`` has those of different kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autokit
from autokit.distributions.bernoulli import Bernoulli
from autokit.distributions.beta import Beta
from autokit.distributions.binomial import Binomial
from autokit.distributions.categorical import Categorical
from autokit.distributions.cauchy import Cauchy
from autokit.distributions.continuous_bernoulli import ContinuousBernoulli
from autokit.distributions.dirichlet import Dirichlet
from autokit.distributions.distribution import Distribution, sum_rightmost
from autokit.distributions.exp_family import ExponentialFamily
from autokit.distributions.exponential import Exponential
from autokit.distributions.gamma import Gamma
from autokit.distributions.geometric import Geometric
from autokit.distributions.gumbel import _EULER, Gumbel
from autokit.distributions.half_normal import HalfNormal
from autokit.distributions.independent import Independent
from autokit.distributions.laplace import Laplace
from autokit.distributions.log_normal import LogNormal
from autokit.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from autokit.distributions.multivariate_normal import MultivariateNormal
from autokit.distributions.normal import Normal
from autokit.distributions.one_hot_categorical import OneHotCategorical
from autokit.distributions.pareto import Pareto
from autokit.distributions.poisson import Poisson
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.uniform import Uniform
from autokit.nn import functional as F
from autokit.tensor import Tensor

Rule = Callable[[Any, Any], Tensor]
_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """A decorator that makes a function the divergence of the one kind of distribution from the other."""
    for kind in (type_p, type_q):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(f"Expected type_p and type_q to be Distribution subclasses but got {kind}")

    def register(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of log p(x) - log q(x) over draws x from ``p``; in nats, one number for each of the batch.

    Raises
    ------
    NotImplementedError
        If no formula is known for such a pair.

    Examples
    --------
    >>> from autokit.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
    tensor(0.5000)
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            rule = _RULES.get((kind_p, kind_q))
            if rule is not None:
                return rule(p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}: "
        "estimate it, as (p.log_prob(x) - q.log_prob(x)).mean() for x = p.sample((1000,))"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
@register_kl(LogNormal, LogNormal)
def _of_a_normal(p: Any, q: Any) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    yes = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    yes = yes.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    no = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    no = no.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)
    return yes + no


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    parts = p.probs * (p.logits - q.logits)
    parts = parts.masked_fill((q.probs == 0).expand_as(parts), math.inf)
    return parts.masked_fill((p.probs == 0).expand_as(parts), 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes")
    own, other = autokit.broadcast_tensors(p.scale_tril, q.scale_tril)
    away = (q.loc - p.loc).unsqueeze(-1).expand((*own.shape[:-1], 1))
    half_logs = other.diagonal(0, -2, -1).log().sum(-1) - own.diagonal(0, -2, -1).log().sum(-1)
    spread = autokit.linalg.solve_triangular(other, own, upper=False).pow(2).sum((-2, -1))
    distance = autokit.linalg.solve_triangular(other, away, upper=False).pow(2).sum((-2, -1))
    return half_logs + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * autokit.exp(-away / p.scale) - 1


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + autokit.lgamma(q.concentration)
        - autokit.lgamma(p.concentration)
        + (p.concentration - q.concentration) * autokit.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total = p.concentration.sum(-1)
    logs = total.lgamma() - q.concentration.sum(-1).lgamma()
    logs = logs - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    means = p.concentration.digamma() - total.digamma().unsqueeze(-1)
    return logs + ((p.concentration - q.concentration) * means).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of two Independent of different reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL(p || q) of two Binomial where q has more trials than p")
    each = p.probs * (p.logits - q.logits) + autokit.log1p(-p.probs) - autokit.log1p(-q.probs)
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - autokit.log1p(-q.probs) / p.probs - q.logits


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    mean = p.mean * q.logits + autokit.log1p(-q.probs) + q._cont_bern_log_norm()
    return -p.entropy() - mean


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return away - ratio.log() + ratio * _EULER + autokit.exp((1 + ratio).lgamma() - away) - (1 + _EULER)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL(p || q) of two TransformedDistribution of different transforms")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _of_a_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError("KL(p || q) of two different exponential families")
    normalizer, params, means = p._means()
    others = q._natural_params
    result = q._log_normalizer(*others) - normalizer
    for own, other, mean in zip(params, others, means):
        term = (other - own) * mean
        result = result - sum_rightmost(term, term.dim() - result.dim())
    return result
