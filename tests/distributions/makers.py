"""A distribution and a transform of each kind, of the tensors and the distributions of one library."""

from __future__ import annotations

from typing import Any

MATRIX = [[2.0, 0.5], [0.5, 1.0]]

MAKERS: dict[str, Any] = {
    "Normal": lambda T, D: D.Normal(T.tensor([0.0, 1.0]), T.tensor([1.0, 2.0])),
    "Normal of numbers": lambda T, D: D.Normal(0, 1),
    "LogNormal": lambda T, D: D.LogNormal(T.tensor([0.0, 1.0]), 0.5),
    "HalfNormal": lambda T, D: D.HalfNormal(T.tensor([1.0, 2.0])),
    "Uniform": lambda T, D: D.Uniform(T.tensor([0.0, 1.0]), T.tensor([1.0, 4.0])),
    "Bernoulli": lambda T, D: D.Bernoulli(T.tensor([0.2, 0.9])),
    "Bernoulli by logits": lambda T, D: D.Bernoulli(logits=T.tensor([0.2, -0.9])),
    "Binomial": lambda T, D: D.Binomial(10, T.tensor([0.2, 0.7])),
    "Categorical": lambda T, D: D.Categorical(T.tensor([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])),
    "Categorical by logits": lambda T, D: D.Categorical(logits=T.tensor([0.2, -0.3, 0.5])),
    "OneHotCategorical": lambda T, D: D.OneHotCategorical(T.tensor([0.2, 0.3, 0.5])),
    "Multinomial": lambda T, D: D.Multinomial(10, T.tensor([0.2, 0.3, 0.5])),
    "MultivariateNormal": lambda T, D: D.MultivariateNormal(T.tensor([0.0, 1.0]), T.tensor(MATRIX)),
    "MultivariateNormal by precision": lambda T, D: D.MultivariateNormal(
        T.zeros(3, 2), precision_matrix=T.tensor(MATRIX)
    ),
    "MultivariateNormal by factor": lambda T, D: D.MultivariateNormal(
        T.zeros(2), scale_tril=T.tensor(MATRIX).tril()
    ),
    "Exponential": lambda T, D: D.Exponential(T.tensor([0.5, 3.0])),
    "Laplace": lambda T, D: D.Laplace(T.tensor([0.0, 1.0]), 2.0),
    "Gumbel": lambda T, D: D.Gumbel(T.tensor([0.0, 1.0]), 2.0),
    "Cauchy": lambda T, D: D.Cauchy(T.tensor([0.0, 1.0]), 2.0),
    "Geometric": lambda T, D: D.Geometric(T.tensor([0.3, 0.6])),
    "Poisson": lambda T, D: D.Poisson(T.tensor([0.5, 30.0])),
    "Gamma": lambda T, D: D.Gamma(T.tensor([0.5, 1.0, 30.0]), T.tensor([1.0, 0.5, 2.0])),
    "Chi2": lambda T, D: D.Chi2(T.tensor([1.0, 4.0])),
    "StudentT": lambda T, D: D.StudentT(T.tensor([3.0, 5.0]), 1.0, 2.0),
    "Dirichlet": lambda T, D: D.Dirichlet(T.tensor([0.5, 1.0, 4.0])),
    "Beta": lambda T, D: D.Beta(T.tensor([0.5, 2.0]), 3.0),
    "Independent": lambda T, D: D.Independent(D.Normal(T.zeros(2, 3), T.ones(2, 3)), 1),
    "MixtureSameFamily": lambda T, D: D.MixtureSameFamily(
        D.Categorical(T.tensor([0.3, 0.7])), D.Normal(T.tensor([-1.0, 1.0]), 0.5)
    ),
    "MixtureSameFamily of vectors": lambda T, D: D.MixtureSameFamily(
        D.Categorical(T.ones(2)), D.Independent(D.Normal(T.tensor(MATRIX), T.ones(2, 2)), 1)
    ),
    "RelaxedOneHotCategorical": lambda T, D: D.RelaxedOneHotCategorical(
        T.tensor(0.5), T.tensor([0.2, 0.3, 0.5])
    ),
    "TransformedDistribution": lambda T, D: D.TransformedDistribution(
        D.Normal(T.zeros(2), T.ones(2)), [D.AffineTransform(1.0, 0.5), D.TanhTransform(cache_size=1)]
    ),
    "HalfCauchy": lambda T, D: D.HalfCauchy(T.tensor([1.0, 2.0])),
    "Pareto": lambda T, D: D.Pareto(T.tensor([1.0, 2.0]), T.tensor([1.5, 3.0])),
    "Weibull": lambda T, D: D.Weibull(T.tensor([1.0, 2.0]), T.tensor([1.5, 3.0])),
    "InverseGamma": lambda T, D: D.InverseGamma(T.tensor([1.5, 3.0]), T.tensor([1.0, 2.0])),
    "Kumaraswamy": lambda T, D: D.Kumaraswamy(T.tensor([1.5, 3.0]), T.tensor([1.0, 2.0])),
    "LogisticNormal": lambda T, D: D.LogisticNormal(T.tensor([0.0, 1.0]), T.tensor([1.0, 2.0])),
    "RelaxedBernoulli": lambda T, D: D.RelaxedBernoulli(T.tensor(0.5), T.tensor([0.2, 0.9])),
    "RelaxedBernoulli by logits": lambda T, D: D.RelaxedBernoulli(
        T.tensor(0.5), logits=T.tensor([0.2, -1.0])
    ),
    "NegativeBinomial": lambda T, D: D.NegativeBinomial(T.tensor([3.0, 8.0]), T.tensor([0.2, 0.6])),
    "NegativeBinomial by logits": lambda T, D: D.NegativeBinomial(5, logits=T.tensor([0.2, -1.0])),
    "FisherSnedecor": lambda T, D: D.FisherSnedecor(T.tensor([3.0, 5.0]), T.tensor([5.0, 4.5])),
    "VonMises": lambda T, D: D.VonMises(T.tensor([0.5, 3.0]), T.tensor([2.0, 0.1])),
    "LowRankMultivariateNormal": lambda T, D: D.LowRankMultivariateNormal(
        T.zeros(3), T.tensor([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), T.tensor([1.0, 2.0, 0.5])
    ),
    "a transformed Uniform": lambda T, D: D.TransformedDistribution(
        D.Uniform(T.zeros(2), T.ones(2)), [D.SigmoidTransform().inv, D.AffineTransform(2.0, -0.5)]
    ),
    "a transformed vector": lambda T, D: D.TransformedDistribution(
        D.Normal(T.zeros(4), T.ones(4)), [D.ReshapeTransform((4,), (2, 2)), D.ExpTransform()]
    ),
    "ContinuousBernoulli": lambda T, D: D.ContinuousBernoulli(T.tensor([0.2, 0.9, 0.5, 0.5005])),
    "ContinuousBernoulli by logits": lambda T, D: D.ContinuousBernoulli(logits=T.tensor([1.5, -4.0, 0.0])),
    "GeneralizedPareto": lambda T, D: D.GeneralizedPareto(
        T.tensor([0.5, 0.0, 1.0]), T.tensor([1.0, 2.0, 0.5]), T.tensor([0.3, 0.0, -0.4])
    ),
    "LKJCholesky": lambda T, D: D.LKJCholesky(3, T.tensor([0.5, 2.0])),
    "Wishart": lambda T, D: D.Wishart(T.tensor(4.0), T.tensor(MATRIX)),
    "Wishart by precision": lambda T, D: D.Wishart(T.tensor([4.5, 7.0]), precision_matrix=T.tensor(MATRIX)),
    "Wishart by factor": lambda T, D: D.Wishart(5.0, scale_tril=T.tensor(MATRIX).tril()),
    "SigmoidTransform": lambda T, D: D.TransformedDistribution(
        D.Normal(T.zeros(2), 1.0), [D.SigmoidTransform(), D.ExpTransform().inv]
    ),
}

TRANSFORMS: dict[str, Any] = {
    "abs": lambda T, D: (D.AbsTransform(), T.tensor([-1.0, 2.0])),
    "affine": lambda T, D: (D.AffineTransform(1.0, T.tensor([2.0, -0.5])), T.tensor([-1.0, 2.0])),
    "affine of vectors": lambda T, D: (D.AffineTransform(1.0, 2.0, event_dim=1), T.ones(3, 2)),
    "power": lambda T, D: (D.PowerTransform(T.tensor([2.0, -0.5])), T.tensor([0.5, 2.0])),
    "softplus": lambda T, D: (D.SoftplusTransform(), T.tensor([-1.0, 2.0])),
    "softmax": lambda T, D: (D.SoftmaxTransform(), T.tensor([[-1.0, 2.0, 0.0]])),
    "stick breaking": lambda T, D: (D.StickBreakingTransform(), T.tensor([[-1.0, 2.0, 0.0]])),
    "lower Cholesky": lambda T, D: (D.LowerCholeskyTransform(), T.tensor(MATRIX)),
    "positive definite": lambda T, D: (D.PositiveDefiniteTransform(), T.tensor(MATRIX)),
    "correlations": lambda T, D: (D.CorrCholeskyTransform(), T.tensor([[0.3, -0.5, 1.0]])),
    "reshape": lambda T, D: (D.ReshapeTransform((4,), (2, 2)), T.arange(8.0).reshape(2, 4)),
    "stack": lambda T, D: (
        D.StackTransform([D.ExpTransform(), D.identity_transform], dim=1),
        T.tensor([[-1.0, 2.0]]),
    ),
    "cat": lambda T, D: (
        D.CatTransform([D.ExpTransform(), D.identity_transform], dim=1, lengths=[2, 1]),
        T.tensor([[-1.0, 2.0, 3.0]]),
    ),
    "cat of vectors": lambda T, D: (
        D.CatTransform([D.IndependentTransform(D.ExpTransform(), 1), D.AbsTransform()], lengths=[1, 2]),
        T.tensor([[-1.0, 2.0, 3.0]]).expand(3, 3),
    ),
    "independent": lambda T, D: (D.IndependentTransform(D.ExpTransform(), 1), T.tensor([[-1.0, 2.0]])),
    "cumulative": lambda T, D: (
        D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
        T.tensor([-1.0, 2.0]),
    ),
    "composed": lambda T, D: (
        D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.StickBreakingTransform(), D.ExpTransform()]),
        T.tensor([[-1.0, 0.5]]),
    ),
    "composed backwards": lambda T, D: (
        D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.5, 2.0)]).inv,
        T.tensor([0.0, 1.0]),
    ),
    "cached": lambda T, D: (D.TanhTransform(cache_size=1), T.tensor([-1.0, 2.0])),
    **{
        f"{registry} {name}": lambda T, D, registry=registry, name=name: (
            getattr(D, registry)(getattr(D.constraints, name)),
            T.tensor([[-1.0, 0.5], [0.2, 0.3]]),
        )
        for registry in ("biject_to", "transform_to")
        for name in ("real", "positive", "nonnegative", "unit_interval", "simplex", "real_vector")
    },
    "to above 2": lambda T, D: (D.biject_to(D.constraints.greater_than(2.0)), T.tensor([-1.0, 2.0])),
    "to below 2": lambda T, D: (D.biject_to(D.constraints.less_than(2.0)), T.tensor([-1.0, 2.0])),
    "to between": lambda T, D: (D.biject_to(D.constraints.interval(-2.0, 3.0)), T.tensor([-1.0, 2.0])),
    "to matrices": lambda T, D: (D.transform_to(D.constraints.positive_definite), T.tensor(MATRIX)),
}
"""Transforms, and what they take."""
