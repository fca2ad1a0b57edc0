"""Probability distributions, as in ``torch.distributions``: draw, and ask how likely something is.

They carry the policies of reinforcement learning (``log_prob`` of a sampled
action) and the hidden numbers of a variational autoencoder (``rsample``, and
``kl_divergence``).  For the same seed the draws are PyTorch's.
"""

from autokit.distributions import (
    constraints,
    kl_mixed,  # noqa: F401  (registers them)
    transforms,
    utils,
)
from autokit.distributions.bernoulli import Bernoulli
from autokit.distributions.beta import Beta
from autokit.distributions.binomial import Binomial
from autokit.distributions.categorical import Categorical
from autokit.distributions.cauchy import Cauchy
from autokit.distributions.chi2 import Chi2
from autokit.distributions.constraint_registry import biject_to, transform_to
from autokit.distributions.continuous_bernoulli import ContinuousBernoulli
from autokit.distributions.dirichlet import Dirichlet
from autokit.distributions.distribution import Distribution
from autokit.distributions.exp_family import ExponentialFamily
from autokit.distributions.exponential import Exponential
from autokit.distributions.fishersnedecor import FisherSnedecor
from autokit.distributions.gamma import Gamma
from autokit.distributions.generalized_pareto import GeneralizedPareto
from autokit.distributions.geometric import Geometric
from autokit.distributions.gumbel import Gumbel
from autokit.distributions.half_cauchy import HalfCauchy
from autokit.distributions.half_normal import HalfNormal
from autokit.distributions.independent import Independent
from autokit.distributions.inverse_gamma import InverseGamma
from autokit.distributions.kl import kl_divergence, register_kl
from autokit.distributions.kumaraswamy import Kumaraswamy
from autokit.distributions.laplace import Laplace
from autokit.distributions.lkj_cholesky import LKJCholesky
from autokit.distributions.log_normal import LogNormal
from autokit.distributions.logistic_normal import LogisticNormal
from autokit.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from autokit.distributions.mixture_same_family import MixtureSameFamily
from autokit.distributions.multinomial import Multinomial
from autokit.distributions.multivariate_normal import MultivariateNormal
from autokit.distributions.negative_binomial import NegativeBinomial
from autokit.distributions.normal import Normal
from autokit.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from autokit.distributions.pareto import Pareto
from autokit.distributions.poisson import Poisson
from autokit.distributions.relaxed_bernoulli import RelaxedBernoulli
from autokit.distributions.relaxed_categorical import RelaxedOneHotCategorical
from autokit.distributions.studentT import StudentT
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from autokit.distributions.uniform import Uniform
from autokit.distributions.von_mises import VonMises
from autokit.distributions.weibull import Weibull
from autokit.distributions.wishart import Wishart
from autokit.missing import names_of

__getattr__ = names_of("torch.distributions")

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]
