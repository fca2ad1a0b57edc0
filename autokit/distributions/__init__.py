"""Probability distributions, as in ``torch.distributions``: they draw samples and compute probabilities.

Reinforcement learning uses them for policies (``log_prob`` of a sampled action), a variational autoencoder
for its latent variables (``rsample`` and ``kl_divergence``). For the same seed the draws are PyTorch's.
"""

from autokit.base.missing import absent
from autokit.distributions import constraints
from autokit.distributions.categorical import Bernoulli, Categorical
from autokit.distributions.distribution import Distribution, Independent
from autokit.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from autokit.distributions.kl import kl_divergence, register_kl
from autokit.distributions.multivariate_normal import MultivariateNormal
from autokit.distributions.normal import Laplace, Normal, Uniform

__getattr__ = absent("torch.distributions")

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "Gamma",
    "Independent",
    "Laplace",
    "MultivariateNormal",
    "Normal",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
]
