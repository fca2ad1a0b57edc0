"""Probability distributions, as in ``torch.distributions``: draw, and ask how likely something is.

They carry the policies of reinforcement learning (``log_prob`` of a sampled
action) and the hidden numbers of a variational autoencoder (``rsample``, and
``kl_divergence``).  For the same seed the draws are PyTorch's.
"""

from autokit.distributions import constraints
from autokit.distributions.bernoulli import Bernoulli
from autokit.distributions.beta import Beta
from autokit.distributions.binomial import Binomial
from autokit.distributions.categorical import Categorical
from autokit.distributions.cauchy import Cauchy
from autokit.distributions.chi2 import Chi2
from autokit.distributions.dirichlet import Dirichlet
from autokit.distributions.distribution import Distribution
from autokit.distributions.exponential import Exponential
from autokit.distributions.gamma import Gamma
from autokit.distributions.geometric import Geometric
from autokit.distributions.gumbel import Gumbel
from autokit.distributions.half_normal import HalfNormal
from autokit.distributions.independent import Independent
from autokit.distributions.kl import kl_divergence, register_kl
from autokit.distributions.laplace import Laplace
from autokit.distributions.log_normal import LogNormal
from autokit.distributions.mixture_same_family import MixtureSameFamily
from autokit.distributions.multinomial import Multinomial
from autokit.distributions.multivariate_normal import MultivariateNormal
from autokit.distributions.normal import Normal
from autokit.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from autokit.distributions.poisson import Poisson
from autokit.distributions.relaxed_categorical import RelaxedOneHotCategorical
from autokit.distributions.studentT import StudentT
from autokit.distributions.transformed_distribution import TransformedDistribution
from autokit.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from autokit.distributions.uniform import Uniform
from autokit.missing import names_of

__getattr__ = names_of("torch.distributions")

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Poisson",
    "RelaxedOneHotCategorical",
    "SigmoidTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
]
